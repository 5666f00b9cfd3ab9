/* SPDX-License-Identifier: Apache-2.0
 *
 * wide_tile.c: the tiles of wide_low.h: up to MZ_WTILE tokens × 16 rows over an unpacked strip. */
#include "wide_low.h"

MZ_INLINE void tile(const int nt, const mz_wdot dot, const mz_wterm term, const mz_wstrip *w, int64_t n_blk, int offset, mz_wact x,
                    float *y, int64_t ldy, int64_t n_row, bool first)
{
    wf acc[MZ_WTILE];
    MZ_UNROLL
    for (int t = 0; t < nt; t++) acc[t] = first ? wf_zero() : wf_load_n(y + t * ldy, n_row);
    if (term == MZ_WTERM_D || term == MZ_WTERM_DM || term == MZ_WTERM_HALVES) {
        for (int64_t b = 0; b < n_blk; b++, x = act_next(x, 1)) block_step(nt, dot, term, true, offset, &w->block[b], x, acc, NULL);
    } else {
        for (int64_t b0 = 0; b0 < n_blk; b0 += 8) {
            wf sum[MZ_WTILE], min[MZ_WTILE];
            MZ_UNROLL
            for (int t = 0; t < nt; t++) sum[t] = min[t] = wf_zero();
            for (int64_t b = b0; b < b0 + 8; b++, x = act_next(x, 1)) block_step(nt, dot, term, true, offset, &w->block[b], x, sum, min);
            MZ_UNROLL
            for (int t = 0; t < nt; t++) acc[t] = super_step(term, sum[t], min[t], w->d[b0 / 8], w->dmin[b0 / 8], acc[t]);
        }
    }
    MZ_UNROLL
    for (int t = 0; t < nt; t++) wf_store_n(y + t * ldy, acc[t], n_row);
}

#define TILE(name, dot, term)                                                                                                            \
    void name(const mz_wstrip *w, int64_t n_blk, int offset, mz_wact x, int64_t n_tok, float *y, int64_t ldy, int64_t n_row, bool first) \
    {                                                                                                                                    \
        for (int n = MZ_WTILE; n > 0; n /= 2) {                                                                                          \
            for (; n_tok >= n; n_tok -= n, x.q += n * x.stride, x.d += n * x.stride, x.s += n * x.stride, y += n * ldy) {                \
                if (n == MZ_WTILE)                                                                                                       \
                    tile(MZ_WTILE, dot, term, w, n_blk, offset, x, y, ldy, n_row, first);                                                \
                else if (n == 4)                                                                                                         \
                    tile(4, dot, term, w, n_blk, offset, x, y, ldy, n_row, first);                                                       \
                else if (n == 2)                                                                                                         \
                    tile(2, dot, term, w, n_blk, offset, x, y, ldy, n_row, first);                                                       \
                else                                                                                                                     \
                    tile(1, dot, term, w, n_blk, offset, x, y, ldy, n_row, first);                                                       \
            }                                                                                                                            \
        }                                                                                                                                \
    }

TILE(W(tile_d), MZ_WDOT_5, MZ_WTERM_D)
TILE(W(tile_dm), MZ_WDOT_5, MZ_WTERM_DM)
TILE(W(tile_halves), MZ_WDOT_5, MZ_WTERM_HALVES)
TILE(W(tile_byte_d), MZ_WDOT_BYTE, MZ_WTERM_D)
TILE(W(tile_unit), MZ_WDOT_5, MZ_WTERM_UNIT)
TILE(W(tile_one_min), MZ_WDOT_5, MZ_WTERM_ONE_MIN)
TILE(W(tile_byte_one), MZ_WDOT_BYTE, MZ_WTERM_ONE)
TILE(W(tile_two), MZ_WDOT_5, MZ_WTERM_TWO)
TILE(W(tile_two_6), MZ_WDOT_6, MZ_WTERM_TWO)
TILE(W(tile_two_min), MZ_WDOT_5, MZ_WTERM_TWO_MIN)
