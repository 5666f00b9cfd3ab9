/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_init.c: the set "avx2" (AVX2, FMA, F16C) as the reference with what this folder overrides. */
#include "kern/panel.h"
#include "avx2_sets.h"

static void low_bit(mz_kern *k, mz_dtype type, mz_matmul_fn *fn)
{
    k->matmul[type][MZ_LAYOUT_PANEL8] = (mz_matmul_kernel){fn, "avx2 panel8", "avx2 panel8 2x8x4"};
    k->pack[type] = mz_panel_pack;
}

static void plain(mz_kern *k, mz_dtype type, mz_matmul_fn *fn)
{
    k->matmul[type][MZ_LAYOUT_ROWS] = (mz_matmul_kernel){fn, "avx2 rows 4x1", "avx2 rows 3x2 and 3x4"};
}

void mz_kern_init_avx2(mz_kern *k)
{
    k->name = "avx2";
    low_bit(k, MZ_DTYPE_Q4_0, mz_avx2_q4_0);
    low_bit(k, MZ_DTYPE_Q4_1, mz_avx2_q4_1);
    low_bit(k, MZ_DTYPE_Q5_0, mz_avx2_q5_0);
    low_bit(k, MZ_DTYPE_Q5_1, mz_avx2_q5_1);
    low_bit(k, MZ_DTYPE_Q8_0, mz_avx2_q8_0);
    low_bit(k, MZ_DTYPE_Q2_K, mz_avx2_q2_k);
    low_bit(k, MZ_DTYPE_Q3_K, mz_avx2_q3_k);
    low_bit(k, MZ_DTYPE_Q4_K, mz_avx2_q4_k);
    low_bit(k, MZ_DTYPE_Q5_K, mz_avx2_q5_k);
    low_bit(k, MZ_DTYPE_Q6_K, mz_avx2_q6_k);
    low_bit(k, MZ_DTYPE_IQ4_NL, mz_avx2_iq4_nl);
    low_bit(k, MZ_DTYPE_IQ4_XS, mz_avx2_iq4_xs);
    low_bit(k, MZ_DTYPE_TQ1_0, mz_avx2_tq1_0);
    low_bit(k, MZ_DTYPE_TQ2_0, mz_avx2_tq2_0);
    low_bit(k, MZ_DTYPE_MXFP4, mz_avx2_mxfp4);
    low_bit(k, MZ_DTYPE_NVFP4, mz_avx2_nvfp4);
    plain(k, MZ_DTYPE_F32, mz_avx2_f32);
    plain(k, MZ_DTYPE_F16, mz_avx2_f16);
    plain(k, MZ_DTYPE_BF16, mz_avx2_bf16);
    k->weight_row = mz_panel_weight_row;
    k->quantise_row = mz_avx2_quantise_row;
    k->rms_norm = mz_avx2_rms_norm;
    k->layer_norm = mz_avx2_layer_norm;
    k->rope = mz_avx2_rope;
    k->attend = mz_avx2_attend;
    k->kv_store = mz_avx2_kv_store;
    k->softmax = mz_avx2_softmax;
    k->glu = mz_avx2_glu;
    k->add = mz_avx2_add;
    k->scale = mz_avx2_scale;
    k->softcap = mz_avx2_softcap;
    k->top_k = mz_avx2_top_k;
    k->exp = mz_avx2_exp;
}
