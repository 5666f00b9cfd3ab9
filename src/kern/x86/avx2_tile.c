/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_tile.c: the tiles of avx2_low.h: up to 4 tokens × 8 rows over an unpacked strip. */
#include "avx2_low.h"

MZ_INLINE void load_acc(const int nt, const float *y, int64_t ldy, int64_t n_row, bool first, __m256 acc[MZ_TILE])
{
#pragma GCC unroll 4
    for (int t = 0; t < nt; t++) {
        float tmp[8] = {0};
        if (!first) memcpy(tmp, y + t * ldy, (size_t)(n_row < 8 ? n_row : 8) * sizeof(float));
        acc[t] = _mm256_loadu_ps(tmp);
    }
}

MZ_INLINE void tile_a(const int nt, const mz_dot dot, const mz_term term, const mz_strip_a *w, int64_t n_blk, __m256i off, mz_act x, float *y,
                      int64_t ldy, int64_t n_row, bool first)
{
    __m256 acc[MZ_TILE];
    load_acc(nt, y, ldy, n_row, first, acc);
    for (int64_t b = 0; b < n_blk; b++, x = act_next(x, 1)) block_a(nt, dot, term, w->code[b], w->d[b], w->m[b], off, x, acc);
#pragma GCC unroll 4
    for (int t = 0; t < nt; t++) v_store_n(y + t * ldy, acc[t], n_row);
}

MZ_INLINE void tile_b(const int nt, const mz_dot dot, const mz_term term, const mz_strip_b *w, int64_t n_blk, mz_act x, float *y, int64_t ldy,
                      int64_t n_row, bool first)
{
    __m256 acc[MZ_TILE];
    load_acc(nt, y, ldy, n_row, first, acc);
    for (int64_t b0 = 0; b0 < n_blk; b0 += 8) {
        __m256 p[MZ_TILE] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
        mz_act a = x;
        for (int64_t b = b0; b < b0 + 8; b++, a = act_next(a, 1))
            block_b(nt, dot, term, w->code[b], w->mul[b][0], w->mul[b][1], w->cor[b], a, p);
#pragma GCC unroll 4
        for (int t = 0; t < nt; t++) {
            acc[t] = _mm256_fmadd_ps(p[t], w->d[b0 / 8], acc[t]);
            if (term != MZ_TERM_MIN) continue;
            __m256 m = _mm256_setzero_ps();
            a = x;
#pragma GCC unroll 8
            for (int b = 0; b < 8; b++, a = act_next(a, 1)) m = block_min(w->cor[b0 + b], a, t, m);
            acc[t] = _mm256_fnmadd_ps(m, w->dmin[b0 / 8], acc[t]);
        }
        x = act_next(x, 8);
    }
#pragma GCC unroll 4
    for (int t = 0; t < nt; t++) v_store_n(y + t * ldy, acc[t], n_row);
}

#define TILE_A(name, dot, term)                                                                                                          \
    void name(const mz_strip_a *w, int64_t n_blk, __m256i off, mz_act x, int n_tok, float *y, int64_t ldy, int64_t n_row, bool first)      \
    {                                                                                                                                    \
        switch (n_tok) {                                                                                                                 \
        case 1: tile_a(1, dot, term, w, n_blk, off, x, y, ldy, n_row, first); return;                                                    \
        case 2: tile_a(2, dot, term, w, n_blk, off, x, y, ldy, n_row, first); return;                                                    \
        case 3: tile_a(3, dot, term, w, n_blk, off, x, y, ldy, n_row, first); return;                                                    \
        default: tile_a(4, dot, term, w, n_blk, off, x, y, ldy, n_row, first); return;                                                   \
        }                                                                                                                                \
    }
#define TILE_B(name, dot, term)                                                                                                          \
    void name(const mz_strip_b *w, int64_t n_blk, mz_act x, int n_tok, float *y, int64_t ldy, int64_t n_row, bool first)                  \
    {                                                                                                                                    \
        switch (n_tok) {                                                                                                                 \
        case 1: tile_b(1, dot, term, w, n_blk, x, y, ldy, n_row, first); return;                                                         \
        case 2: tile_b(2, dot, term, w, n_blk, x, y, ldy, n_row, first); return;                                                         \
        case 3: tile_b(3, dot, term, w, n_blk, x, y, ldy, n_row, first); return;                                                         \
        default: tile_b(4, dot, term, w, n_blk, x, y, ldy, n_row, first); return;                                                        \
        }                                                                                                                                \
    }

TILE_A(mz_avx2_tile_full_d, MZ_DOT_FULL, MZ_TERM_D)
TILE_A(mz_avx2_tile_full_dm, MZ_DOT_FULL, MZ_TERM_DM)
TILE_A(mz_avx2_tile_half_d, MZ_DOT_HALF, MZ_TERM_D)
TILE_A(mz_avx2_tile_half_dm, MZ_DOT_HALF, MZ_TERM_DM)
TILE_A(mz_avx2_tile_halves, MZ_DOT_HALF, MZ_TERM_HALVES)
TILE_A(mz_avx2_tile_i8_d, MZ_DOT_I8, MZ_TERM_D)
TILE_B(mz_avx2_tile_full_min, MZ_DOT_FULL, MZ_TERM_MIN)
TILE_B(mz_avx2_tile_half_min, MZ_DOT_HALF, MZ_TERM_MIN)
TILE_B(mz_avx2_tile_half_cor, MZ_DOT_HALF, MZ_TERM_COR)
TILE_B(mz_avx2_tile_quarter_cor, MZ_DOT_QUARTER, MZ_TERM_COR)
TILE_B(mz_avx2_tile_full_cor, MZ_DOT_FULL, MZ_TERM_COR)
TILE_B(mz_avx2_tile_i8, MZ_DOT_I8, MZ_TERM_NONE)
