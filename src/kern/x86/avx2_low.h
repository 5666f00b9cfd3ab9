/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_low.h: low-bit matrix products over panels of 8 rows, for every format.
 *
 * Lanes are output rows, so the order of float operations is that of kern.h whatever the number of tokens. Two
 * families: "a" has one or two scales a block of 32, "b" is chained over super-blocks of 256.
 *   one token    format code unpacks a block in registers and multiplies it (mz_low_a, mz_low_b)
 *   many tokens  a strip of a panel is unpacked once into mz_strip_a / mz_strip_b on the stack (first-level cache),
 *                then tiles of MZ_TILE tokens run over it (avx2_tile.c); sums wait in y between strips
 * The dot of a block: code byte g of 4 columns × 8 rows, times 4 activation bytes in every lane.
 *   unsigned codes: vpmaddubsw, summed in 16 bits as far as |sum| < 2^15 allows (MZ_DOT_FULL: 4 bits, whole block;
 *   HALF: 24*254*5 or 31*254*4, 16 columns; QUARTER: 63*254*2, 8 columns), then vpmaddwd by 1 or by the sub-scales
 *   signed bytes (I8): |w| times a with the sign of w. |w| <= 128 and |a| <= 127, so a pair is at most 32512
 *
 * Pure functions, any thread; 48 KiB of stack. */
#ifndef MZ_KERN_AVX2_LOW_H
#define MZ_KERN_AVX2_LOW_H

#include "avx2_common.h"
#include "kern/panel.h"

#define MZ_TILE        4                 /* tokens of a tile */
#define MZ_STRIP       64                /* blocks of a strip; whole super-blocks. Short strips spend their time on y */
#define MZ_CHUNK_BYTES ((size_t)2 << 20) /* of quantised activations walked per panel: they may come from the third-level cache */

typedef enum mz_dot { MZ_DOT_FULL, MZ_DOT_HALF, MZ_DOT_QUARTER, MZ_DOT_I8 } mz_dot;

/* What follows the dot. a: D fmaf(I, d da); DM and fmaf(S, m da); HALVES one fmaf per 16 columns.
 * b: COR I += cor · s; MIN the chain of minima; NONE. */
typedef enum mz_term { MZ_TERM_D, MZ_TERM_DM, MZ_TERM_HALVES, MZ_TERM_COR, MZ_TERM_MIN, MZ_TERM_NONE } mz_term;

typedef struct mz_strip_a {
    __m256i code[MZ_STRIP][8];
    __m256 d[MZ_STRIP], m[MZ_STRIP]; /* m: minimum, or the scale of the second half */
} mz_strip_a;

typedef struct mz_strip_b {
    __m256i code[MZ_STRIP][8];
    __m256i mul[MZ_STRIP][2]; /* sub-scales of the halves, as equal pairs of i16 */
    __m256i cor[MZ_STRIP];    /* i16 pairs to multiply with the half sums: minima, or -offset * scale */
    __m256 d[MZ_STRIP / 8], dmin[MZ_STRIP / 8];
} mz_strip_b;

/* The activations a tile reads, at its first token and the strip's first block. */
typedef struct mz_act {
    const uint8_t *q, *d, *s;
    size_t stride; /* bytes to the next token */
} mz_act;

MZ_INLINE mz_act act_at(const void *x, size_t x_bytes, int64_t n_blk, int64_t i_tok, int64_t b)
{
    const uint8_t *row = (const uint8_t *)x + (size_t)i_tok * x_bytes;
    return (mz_act){row + 32 * b, row + 32 * n_blk + 4 * b, row + 36 * n_blk + 4 * b, x_bytes};
}

/* Tiles of n_tok <= MZ_TILE tokens × 2 panels over n_blk blocks of their strips w[0], w[1]: y[t * ldy + 0..n_row) continues
 * from its content, or from +0 when first; n_row <= 8 makes w[1] unused. off: the i16 pair -offset in every lane. */
typedef void mz_tile_a_fn(const mz_strip_a *w, int64_t n_blk, __m256i off, mz_act x, int n_tok, float *y, int64_t ldy, int64_t n_row,
                          bool first);
typedef void mz_tile_b_fn(const mz_strip_b *w, int64_t n_blk, mz_act x, int n_tok, float *y, int64_t ldy, int64_t n_row, bool first);
mz_tile_a_fn mz_avx2_tile_full_d, mz_avx2_tile_full_dm, mz_avx2_tile_half_d, mz_avx2_tile_half_dm, mz_avx2_tile_halves, mz_avx2_tile_i8_d;
mz_tile_b_fn mz_avx2_tile_full_min, mz_avx2_tile_half_min, mz_avx2_tile_half_cor, mz_avx2_tile_quarter_cor, mz_avx2_tile_full_cor,
    mz_avx2_tile_i8;

