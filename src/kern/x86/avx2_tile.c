/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_tile.c: the tiles of avx2_low.h: up to 4 tokens × 2 panels over unpacked strips. */
#include "avx2_low.h"

MZ_INLINE void load_acc(const int np, const int nt, const float *y, int64_t ldy, int64_t n_row, bool first, __m256 acc[2][MZ_TILE])
{
    MZ_UNROLL
    for (int t = 0; t < nt; t++) {
        float tmp[16] = {0};
        if (!first) memcpy(tmp, y + t * ldy, (size_t)(n_row < 8 * np ? n_row : 8 * np) * sizeof(float));
        MZ_UNROLL
        for (int p = 0; p < np; p++) acc[p][t] = _mm256_loadu_ps(tmp + 8 * p);
    }
}

MZ_INLINE void store_acc(const int np, const int nt, float *y, int64_t ldy, int64_t n_row, __m256 acc[2][MZ_TILE])
{
    MZ_UNROLL
    for (int t = 0; t < nt; t++) {
        MZ_UNROLL
        for (int p = 0; p < np; p++) v_store_n(y + t * ldy + 8 * p, acc[p][t], n_row - 8 * p);
    }
}

MZ_INLINE void tile_a(const int np, const int nt, const mz_dot dot, const mz_term term, const mz_strip_a *w, int64_t n_blk, __m256i off,
                      mz_act x, float *y, int64_t ldy, int64_t n_row, bool first)
{
    __m256 acc[2][MZ_TILE];
    load_acc(np, nt, y, ldy, n_row, first, acc);
    for (int64_t b = 0; b < n_blk; b++, x = act_next(x, 1)) {
        const __m256 d[2] = {w[0].d[b], w[np - 1].d[b]}, m[2] = {w[0].m[b], w[np - 1].m[b]};
        block_a(np, nt, dot, term, (const __m256i *const[2]){w[0].code[b], w[np - 1].code[b]}, d, m, off, x, acc);
    }
    store_acc(np, nt, y, ldy, n_row, acc);
}

MZ_INLINE void tile_b(const int np, const int nt, const mz_dot dot, const mz_term term, const mz_strip_b *w, int64_t n_blk, mz_act x,
                      float *y, int64_t ldy, int64_t n_row, bool first)
{
    const mz_strip_b *const w1 = &w[np - 1];
    __m256 acc[2][MZ_TILE], sum[2][MZ_TILE];
    load_acc(np, nt, y, ldy, n_row, first, acc);
    for (int64_t b0 = 0; b0 < n_blk; b0 += 8, x = act_next(x, 8)) {
        mz_act a = x;
        memset(sum, 0, sizeof sum);
        for (int64_t b = b0; b < b0 + 8; b++, a = act_next(a, 1)) {
            const __m256i mul[2][2] = {{w->mul[b][0], w->mul[b][1]}, {w1->mul[b][0], w1->mul[b][1]}}, cor[2] = {w->cor[b], w1->cor[b]};
            block_b(np, nt, dot, term, (const __m256i *const[2]){w->code[b], w1->code[b]}, mul, cor, a, sum);
        }
        MZ_UNROLL
        for (int t = 0; t < nt; t++) {
            acc[0][t] = _mm256_fmadd_ps(sum[0][t], w->d[b0 / 8], acc[0][t]);
            if (np > 1) acc[1][t] = _mm256_fmadd_ps(sum[1][t], w1->d[b0 / 8], acc[1][t]);
        }
        if (term != MZ_TERM_MIN) continue;
        a = x;
        memset(sum, 0, sizeof sum);
        for (int64_t b = b0; b < b0 + 8; b++, a = act_next(a, 1)) block_min(np, nt, (const __m256i[2]){w->cor[b], w1->cor[b]}, a, sum);
        MZ_UNROLL
        for (int t = 0; t < nt; t++) {
            acc[0][t] = _mm256_fnmadd_ps(sum[0][t], w->dmin[b0 / 8], acc[0][t]);
            if (np > 1) acc[1][t] = _mm256_fnmadd_ps(sum[1][t], w1->dmin[b0 / 8], acc[1][t]);
        }
    }
    store_acc(np, nt, y, ldy, n_row, acc);
}

/* Two panels whatever is left of the tile; one only where there is no second (the last of a slice). */
#define TILE_SWITCH(call, dot, term)       \
    switch (n_row > 8 ? n_tok : 5) {       \
    case 1: call(2, 1, dot, term); return; \
    case 2: call(2, 2, dot, term); return; \
    case 3: call(2, 3, dot, term); return; \
    case 4: call(2, 4, dot, term); return; \
    default: break;                        \
    }                                      \
    if (n_tok == MZ_TILE) {                \
        call(1, 4, dot, term);             \
        return;                            \
    }                                      \
    for (; n_tok > 0; n_tok--, x.q += x.stride, x.d += x.stride, x.s += x.stride, y += ldy) call(1, 1, dot, term);

#define CALL_A(np, nt, dot, term) tile_a(np, nt, dot, term, w, n_blk, off, x, y, ldy, n_row, first)
#define CALL_B(np, nt, dot, term) tile_b(np, nt, dot, term, w, n_blk, x, y, ldy, n_row, first)

#define TILE_A(name, dot, term)                                                                                                       \
    void name(const mz_strip_a *w, int64_t n_blk, __m256i off, mz_act x, int n_tok, float *y, int64_t ldy, int64_t n_row, bool first) \
    {                                                                                                                                 \
        TILE_SWITCH(CALL_A, dot, term)                                                                                                \
    }
#define TILE_B(name, dot, term)                                                                                          \
    void name(const mz_strip_b *w, int64_t n_blk, mz_act x, int n_tok, float *y, int64_t ldy, int64_t n_row, bool first) \
    {                                                                                                                    \
        TILE_SWITCH(CALL_B, dot, term)                                                                                   \
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
