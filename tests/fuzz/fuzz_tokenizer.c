/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_tokenizer.c: any bytes survive encode followed by decode, under any pre-tokeniser without a normaliser and with
 * any guards; without MZ_ENCODE_SPECIAL no control token comes out. The first byte picks the pre-tokeniser, the second flags. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../text/tiny_vocab.h"
#include "text/pretok_names.h"
#include "text/tokenizer.h"

static void demand(int ok)
{
    if (!ok) abort();
}

enum { MAX_NAMES = 256 };

static mz_tokenizer *tokenizer(size_t i)
{
    static mz_tokenizer *made[MAX_NAMES];
    if (!made[i]) {
        tv_options o = TV_DEFAULT;
        mz_gguf *g;
        mz_err err;
        o.pre = mz_pretok_at(i)->name;
        tv_bytes b = tv_build(o);
        demand(mz_gguf_open_memory(b.data, b.n, &g, &err) == MZ_OK);
        demand(mz_tokenizer_from_gguf(g, &made[i], &err) == MZ_OK && made[i]);
        mz_gguf_close(g);
        free(b.data);
    }
    return made[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    size_t n_name = 0;
    while (mz_pretok_at(n_name) && n_name < MAX_NAMES) n_name++;
    size_t pick = data[0] % n_name;
    const mz_tokenizer *t = tokenizer(pick);
    const char *s = (const char *)data + 2;
    size_t n = size - 2, guard[4], n_guard = 0;
    unsigned flags = data[1] & MZ_ENCODE_SPECIAL;
    for (size_t i = 0; i < 4 && n; i++) {
        size_t at = (data[1] >> 2) * (i + 1) % n;
        if (n_guard == 0 || at > guard[n_guard - 1]) guard[n_guard++] = at;
    }
    mz_buf ids = {0}, back = {0};
    mz_err err;
    mz_status st = mz_tokenizer_encode_guarded(t, s, n, flags, guard, n_guard, &ids, &err);
    demand(st == MZ_OK || st == MZ_ELIMIT);
    if (st == MZ_OK) {
        for (size_t i = 0; i < ids.len; i += sizeof(int32_t)) {
            int32_t id;
            memcpy(&id, ids.data + i, sizeof id);
            demand(id >= 0 && id < mz_tokenizer_n_vocab(t));
            demand(flags || mz_tokenizer_kind(t, id) != MZ_TOKEN_CONTROL);
            mz_str piece = mz_tokenizer_piece(t, id, true);
            demand(mz_buf_add(&back, piece.s, piece.n));
        }
        if (!mz_pretok_at(pick)->traits.nfc) demand(back.len == n && (n == 0 || memcmp(back.data, s, n) == 0));
    }
    mz_buf_free(&ids);
    mz_buf_free(&back);
    return 0;
}
