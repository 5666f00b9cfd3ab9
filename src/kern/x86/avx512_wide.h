/* SPDX-License-Identifier: Apache-2.0
 *
 * avx512_wide.h: the vocabulary of kern/wide/wide.h in AVX-512 (F, BW, DQ, VL), with VNNI's byte products where the file
 * is compiled for them (MZ_WIDE_VNNI).
 *
 * Compiled with MZ_EMULATED, a test's header takes the place of the compiler's own and spells the same instructions in AVX2
 * (tests/kern/emulated_avx512.h): so every line below runs in the tests of a machine without AVX-512.
 * Pure functions, any thread. */
#ifndef MZ_KERN_AVX512_WIDE_H
#define MZ_KERN_AVX512_WIDE_H

#ifdef MZ_EMULATED
#include "emulated_avx512.h"
#else
#include <immintrin.h>
#endif

typedef __m512 wf;
typedef __m512i wi;
typedef __m512i wb;
typedef __mmask16 wm;
typedef struct wsrc {
    const uint8_t *p0, *p1;
} wsrc;

enum {
    MZ_WTILE = 8,   /* tokens of a tile */
    MZ_WSTRIP = 32, /* blocks of a strip; whole super-blocks */
    MZ_WSUMS = 16,  /* sums attention keeps in registers */
    MZ_WROWS = 4,   /* float products: rows × tokens of a tile */
    MZ_WTOKENS = 6,
};
#define W_TILE_MANY  "16x8"
#define W_FLOAT_ONE  "4x1"
#define W_FLOAT_MANY "4x6"

/* ---- f32 ---- */

MZ_INLINE wf wf_zero(void)
{
    return _mm512_setzero_ps();
}
MZ_INLINE wf wf_set(float x)
{
    return _mm512_set1_ps(x);
}
MZ_INLINE wf wf_load(const void *p)
{
    return _mm512_loadu_ps(p);
}
MZ_INLINE void wf_store(void *p, wf v)
{
    _mm512_storeu_ps(p, v);
}
MZ_INLINE wm wm_first(int64_t n)
{
    return (wm)(n >= 16 ? 0xffff : (1u << n) - 1);
}
MZ_INLINE wf wf_load_n(const float *p, int64_t n)
{
    return n >= 16 ? _mm512_loadu_ps(p) : _mm512_maskz_loadu_ps(wm_first(n), p);
}
MZ_INLINE void wf_store_n(float *p, wf v, int64_t n)
{
    if (n >= 16)
        _mm512_storeu_ps(p, v);
    else
        _mm512_mask_storeu_ps(p, wm_first(n), v);
}
MZ_INLINE wf wf_add(wf a, wf b)
{
    return _mm512_add_ps(a, b);
}
MZ_INLINE wf wf_sub(wf a, wf b)
{
    return _mm512_sub_ps(a, b);
}
MZ_INLINE wf wf_mul(wf a, wf b)
{
    return _mm512_mul_ps(a, b);
}
MZ_INLINE wf wf_div(wf a, wf b)
{
    return _mm512_div_ps(a, b);
}
MZ_INLINE wf wf_fma(wf a, wf b, wf c)
{
    return _mm512_fmadd_ps(a, b, c);
}
MZ_INLINE wf wf_fms(wf a, wf b, wf c)
{
    return _mm512_fmsub_ps(a, b, c);
}
MZ_INLINE wf wf_fnma(wf a, wf b, wf c)
{
    return _mm512_fnmadd_ps(a, b, c);
}
MZ_INLINE wf wf_min(wf a, wf b)
{
    return _mm512_min_ps(a, b);
}
MZ_INLINE wf wf_max(wf a, wf b)
{
    return _mm512_max_ps(a, b);
}
MZ_INLINE wf wf_bits(wi v)
{
    return _mm512_castsi512_ps(v);
}
MZ_INLINE wi wi_bits(wf v)
{
    return _mm512_castps_si512(v);
}
MZ_INLINE wf wf_cvt(wi v)
{
    return _mm512_cvtepi32_ps(v);
}
MZ_INLINE wi wi_rne(wf v)
{
    return _mm512_cvtps_epi32(v);
}
/* tree16 of kern.h. */
MZ_INLINE float wf_tree(wf v)
{
    const __m256 a = _mm256_add_ps(_mm512_castps512_ps256(v), _mm256_castsi256_ps(_mm512_extracti64x4_epi64(wi_bits(v), 1)));
    const __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_movehdup_ps(c)));
}
/* The largest lane; no lane may be a NaN. */
MZ_INLINE float wf_largest(wf v)
{
    const __m256 a = _mm256_max_ps(_mm512_castps512_ps256(v), _mm256_castsi256_ps(_mm512_extracti64x4_epi64(wi_bits(v), 1)));
    const __m128 b = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 c = _mm_max_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_max_ss(c, _mm_movehdup_ps(c)));
}
MZ_INLINE float wf_lane0(wf v)
{
    return _mm_cvtss_f32(_mm256_castps256_ps128(_mm512_castps512_ps256(v)));
}
MZ_INLINE wm wf_lt(wf a, wf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
/* Not a <= b: also where one is a NaN. */
MZ_INLINE wm wf_nle(wf a, wf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_NLE_UQ);
}
MZ_INLINE wm wf_nan(wf v)
{
    return _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
}
MZ_INLINE wf wf_pick(wm m, wf yes, wf no)
{
    return _mm512_mask_blend_ps(m, no, yes);
}
MZ_INLINE void wf_pairs(const float *p, wf *even, wf *odd)
{
    const wf a = _mm512_loadu_ps(p), b = _mm512_loadu_ps(p + 16);
    const wi at = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    *even = _mm512_permutex2var_ps(a, at, b);
    *odd = _mm512_permutex2var_ps(a, _mm512_add_epi32(at, _mm512_set1_epi32(1)), b);
}
MZ_INLINE void wf_put_pairs(float *p, wf even, wf odd)
{
    const wi at = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    _mm512_storeu_ps(p, _mm512_permutex2var_ps(even, at, odd));
    _mm512_storeu_ps(p + 16, _mm512_permutex2var_ps(even, _mm512_add_epi32(at, _mm512_set1_epi32(8)), odd));
}

