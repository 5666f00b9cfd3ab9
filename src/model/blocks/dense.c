/* SPDX-License-Identifier: Apache-2.0
 * Linear layers, norms, residual adds and the gated feed-forward. */
#include "model/blocks/blocks.h"

mz_act mz_block_act(mz_bind *b, const char *name, const char *q8_name, mz_rows rows, int64_t width)
{
    return (mz_act){.f32 = mz_prog_add_buf(b->p, name, rows, MZ_ELEM_F32, width), .q8 = -1, .q8_name = q8_name};
}

void mz_block_linear(mz_bind *b, int layer, mz_act *a, int weight, int bias, int out)
{
    mz_prog *p = b->p;
    if (p->out_of_memory) return;
    mz_op op = mz_op_make(MZ_OP_MATMUL, layer);
    op.in = a->f32;
    op.out = out;
    op.weight = weight;
    op.weight2 = bias;
    if (mz_dtype_get(p->weight[weight].w.type)->is_low_bit) {
        if (a->q8 < 0) a->q8 = mz_prog_add_buf(p, a->q8_name, p->buf[a->f32].rows, MZ_ELEM_Q8, p->buf[a->f32].width);
        if (!a->q8_is_fresh) {
            mz_op q = mz_op_make(MZ_OP_QUANTISE, layer);
            q.in = a->f32;
            q.out = a->q8;
            mz_prog_add_op(p, &q);
            a->q8_is_fresh = true;
        }
        op.in = a->q8;
    }
    mz_prog_add_op(p, &op);
}

void mz_block_norm(mz_bind *b, int layer, int in, int weight, float eps, int64_t n_head, int out)
{
    mz_op op = mz_op_make(MZ_OP_RMS_NORM, layer);
    op.in = in;
    op.out = out;
    op.weight = weight;
    op.p.eps = eps;
    op.p.n_head = n_head;
    mz_prog_add_op(b->p, &op);
}

void mz_block_add(mz_bind *b, int layer, int in, int in2, int out)
{
    mz_op op = mz_op_make(MZ_OP_ADD, layer);
    op.in = in;
    op.in2 = in2;
    op.out = out;
    mz_prog_add_op(b->p, &op);
}

void mz_block_tap(mz_bind *b, int layer, int in, const char *name)
{
    mz_op op = mz_op_make(MZ_OP_TAP, layer);
    op.in = in;
    op.p.name = name;
    mz_prog_add_op(b->p, &op);
}

void mz_block_ffn_buffers(mz_bind *b, mz_ffn *f)
{
    f->gate = mz_prog_add_buf(b->p, "ffn_gate", MZ_ROWS_STEP, MZ_ELEM_F32, f->d_ff);
    f->up = mz_prog_add_buf(b->p, "ffn_up", MZ_ROWS_STEP, MZ_ELEM_F32, f->d_ff);
    f->hidden = mz_block_act(b, "ffn_hidden", "ffn_hidden_q", MZ_ROWS_STEP, f->d_ff);
}

mz_status mz_block_ffn(mz_bind *b, int layer, mz_ffn *f, mz_act *in, int64_t d_model, int out)
{
    mz_status st = MZ_OK;
    char name[96];
    int gate, up, down, gate_b, up_b, down_b;
    MZ_TRY(mz_bind_matrix(b, mz_bind_layer_name(name, layer, "ffn_gate.weight"), f->d_ff, d_model, true, &gate));
    MZ_TRY(mz_bind_matrix(b, mz_bind_layer_name(name, layer, "ffn_up.weight"), f->d_ff, d_model, true, &up));
    MZ_TRY(mz_bind_matrix(b, mz_bind_layer_name(name, layer, "ffn_down.weight"), d_model, f->d_ff, true, &down));
    MZ_TRY(mz_bind_vector(b, mz_bind_layer_name(name, layer, "ffn_gate.bias"), f->d_ff, false, &gate_b));
    MZ_TRY(mz_bind_vector(b, mz_bind_layer_name(name, layer, "ffn_up.bias"), f->d_ff, false, &up_b));
    MZ_TRY(mz_bind_vector(b, mz_bind_layer_name(name, layer, "ffn_down.bias"), d_model, false, &down_b));
    if (b->p->out_of_memory) goto out;
    mz_block_linear(b, layer, in, gate, gate_b, f->gate);
    mz_block_linear(b, layer, in, up, up_b, f->up);
    mz_op op = mz_op_make(MZ_OP_GLU, layer);
    op.in = f->gate;
    op.in2 = f->up;
    op.out = f->hidden.f32;
    op.p.glu = f->act;
    mz_prog_add_op(b->p, &op);
    mz_block_touch(&f->hidden);
    mz_block_linear(b, layer, &f->hidden, down, down_b, out);
out:
    return st;
}
