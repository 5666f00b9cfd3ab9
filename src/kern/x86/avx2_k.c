/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_k.c: K-quants Q2_K to Q6_K. Sub-scales are kept as bytes [group][8 rows] (mz_sub) and spread to i16 pairs
 * where they are used. */
#include "avx2_low.h"
#include "avx2_sets.h"

/* Spreads 8 scale bytes (one a row) to equal pairs of i16 in the rows' lanes. */
MZ_INLINE __m256i pair_u8(const uint8_t *sc8)
{
    int64_t v;
    memcpy(&v, sc8, sizeof v);
    const __m256i at =
        _mm256_setr_epi8(0, -1, 0, -1, 1, -1, 1, -1, 2, -1, 2, -1, 3, -1, 3, -1, 4, -1, 4, -1, 5, -1, 5, -1, 6, -1, 6, -1, 7, -1, 7, -1);
    return _mm256_shuffle_epi8(_mm256_set1_epi64x(v), at);
}
MZ_INLINE __m256i pair_i8(const uint8_t *sc8)
{
    return _mm256_srai_epi16(_mm256_slli_epi16(pair_u8(sc8), 8), 8);
}
/* Spreads the bytes of groups 2b and 2b + 1 to pairs (first, second). */
MZ_INLINE __m256i both_u8(const uint8_t *sc16)
{
    const __m256i at = _mm256_setr_epi8(0, -1, 8, -1, 1, -1, 9, -1, 2, -1, 10, -1, 3, -1, 11, -1, 4, -1, 12, -1, 5, -1, 13, -1, 6, -1, 14,
                                        -1, 7, -1, 15, -1);
    return _mm256_shuffle_epi8(v_bcast16(sc16), at);
}
MZ_INLINE __m256i both_i8(const uint8_t *sc16)
{
    return _mm256_srai_epi16(_mm256_slli_epi16(both_u8(sc16), 8), 8);
}

MZ_INLINE __m256i shr(__m256i v, const int n)
{
    return n ? _mm256_srli_epi16(v, n) : v;
}
/* (v >> n) with only the bits of mask kept in each byte. */
MZ_INLINE __m256i bits(__m256i v, const int n, const int mask)
{
    return _mm256_and_si256(shr(v, n), _mm256_set1_epi8((char)mask));
}
/* Bits from n of v moved to bit `to`. */
MZ_INLINE __m256i bits_to(__m256i v, const int n, const int to, const int mask)
{
    const __m256i s = n >= to ? shr(v, n - to) : _mm256_slli_epi16(v, to - n);
    return _mm256_and_si256(s, _mm256_set1_epi8((char)(mask << to)));
}

/* ---- Q4_K, Q5_K ------------------------------------------------------------------------------ */

MZ_INLINE void prep_q4_k(const uint8_t *sb, mz_sub *sub, __m256 *d, __m256 *dmin)
{
    const __m256i a = v_load(sb + MZ_P_Q4K_SC), b = v_load(sb + MZ_P_Q4K_SC + 32), c = v_load(sb + MZ_P_Q4K_SC + 64);
    sub->sc[0] = bits(a, 0, 63);
    sub->mn[0] = bits(b, 0, 63);
    sub->sc[1] = _mm256_or_si256(bits(c, 0, 15), bits_to(a, 6, 4, 3));
    sub->mn[1] = _mm256_or_si256(bits(c, 4, 15), bits_to(b, 6, 4, 3));
    *d = v_f16x8(sb + MZ_P_Q4K_D);
    *dmin = v_f16x8(sb + MZ_P_Q4K_DMIN);
}

MZ_INLINE void scales_q4_k(const mz_sub *sub, const int b, __m256i *mul0, __m256i *mul1, __m256i *cor)
{
    *mul0 = *mul1 = pair_u8((const uint8_t *)sub->sc + 8 * b);
    *cor = pair_u8((const uint8_t *)sub->mn + 8 * b);
}

MZ_INLINE void unpack_q4_k(const uint8_t *sb, const mz_sub *sub, const int b, __m256i c[8], __m256i *mul0, __m256i *mul1, __m256i *cor)
{
    MZ_UNROLL
    for (int g = 0; g < 8; g++) c[g] = bits(v_load(sb + MZ_P_Q4K_QS + 256 * (b >> 1) + 32 * g), 4 * (b & 1), 15);
    scales_q4_k(sub, b, mul0, mul1, cor);
}

MZ_INLINE void unpack_q5_k(const uint8_t *sb, const mz_sub *sub, const int b, __m256i c[8], __m256i *mul0, __m256i *mul1, __m256i *cor)
{
    MZ_UNROLL
    for (int g = 0; g < 8; g++) {
        const __m256i low = bits(v_load(sb + MZ_P_Q5K_QS + 256 * (b >> 1) + 32 * g), 4 * (b & 1), 15);
        c[g] = _mm256_or_si256(low, bits_to(v_load(sb + MZ_P_Q5K_QH + 32 * g), b, 4, 1));
    }
    scales_q4_k(sub, b, mul0, mul1, cor);
}

/* ---- Q6_K ------------------------------------------------------------------------------------ */

MZ_INLINE void prep_q6_k(const uint8_t *sb, mz_sub *sub, __m256 *d, __m256 *dmin)
{
    (void)sub, (void)dmin;
    *d = v_f16x8(sb + MZ_P_Q6K_D);
}

