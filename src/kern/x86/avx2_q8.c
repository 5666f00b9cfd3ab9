/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_q8.c: formats whose codes are signed bytes: Q8_0, and the table formats IQ4_NL and IQ4_XS. */
#include "avx2_low.h"
#include "avx2_sets.h"

MZ_INLINE void unpack_q8_0(const uint8_t *panel, int64_t b, __m256i c[8], __m256 *d, __m256 *m)
{
    (void)m;
    panel += b * 272;
    MZ_UNROLL
    for (int g = 0; g < 8; g++) c[g] = v_load(panel + MZ_P_Q8_Q + 32 * g);
    *d = v_f16x8(panel + MZ_P_Q8_D);
}

MZ_INLINE void iq4_codes(const uint8_t *p, __m256i c[8])
{
    const __m256i table =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113));
    const __m256i low = _mm256_set1_epi8(15);
    MZ_UNROLL
    for (int k = 0; k < 4; k++) {
        const __m256i v = v_load(p + 32 * k);
        c[k] = _mm256_shuffle_epi8(table, _mm256_and_si256(v, low));
        c[k + 4] = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), low));
    }
}

MZ_INLINE void unpack_iq4_nl(const uint8_t *panel, int64_t b, __m256i c[8], __m256 *d, __m256 *m)
{
    (void)m;
    panel += b * 144;
    iq4_codes(panel + MZ_P_NIB, c);
    *d = v_f16x8(panel + MZ_P_Q4_D);
}

/* 6-bit scales less 32, as [8 blocks][8 rows] bytes in sc[0..1]: blocks 0, 2, 4, 6 (low nibbles), then 1, 3, 5, 7. */
MZ_INLINE void prep_iq4_xs(const uint8_t *sb, mz_sub *sub, __m256 *d, __m256 *dmin)
{
    (void)dmin;
    const __m256i low = _mm256_set1_epi8(15), l = v_load(sb + MZ_P_IQ4XS_SL);
    sub->sc[0] = _mm256_and_si256(l, low);
    sub->sc[1] = _mm256_and_si256(_mm256_srli_epi16(l, 4), low);
    sub->mn[0] = _mm256_cvtepu16_epi32(v_load16(sb + MZ_P_IQ4XS_SH));
    *d = v_f16x8(sb + MZ_P_IQ4XS_D);
}

MZ_INLINE void unpack_iq4_xs(const uint8_t *sb, const mz_sub *sub, const int b, __m256i c[8], __m256i *mul0, __m256i *mul1, __m256i *cor)
{
    (void)cor;
    iq4_codes(sb + MZ_P_IQ4XS_QS + 128 * b, c);
    const __m256i l = _mm256_cvtepu8_epi32(v_load8((const uint8_t *)&sub->sc[b & 1] + 8 * (b >> 1)));
    const __m256i h = _mm256_and_si256(_mm256_srli_epi32(sub->mn[0], 2 * b), _mm256_set1_epi32(3));
    const __m256i s = _mm256_sub_epi32(_mm256_or_si256(l, _mm256_slli_epi32(h, 4)), _mm256_set1_epi32(32));
    *mul0 = *mul1 = _mm256_blend_epi16(s, _mm256_slli_epi32(s, 16), 0xaa);
}

void mz_avx2_q8_0(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1)
{
    mz_low_a(unpack_q8_0, MZ_DOT_I8, MZ_TERM_D, 0, 272, mz_avx2_tile_i8_d, w, x, x_bytes, n_tok, y, ldy, out0, out1);
}

void mz_avx2_iq4_nl(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1)
{
    mz_low_a(unpack_iq4_nl, MZ_DOT_I8, MZ_TERM_D, 0, 144, mz_avx2_tile_i8_d, w, x, x_bytes, n_tok, y, ldy, out0, out1);
}

void mz_avx2_iq4_xs(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1)
{
    mz_low_b(prep_iq4_xs, unpack_iq4_xs, MZ_DOT_I8, MZ_TERM_NONE, 1088, mz_avx2_tile_i8, w, x, x_bytes, n_tok, y, ldy, out0, out1);
}
