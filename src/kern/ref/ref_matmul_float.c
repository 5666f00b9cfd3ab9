/* SPDX-License-Identifier: Apache-2.0
 *
 * ref_matmul_float.c: F32, F16 and BF16 weights against f32 rows: lanes16 of widened products. */
#include "kern/ref/ref_matmul.h"

typedef float widen_fn(const uint8_t *row, int64_t i);

MZ_REF_INLINE float widen_f32(const uint8_t *row, int64_t i)
{
    float v; /* rows may be unaligned */
    memcpy(&v, row + 4 * i, sizeof v);
    return v;
}
MZ_REF_INLINE float widen_f16(const uint8_t *row, int64_t i)
{
    return mz_f16_to_f32(mz_load_u16(row + 2 * i));
}
MZ_REF_INLINE float widen_bf16(const uint8_t *row, int64_t i)
{
    return mz_bf16_to_f32(mz_load_u16(row + 2 * i));
}

MZ_REF_INLINE void matmul_float(mz_dtype type, widen_fn *widen, const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y,
                                int64_t ldy, int64_t out0, int64_t out1)
{
    assert(w->type == type && w->layout == MZ_LAYOUT_ROWS && w->n_in >= 1);
    assert(out0 >= 0 && out0 % 8 == 0 && out1 >= out0 && out1 <= w->n_out && (out1 % 8 == 0 || out1 == w->n_out));
    assert(x_bytes >= (size_t)w->n_in * sizeof(float) && x_bytes % sizeof(float) == 0);
    assert(n_tok >= 0 && (n_tok <= 1 || ldy >= w->n_out));
    (void)type;
    for (int64_t i_out = out0; i_out < out1; i_out++) {
        const uint8_t *row = w->data + (size_t)i_out * w->row_bytes;
        for (int64_t t = 0; t < n_tok; t++) {
            const float *xt = (const float *)(const void *)((const uint8_t *)x + (size_t)t * x_bytes);
            float l[16] = {0};
            for (int64_t i = 0; i < w->n_in; i++) l[i & 15] = fmaf(widen(row, i), xt[i], l[i & 15]);
            for (int64_t i = w->n_in; i & 15; i++) l[i & 15] = fmaf(0.0f, 0.0f, l[i & 15]);
            y[t * ldy + i_out] = mz_ref_tree16(l);
        }
    }
}

#define MATMUL_FLOAT(name, type, widen)                                                                                            \
    void name(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1) \
    {                                                                                                                              \
        matmul_float(type, widen, w, x, x_bytes, n_tok, y, ldy, out0, out1);                                                       \
    }

MATMUL_FLOAT(mz_ref_matmul_f32, MZ_DTYPE_F32, widen_f32)
MATMUL_FLOAT(mz_ref_matmul_f16, MZ_DTYPE_F16, widen_f16)
MATMUL_FLOAT(mz_ref_matmul_bf16, MZ_DTYPE_BF16, widen_bf16)