/* sum[p][t] = Σ over groups g0..g1 of code · q for np panels and nt tokens; each half block is multiplied by its mul.
 * A broadcast of activations serves both panels. Short 16-bit sums go token by token, to keep few registers live. */
MZ_INLINE void dot_groups(const int np, const int nt, const mz_dot dot, const int g0, const int g1, const __m256i *const c[2],
                          const __m256i (*mul)[2], const mz_act x, __m256i sum[2][MZ_TILE])
{
    const int len = dot == MZ_DOT_FULL ? 8 : dot == MZ_DOT_HALF ? 4 : dot == MZ_DOT_QUARTER ? 2 : 1; /* groups of a 16-bit sum */
    __m256i acc[2][MZ_TILE];
    MZ_UNROLL
    for (int g = g0; g < g1; g += len < 4 ? len : 1) {
        MZ_UNROLL
        for (int t = 0; t < nt; t++) {
            const uint8_t *q = x.q + (size_t)t * x.stride + 4 * g;
            const __m256i a = v_bcast4(q);
            MZ_UNROLL
            for (int p = 0; p < np; p++) {
                const __m256i w = c[p][g];
                __m256i s;
                if (dot == MZ_DOT_I8) {
                    s = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(a, w));
                } else if (dot == MZ_DOT_QUARTER) {
                    s = _mm256_add_epi16(_mm256_maddubs_epi16(w, a), _mm256_maddubs_epi16(c[p][g + 1], v_bcast4(q + 4)));
                } else {
                    s = _mm256_maddubs_epi16(w, a);
                    if ((g - g0) % len) s = _mm256_add_epi16(acc[p][t], s);
                    MZ_PIN(s);
                    acc[p][t] = s;
                    if ((g - g0) % len != len - 1 && g != g1 - 1) continue;
                }
                s = _mm256_madd_epi16(s, mul[p][g < 4 ? 0 : 1]);
                sum[p][t] = g - g0 < len ? s : _mm256_add_epi32(sum[p][t], s);
                MZ_PIN(sum[p][t]);
            }
        }
    }
}

MZ_INLINE __m256 act_d(const mz_act x, int t)
{
    return _mm256_castsi256_ps(v_bcast4(x.d + (size_t)t * x.stride));
}
MZ_INLINE __m256i act_s(const mz_act x, int t)
{
    return v_bcast4(x.s + (size_t)t * x.stride);
}

/* fmaf(I, scale * da) and what term adds, for the sums of one block or half block; off or one meet the half sums. */
MZ_INLINE void finish_a(const int np, const int nt, const mz_dot dot, const mz_term term, __m256i sum[2][MZ_TILE], const __m256 *d,
                        const __m256 *m, __m256i off, const mz_act x, __m256 acc[2][MZ_TILE])
{
    const __m256i one = _mm256_set1_epi16(1);
    MZ_UNROLL
    for (int t = 0; t < nt; t++) {
        const __m256 da = act_d(x, t);
        __m256i s = off;
        if (dot != MZ_DOT_I8) s = _mm256_madd_epi16(act_s(x, t), term == MZ_TERM_DM ? one : off);
        MZ_UNROLL
        for (int p = 0; p < np; p++) {
            __m256i i = sum[p][t];
            if (term != MZ_TERM_DM && dot != MZ_DOT_I8) i = _mm256_add_epi32(i, s);
            acc[p][t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(i), _mm256_mul_ps(d[p], da), acc[p][t]);
            if (term == MZ_TERM_DM) acc[p][t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(s), _mm256_mul_ps(m[p], da), acc[p][t]);
        }
    }
}

/* One block of family a: continues the chains acc[p][t]. */
MZ_INLINE void block_a(const int np, const int nt, const mz_dot dot, const mz_term term, const __m256i *const c[2], const __m256 *d,
                       const __m256 *m, __m256i off, const mz_act x, __m256 acc[2][MZ_TILE])
{
    const __m256i one = _mm256_set1_epi16(1);
    const __m256i mul[2][2] = {{one, one}, {one, one}};
    __m256i sum[2][MZ_TILE];
    if (term == MZ_TERM_HALVES) { /* the offset meets only the half's own sum */
        dot_groups(np, nt, dot, 0, 4, c, mul, x, sum);
        finish_a(np, nt, dot, term, sum, d, m, _mm256_srli_epi32(off, 16), x, acc);
        dot_groups(np, nt, dot, 4, 8, c, mul, x, sum);
        finish_a(np, nt, dot, term, sum, m, m, _mm256_slli_epi32(off, 16), x, acc);
    } else {
        dot_groups(np, nt, dot, 0, 8, c, mul, x, sum);
        finish_a(np, nt, dot, term, sum, d, m, off, x, acc);
    }
}