MZ_INLINE void unpack_q6_k(const uint8_t *sb, const mz_sub *sub, const int b, __m256i c[8], __m256i *mul0, __m256i *mul1, __m256i *cor)
{
    (void)sub;
    const int n = b >> 2, k = b & 3; /* half of 128 columns, block in it */
    MZ_UNROLL
    for (int g = 0; g < 8; g++) {
        const __m256i low = bits(v_load(sb + MZ_P_Q6K_QL + 512 * n + 256 * (k & 1) + 32 * g), 4 * (k >> 1), 15);
        c[g] = _mm256_or_si256(low, bits_to(v_load(sb + MZ_P_Q6K_QH + 256 * n + 32 * g), 2 * k, 4, 3));
    }
    const uint8_t *sc = sb + MZ_P_Q6K_SC + 16 * b;
    *mul0 = pair_i8(sc);
    *mul1 = pair_i8(sc + 8);
    *cor = _mm256_mullo_epi16(both_i8(sc), _mm256_set1_epi16(-32));
}

/* ---- Q2_K ------------------------------------------------------------------------------------ */

MZ_INLINE void prep_q2_k(const uint8_t *sb, mz_sub *sub, __m256 *d, __m256 *dmin)
{
    MZ_UNROLL
    for (int i = 0; i < 4; i++) {
        const __m256i v = v_load(sb + MZ_P_Q2K_SC + 32 * i);
        sub->sc[i] = bits(v, 0, 15);
        sub->mn[i] = bits(v, 4, 15);
    }
    *d = v_f16x8(sb + MZ_P_Q2K_D);
    *dmin = v_f16x8(sb + MZ_P_Q2K_DMIN);
}

MZ_INLINE void unpack_q2_k(const uint8_t *sb, const mz_sub *sub, const int b, __m256i c[8], __m256i *mul0, __m256i *mul1, __m256i *cor)
{
    MZ_UNROLL
    for (int g = 0; g < 8; g++) c[g] = bits(v_load(sb + MZ_P_Q2K_QS + 256 * (b >> 2) + 32 * g), 2 * (b & 3), 3);
    const uint8_t *sc = (const uint8_t *)sub->sc + 16 * b;
    *mul0 = pair_u8(sc);
    *mul1 = pair_u8(sc + 8);
    *cor = both_u8((const uint8_t *)sub->mn + 16 * b);
}

/* ---- Q3_K ------------------------------------------------------------------------------------ */

/* 16 scales: low halves in nibbles of bytes 0-7, two high bits in bytes 8-11; less 32. */
MZ_INLINE void prep_q3_k(const uint8_t *sb, mz_sub *sub, __m256 *d, __m256 *dmin)
{
    (void)dmin;
    const __m256i l0 = v_load(sb + MZ_P_Q3K_SC), l1 = v_load(sb + MZ_P_Q3K_SC + 32), h = v_load(sb + MZ_P_Q3K_SC + 64);
    const __m256i off = _mm256_set1_epi8(32);
    sub->sc[0] = _mm256_sub_epi8(_mm256_or_si256(bits(l0, 0, 15), bits_to(h, 0, 4, 3)), off);
    sub->sc[1] = _mm256_sub_epi8(_mm256_or_si256(bits(l1, 0, 15), bits_to(h, 2, 4, 3)), off);
    sub->sc[2] = _mm256_sub_epi8(_mm256_or_si256(bits(l0, 4, 15), bits_to(h, 4, 4, 3)), off);
    sub->sc[3] = _mm256_sub_epi8(_mm256_or_si256(bits(l1, 4, 15), bits_to(h, 6, 4, 3)), off);
    *d = v_f16x8(sb + MZ_P_Q3K_D);
}

MZ_INLINE void unpack_q3_k(const uint8_t *sb, const mz_sub *sub, const int b, __m256i c[8], __m256i *mul0, __m256i *mul1, __m256i *cor)
{
    MZ_UNROLL
    for (int g = 0; g < 8; g++) {
        const __m256i low = bits(v_load(sb + MZ_P_Q3K_QS + 256 * (b >> 2) + 32 * g), 2 * (b & 3), 3);
        c[g] = _mm256_or_si256(low, bits_to(v_load(sb + MZ_P_Q3K_HM + 32 * g), b, 2, 1));
    }
    const uint8_t *sc = (const uint8_t *)sub->sc + 16 * b;
    *mul0 = pair_i8(sc);
    *mul1 = pair_i8(sc + 8);
    *cor = _mm256_mullo_epi16(both_i8(sc), _mm256_set1_epi16(-4));
}

#define LOW_B(name, prep, unpack, dot, term, sb_bytes, tile)                                                                       \
    void name(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1) \
    {                                                                                                                              \
        mz_low_b(prep, unpack, dot, term, sb_bytes, tile, w, x, x_bytes, n_tok, y, ldy, out0, out1);                               \
    }

LOW_B(mz_avx2_q4_k, prep_q4_k, unpack_q4_k, MZ_DOT_FULL, MZ_TERM_MIN, 1152, mz_avx2_tile_full_min)
LOW_B(mz_avx2_q5_k, prep_q4_k, unpack_q5_k, MZ_DOT_HALF, MZ_TERM_MIN, 1408, mz_avx2_tile_half_min)
LOW_B(mz_avx2_q2_k, prep_q2_k, unpack_q2_k, MZ_DOT_HALF, MZ_TERM_MIN, 672, mz_avx2_tile_half_min)
LOW_B(mz_avx2_q3_k, prep_q3_k, unpack_q3_k, MZ_DOT_HALF, MZ_TERM_COR, 880, mz_avx2_tile_half_cor)
LOW_B(mz_avx2_q6_k, prep_q6_k, unpack_q6_k, MZ_DOT_QUARTER, MZ_TERM_COR, 1680, mz_avx2_tile_quarter_cor)
