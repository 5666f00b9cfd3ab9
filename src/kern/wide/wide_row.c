/* SPDX-License-Identifier: Apache-2.0
 *
 * wide_row.c: kernels over one row without elementary functions: quantising, norms, rope, add, scale. */
#include <math.h>

#include "wide_math.h"

/* One block of 32 values, in halves. */
MZ_INLINE void quantise_block(const wf v[2], uint8_t *q, float *d, int16_t *s)
{
    const wf a0 = wf_abs(v[0]), a1 = wf_abs(v[1]);
    const wm wild = wm_or(wi_gt(wi_bits(a0), wi_set(0x7f7fffff)), wi_gt(wi_bits(a1), wi_set(0x7f7fffff))); /* infinity or NaN */
    if (wm_any(wild)) {
        memset(q, 0, 32);
        *d = NAN;
        s[0] = s[1] = 0;
        return;
    }
    const float amax = wf_largest(wf_max(a0, a1));
    if (amax < 0x1p-100f) {
        memset(q, 0, 32);
        *d = 0.0f;
        s[0] = s[1] = 0;
        return;
    }
    *d = amax / 127.0f;
    const wf iv = wf_set(127.0f / amax);
    MZ_UNROLL
    for (int h = 0; h < 2; h++) {
        const wi c = wi_rne(wf_mul(v[h], iv));
        wi_put_bytes(q + 16 * h, c);
        s[h] = (int16_t)wi_total(c);
    }
}

void W(quantise_row)(const float *x, int64_t n, void *y)
{
    const int64_t n_blk = mz_q8_n_blk(n);
    uint8_t *q = y;
    float *d = (float *)(void *)((uint8_t *)y + 32 * n_blk);
    int16_t *s = (int16_t *)(void *)((uint8_t *)y + 36 * n_blk);
    memset((uint8_t *)y + 40 * n_blk, 0, mz_q8_row_bytes(n) - (size_t)n_blk * 40);
    for (int64_t b = 0; b < n_blk; b++) {
        const float *p = x + 32 * b;
        const int64_t left = n - 32 * b;
        const wf v[2] = {wf_load_n(p, left), left > 16 ? wf_load_n(p + 16, left - 16) : wf_zero()};
        quantise_block(v, q + 32 * b, d + b, s + 2 * b);
    }
}

void W(rms_norm)(const float *x, const float *w, int64_t n, float eps, float *y)
{
    wf sum = wf_zero();
    for (int64_t i = 0; i < n; i += 16) {
        const wf v = wf_load_n(x + i, n - i);
        sum = wf_fma(v, v, sum);
    }
    const wf inv = wf_set(1.0f / sqrtf(wf_tree(sum) / (float)n + eps));
    for (int64_t i = 0; i < n; i += 16) {
        const wf v = wf_mul(wf_load_n(x + i, n - i), inv);
        wf_store_n(y + i, w ? wf_mul(v, wf_load_n(w + i, n - i)) : v, n - i);
    }
}

void W(layer_norm)(const float *x, const float *w, const float *b, int64_t n, float eps, float *y)
{
    wf sum = wf_zero(), var = wf_zero();
    for (int64_t i = 0; i < n; i += 16) sum = wf_add(wf_load_n(x + i, n - i), sum);
    const wf mean = wf_set(wf_tree(sum) / (float)n);
    for (int64_t i = 0; i < n; i += 16) {
        wf c = wf_sub(wf_load_n(x + i, n - i), mean);
        if (n - i < 16) c = wf_keep(wm_first(n - i), c);
        var = wf_fma(c, c, var);
    }
    const wf inv = wf_set(1.0f / sqrtf(wf_tree(var) / (float)n + eps));
    for (int64_t i = 0; i < n; i += 16) {
        const int64_t left = n - i;
        const wf c = wf_mul(wf_sub(wf_load_n(x + i, left), mean), inv);
        wf_store_n(y + i, wf_fma(c, wf_load_n(w + i, left), b ? wf_load_n(b + i, left) : wf_zero()), left);
    }
}

/* a cos - b sin and b cos + a sin with the roundings of the contract. */
MZ_INLINE void rotate(wf *a, wf *b, wf c, wf s)
{
    const wf ra = wf_fms(*a, c, wf_mul(*b, s));
    *b = wf_fma(*b, c, wf_mul(*a, s));
    *a = ra;
}

void W(rope)(float *x, int64_t n_head, int64_t d, int64_t n_rot, const float *cs, bool interleaved)
{
    const int64_t half = n_rot / 2;
    for (int64_t h = 0; h < n_head; h++) {
        float *p = x + h * d;
        int64_t i = 0;
        for (; i + 16 <= half; i += 16) {
            wf c, s, a, b;
            wf_pairs(cs + 2 * i, &c, &s);
            if (interleaved) {
                wf_pairs(p + 2 * i, &a, &b);
                rotate(&a, &b, c, s);
                wf_put_pairs(p + 2 * i, a, b);
            } else {
                a = wf_load(p + i), b = wf_load(p + half + i);
                rotate(&a, &b, c, s);
                wf_store(p + i, a);
                wf_store(p + half + i, b);
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

void W(add)(const float *a, const float *b, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i += 16) wf_store_n(y + i, wf_add(wf_load_n(a + i, n - i), wf_load_n(b + i, n - i)), n - i);
}

void W(scale)(const float *x, float s, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i += 16) wf_store_n(y + i, wf_mul(wf_load_n(x + i, n - i), wf_set(s)), n - i);
}
