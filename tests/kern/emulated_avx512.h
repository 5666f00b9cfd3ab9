/* SPDX-License-Identifier: Apache-2.0
 *
 * emulated_avx512.h: the AVX-512 instructions of src/kern/x86/avx512_wide.h on a processor that has only AVX2: SIMDe's
 * (package libsimde-dev) under their native names, and the few that its release 0.7.4 lacks, here.
 *
 * Not for products: some are a hundred times slower than the instruction. Pure functions, any thread. */
#ifndef MZ_TESTS_EMULATED_AVX512_H
#define MZ_TESTS_EMULATED_AVX512_H

#define SIMDE_ENABLE_NATIVE_ALIASES
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <simde/x86/avx512.h>
#pragma GCC diagnostic pop

typedef union emulated {
    __m512i i;
    __m512 f;
    __m256i half[2];
    __m256 fhalf[2];
    __m128i quarter[4];
    float lane[16];
} emulated;

static inline __m512 emulated_cvtepi32_ps(__m512i v)
{
    emulated u = {.i = v};
    for (int i = 0; i < 2; i++) u.fhalf[i] = _mm256_cvtepi32_ps(u.half[i]);
    return u.f;
}
static inline __m512i emulated_cvtps_epi32(__m512 v)
{
    emulated u = {.f = v};
    for (int i = 0; i < 2; i++) u.half[i] = _mm256_cvtps_epi32(u.fhalf[i]);
    return u.i;
}
static inline __m512 emulated_cvtph_ps(__m256i v)
{
    return (emulated){.fhalf = {_mm256_cvtph_ps(_mm256_castsi256_si128(v)), _mm256_cvtph_ps(_mm256_extracti128_si256(v, 1))}}.f;
}
static inline __m256i emulated_cvtps_ph(__m512 v)
{
    emulated u = {.f = v};
    return _mm256_set_m128i(_mm256_cvtps_ph(u.fhalf[1], _MM_FROUND_TO_NEAREST_INT), _mm256_cvtps_ph(u.fhalf[0], _MM_FROUND_TO_NEAREST_INT));
}
static inline __m512i emulated_cvtepu8_epi32(__m128i v)
{
    return (emulated){.half = {_mm256_cvtepu8_epi32(v), _mm256_cvtepu8_epi32(_mm_srli_si128(v, 8))}}.i;
}
static inline __m512i emulated_cvtepi8_epi32(__m128i v)
{
    return (emulated){.half = {_mm256_cvtepi8_epi32(v), _mm256_cvtepi8_epi32(_mm_srli_si128(v, 8))}}.i;
}
static inline __m512i emulated_cvtepu16_epi32(__m256i v)
{
    return (emulated){.half = {_mm256_cvtepu16_epi32(_mm256_castsi256_si128(v)), _mm256_cvtepu16_epi32(_mm256_extracti128_si256(v, 1))}}.i;
}
static inline __m512i emulated_srai_epi32(__m512i v, unsigned n)
{
    emulated u = {.i = v};
    for (int i = 0; i < 2; i++) u.half[i] = _mm256_srai_epi32(u.half[i], (int)n);
    return u.i;
}
static inline __m128i emulated_cvtepi32_epi8(__m512i v)
{
    emulated u = {.i = v};
    uint8_t b[16];
    for (int i = 0; i < 16; i++) b[i] = ((const uint8_t *)&u)[4 * i];
    return _mm_loadu_si128((const void *)b);
}
static inline __m256i emulated_cvtepi32_epi16(__m512i v)
{
    emulated u = {.i = v};
    uint16_t b[16];
    for (int i = 0; i < 16; i++) b[i] = ((const uint16_t *)&u)[2 * i];
    return _mm256_loadu_si256((const void *)b);
}
/* Lanes outside the mask are not touched in memory, as the instruction promises. */
static inline __m512 emulated_maskz_loadu_ps(__mmask16 m, const float *p)
{
    emulated u = {.i = _mm512_setzero_si512()};
    for (int i = 0; i < 16; i++)
        if (m >> i & 1) u.lane[i] = p[i];
    return u.f;
}
static inline void emulated_mask_storeu_ps(float *p, __mmask16 m, __m512 v)
{
    emulated u = {.f = v};
    for (int i = 0; i < 16; i++)
        if (m >> i & 1) p[i] = u.lane[i];
}

/* 0.7.4 gives this name to the masked instruction by mistake. */
#undef _mm512_madd_epi16
#define _mm512_madd_epi16(a, b) simde_mm512_madd_epi16(a, b)

#define _mm512_cvtepi32_ps(v)          emulated_cvtepi32_ps(v)
#define _mm512_cvtps_epi32(v)          emulated_cvtps_epi32(v)
#define _mm512_cvtph_ps(v)             emulated_cvtph_ps(v)
#define _mm512_cvtps_ph(v, mode)       emulated_cvtps_ph(v)
#define _mm512_cvtepu8_epi32(v)        emulated_cvtepu8_epi32(v)
#define _mm512_cvtepi8_epi32(v)        emulated_cvtepi8_epi32(v)
#define _mm512_cvtepu16_epi32(v)       emulated_cvtepu16_epi32(v)
#define _mm512_srai_epi32(v, n)        emulated_srai_epi32(v, n)
#define _mm512_cvtepi32_epi8(v)        emulated_cvtepi32_epi8(v)
#define _mm512_cvtepi32_epi16(v)       emulated_cvtepi32_epi16(v)
#define _mm512_maskz_loadu_ps(m, p)    emulated_maskz_loadu_ps(m, p)
#define _mm512_mask_storeu_ps(p, m, v) emulated_mask_storeu_ps(p, m, v)

#endif
