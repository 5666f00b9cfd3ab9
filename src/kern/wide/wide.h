/* SPDX-License-Identifier: Apache-2.0
 *
 * wide.h: kernels over 16 lanes, written once for every instruction set that has a vocabulary of 16 lanes.
 *
 * The files of this folder are compiled once for each set, with -DMZ_WIDE_SET=<name>; W(x) names their functions
 * mz_<name>_x. They speak only this vocabulary, which kern/x86/avx512_wide.h and kern/arm/neon_wide.h define (a vector of
 * 512 bits; four of 128 bits):
 *   wf  16 × f32     lanes are output rows (low-bit products), columns mod 16 (lanes16), keys or dimensions (attention)
 *   wi  16 × i32     the same
 *   wb  16 × 4 bytes 4 neighbouring columns of 16 rows of two panels (kern/panel.h)
 *   wm  16 × bool
 *   wsrc             the same place in two panels of 8 rows
 * Sixteen lanes are what lanes16 and tree16 of kern.h ask for, so a sum in one wf is in the contract's order as it stands.
 *
 * Vocabulary, beyond what the names say (all functions are wf_…, wi_…, wb_…, wm_…):
 *   wf_min, wf_max    a < b ? a : b and a > b ? a : b: the second operand where one is a NaN
 *   wf_fms            a * b - c, rounded once;  wf_fnma  c - a * b, rounded once
 *   wf_load_n         the first n (>= 1) lanes, memory beyond them not touched, the others +0;  wf_store_n
 *   wf_kv             16 stored elements of a KV type, widened exactly
 *   wf_pairs          the even and the odd of 32 floats;  wf_put_pairs
 *   wb_shr, wb_shl    shifts whose bits may cross into neighbouring bytes: mask afterwards
 *   wb_ge             1 where the unsigned byte is at least k, else 0
 *   wi_u8 wi_i8 wi_u16 wf_f16s   8 elements of each panel, widened to lanes
 *   wi_half_sums      k0 * s[0] + k1 * s[1] of a row's two half-block sums, in all lanes
 *   w_dot             sum[t] = init[t] + Σ over groups g0 <= g < g1 of code g · the activations of token t; `strip` says that
 *                     the codes went through w_strip, which may reorder them for the multiplier
 *   w_fence           between the blocks of a super-block, where the compiler must not carry loads over
 *   MZ_BYTE_OFFSET    what wb_byte_code adds to a signed byte code (128 where the multiplier wants unsigned codes)
 *
 * Not: a contract (kern.h) or a choice of set (table.c). Pure functions, any thread. */
#ifndef MZ_KERN_WIDE_H
#define MZ_KERN_WIDE_H

#include <stdint.h>
#include <string.h>

#include "kern/kern.h"

#define MZ_INLINE   static inline __attribute__((always_inline))
#define MZ_NOINLINE static __attribute__((noinline))

/* Before a loop over registers, whose trip count is a constant of at most 16 after inlining. */
#if defined(MZ_EMULATED)
#define MZ_UNROLL /* there are no registers, and unrolled emulations take minutes to compile */
#elif defined(__clang__)
#define MZ_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MZ_UNROLL _Pragma("GCC unroll 16")
#endif

#define MZ_WIDE_JOIN2(set, name) mz_##set##_##name
#define MZ_WIDE_JOIN(set, name)  MZ_WIDE_JOIN2(set, name)
#define W(name)                  MZ_WIDE_JOIN(MZ_WIDE_SET, name)
#define MZ_WIDE_TEXT2(set)       #set
#define MZ_WIDE_TEXT(set)        MZ_WIDE_TEXT2(set)
#define W_NAME                   MZ_WIDE_TEXT(MZ_WIDE_SET)

/* Quantised activations at a tile's first token and a strip's first block. */
typedef struct mz_wact {
    const uint8_t *q, *d, *s;
    size_t stride; /* bytes to the next token */
} mz_wact;

/* How large the sums of codes times activations get, for multipliers that add in 16 bits: codes below 32, below 64, or
 * signed bytes (wb_byte_code). */
typedef enum mz_wdot { MZ_WDOT_5, MZ_WDOT_6, MZ_WDOT_BYTE } mz_wdot;

MZ_INLINE int32_t mz_w_load32(const void *p)
{
    int32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
MZ_INLINE float mz_w_load_f32(const void *p)
{
    float v;
    memcpy(&v, p, sizeof v);
    return v;
}
MZ_INLINE int64_t mz_w_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
MZ_INLINE int64_t mz_w_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#if defined(__aarch64__)
#include "kern/arm/neon_wide.h"
#else
#include "kern/x86/avx512_wide.h"
#endif

void W(init)(mz_kern *k); /* starts from a copy of mz_kern_ref */

/* What it puts into the table. */
mz_matmul_fn W(q4_0), W(q4_1), W(q5_0), W(q5_1), W(q8_0), W(iq4_nl), W(mxfp4), W(nvfp4); /* wide_block.c */
mz_matmul_fn W(q2_k), W(q3_k), W(q4_k), W(q5_k), W(q6_k), W(iq4_xs), W(tq1_0), W(tq2_0); /* wide_super.c */
mz_matmul_fn W(f32), W(f16), W(bf16);                                                    /* wide_float.c */
mz_attend_fn W(attend);                                                                  /* wide_attend.c */
mz_kv_store_fn W(kv_store);                                                              /* wide_kv.c */
void W(quantise_row)(const float *x, int64_t n, void *y);                                /* wide_row.c */
void W(rms_norm)(const float *x, const float *w, int64_t n, float eps, float *y);
void W(layer_norm)(const float *x, const float *w, const float *b, int64_t n, float eps, float *y);
void W(rope)(float *x, int64_t n_head, int64_t d, int64_t n_rot, const float *cs, bool interleaved);
void W(add)(const float *a, const float *b, int64_t n, float *y);
void W(scale)(const float *x, float s, int64_t n, float *y);
void W(top_k)(const float *x, int64_t n, int64_t k, int32_t *ids);
void W(softmax)(float *x, int64_t n); /* wide_act.c */
void W(glu)(mz_glu kind, const float *g, const float *u, int64_t n, float *y);
void W(softcap)(const float *x, float cap, int64_t n, float *y);
void W(exp)(const float *x, int64_t n, float *y);

#endif
