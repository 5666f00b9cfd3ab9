/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_row.c: kernels over one row without elementary functions: quantising, norms, rope, add, scale. */
#include <math.h>

#include "avx2_math.h"
#include "avx2_sets.h"

/* One block of 32 values. */
MZ_INLINE void quantise_block(const __m256 v[4], int8_t *q, float *d, int16_t *s)
{
    const __m256 sign = v_set(-0.0f);
    __m256 m = _mm256_setzero_ps(), wild = _mm256_setzero_ps();
    MZ_UNROLL
    for (int i = 0; i < 4; i++) {
        const __m256 a = _mm256_andnot_ps(sign, v[i]);
        m = _mm256_max_ps(m, a);
        wild = _mm256_or_ps(wild, _mm256_cmp_ps(a, v_set(INFINITY), _CMP_NLT_UQ)); /* infinity or NaN */
    }
    __m128 t = _mm_max_ps(_mm256_castps256_ps128(m), _mm256_extractf128_ps(m, 1));
    t = _mm_max_ps(t, _mm_movehl_ps(t, t));
    t = _mm_max_ss(t, _mm_movehdup_ps(t));
    const float amax = _mm_cvtss_f32(t);
    const bool finite = _mm256_testz_ps(wild, wild);
    if (!finite || amax < 0x1p-100f) {
        memset(q, 0, 32);
        *d = finite ? 0.0f : NAN;
        s[0] = s[1] = 0;
        return;
    }
    *d = amax / 127.0f;
    const __m256 iv = v_set(127.0f / amax);
    __m256i c[4];
    MZ_UNROLL
    for (int i = 0; i < 4; i++) c[i] = _mm256_cvtps_epi32(_mm256_mul_ps(v[i], iv));
    /* Packing works in 128-bit halves: dwords 0 2 4 6 | 1 3 5 7 afterwards. */
    const __m256i w0 = _mm256_packs_epi32(c[0], c[1]), w1 = _mm256_packs_epi32(c[2], c[3]);
    const __m256i b = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(w0, w1), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    _mm256_storeu_si256((__m256i *)(void *)q, b);
    const __m256i one = _mm256_set1_epi16(1);
    const __m256i s0 = _mm256_madd_epi16(w0, one), s1 = _mm256_madd_epi16(w1, one);
    const __m256i h = _mm256_hadd_epi32(s0, s1); /* per half: s0 pairs, s1 pairs */
    const __m128i u = _mm_add_epi32(_mm256_castsi256_si128(h), _mm256_extracti128_si256(h, 1));
    const __m128i r = _mm_hadd_epi32(u, u);
    s[0] = (int16_t)_mm_cvtsi128_si32(r);
    s[1] = (int16_t)_mm_extract_epi32(r, 1);
}

void mz_avx2_quantise_row(const float *x, int64_t n, void *y)
{
    const int64_t n_blk = mz_q8_n_blk(n);
    int8_t *q = y;
    float *d = (float *)(void *)((uint8_t *)y + 32 * n_blk);
    int16_t *s = (int16_t *)(void *)((uint8_t *)y + 36 * n_blk);
    memset((uint8_t *)y + 40 * n_blk, 0, mz_q8_row_bytes(n) - (size_t)n_blk * 40);
    for (int64_t b = 0; b < n_blk; b++) {
        const float *p = x + 32 * b;
        const int64_t left = n - 32 * b;
        __m256 v[4];
        if (left >= 32) {
            MZ_UNROLL
            for (int i = 0; i < 4; i++) v[i] = _mm256_loadu_ps(p + 8 * i);
        } else {
            float tmp[32] = {0};
            memcpy(tmp, p, (size_t)left * sizeof(float));
            MZ_UNROLL
            for (int i = 0; i < 4; i++) v[i] = _mm256_loadu_ps(tmp + 8 * i);
        }
        quantise_block(v, q + 32 * b, d + b, s + 2 * b);
    }
}

/* lanes16 of x_i * x_i. */
static float square_sum(const float *x, int64_t n)
{
    __m256 lo = _mm256_setzero_ps(), hi = lo;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(x + i + 8);
        lo = _mm256_fmadd_ps(a, a, lo);
        hi = _mm256_fmadd_ps(b, b, hi);
    }
    if (i < n) {
        const __m256 a = v_load_n(x + i, n - i), b = n - i > 8 ? v_load_n(x + i + 8, n - i - 8) : _mm256_setzero_ps();
        lo = _mm256_fmadd_ps(a, a, lo);
        hi = _mm256_fmadd_ps(b, b, hi);
    }
    return v_tree16(lo, hi);
}

