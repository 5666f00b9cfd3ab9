/* SPDX-License-Identifier: Apache-2.0
 *
 * check_quantise.c: quantise_row of a set against the reference, byte by byte (a NaN scale is any NaN). */
#include <stdlib.h>
#include <string.h>

#include "mzcheck.h"

void check_quantise_row(mzc *c)
{
    static const int64_t sizes[] = {0, 1, 2, 7, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 97, 127, 128, 251, 576, 1536, 2048, 2880, 5632};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int kind = 0; kind < MZC_N_KIND; kind++) {
            for (int rep = 0; rep < (c->quick ? 2 : 17); rep++) {
                if (!mzc_case(c)) continue;
                int64_t n = sizes[i];
                size_t bytes = mz_q8_row_bytes(n);
                float *x = mzc_in(c, 0, (size_t)n * sizeof *x, sizeof *x);
                mzc_fill(c, (mzc_kind)kind, x, n);
                if (n >= 32 && kind == MZC_TIES) x[5] = 63.5f; /* scale 1/2: products fall on ties */
                if (n >= 32 && kind == MZC_WIDE) x[9] = mzc_int(c, 0, 1) ? 0x1p-100f : 0x1.fffffep-101f; /* the zero limit */
                void *y = mzc_out(c, 1, bytes, 64);
                void *want = aligned_alloc(64, bytes + 64);
                if (!want) abort();
                mzc_freeze(c);
                c->ref->quantise_row(x, n, want);
                c->k->quantise_row(x, n, y);
                int64_t n_blk = mz_q8_n_blk(n);
                mzc_expect_f32(c, mz_q8_d(y, n_blk), mz_q8_d(want, n_blk), n_blk, "d");
                if (!c->failed && memcmp(y, want, (size_t)(32 * n_blk)) != 0) mzc_fail(c, "q differs");
                size_t rest = (size_t)(36 * n_blk);
                if (!c->failed && memcmp((uint8_t *)y + rest, (uint8_t *)want + rest, bytes - rest) != 0)
                    mzc_fail(c, "sums or padding differ");
                if (c->failed) mzc_fail(c, "; n %lld, values %s", (long long)n, mzc_kind_name[kind]);
                free(want);
                mzc_end(c);
            }
        }
    }
}
