/* SPDX-License-Identifier: Apache-2.0
 *
 * ref_norm.c: RMS norm, layer norm and softmax over one row. */
#include "kern/ref/ref_common.h"

void mz_ref_rms_norm(const float *x, const float *w, int64_t n, float eps, float *y)
{
    assert(n > 0);
    float inv = 1.0f / sqrtf(mz_ref_lanes16(x, x, n) / (float)n + eps);
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * inv * (w ? w[i] : 1.0f);
}

void mz_ref_layer_norm(const float *x, const float *w, const float *b, int64_t n, float eps, float *y)
{
    assert(n > 0);
    float l[16] = {0};
    for (int64_t i = 0; i < n; i++) l[i & 15] = fmaf(x[i], 1.0f, l[i & 15]);
    float mean = mz_ref_tree16(l) / (float)n;
    float v[16] = {0};
    for (int64_t i = 0; i < n; i++) {
        float c = x[i] - mean;
        v[i & 15] = fmaf(c, c, v[i & 15]);
    }
    /* The padding of the last group adds +0 to lanes that are never -0: nothing to do. */
    float inv = 1.0f / sqrtf(mz_ref_tree16(v) / (float)n + eps);
    for (int64_t i = 0; i < n; i++) y[i] = fmaf((x[i] - mean) * inv, w[i], b ? b[i] : 0.0f);
}

void mz_ref_softmax(float *x, int64_t n)
{
    assert(n >= 1);
    float m = x[0];
    for (int64_t i = 1; i < n; i++) m = mz_ref_max(m, x[i]);
    float l[16] = {0};
    for (int64_t i = 0; i < n; i++) {
        x[i] = mz_expf(x[i] - m);
        l[i & 15] = fmaf(x[i], 1.0f, l[i & 15]);
    }
    float sum = mz_ref_tree16(l);
    for (int64_t i = 0; i < n; i++) x[i] = x[i] / sum;
}
