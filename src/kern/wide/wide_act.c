/* SPDX-License-Identifier: Apache-2.0
 *
 * wide_act.c: kernels over one row with elementary functions, and top_k. */
#include "kern/ref/ref_common.h"
#include "wide_math.h"

void W(softmax)(float *x, int64_t n)
{
    wf m = wf_set(x[0]);
    wm nan = wm_none();
    for (int64_t i = 0; i < n; i += 16) {
        wf v = wf_load_n(x + i, n - i);
        if (n - i < 16) v = wf_pick(wm_first(n - i), v, wf_set(x[0]));
        m = wf_max(m, v);
        nan = wm_or(nan, wf_nan(v));
    }
    m = wf_set(wm_any(nan) ? __builtin_nanf("") : wf_largest(m));
    wf sum = wf_zero();
    for (int64_t i = 0; i < n; i += 16) {
        wf e = wf_exp(wf_sub(wf_load_n(x + i, n - i), m));
        if (n - i < 16) e = wf_keep(wm_first(n - i), e);
        wf_store_n(x + i, e, n - i);
        sum = wf_add(e, sum);
    }
    const wf l = wf_set(wf_tree(sum));
    for (int64_t i = 0; i < n; i += 16) wf_store_n(x + i, wf_div(wf_load_n(x + i, n - i), l), n - i);
}

MZ_INLINE wf act(const mz_glu kind, wf g)
{
    const wf one = wf_set(1.0f);
    switch (kind) {
    case MZ_GLU_SILU: return wf_div(g, wf_add(one, wf_exp(wf_neg(g))));
    case MZ_GLU_GELU_TANH: {
        const wf inner = wf_fma(wf_mul(wf_set(0.044715f), wf_mul(g, g)), g, g);
        return wf_mul(wf_mul(wf_set(0.5f), g), wf_add(one, wf_tanh(wf_mul(wf_set(0.7978845608f), inner))));
    }
    case MZ_GLU_GELU_ERF: return wf_mul(wf_mul(wf_set(0.5f), g), wf_add(one, wf_erf(wf_mul(g, wf_set(0.70710678118f)))));
    case MZ_GLU_RELU: return wf_keep(wf_nle(g, wf_zero()), g);
    case MZ_GLU_COUNT: break;
    }
    return g;
}

MZ_INLINE void glu(const mz_glu kind, const float *g, const float *u, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i += 16) {
        const wf a = act(kind, wf_load_n(g + i, n - i));
        wf_store_n(y + i, u ? wf_mul(a, wf_load_n(u + i, n - i)) : a, n - i);
    }
}

void W(glu)(mz_glu kind, const float *g, const float *u, int64_t n, float *y)
{
    switch (kind) {
    case MZ_GLU_SILU: glu(MZ_GLU_SILU, g, u, n, y); return;
    case MZ_GLU_GELU_TANH: glu(MZ_GLU_GELU_TANH, g, u, n, y); return;
    case MZ_GLU_GELU_ERF: glu(MZ_GLU_GELU_ERF, g, u, n, y); return;
    case MZ_GLU_RELU: glu(MZ_GLU_RELU, g, u, n, y); return;
    case MZ_GLU_COUNT: return;
    }
}

void W(softcap)(const float *x, float cap, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i += 16) wf_store_n(y + i, wf_softcap(wf_load_n(x + i, n - i), wf_set(cap)), n - i);
}

void W(exp)(const float *x, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i += 16) wf_store_n(y + i, wf_exp(wf_load_n(x + i, n - i)), n - i);
}

/* Later values enter only when greater than the worst kept (an equal one loses by its index), or when the worst is a NaN:
 * "not (v <= worst)" says both, and looks at NaNs in vain. So most groups of 16 are passed by with one comparison. */
void W(top_k)(const float *x, int64_t n, int64_t k, int32_t *ids)
{
    if (k <= 0) return;
    mz_ref_top_k_begin(x, k, ids);
    for (int64_t i = k; i < n; i += 16) {
        const int64_t end = mz_w_min(i + 16, n);
        if (end - i == 16 && !wm_any(wf_nle(wf_load(x + i), wf_set(x[ids[0]])))) continue;
        for (int64_t j = i; j < end; j++) mz_ref_top_k_offer(x, k, ids, (int32_t)j);
    }
    mz_ref_top_k_end(x, k, ids);
}
