/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_math.h: eight lanes of mz_expf, mz_tanhf and mz_erff (base/fmath.c), line by line in their order, so that every
 * lane has the bits of the scalar function. Pure functions, any thread. */
#ifndef MZ_KERN_AVX2_MATH_H
#define MZ_KERN_AVX2_MATH_H

#include "avx2_common.h"

MZ_INLINE __m256 v_set(float x)
{
    return _mm256_set1_ps(x);
}

MZ_INLINE __m256 v_exp(__m256 x)
{
    const __m256 magic = v_set(0x1.8p23f);
    /* These two keep a NaN: the second operand wins when a comparison is false. */
    x = _mm256_min_ps(v_set(89.0f), x);
    x = _mm256_max_ps(v_set(-104.5f), x);
    const __m256 t = _mm256_fmadd_ps(x, v_set(0x1.715476p+0f), magic);
    const __m256 n = _mm256_sub_ps(t, magic);
    __m256 r = _mm256_fmadd_ps(n, v_set(-0x1.62e430p-1f), x);
    r = _mm256_fmadd_ps(n, v_set(0x1.05c610p-29f), r);
    __m256 p = v_set(0x1.6a244cp-10f);
    p = _mm256_fmadd_ps(p, r, v_set(0x1.1239d4p-7f));
    p = _mm256_fmadd_ps(p, r, v_set(0x1.5558f2p-5f));
    p = _mm256_fmadd_ps(p, r, v_set(0x1.555492p-3f));
    p = _mm256_fmadd_ps(p, r, v_set(0x1.fffffcp-2f));
    p = _mm256_fmadd_ps(p, r, v_set(1.0f));
    p = _mm256_fmadd_ps(p, r, v_set(1.0f));
    const __m256i bias = _mm256_set1_epi32(127);
    const __m256i i = _mm256_sub_epi32(_mm256_castps_si256(t), _mm256_castps_si256(magic));
    const __m256i h = _mm256_srai_epi32(i, 1);
    p = _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(h, bias), 23)));
    return _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(i, h), bias), 23)));
}

/* mz_expf through the same instructions. */
MZ_INLINE float v_exp1(float x)
{
    return _mm256_cvtss_f32(v_exp(v_set(x)));
}

MZ_INLINE __m256 v_tanh(__m256 x)
{
    const __m256 sign = v_set(-0.0f);
    const __m256 a = _mm256_andnot_ps(sign, x), z = _mm256_mul_ps(a, a);
    __m256 p = v_set(-0x1.75e1cep-8f);
    p = _mm256_fmadd_ps(p, z, v_set(0x1.52269cp-6f));
    p = _mm256_fmadd_ps(p, z, v_set(-0x1.b83c5ap-5f));
    p = _mm256_fmadd_ps(p, z, v_set(0x1.110726p-3f));
    p = _mm256_fmadd_ps(p, z, v_set(-0x1.555532p-2f));
    const __m256 small = _mm256_fmadd_ps(_mm256_mul_ps(a, z), p, a);
    const __m256 e = v_exp(_mm256_add_ps(a, a));
    const __m256 large = _mm256_sub_ps(v_set(1.0f), _mm256_div_ps(v_set(2.0f), _mm256_add_ps(e, v_set(1.0f))));
    const __m256 s = _mm256_blendv_ps(large, small, _mm256_cmp_ps(a, v_set(0.625f), _CMP_LT_OQ));
    return _mm256_or_ps(s, _mm256_and_ps(sign, x));
}

MZ_INLINE __m256 v_erf(__m256 x)
{
    const __m256 sign = v_set(-0.0f);
    const __m256 a = _mm256_andnot_ps(sign, x), z = _mm256_mul_ps(a, a);
    __m256 p = v_set(0x1.496a32p-14f);
    p = _mm256_fmadd_ps(p, z, v_set(-0x1.a3f700p-11f));
    p = _mm256_fmadd_ps(p, z, v_set(0x1.5405b2p-8f));
    p = _mm256_fmadd_ps(p, z, v_set(-0x1.b7f90ep-6f));
    p = _mm256_fmadd_ps(p, z, v_set(0x1.ce2cf8p-4f));
    p = _mm256_fmadd_ps(p, z, v_set(-0x1.81273ep-2f));
    p = _mm256_fmadd_ps(p, z, v_set(0x1.20dd74p+0f));
    const __m256 small = _mm256_mul_ps(a, p);
    const __m256 b = _mm256_min_ps(v_set(4.0f), a); /* keeps a NaN */
    __m256 g = v_set(-0x1.b8c8a0p-13f);
    g = _mm256_fmadd_ps(g, b, v_set(0x1.a137aep-9f));
    g = _mm256_fmadd_ps(g, b, v_set(-0x1.7553c4p-6f));
    g = _mm256_fmadd_ps(g, b, v_set(0x1.ae79d8p-4f));
    g = _mm256_fmadd_ps(g, b, v_set(0x1.458da8p-1f));
    g = _mm256_fmadd_ps(g, b, v_set(0x1.20e3c6p+0f));
    const __m256 large = _mm256_sub_ps(v_set(1.0f), v_exp(_mm256_xor_ps(sign, _mm256_mul_ps(b, g))));
    const __m256 s = _mm256_blendv_ps(large, small, _mm256_cmp_ps(a, v_set(1.0f), _CMP_LT_OQ));
    return _mm256_or_ps(s, _mm256_and_ps(sign, x));
}

/* softcap of one vector. */
MZ_INLINE __m256 v_softcap(__m256 x, __m256 cap)
{
    return _mm256_mul_ps(cap, v_tanh(_mm256_div_ps(x, cap)));
}

/* All ones in the first n (0..8) lanes. */
MZ_INLINE __m256i v_first(int64_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
/* The first n lanes of p, which is not read beyond them; the others +0. */
MZ_INLINE __m256 v_load_n(const float *p, int64_t n)
{
    return n >= 8 ? _mm256_loadu_ps(p) : _mm256_maskload_ps(p, v_first(n));
}
MZ_INLINE void v_put_n(float *p, __m256 v, int64_t n)
{
    if (n >= 8)
        _mm256_storeu_ps(p, v);
    else
        _mm256_maskstore_ps(p, v_first(n), v);
}

#endif
