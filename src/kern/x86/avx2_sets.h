/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_sets.h: the functions avx2_init.c puts into the table; contracts in kern.h. Pure functions, any thread. */
#ifndef MZ_KERN_AVX2_SETS_H
#define MZ_KERN_AVX2_SETS_H

#include "kern/kern.h"

/* PANEL8 */
mz_matmul_fn mz_avx2_q4_0, mz_avx2_q4_1, mz_avx2_q5_0, mz_avx2_q5_1, mz_avx2_mxfp4, mz_avx2_nvfp4; /* avx2_q4.c */
mz_matmul_fn mz_avx2_q8_0, mz_avx2_iq4_nl, mz_avx2_iq4_xs;                                         /* avx2_q8.c */
mz_matmul_fn mz_avx2_q2_k, mz_avx2_q3_k, mz_avx2_q4_k, mz_avx2_q5_k, mz_avx2_q6_k;                 /* avx2_k.c */
mz_matmul_fn mz_avx2_tq1_0, mz_avx2_tq2_0;                                                         /* avx2_tq.c */
/* ROWS */
mz_matmul_fn mz_avx2_f32, mz_avx2_f16, mz_avx2_bf16; /* avx2_float.c */

/* avx2_row.c, avx2_act.c */
void mz_avx2_quantise_row(const float *x, int64_t n, void *y);
void mz_avx2_rms_norm(const float *x, const float *w, int64_t n, float eps, float *y);
void mz_avx2_layer_norm(const float *x, const float *w, const float *b, int64_t n, float eps, float *y);
void mz_avx2_rope(float *x, int64_t n_head, int64_t d, int64_t n_rot, const float *cs, bool interleaved);
void mz_avx2_add(const float *a, const float *b, int64_t n, float *y);
void mz_avx2_scale(const float *x, float s, int64_t n, float *y);
void mz_avx2_top_k(const float *x, int64_t n, int64_t k, int32_t *ids);
void mz_avx2_softmax(float *x, int64_t n);
void mz_avx2_glu(mz_glu kind, const float *g, const float *u, int64_t n, float *y);
void mz_avx2_softcap(const float *x, float cap, int64_t n, float *y);
void mz_avx2_exp(const float *x, int64_t n, float *y);

/* avx2_attend.c, avx2_kv.c */
mz_attend_fn mz_avx2_attend;
mz_kv_store_fn mz_avx2_kv_store;

#endif