/* ---- i32 and masks ---- */

MZ_INLINE wi wi_zero(void)
{
    return _mm512_setzero_si512();
}
MZ_INLINE wi wi_set(int32_t x)
{
    return _mm512_set1_epi32(x);
}
MZ_INLINE wi wi_index(void)
{
    return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
MZ_INLINE wi wi_add(wi a, wi b)
{
    return _mm512_add_epi32(a, b);
}
MZ_INLINE wi wi_sub(wi a, wi b)
{
    return _mm512_sub_epi32(a, b);
}
MZ_INLINE wi wi_and(wi a, wi b)
{
    return _mm512_and_si512(a, b);
}
MZ_INLINE wi wi_or(wi a, wi b)
{
    return _mm512_or_si512(a, b);
}
MZ_INLINE wi wi_xor(wi a, wi b)
{
    return _mm512_xor_si512(a, b);
}
#define wi_shl(v, n) _mm512_slli_epi32(v, n)
#define wi_shr(v, n) _mm512_srli_epi32(v, n)
#define wi_sar(v, n) _mm512_srai_epi32(v, n)
/* v << n, lane by lane. */
MZ_INLINE wi wi_shlv(wi v, wi n)
{
    return _mm512_sllv_epi32(v, n);
}
MZ_INLINE wi wi_smaller(wi a, wi b)
{
    return _mm512_min_epi32(a, b);
}
MZ_INLINE wm wi_gt(wi a, wi b)
{
    return _mm512_cmpgt_epi32_mask(a, b);
}
MZ_INLINE wm wi_eq(wi a, wi b)
{
    return _mm512_cmpeq_epi32_mask(a, b);
}
MZ_INLINE wi wi_pick(wm m, wi yes, wi no)
{
    return _mm512_mask_blend_epi32(m, no, yes);
}
MZ_INLINE wm wm_none(void)
{
    return 0;
}
MZ_INLINE wm wm_or(wm a, wm b)
{
    return (wm)(a | b);
}
MZ_INLINE wm wm_and(wm a, wm b)
{
    return (wm)(a & b);
}
MZ_INLINE bool wm_any(wm m)
{
    return m != 0;
}
/* The low byte, or the low half, of every lane. */
MZ_INLINE void wi_put_bytes(void *p, wi v)
{
    _mm_storeu_si128(p, _mm512_cvtepi32_epi8(v));
}
MZ_INLINE void wi_put_halves(void *p, wi v)
{
    _mm256_storeu_si256(p, _mm512_cvtepi32_epi16(v));
}
/* Sums of lanes 0-15. */
MZ_INLINE int32_t wi_total(wi v)
{
    const __m256i a = _mm256_add_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
    const __m128i b = _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    const __m128i c = _mm_add_epi32(b, _mm_shuffle_epi32(b, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(c, _mm_shuffle_epi32(c, 0xb1)));
}

/* ---- stored elements ---- */

MZ_INLINE wf wf_f16(const void *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256(p));
}
MZ_INLINE wf wf_bf16(const void *p)
{
    return wf_bits(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(p)), 16));
}
/* E4M3 is a half with 3 bits less of mantissa and a bias 8 smaller, subnormals included. Sign extension leaves a copy of
 * the sign in the top exponent bit, which the mask takes away. All ones is a NaN in both. */