void mz_avx2_rms_norm(const float *x, const float *w, int64_t n, float eps, float *y)
{
    const float inv1 = 1.0f / sqrtf(square_sum(x, n) / (float)n + eps);
    const __m256 inv = v_set(inv1);
    for (int64_t i = 0; i < n; i += 8) {
        const int64_t left = n - i;
        const __m256 v = _mm256_mul_ps(v_load_n(x + i, left), inv);
        v_put_n(y + i, w ? _mm256_mul_ps(v, v_load_n(w + i, left)) : v, left);
    }
}

void mz_avx2_layer_norm(const float *x, const float *w, const float *b, int64_t n, float eps, float *y)
{
    __m256 sum[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()}, var[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    for (int64_t i = 0; i < n; i += 8) sum[i >> 3 & 1] = _mm256_add_ps(v_load_n(x + i, n - i), sum[i >> 3 & 1]);
    const __m256 mean = v_set(v_tree16(sum[0], sum[1]) / (float)n);
    for (int64_t i = 0; i < n; i += 8) {
        __m256 c = _mm256_sub_ps(v_load_n(x + i, n - i), mean);
        if (n - i < 8) c = _mm256_and_ps(c, _mm256_castsi256_ps(v_first(n - i)));
        var[i >> 3 & 1] = _mm256_fmadd_ps(c, c, var[i >> 3 & 1]);
    }
    const __m256 inv = v_set(1.0f / sqrtf(v_tree16(var[0], var[1]) / (float)n + eps));
    for (int64_t i = 0; i < n; i += 8) {
        const int64_t left = n - i;
        const __m256 c = _mm256_mul_ps(_mm256_sub_ps(v_load_n(x + i, left), mean), inv);
        v_put_n(y + i, _mm256_fmadd_ps(c, v_load_n(w + i, left), b ? v_load_n(b + i, left) : _mm256_setzero_ps()), left);
    }
}

/* a cos - b sin and b cos + a sin with the roundings of the contract. */
MZ_INLINE void rotate(__m256 *a, __m256 *b, __m256 c, __m256 s)
{
    const __m256 ra = _mm256_fmsub_ps(*a, c, _mm256_mul_ps(*b, s));
    *b = _mm256_fmadd_ps(*b, c, _mm256_mul_ps(*a, s));
    *a = ra;
}

void mz_avx2_rope(float *x, int64_t n_head, int64_t d, int64_t n_rot, const float *cs, bool interleaved)
{
    const int64_t half = n_rot / 2;
    for (int64_t h = 0; h < n_head; h++) {
        float *p = x + h * d;
        int64_t i = 0;
        for (; i + 8 <= half; i += 8) {
            /* (cos, sin) pairs 0-3, 4-7; in-lane shuffles give cos of pairs 0 1 4 5 | 2 3 6 7. */
            const __m256 cs0 = _mm256_loadu_ps(cs + 2 * i), cs1 = _mm256_loadu_ps(cs + 2 * i + 8);
            __m256 c = _mm256_shuffle_ps(cs0, cs1, 0x88), s = _mm256_shuffle_ps(cs0, cs1, 0xdd);
            if (interleaved) {
                __m256 v0 = _mm256_loadu_ps(p + 2 * i), v1 = _mm256_loadu_ps(p + 2 * i + 8);
                __m256 a = _mm256_shuffle_ps(v0, v1, 0x88), b = _mm256_shuffle_ps(v0, v1, 0xdd);
                rotate(&a, &b, c, s);
                _mm256_storeu_ps(p + 2 * i, _mm256_unpacklo_ps(a, b));
                _mm256_storeu_ps(p + 2 * i + 8, _mm256_unpackhi_ps(a, b));
            } else {
                c = _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(c), 0xd8));
                s = _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(s), 0xd8));
                __m256 a = _mm256_loadu_ps(p + i), b = _mm256_loadu_ps(p + half + i);
                rotate(&a, &b, c, s);
                _mm256_storeu_ps(p + i, a);
                _mm256_storeu_ps(p + half + i, b);
            }
        }
        for (; i < half; i++) {
            float *pa = p + (interleaved ? 2 * i : i), *pb = p + (interleaved ? 2 * i + 1 : i + half);
            const float a = *pa, b = *pb, c = cs[2 * i], s = cs[2 * i + 1];
            *pa = fmaf(a, c, -(b * s));
            *pb = fmaf(b, c, a * s);
        }
    }
}

void mz_avx2_add(const float *a, const float *b, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i += 8) v_put_n(y + i, _mm256_add_ps(v_load_n(a + i, n - i), v_load_n(b + i, n - i)), n - i);
}

void mz_avx2_scale(const float *x, float s, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i += 8) v_put_n(y + i, _mm256_mul_ps(v_load_n(x + i, n - i), v_set(s)), n - i);
}
