/* SPDX-License-Identifier: Apache-2.0
 * Grouped-query attention with optional biases, head norms, windows and soft-caps. */
#include "model/blocks/blocks.h"

#include <stdio.h>

void mz_block_gqa_buffers(mz_bind *b, mz_gqa *a)
{
    a->q = mz_prog_add_buf(b->p, "q", MZ_ROWS_STEP, MZ_ELEM_F32, a->n_head * a->d_head);
    a->k = mz_prog_add_buf(b->p, "k", MZ_ROWS_STEP, MZ_ELEM_F32, a->n_head_kv * a->d_head);
    a->v = mz_prog_add_buf(b->p, "v", MZ_ROWS_STEP, MZ_ELEM_F32, a->n_head_kv * a->d_value);
    a->mixed = mz_block_act(b, "attn_mixed", "attn_mixed_q", MZ_ROWS_STEP, a->n_head * a->d_value);
}

static mz_status project(mz_bind *b, int layer, const char *what, mz_act *in, int64_t n_out, int64_t n_in, int out)
{
    mz_status st = MZ_OK;
    char name[96], part[48];
    int w, bias;
    (void)snprintf(part, sizeof part, "%s.weight", what);
    MZ_TRY(mz_bind_matrix(b, mz_bind_layer_name(name, layer, part), n_out, n_in, true, &w));
    (void)snprintf(part, sizeof part, "%s.bias", what);
    MZ_TRY(mz_bind_vector(b, mz_bind_layer_name(name, layer, part), n_out, false, &bias));
    if (!b->p->out_of_memory) mz_block_linear(b, layer, in, w, bias, out);
out:
    return st;
}

static mz_status norm_heads(mz_bind *b, int layer, const char *what, const mz_gqa *a, int64_t n_head, int x)
{
    mz_status st = MZ_OK;
    char name[96];
    int w;
    MZ_TRY(mz_bind_vector(b, mz_bind_layer_name(name, layer, what), a->d_head, true, &w));
    mz_block_norm(b, layer, x, w, a->eps, n_head, x);
out:
    return st;
}

mz_status mz_block_gqa(mz_bind *b, int layer, mz_gqa *a, const mz_rope *rope, mz_act *in, int64_t d_model, int out)
{
    mz_status st = MZ_OK;
    MZ_TRY(project(b, layer, "attn_q", in, a->n_head * a->d_head, d_model, a->q));
    MZ_TRY(project(b, layer, "attn_k", in, a->n_head_kv * a->d_head, d_model, a->k));
    MZ_TRY(project(b, layer, "attn_v", in, a->n_head_kv * a->d_value, d_model, a->v));
    if (a->has_norms) {
        MZ_TRY(norm_heads(b, layer, "attn_q_norm.weight", a, a->n_head, a->q));
        MZ_TRY(norm_heads(b, layer, "attn_k_norm.weight", a, a->n_head_kv, a->k));
    }
    if (rope) {
        mz_block_rope(b, layer, rope, a->q, a->n_head, a->d_head);
        mz_block_rope(b, layer, rope, a->k, a->n_head_kv, a->d_head);
    }
    int seg = mz_prog_add_seg(
        b->p, (mz_prog_seg){.kind = MZ_SEG_KV, .layer = layer, .n_head_kv = a->n_head_kv, .d_k = a->d_head, .d_v = a->d_value});
    mz_op op = mz_op_make(MZ_OP_KV_STORE, layer);
    op.in = a->k;
    op.in2 = a->v;
    op.seg = seg;
    mz_prog_add_op(b->p, &op);
    op = mz_op_make(MZ_OP_ATTEND, layer);
    op.in = a->q;
    op.out = a->mixed.f32;
    op.seg = seg;
    op.p.n_head = a->n_head;
    op.p.scale = a->scale;
    op.p.softcap = a->softcap;
    op.p.window = a->window;
    mz_prog_add_op(b->p, &op);
    mz_block_touch(&a->mixed);
    MZ_TRY(project(b, layer, "attn_output", &a->mixed, d_model, a->n_head * a->d_value, out));
out:
    return st;
}
