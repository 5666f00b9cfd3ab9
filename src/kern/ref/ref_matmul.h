/* SPDX-License-Identifier: Apache-2.0
 *
 * ref_matmul.h: what the low-bit reference matmuls share: the loop over outputs and rows, and integer
 * sums over a block. Each type brings one function that computes one output. */
#ifndef MZ_KERN_REF_MATMUL_H
#define MZ_KERN_REF_MATMUL_H

#include "kern/ref/ref_common.h"

#define MZ_REF_INLINE static inline __attribute__((always_inline))

/* One quantised activation row, taken apart. */
typedef struct mz_ref_act {
    const int8_t *q;  /* [32 * n_blk] */
    const float *d;   /* [n_blk] */
    const int16_t *s; /* [2 * n_blk] */
    int64_t n_blk;
} mz_ref_act;

/* One output: the chain of the type over the row's blocks. */
typedef float mz_ref_dot_fn(const uint8_t *row, const mz_ref_act *a);

/* The values of IQ4_NL's and IQ4_XS's 16 codes. */
static const int8_t mz_ref_iq4_table[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/* Exact integer sum of n codes times activations. */
MZ_REF_INLINE int32_t mz_ref_isum(const int8_t *code, const int8_t *q, int n)
{
    int32_t sum = 0;
    for (int i = 0; i < n; i++) sum += code[i] * q[i];
    return sum;
}

MZ_REF_INLINE void mz_ref_matmul_each(mz_dtype type, mz_ref_dot_fn *dot, const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok,
                                      float *y, int64_t ldy, int64_t out0, int64_t out1)
{
    assert(w->type == type && w->layout == MZ_LAYOUT_ROWS && w->n_in >= 1);
    assert(out0 >= 0 && out0 % 8 == 0 && out1 >= out0 && out1 <= w->n_out && (out1 % 8 == 0 || out1 == w->n_out));
    assert(x_bytes >= mz_q8_row_bytes(w->n_in) && x_bytes % 64 == 0 && (uintptr_t)x % 64 == 0);
    assert(n_tok >= 0 && (n_tok <= 1 || ldy >= w->n_out));
    (void)type;
    mz_ref_act a = {.n_blk = mz_q8_n_blk(w->n_in)};
    for (int64_t i_out = out0; i_out < out1; i_out++) {
        const uint8_t *row = w->data + (size_t)i_out * w->row_bytes;
        for (int64_t t = 0; t < n_tok; t++) {
            const uint8_t *xt = (const uint8_t *)x + (size_t)t * x_bytes;
            a.q = mz_q8_q(xt);
            a.d = mz_q8_d(xt, a.n_blk);
            a.s = mz_q8_s(xt, a.n_blk);
            y[t * ldy + i_out] = dot(row, &a);
        }
    }
}

/* Defines the reference matmul `name` of `type` from its dot function. */
#define MZ_REF_MATMUL(name, type, dot)                                                                                             \
    void name(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1) \
    {                                                                                                                              \
        mz_ref_matmul_each(type, dot, w, x, x_bytes, n_tok, y, ldy, out0, out1);                                                   \
    }

#endif
