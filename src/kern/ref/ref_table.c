/* SPDX-License-Identifier: Apache-2.0
 *
 * ref_table.c: the reference set, and decoding one weight row. */
#include "kern/ref/ref_common.h"

void mz_ref_weight_row(const mz_weight *w, int64_t i_out, float *y)
{
    const mz_dtype_info *info = mz_dtype_get((uint32_t)w->type);
    assert(info && w->layout == MZ_LAYOUT_ROWS && i_out >= 0 && i_out < w->n_out);
    info->decode(w->data + (size_t)i_out * w->row_bytes, y, w->n_in);
}

#define ROWS(type, func) [MZ_DTYPE_##type][MZ_LAYOUT_ROWS] = {func, "rows", "rows"}

const mz_kern mz_kern_ref = {
    .name = "ref",
    .quantise_row = mz_ref_quantise_row,
    .matmul =
        {
            ROWS(F32, mz_ref_matmul_f32),     ROWS(F16, mz_ref_matmul_f16),       ROWS(BF16, mz_ref_matmul_bf16),
            ROWS(Q4_0, mz_ref_matmul_q4_0),   ROWS(Q4_1, mz_ref_matmul_q4_1),     ROWS(Q5_0, mz_ref_matmul_q5_0),
            ROWS(Q5_1, mz_ref_matmul_q5_1),   ROWS(Q8_0, mz_ref_matmul_q8_0),     ROWS(Q2_K, mz_ref_matmul_q2_k),
            ROWS(Q3_K, mz_ref_matmul_q3_k),   ROWS(Q4_K, mz_ref_matmul_q4_k),     ROWS(Q5_K, mz_ref_matmul_q5_k),
            ROWS(Q6_K, mz_ref_matmul_q6_k),   ROWS(IQ4_NL, mz_ref_matmul_iq4_nl), ROWS(IQ4_XS, mz_ref_matmul_iq4_xs),
            ROWS(TQ1_0, mz_ref_matmul_tq1_0), ROWS(TQ2_0, mz_ref_matmul_tq2_0),   ROWS(MXFP4, mz_ref_matmul_mxfp4),
            ROWS(NVFP4, mz_ref_matmul_nvfp4),
        },
    .weight_row = mz_ref_weight_row,
    .rms_norm = mz_ref_rms_norm,
    .layer_norm = mz_ref_layer_norm,
    .rope = mz_ref_rope,
    .attend = mz_ref_attend,
    .kv_store = mz_ref_kv_store,
    .softmax = mz_ref_softmax,
    .glu = mz_ref_glu,
    .add = mz_ref_add,
    .scale = mz_ref_scale,
    .softcap = mz_ref_softcap,
    .top_k = mz_ref_top_k,
    .exp = mz_ref_exp,
};
