/* SPDX-License-Identifier: Apache-2.0
 *
 * ref_elementwise.c: gated activations, add, scale, soft cap, exp. */
#include "kern/ref/ref_common.h"

static float act(mz_glu kind, float g)
{
    switch (kind) {
    case MZ_GLU_SILU: return g / (1.0f + mz_expf(-g));
    case MZ_GLU_GELU_TANH: {
        /* Hendrycks and Gimpel, arXiv 1606.08415: sqrt(2/pi) (g + 0.044715 g^3). */
        float inner = fmaf(0.044715f * (g * g), g, g);
        return (0.5f * g) * (1.0f + mz_tanhf(0.7978845608f * inner));
    }
    case MZ_GLU_GELU_ERF: return (0.5f * g) * (1.0f + mz_erff(g * 0.70710678118f));
    case MZ_GLU_RELU: return g > 0.0f || g != g ? g : 0.0f;
    case MZ_GLU_COUNT: break;
    }
    assert(0 && "unknown activation");
    return g;
}

void mz_ref_glu(mz_glu kind, const float *g, const float *u, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = u ? act(kind, g[i]) * u[i] : act(kind, g[i]);
}

void mz_ref_add(const float *a, const float *b, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = a[i] + b[i];
}

void mz_ref_scale(const float *x, float s, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * s;
}

void mz_ref_softcap(const float *x, float cap, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = cap * mz_tanhf(x[i] / cap);
}

void mz_ref_exp(const float *x, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = mz_expf(x[i]);
}
