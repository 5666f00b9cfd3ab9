/* SPDX-License-Identifier: Apache-2.0
 *
 * wide_init.c: a set as the reference, or as the set MZ_WIDE_BASE, with what this folder overrides. */
#include "kern/panel.h"
#include "wide.h"

static void low_bit(mz_kern *k, mz_dtype type, mz_matmul_fn *fn)
{
    k->matmul[type][MZ_LAYOUT_PANEL8] = (mz_matmul_kernel){fn, W_NAME " panel8 16x1", W_NAME " panel8 " W_TILE_MANY};
    k->pack[type] = mz_panel_pack;
}

#ifndef MZ_WIDE_BASE
static void plain(mz_kern *k, mz_dtype type, mz_matmul_fn *fn)
{
    k->matmul[type][MZ_LAYOUT_ROWS] = (mz_matmul_kernel){fn, W_NAME " rows " W_FLOAT_ONE, W_NAME " rows " W_FLOAT_MANY};
}
#else
void MZ_WIDE_JOIN(MZ_WIDE_BASE, init)(mz_kern *k);
#endif

void W(init)(mz_kern *k)
{
#ifdef MZ_WIDE_BASE
    MZ_WIDE_JOIN(MZ_WIDE_BASE, init)(k); /* from which this set differs in low-bit products only */
#endif
    k->name = W_NAME;
    low_bit(k, MZ_DTYPE_Q4_0, W(q4_0));
    low_bit(k, MZ_DTYPE_Q4_1, W(q4_1));
    low_bit(k, MZ_DTYPE_Q5_0, W(q5_0));
    low_bit(k, MZ_DTYPE_Q5_1, W(q5_1));
    low_bit(k, MZ_DTYPE_Q8_0, W(q8_0));
    low_bit(k, MZ_DTYPE_Q2_K, W(q2_k));
    low_bit(k, MZ_DTYPE_Q3_K, W(q3_k));
    low_bit(k, MZ_DTYPE_Q4_K, W(q4_k));
    low_bit(k, MZ_DTYPE_Q5_K, W(q5_k));
    low_bit(k, MZ_DTYPE_Q6_K, W(q6_k));
    low_bit(k, MZ_DTYPE_IQ4_NL, W(iq4_nl));
    low_bit(k, MZ_DTYPE_IQ4_XS, W(iq4_xs));
    low_bit(k, MZ_DTYPE_TQ1_0, W(tq1_0));
    low_bit(k, MZ_DTYPE_TQ2_0, W(tq2_0));
    low_bit(k, MZ_DTYPE_MXFP4, W(mxfp4));
    low_bit(k, MZ_DTYPE_NVFP4, W(nvfp4));
#ifndef MZ_WIDE_BASE
    plain(k, MZ_DTYPE_F32, W(f32));
    plain(k, MZ_DTYPE_F16, W(f16));
    plain(k, MZ_DTYPE_BF16, W(bf16));
    k->weight_row = mz_panel_weight_row;
    k->quantise_row = W(quantise_row);
    k->rms_norm = W(rms_norm);
    k->layer_norm = W(layer_norm);
    k->attend = W(attend);
    k->kv_store = W(kv_store);
    k->softmax = W(softmax);
    k->glu = W(glu);
    k->add = W(add);
    k->scale = W(scale);
    k->softcap = W(softcap);
    k->exp = W(exp);
    k->rope = W(rope);
    k->top_k = W(top_k);
#endif
}