/* One block of family b: continues the chains acc[p][t] inside a super-block. */
MZ_INLINE void block_b(const int np, const int nt, const mz_dot dot, const mz_term term, const __m256i *const c[2], const __m256i (*mul)[2],
                       const __m256i *cor, const mz_act x, __m256 acc[2][MZ_TILE])
{
    __m256i sum[2][MZ_TILE];
    dot_groups(np, nt, dot, 0, 8, c, mul, x, sum);
    MZ_UNROLL
    for (int t = 0; t < nt; t++) {
        const __m256 da = act_d(x, t);
        const __m256i s = act_s(x, t);
        MZ_UNROLL
        for (int p = 0; p < np; p++) {
            __m256i i = sum[p][t];
            if (term == MZ_TERM_COR) i = _mm256_add_epi32(i, _mm256_madd_epi16(s, cor[p]));
            acc[p][t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(i), da, acc[p][t]);
        }
    }
}

/* One block of the chain of minima. */
MZ_INLINE void block_min(const int np, const int nt, const __m256i *mn, const mz_act x, __m256 acc[2][MZ_TILE])
{
    MZ_UNROLL
    for (int t = 0; t < nt; t++) {
        const __m256 da = act_d(x, t);
        const __m256i s = act_s(x, t);
        MZ_UNROLL
        for (int p = 0; p < np; p++) acc[p][t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_madd_epi16(s, mn[p])), da, acc[p][t]);
    }
}

MZ_INLINE mz_act act_next(mz_act x, int64_t n_blk)
{
    return (mz_act){x.q + 32 * n_blk, x.d + 4 * n_blk, x.s + 4 * n_blk, x.stride};
}

/* Tokens walked per panel before the next panel, a multiple of the tile. */
MZ_INLINE int64_t chunk_tok(size_t x_bytes)
{
    const int64_t n = (int64_t)(MZ_CHUNK_BYTES / (x_bytes + 1)) / MZ_TILE * MZ_TILE;
    return n < MZ_TILE ? MZ_TILE : n;
}

MZ_INLINE int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* One token reads each weight once, from memory: the lines of n bytes that come MZ_AHEAD later are asked for now. Panels follow
 * one another, so looking past the end of one is looking into the next. Measured on Zen 3 from memory: Q4_0 and Q8_0 gain a
 * tenth, Q6_K doubles; distances of 1 to 8 KiB do equally well. */
#define MZ_AHEAD 2048
MZ_INLINE void ask_ahead(const uint8_t *p, const size_t n)
{
    MZ_UNROLL
    for (size_t i = 0; i < n; i += 64) _mm_prefetch((const char *)p + MZ_AHEAD + i, _MM_HINT_T0);
}

/* Unpacks block b of a panel. */
typedef void mz_unpack_a_fn(const uint8_t *panel, int64_t b, __m256i c[8], __m256 *d, __m256 *m);

/* block_bytes: of a panel's block of 32 columns. */
MZ_INLINE void mz_low_a(mz_unpack_a_fn *unpack, const mz_dot dot, const mz_term term, const int offset, const size_t block_bytes,
                        mz_tile_a_fn *tile, const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy,
                        int64_t out0, int64_t out1)
{
    const int64_t n_blk = mz_q8_n_blk(w->n_in);
    const __m256i off = _mm256_set1_epi16((int16_t)-offset);
    if (n_tok == 1) {
        for (int64_t o = out0; o < out1; o += 8) {
            const uint8_t *panel = w->data + (size_t)o * w->row_bytes;
            mz_act a = act_at(x, x_bytes, n_blk, 0, 0);
            __m256 acc[2][MZ_TILE] = {{_mm256_setzero_ps()}};
            for (int64_t b = 0; b < n_blk; b++, a = act_next(a, 1)) {
                __m256i c[8];
                __m256 d, m = _mm256_setzero_ps();
                ask_ahead(panel + block_bytes * (size_t)b, block_bytes);
                unpack(panel, b, c, &d, &m);
                block_a(1, 1, dot, term, (const __m256i *const[2]){c, c}, &d, &m, off, a, acc);
            }
            v_store_n(y + o, acc[0][0], out1 - o);
        }
        return;
    }
    mz_strip_a strip[2];
    const int64_t chunk = chunk_tok(x_bytes);
    for (int64_t t0 = 0; t0 < n_tok; t0 += chunk) {
        const int64_t t1 = min_i64(t0 + chunk, n_tok);
        for (int64_t o = out0; o < out1; o += 16) {
            for (int64_t b0 = 0; b0 < n_blk; b0 += MZ_STRIP) {
                const int64_t nb = min_i64(n_blk - b0, MZ_STRIP);
                for (int64_t p = 0; p < 2 && o + 8 * p < out1; p++) {
                    const uint8_t *panel = w->data + (size_t)(o + 8 * p) * w->row_bytes;
                    for (int64_t b = 0; b < nb; b++) {
                        __m256 m = _mm256_setzero_ps();
                        unpack(panel, b0 + b, strip[p].code[b], &strip[p].d[b], &m);
                        strip[p].m[b] = m;
                    }
                }
                for (int64_t t = t0; t < t1; t += MZ_TILE)
                    tile(strip, nb, off, act_at(x, x_bytes, n_blk, t, b0), (int)min_i64(t1 - t, MZ_TILE), y + t * ldy + o, ldy, out1 - o,
                         b0 == 0);
            }
        }
    }
}