MZ_INLINE wf wf_e4m3(const void *p)
{
    const __m256i low = _mm256_set1_epi16(0x3f80);
    const __m256i b = _mm256_slli_epi16(_mm256_cvtepi8_epi16(_mm_loadu_si128(p)), 7);
    const __m256i nan = _mm256_cmpeq_epi16(_mm256_and_si256(b, low), low);
    const __m256i half = _mm256_or_si256(_mm256_and_si256(b, _mm256_set1_epi16((int16_t)0xbf80)), nan);
    return _mm512_mul_ps(_mm512_cvtph_ps(half), wf_set(256.0f));
}
/* Rounds to nearest even halves. */
MZ_INLINE void wf_put_f16(void *p, wf v)
{
    _mm256_storeu_si256(p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

/* ---- panels ---- */

MZ_INLINE wsrc wsrc_at(wsrc s, size_t offset)
{
    return (wsrc){s.p0 + offset, s.p1 + offset};
}
MZ_INLINE wb wb_load(wsrc s, size_t offset)
{
    const __m256i a = _mm256_loadu_si256((const void *)(s.p0 + offset)), b = _mm256_loadu_si256((const void *)(s.p1 + offset));
    return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}
MZ_INLINE __m128i avx512_two8(wsrc s, size_t offset)
{
    return _mm_unpacklo_epi64(_mm_loadl_epi64((const void *)(s.p0 + offset)), _mm_loadl_epi64((const void *)(s.p1 + offset)));
}
MZ_INLINE __m256i avx512_two16(wsrc s, size_t offset)
{
    const __m128i a = _mm_loadu_si128((const void *)(s.p0 + offset)), b = _mm_loadu_si128((const void *)(s.p1 + offset));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
}
MZ_INLINE wi wi_u8(wsrc s, size_t offset)
{
    return _mm512_cvtepu8_epi32(avx512_two8(s, offset));
}
MZ_INLINE wi wi_i8(wsrc s, size_t offset)
{
    return _mm512_cvtepi8_epi32(avx512_two8(s, offset));
}
MZ_INLINE wi wi_u16(wsrc s, size_t offset)
{
    return _mm512_cvtepu16_epi32(avx512_two16(s, offset));
}
MZ_INLINE wf wf_f16s(wsrc s, size_t offset)
{
    return _mm512_cvtph_ps(avx512_two16(s, offset));
}
MZ_INLINE wb wb_set(int x)
{
    return _mm512_set1_epi8((char)x);
}
MZ_INLINE wb wb_and(wb a, wb b)
{
    return _mm512_and_si512(a, b);
}
MZ_INLINE wb wb_or(wb a, wb b)
{
    return _mm512_or_si512(a, b);
}
MZ_INLINE wb wb_add(wb a, wb b)
{
    return _mm512_add_epi8(a, b);
}
#define wb_shr(v, n) _mm512_srli_epi16(v, n)
#define wb_shl(v, n) _mm512_slli_epi16(v, n)
/* table[v] for bytes v below 16. */
MZ_INLINE wb wb_table(const int8_t table[16], wb v)
{
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128((const void *)table)), v);
}
MZ_INLINE wb wb_ge(wb v, int k)
{
    return _mm512_maskz_mov_epi8(_mm512_cmpge_epu8_mask(v, wb_set(k)), wb_set(1));
}

