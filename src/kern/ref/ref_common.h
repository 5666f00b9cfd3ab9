/* SPDX-License-Identifier: Apache-2.0
 *
 * ref_common.h: the few operations that the contracts of kern.h name (tree16, lanes16, rne), and the
 * declarations of the reference kernels for ref_table.c.
 *
 * Used by ref/ and, where scalar code is needed (tails, set-up), by the other kernel sets. */
#ifndef MZ_KERN_REF_COMMON_H
#define MZ_KERN_REF_COMMON_H

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/bits.h"
#include "base/fmath.h"
#include "kern/kern.h"

static inline bool mz_ref_finite(float x)
{
    return (mz_f32_to_bits(x) & 0x7f800000u) != 0x7f800000u;
}

/* rne of |x| < 2^21 to an integer, independent of the rounding of casts. */
static inline int32_t mz_ref_rne(float x)
{
    return (int32_t)(mz_f32_to_bits(x + 0x1.8p23f) - mz_f32_to_bits(0x1.8p23f));
}

static inline float mz_ref_tree16(const float l[16])
{
    float a[8], b[4];
    for (int i = 0; i < 8; i++) a[i] = l[i] + l[i + 8];
    for (int i = 0; i < 4; i++) b[i] = a[i] + a[i + 4];
    return (b[0] + b[2]) + (b[1] + b[3]);
}

/* lanes16 over a_i * b_i. */
static inline float mz_ref_lanes16(const float *a, const float *b, int64_t n)
{
    float l[16] = {0};
    for (int64_t i = 0; i < n; i++) l[i & 15] = fmaf(a[i], b[i], l[i & 15]);
    for (int64_t i = n; i & 15; i++) l[i & 15] = fmaf(0.0f, 0.0f, l[i & 15]);
    return mz_ref_tree16(l);
}

/* m = max, NaN if either is NaN. The sign of a zero result is free (it is only ever subtracted). */
static inline float mz_ref_max(float m, float x)
{
    if (m != m) return m;
    return x > m || x != x ? x : m;
}

void mz_ref_quantise_row(const float *x, int64_t n, void *y);
void mz_ref_weight_row(const mz_weight *w, int64_t i_out, float *y);
void mz_ref_rms_norm(const float *x, const float *w, int64_t n, float eps, float *y);
void mz_ref_layer_norm(const float *x, const float *w, const float *b, int64_t n, float eps, float *y);
void mz_ref_rope(float *x, int64_t n_head, int64_t d, int64_t n_rot, const float *cs, bool interleaved);
mz_attend_fn mz_ref_attend;
mz_kv_store_fn mz_ref_kv_store;
void mz_ref_softmax(float *x, int64_t n);
void mz_ref_glu(mz_glu kind, const float *g, const float *u, int64_t n, float *y);
void mz_ref_add(const float *a, const float *b, int64_t n, float *y);
void mz_ref_scale(const float *x, float s, int64_t n, float *y);
void mz_ref_softcap(const float *x, float cap, int64_t n, float *y);
void mz_ref_top_k(const float *x, int64_t n, int64_t k, int32_t *ids);
/* Its parts (k >= 1), for sets that pass over values which cannot enter: a heap of the first k, whose root ids[0] is the
 * worst kept; one more value offered, ascending; the heap sorted. */
void mz_ref_top_k_begin(const float *x, int64_t k, int32_t *ids);
void mz_ref_top_k_offer(const float *x, int64_t k, int32_t *ids, int32_t i);
void mz_ref_top_k_end(const float *x, int64_t k, int32_t *ids);
void mz_ref_exp(const float *x, int64_t n, float *y);

mz_matmul_fn mz_ref_matmul_f32, mz_ref_matmul_f16, mz_ref_matmul_bf16;
mz_matmul_fn mz_ref_matmul_q4_0, mz_ref_matmul_q4_1, mz_ref_matmul_q5_0, mz_ref_matmul_q5_1, mz_ref_matmul_q8_0, mz_ref_matmul_iq4_nl;
mz_matmul_fn mz_ref_matmul_q2_k, mz_ref_matmul_q3_k, mz_ref_matmul_q4_k, mz_ref_matmul_q5_k, mz_ref_matmul_q6_k, mz_ref_matmul_iq4_xs;
mz_matmul_fn mz_ref_matmul_tq1_0, mz_ref_matmul_tq2_0, mz_ref_matmul_mxfp4, mz_ref_matmul_nvfp4;

#endif
