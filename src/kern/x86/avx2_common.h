/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_common.h: what every AVX2 file shares: loads, broadcasts, the 16-lane tree, storing 8 outputs.
 *
 * Not for use outside src/kern/x86. Pure functions, any thread.
 * The folder is compiled with -fno-tree-reassoc where the compiler knows it, and sums are pinned (MZ_PIN): gcc
 * otherwise regroups and delays integer vector sums, which breaks no result but makes it spill. */
#ifndef MZ_KERN_AVX2_COMMON_H
#define MZ_KERN_AVX2_COMMON_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "kern/kern.h"

#define MZ_INLINE   static inline __attribute__((always_inline))
#define MZ_NOINLINE static __attribute__((noinline))

/* Before a loop over registers, whose trip count is a constant of at most 8 after inlining. */
#ifdef __clang__
#define MZ_UNROLL      _Pragma("clang loop unroll(full)")
#define MZ_UNROLL_BY_4 _Pragma("clang loop unroll_count(4)")
#else
#define MZ_UNROLL      _Pragma("GCC unroll 8")
#define MZ_UNROLL_BY_4 _Pragma("GCC unroll 4") /* before a long loop */
#endif

/* Keeps v in a register, computed here and not later. */
#define MZ_PIN(v) __asm__ volatile("" : "+x"(v))

MZ_INLINE __m256i v_load(const void *p)
{
    return _mm256_loadu_si256(p);
}
MZ_INLINE __m128i v_load16(const void *p)
{
    return _mm_loadu_si128(p);
}
MZ_INLINE __m128i v_load8(const void *p)
{
    return _mm_loadl_epi64(p);
}
/* 4 bytes in every 32-bit lane. */
MZ_INLINE __m256i v_bcast4(const void *p)
{
    int32_t v;
    memcpy(&v, p, sizeof v);
    return _mm256_set1_epi32(v);
}
/* 16 bytes in both halves. */
MZ_INLINE __m256i v_bcast16(const void *p)
{
    return _mm256_broadcastsi128_si256(v_load16(p));
}
MZ_INLINE __m256 v_f16x8(const void *p)
{
    return _mm256_cvtph_ps(v_load16(p));
}
MZ_INLINE __m256 v_bf16x8(const void *p)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(v_load16(p)), 16));
}

/* tree16 of kern.h over lanes 0-7 (lo) and 8-15 (hi). */
MZ_INLINE float v_tree16(__m256 lo, __m256 hi)
{
    __m256 a = _mm256_add_ps(lo, hi);
    __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    __m128 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_movehdup_ps(c)));
}

/* The first n (1..8) lanes of v to y. */
MZ_INLINE void v_store_n(float *y, __m256 v, int64_t n)
{
    if (n >= 8) {
        _mm256_storeu_ps(y, v);
    } else {
        float tmp[8];
        _mm256_storeu_ps(tmp, v);
        memcpy(y, tmp, (size_t)n * sizeof(float));
    }
}

#endif