/* The sub-scales of a super-block as the format code finds them: bytes [8 or 16 groups][8 rows]. */
typedef struct mz_sub {
    __m256i sc[4], mn[4];
} mz_sub;
typedef void mz_prep_b_fn(const uint8_t *sb, mz_sub *sub, __m256 *d, __m256 *dmin);
/* Unpacks block b (0..7) of the super-block. */
typedef void mz_unpack_b_fn(const uint8_t *sb, const mz_sub *sub, const int b, __m256i c[8], __m256i *mul0, __m256i *mul1, __m256i *cor);

MZ_INLINE void mz_low_b(mz_prep_b_fn *prep, mz_unpack_b_fn *unpack, const mz_dot dot, const mz_term term, const size_t sb_bytes,
                        mz_tile_b_fn *tile, const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy,
                        int64_t out0, int64_t out1)
{
    const int64_t n_blk = mz_q8_n_blk(w->n_in);
    const __m256 zero = _mm256_setzero_ps();
    if (n_tok == 1) {
        for (int64_t o = out0; o < out1; o += 8) {
            const uint8_t *sb = w->data + (size_t)o * w->row_bytes;
            mz_act a = act_at(x, x_bytes, n_blk, 0, 0);
            __m256 acc = zero;
            for (int64_t b0 = 0; b0 < n_blk; b0 += 8, sb += sb_bytes) {
                mz_sub sub;
                __m256 d, dmin = zero, sum[2][MZ_TILE] = {{zero}}, m[2][MZ_TILE] = {{zero}};
                prep(sb, &sub, &d, &dmin);
                MZ_UNROLL
                for (int b = 0; b < 8; b++) {
                    ask_ahead(sb + sb_bytes / 8 * (size_t)b, sb_bytes / 8);
                    __m256i c[8], mul[2], cor = _mm256_setzero_si256();
                    unpack(sb, &sub, b, c, &mul[0], &mul[1], &cor);
                    block_b(1, 1, dot, term, (const __m256i *const[2]){c, c}, (const __m256i(*)[2]) & mul, &cor, a, sum);
                    if (term == MZ_TERM_MIN) block_min(1, 1, &cor, a, m);
                    a = act_next(a, 1);
                }
                acc = _mm256_fmadd_ps(sum[0][0], d, acc);
                if (term == MZ_TERM_MIN) acc = _mm256_fnmadd_ps(m[0][0], dmin, acc);
            }
            v_store_n(y + o, acc, out1 - o);
        }
        return;
    }
    mz_strip_b strip[2];
    const int64_t chunk = chunk_tok(x_bytes);
    for (int64_t t0 = 0; t0 < n_tok; t0 += chunk) {
        const int64_t t1 = min_i64(t0 + chunk, n_tok);
        for (int64_t o = out0; o < out1; o += 16) {
            for (int64_t b0 = 0; b0 < n_blk; b0 += MZ_STRIP) {
                const int64_t nb = min_i64(n_blk - b0, MZ_STRIP);
                for (int64_t i = 0; i < nb / 4; i++) { /* super-block i / 2 of panel i % 2 */
                    if (o + (i & 1) * 8 >= out1) continue;
                    const uint8_t *sb = w->data + (size_t)(o + (i & 1) * 8) * w->row_bytes + (size_t)(b0 / 8 + i / 2) * sb_bytes;
                    mz_strip_b *to = &strip[i & 1];
                    mz_sub sub;
                    __m256 dmin = zero;
                    prep(sb, &sub, &to->d[i / 2], &dmin);
                    to->dmin[i / 2] = dmin;
                    MZ_UNROLL
                    for (int b = 0; b < 8; b++) {
                        __m256i cor = _mm256_setzero_si256();
                        const int64_t j = i / 2 * 8 + b;
                        unpack(sb, &sub, b, to->code[j], &to->mul[j][0], &to->mul[j][1], &cor);
                        to->cor[j] = cor;
                    }
                }
                for (int64_t t = t0; t < t1; t += MZ_TILE)
                    tile(strip, nb, act_at(x, x_bytes, n_blk, t, b0), (int)min_i64(t1 - t, MZ_TILE), y + t * ldy + o, ldy, out1 - o,
                         b0 == 0);
            }
        }
    }
}

#endif
