/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_q4.c: formats of unsigned 4- and 5-bit codes with one or two scales a block: Q4_0 Q4_1 Q5_0 Q5_1 MXFP4 NVFP4. */
#include "avx2_low.h"
#include "avx2_sets.h"

/* Nibbles of one block: vector k holds code vector k in the low and k + 4 in the high halves. */
MZ_INLINE void nibbles(const uint8_t *p, __m256i c[8])
{
    const __m256i low = _mm256_set1_epi8(15);
    MZ_UNROLL
    for (int k = 0; k < 4; k++) {
        const __m256i v = v_load(p + 32 * k);
        c[k] = _mm256_and_si256(v, low);
        c[k + 4] = _mm256_and_si256(_mm256_srli_epi16(v, 4), low);
    }
}

/* Bit g of the bytes of h is the fifth bit of code vector g. */
MZ_INLINE void fifth_bits(const uint8_t *p, __m256i c[8])
{
    const __m256i bit = _mm256_set1_epi8(16), h = v_load(p);
    MZ_UNROLL
    for (int g = 0; g < 8; g++) {
        const __m256i v = g < 4 ? _mm256_slli_epi16(h, 4 - g) : _mm256_srli_epi16(h, g - 4);
        c[g] = _mm256_or_si256(c[g], _mm256_and_si256(v, bit));
    }
}

MZ_INLINE void unpack_q4_0(const uint8_t *panel, int64_t b, __m256i c[8], __m256 *d, __m256 *m)
{
    (void)m;
    panel += b * 144;
    nibbles(panel + MZ_P_NIB, c);
    *d = v_f16x8(panel + MZ_P_Q4_D);
}

MZ_INLINE void unpack_q4_1(const uint8_t *panel, int64_t b, __m256i c[8], __m256 *d, __m256 *m)
{
    panel += b * 160;
    nibbles(panel + MZ_P_NIB, c);
    *d = v_f16x8(panel + MZ_P_Q4_D);
    *m = v_f16x8(panel + MZ_P_Q4_M);
}

MZ_INLINE void unpack_q5_0(const uint8_t *panel, int64_t b, __m256i c[8], __m256 *d, __m256 *m)
{
    (void)m;
    panel += b * 176;
    nibbles(panel + MZ_P_NIB, c);
    fifth_bits(panel + MZ_P_Q5_H, c);
    *d = v_f16x8(panel + MZ_P_Q5_D);
}

MZ_INLINE void unpack_q5_1(const uint8_t *panel, int64_t b, __m256i c[8], __m256 *d, __m256 *m)
{
    panel += b * 192;
    nibbles(panel + MZ_P_NIB, c);
    fifth_bits(panel + MZ_P_Q5_H, c);
    *d = v_f16x8(panel + MZ_P_Q5_D);
    *m = v_f16x8(panel + MZ_P_Q5_M);
}

/* Doubled E2M1 values plus 12, so that they are unsigned. */
#define E2M1_OFFSET 12
MZ_INLINE __m256i e2m1(__m256i code)
{
    const __m256i table = _mm256_broadcastsi128_si256(_mm_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0));
    return _mm256_shuffle_epi8(table, code);
}

MZ_INLINE void unpack_mxfp4(const uint8_t *panel, int64_t b, __m256i c[8], __m256 *d, __m256 *m)
{
    (void)m;
    panel += b * 136;
    nibbles(panel + MZ_P_NIB, c);
    MZ_UNROLL
    for (int g = 0; g < 8; g++) c[g] = e2m1(c[g]);
    /* 2^(e - 128): an exponent field, or for e < 2 a subnormal with one bit. */
    const __m256i e = _mm256_cvtepu8_epi32(v_load8(panel + MZ_P_MX_E));
    const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(e, _mm256_set1_epi32(1)), 23);
    const __m256i tiny = _mm256_sllv_epi32(_mm256_set1_epi32(0x00200000), e);
    *d = _mm256_castsi256_ps(_mm256_blendv_epi8(normal, tiny, _mm256_cmpgt_epi32(_mm256_set1_epi32(2), e)));
}

/* 0.5 * the value of an unsigned E4M3 byte: its bits as an f32 of exponent bias 127 are 2^-120 too small, exactly,
 * subnormals included. The sign bit is ignored and byte 0x7F is zero, as in mz_ue4m3_to_f32. */
MZ_INLINE __m256 ue4m3_half(const uint8_t *p)
{
    const __m256i b = _mm256_cvtepu8_epi32(v_load8(p));
    const __m256i bits = _mm256_slli_epi32(_mm256_and_si256(b, _mm256_set1_epi32(0x7f)), 20);
    const __m256i keep = _mm256_andnot_si256(_mm256_cmpeq_epi32(b, _mm256_set1_epi32(0x7f)), bits);
    return _mm256_mul_ps(_mm256_castsi256_ps(keep), _mm256_set1_ps(0x1p119f));
}

/* A file block of 64 is two blocks of 32. In a group of 16 byte j holds column j low and j + 8 high, so 8 bytes of a
 * row (2 vectors) are one half block. */
MZ_INLINE void unpack_nvfp4(const uint8_t *panel, int64_t b, __m256i c[8], __m256 *d, __m256 *m)
{
    const __m256i low = _mm256_set1_epi8(15);
    panel += b / 2 * 288;
    const uint8_t *nib = panel + (b & 1) * 128, *sc = panel + MZ_P_NV_D + (b & 1) * 16;
    MZ_UNROLL
    for (int h = 0; h < 2; h++) {
        MZ_UNROLL
        for (int k = 0; k < 2; k++) {
            const __m256i v = v_load(nib + 64 * h + 32 * k);
            c[4 * h + k] = e2m1(_mm256_and_si256(v, low));
            c[4 * h + k + 2] = e2m1(_mm256_and_si256(_mm256_srli_epi16(v, 4), low));
        }
    }
    *d = ue4m3_half(sc);
    *m = ue4m3_half(sc + 8);
}

#define LOW_A(name, unpack, dot, term, offset, block_bytes, tile)                                                                  \
    void name(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1) \
    {                                                                                                                              \
        mz_low_a(unpack, dot, term, offset, block_bytes, tile, w, x, x_bytes, n_tok, y, ldy, out0, out1);                          \
    }

LOW_A(mz_avx2_q4_0, unpack_q4_0, MZ_DOT_FULL, MZ_TERM_D, 8, 144, mz_avx2_tile_full_d)
LOW_A(mz_avx2_q4_1, unpack_q4_1, MZ_DOT_FULL, MZ_TERM_DM, 0, 160, mz_avx2_tile_full_dm)
LOW_A(mz_avx2_q5_0, unpack_q5_0, MZ_DOT_HALF, MZ_TERM_D, 16, 176, mz_avx2_tile_half_d)
LOW_A(mz_avx2_q5_1, unpack_q5_1, MZ_DOT_HALF, MZ_TERM_DM, 0, 192, mz_avx2_tile_half_dm)
LOW_A(mz_avx2_mxfp4, unpack_mxfp4, MZ_DOT_HALF, MZ_TERM_D, E2M1_OFFSET, 136, mz_avx2_tile_half_d)
LOW_A(mz_avx2_nvfp4, unpack_nvfp4, MZ_DOT_HALF, MZ_TERM_HALVES, E2M1_OFFSET, 144, mz_avx2_tile_halves)
