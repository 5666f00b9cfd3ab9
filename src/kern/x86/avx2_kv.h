/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_kv.h: reading and writing 8 stored keys or values of each KV type; exact widening, rounding to nearest even as
 * the conversions of fmt/dtype.h. Pure functions, any thread. */
#ifndef MZ_KERN_AVX2_KV_H
#define MZ_KERN_AVX2_KV_H

#include "avx2_math.h"

/* E4M3 is a half with 3 bits less of mantissa and a bias 8 smaller, subnormals included. Sign extension leaves a copy of
 * the sign in the top exponent bit, which the mask takes away. All ones is a NaN in both. */
MZ_INLINE __m256 v_e4m3x8(const void *p)
{
    const __m128i low = _mm_set1_epi16(0x3f80);
    const __m128i b = _mm_slli_epi16(_mm_cvtepi8_epi16(v_load8(p)), 7);
    const __m128i nan = _mm_cmpeq_epi16(_mm_and_si128(b, low), low);
    const __m128i half = _mm_or_si128(_mm_and_si128(b, _mm_set1_epi16((int16_t)0xbf80)), nan);
    return _mm256_mul_ps(_mm256_cvtph_ps(half), v_set(256.0f));
}

MZ_INLINE __m256 kv_load(const mz_kv_type kv, const uint8_t *p)
{
    switch (kv) {
    case MZ_KV_F16: return v_f16x8(p);
    case MZ_KV_BF16: return v_bf16x8(p);
    case MZ_KV_FP8: return v_e4m3x8(p);
    default: return _mm256_loadu_ps((const float *)(const void *)p);
    }
}

/* The same for one element. */
MZ_INLINE float kv_load1(const mz_kv_type kv, const uint8_t *p)
{
    uint32_t u;
    uint16_t h;
    float f;
    switch (kv) {
    case MZ_KV_F16: memcpy(&h, p, 2); return _cvtsh_ss(h);
    case MZ_KV_BF16:
        memcpy(&h, p, 2);
        u = (uint32_t)h << 16;
        memcpy(&f, &u, 4);
        return f;
    case MZ_KV_FP8: return mz_e4m3_to_f32(*p);
    default: memcpy(&f, p, 4); return f;
    }
}

#endif
