/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_utf8.c: decoding covers every byte once; streaming loses nothing and splits no character, however the input is cut.
 * The first byte seeds the cuts. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text/utf8.h"

static void demand(int ok)
{
    if (!ok) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    uint32_t seed = data[0];
    const char *s = (const char *)data + 1;
    size_t n = size - 1, n_out = 0;
    int valid = 1;
    for (size_t i = 0; i < n;) {
        int32_t cp;
        char back[4];
        size_t len = mz_utf8_decode(s + i, n - i, &cp);
        demand(len >= 1 && len <= n - i);
        if (cp < 0) {
            demand(len <= 3);
            if (valid) demand(mz_utf8_valid_prefix(s, n) == i);
            valid = 0;
        } else {
            demand(mz_utf8_encode(cp, back) == len && memcmp(back, s + i, len) == 0);
        }
        i += len;
    }
    demand(mz_utf8_is_valid(s, n) == (valid != 0));

    char *out = malloc(n + 8), *part = malloc(n + 8);
    demand(out && part);
    mz_utf8_stream u = {0};
    for (size_t i = 0; i < n;) {
        seed = seed * 1664525u + 1013904223u;
        size_t step = 1 + (seed >> 16) % 7, k;
        if (step > n - i) step = n - i;
        k = mz_utf8_stream_add(&u, s + i, step, part);
        demand(k <= step + 4 && u.n_held <= 3);
        if (valid) demand(mz_utf8_is_valid(part, k));
        demand(n_out + k <= n);
        memcpy(out + n_out, part, k);
        n_out += k;
        i += step;
    }
    size_t k = mz_utf8_stream_flush(&u, part);
    memcpy(out + n_out, part, k);
    demand(n_out + k == n && (n == 0 || memcmp(out, s, n) == 0));
    free(out);
    free(part);
    return 0;
}
