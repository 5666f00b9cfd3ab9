/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_act.c: kernels over one row with elementary functions, and top_k. */
#include "avx2_math.h"
#include "avx2_sets.h"

void mz_avx2_softmax(float *x, int64_t n)
{
    __m256 m = v_set(x[0]), nan = _mm256_setzero_ps();
    for (int64_t i = 0; i < n; i += 8) {
        __m256 v = v_load_n(x + i, n - i);
        if (n - i < 8) v = _mm256_blendv_ps(v_set(x[0]), v, _mm256_castsi256_ps(v_first(n - i)));
        m = _mm256_max_ps(m, v);
        nan = _mm256_or_ps(nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    }
    __m128 t = _mm_max_ps(_mm256_castps256_ps128(m), _mm256_extractf128_ps(m, 1));
    t = _mm_max_ps(t, _mm_movehl_ps(t, t));
    t = _mm_max_ss(t, _mm_movehdup_ps(t));
    m = _mm256_testz_ps(nan, nan) ? v_set(_mm_cvtss_f32(t)) : v_set(__builtin_nanf(""));
    __m256 sum[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    for (int64_t i = 0; i < n; i += 8) {
        __m256 e = v_exp(_mm256_sub_ps(v_load_n(x + i, n - i), m));
        if (n - i < 8) e = _mm256_and_ps(e, _mm256_castsi256_ps(v_first(n - i)));
        v_put_n(x + i, e, n - i);
        sum[i >> 3 & 1] = _mm256_add_ps(e, sum[i >> 3 & 1]);
    }
    const __m256 l = v_set(v_tree16(sum[0], sum[1]));
    for (int64_t i = 0; i < n; i += 8) v_put_n(x + i, _mm256_div_ps(v_load_n(x + i, n - i), l), n - i);
}

MZ_INLINE __m256 act(const mz_glu kind, __m256 g)
{
    const __m256 one = v_set(1.0f);
    switch (kind) {
    case MZ_GLU_SILU: return _mm256_div_ps(g, _mm256_add_ps(one, v_exp(_mm256_xor_ps(v_set(-0.0f), g))));
    case MZ_GLU_GELU_TANH: {
        const __m256 inner = _mm256_fmadd_ps(_mm256_mul_ps(v_set(0.044715f), _mm256_mul_ps(g, g)), g, g);
        return _mm256_mul_ps(_mm256_mul_ps(v_set(0.5f), g), _mm256_add_ps(one, v_tanh(_mm256_mul_ps(v_set(0.7978845608f), inner))));
    }
    case MZ_GLU_GELU_ERF:
        return _mm256_mul_ps(_mm256_mul_ps(v_set(0.5f), g), _mm256_add_ps(one, v_erf(_mm256_mul_ps(g, v_set(0.70710678118f)))));
    case MZ_GLU_RELU: return _mm256_and_ps(g, _mm256_cmp_ps(g, _mm256_setzero_ps(), _CMP_NLE_UQ));
    case MZ_GLU_COUNT: break;
    }
    return g;
}

MZ_INLINE void glu(const mz_glu kind, const float *g, const float *u, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i += 8) {
        const __m256 a = act(kind, v_load_n(g + i, n - i));
        v_put_n(y + i, u ? _mm256_mul_ps(a, v_load_n(u + i, n - i)) : a, n - i);
    }
}

void mz_avx2_glu(mz_glu kind, const float *g, const float *u, int64_t n, float *y)
{
    switch (kind) {
    case MZ_GLU_SILU: glu(MZ_GLU_SILU, g, u, n, y); return;
    case MZ_GLU_GELU_TANH: glu(MZ_GLU_GELU_TANH, g, u, n, y); return;
    case MZ_GLU_GELU_ERF: glu(MZ_GLU_GELU_ERF, g, u, n, y); return;
    case MZ_GLU_RELU: glu(MZ_GLU_RELU, g, u, n, y); return;
    case MZ_GLU_COUNT: return;
    }
}

void mz_avx2_softcap(const float *x, float cap, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i += 8) v_put_n(y + i, v_softcap(v_load_n(x + i, n - i), v_set(cap)), n - i);
}

void mz_avx2_exp(const float *x, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i += 8) v_put_n(y + i, v_exp(v_load_n(x + i, n - i)), n - i);
}

/* True when value a at index i_a goes before value b at index i_b. */
static bool before(float a, int32_t i_a, float b, int32_t i_b)
{
    const bool nan_a = a != a, nan_b = b != b;
    if (nan_a != nan_b) return nan_b;
    if (!nan_a && a != b) return a > b;
    return i_a < i_b;
}

/* Puts id at the root of a heap of len whose parents never go before their children. */
static void sift_down(const float *x, int32_t *ids, int64_t len, int32_t id)
{
    int64_t at = 0;
    for (int64_t c; (c = 2 * at + 1) < len; at = c) {
        if (c + 1 < len && before(x[ids[c]], ids[c], x[ids[c + 1]], ids[c + 1])) c++;
        if (!before(x[id], id, x[ids[c]], ids[c])) break;
        ids[at] = ids[c];
    }
    ids[at] = id;
}

/* A heap of the k best so far. Later values enter only when greater than the worst kept (an equal one loses by its
 * index), or when the worst is a NaN: so most groups of 8 are passed by with one comparison. */
void mz_avx2_top_k(const float *x, int64_t n, int64_t k, int32_t *ids)
{
    if (k <= 0) return;
    int64_t len = 0;
    int32_t i = 0;
    for (; len < k; i++) {
        int64_t at = len++;
        for (; at > 0 && before(x[ids[(at - 1) / 2]], ids[(at - 1) / 2], x[i], i); at = (at - 1) / 2) ids[at] = ids[(at - 1) / 2];
        ids[at] = i;
    }
    while (i < (int32_t)n) {
        if (n - i >= 8) {
            const __m256 worst = v_set(x[ids[0]]), v = _mm256_loadu_ps(x + i);
            /* worst is a NaN: any number enters, which "not (v <= worst)" says as well; NaNs are looked at in vain. */
            if (_mm256_movemask_ps(_mm256_cmp_ps(v, worst, _CMP_NLE_UQ)) == 0) {
                i += 8;
                continue;
            }
        }
        const int32_t end = n - i >= 8 ? i + 8 : (int32_t)n;
        for (; i < end; i++)
            if (before(x[i], i, x[ids[0]], ids[0])) sift_down(x, ids, len, i);
    }
    while (len > 1) {
        const int32_t worst = ids[0];
        len--;
        sift_down(x, ids, len, ids[len]);
        ids[len] = worst;
    }
}
