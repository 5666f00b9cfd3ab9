/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_tq.c: ternary formats TQ1_0 and TQ2_0: codes 0..2 (3) less one, one scale a super-block. */
#include "avx2_low.h"
#include "avx2_sets.h"

MZ_INLINE void ones(__m256i *mul0, __m256i *mul1, __m256i *cor)
{
    *mul0 = *mul1 = _mm256_set1_epi16(1);
    *cor = _mm256_set1_epi16(-1);
}

MZ_INLINE void prep_tq2_0(const uint8_t *sb, mz_sub *sub, __m256 *d, __m256 *dmin)
{
    (void)sub, (void)dmin;
    *d = v_f16x8(sb + MZ_P_TQ2_D);
}

MZ_INLINE void unpack_tq2_0(const uint8_t *sb, const mz_sub *sub, const int b, __m256i c[8], __m256i *mul0, __m256i *mul1, __m256i *cor)
{
    (void)sub;
    MZ_UNROLL
    for (int g = 0; g < 8; g++) {
        const __m256i v = v_load(sb + MZ_P_TQ2_QS + 256 * (b >> 2) + 32 * g);
        c[g] = _mm256_and_si256(b & 3 ? _mm256_srli_epi16(v, 2 * (b & 3)) : v, _mm256_set1_epi8(3));
    }
    ones(mul0, mul1, cor);
}

MZ_INLINE void prep_tq1_0(const uint8_t *sb, mz_sub *sub, __m256 *d, __m256 *dmin)
{
    (void)sub, (void)dmin;
    *d = v_f16x8(sb + MZ_P_TQ1_D);
}

/* Digit n of each byte: x = v * 3^n mod 256, then (3 x) >> 8, which is (x >= 86) + (x >= 171). */
MZ_INLINE __m256i digit(__m256i v, const int n)
{
    MZ_UNROLL
    for (int i = 0; i < n; i++) v = _mm256_add_epi8(v, _mm256_add_epi8(v, v));
    const __m256i a = _mm256_set1_epi8(86), b = _mm256_set1_epi8((char)171);
    const __m256i minus = _mm256_add_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(v, a), v), _mm256_cmpeq_epi8(_mm256_max_epu8(v, b), v));
    return _mm256_sub_epi8(_mm256_setzero_si256(), minus);
}

/* Blocks 0-4 are the digits of bytes 0-31; the half blocks after them the digits of bytes 32-47, and the last half
 * the four digits of the four bytes of qh. */
MZ_INLINE void unpack_tq1_0(const uint8_t *sb, const mz_sub *sub, const int b, __m256i c[8], __m256i *mul0, __m256i *mul1, __m256i *cor)
{
    (void)sub;
    MZ_UNROLL
    for (int g = 0; g < 8; g++) {
        const int half = 2 * (b - 5) + (g >> 2);
        if (b < 5)
            c[g] = digit(v_load(sb + MZ_P_TQ1_QS + 32 * g), b);
        else if (half < 5)
            c[g] = digit(v_load(sb + MZ_P_TQ1_QS + 256 + 32 * (g & 3)), half);
        else
            c[g] = digit(v_load(sb + MZ_P_TQ1_QH), g & 3);
    }
    ones(mul0, mul1, cor);
}

void mz_avx2_tq2_0(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1)
{
    mz_low_b(prep_tq2_0, unpack_tq2_0, MZ_DOT_FULL, MZ_TERM_COR, 528, mz_avx2_tile_full_cor, w, x, x_bytes, n_tok, y, ldy, out0, out1);
}

void mz_avx2_tq1_0(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1)
{
    mz_low_b(prep_tq1_0, unpack_tq1_0, MZ_DOT_FULL, MZ_TERM_COR, 432, mz_avx2_tile_full_cor, w, x, x_bytes, n_tok, y, ldy, out0, out1);
}