/* ---- products ---- */

MZ_INLINE wi avx512_bcast4(const void *p)
{
    return _mm512_set1_epi32(mz_w_load32(p));
}
MZ_INLINE wi wi_half_sums(mz_wact x, int t, int k0, int k1)
{
    return _mm512_madd_epi16(avx512_bcast4(x.s + (size_t)t * x.stride), _mm512_set1_epi32((int32_t)((uint32_t)k1 << 16 | (uint16_t)k0)));
}

#ifdef MZ_WIDE_VNNI
#define MZ_BYTE_OFFSET 128
MZ_INLINE wb wb_byte_code(wb v)
{
    return _mm512_xor_si512(v, wb_set(128));
}
#else
#define MZ_BYTE_OFFSET 0
MZ_INLINE wb wb_byte_code(wb v)
{
    return v;
}
#endif

MZ_INLINE void w_fence(void)
{
}
MZ_INLINE void w_strip(wb c[8])
{
    (void)c;
}

MZ_INLINE void w_dot(const int nt, const mz_wdot dot, const bool strip, const int g0, const int g1, const wb *c, const mz_wact x,
                     const wi *init, wi *sum)
{
    (void)strip;
#ifdef MZ_WIDE_VNNI
    (void)dot;
    MZ_UNROLL
    for (int t = 0; t < nt; t++) sum[t] = init[t];
    MZ_UNROLL
    for (int g = g0; g < g1; g++) {
        MZ_UNROLL
        for (int t = 0; t < nt; t++) sum[t] = _mm512_dpbusd_epi32(sum[t], c[g], avx512_bcast4(x.q + (size_t)t * x.stride + 4 * g));
    }
#else
    /* vpmaddubsw pairs, summed in 16 bits as far as |sum| < 2^15 allows: 8 * 31 * 127, 4 * 63 * 127; for signed bytes |w| times
     * a with the sign of w, 2 * 128 * 127. */
    const int len = dot == MZ_WDOT_5 ? 4 : dot == MZ_WDOT_6 ? 2 : 1;
    const wi one = _mm512_set1_epi16(1);
    MZ_UNROLL
    for (int t = 0; t < nt; t++) {
        wi s = init[t], part = init[t];
        MZ_UNROLL
        for (int g = g0; g < g1; g++) {
            wb w = c[g], a = avx512_bcast4(x.q + (size_t)t * x.stride + 4 * g);
            if (dot == MZ_WDOT_BYTE) {
                a = _mm512_mask_sub_epi8(a, _mm512_movepi8_mask(w), _mm512_setzero_si512(), a);
                w = _mm512_abs_epi8(w);
            }
            const wi p = _mm512_maddubs_epi16(w, a);
            part = (g - g0) % len ? _mm512_add_epi16(part, p) : p;
            if ((g - g0) % len == len - 1) s = _mm512_add_epi32(s, _mm512_madd_epi16(part, one));
        }
        sum[t] = s;
    }
#endif
}

#endif
