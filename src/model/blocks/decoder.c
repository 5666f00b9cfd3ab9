/* SPDX-License-Identifier: Apache-2.0
 * The skeleton of dense decoders. */
#include "model/blocks/decoder.h"

#include <math.h>

mz_status mz_decoder_read(mz_bind *b, mz_decoder *d)
{
    mz_status st = MZ_OK;
    mz_model *m = b->m;
    int64_t n_expert = 0, n_head;
    *d = (mz_decoder){.embed_scale = 1.0f, .act = MZ_GLU_SILU};
    MZ_TRY(mz_bind_i64(b, "block_count", true, 1, 4096, &m->n_layer));
    MZ_TRY(mz_bind_i64(b, "embedding_length", true, 1, 1 << 20, &m->d_model));
    MZ_TRY(mz_bind_i64(b, "context_length", true, 1, INT32_MAX, &m->ctx_tok));
    MZ_TRY(mz_bind_i64(b, "expert_count", false, 0, INT32_MAX, &n_expert));
    if (n_expert > 0)
        MZ_FAIL(MZ_ESUPPORT, b->err, "key %s.expert_count is %lld: mixtures of experts are not supported in family %s", b->arch,
                (long long)n_expert, b->arch);
    MZ_TRY(mz_bind_f32(b, "attention.layer_norm_rms_epsilon", true, &d->eps));
    if (!(d->eps >= 0))
        MZ_FAIL(MZ_EFORMAT, b->err, "key %s.attention.layer_norm_rms_epsilon is %g, expected 0 or more", b->arch, (double)d->eps);
    MZ_TRY(mz_bind_layer_i64(b, "attention.head_count", 0, true, 1, 65536, &n_head));
    d->d_head = m->d_model / n_head;
    MZ_TRY(mz_bind_i64(b, "attention.key_length", false, 2, 65536, &d->d_head));
    if (d->d_head < 2 || d->d_head % 2 != 0)
        MZ_FAIL(MZ_EFORMAT, b->err, "head size is %lld (embedding %lld over %lld heads), expected an even number", (long long)d->d_head,
                (long long)m->d_model, (long long)n_head);
    d->d_value = d->d_head;
    MZ_TRY(mz_bind_i64(b, "attention.value_length", false, 1, 65536, &d->d_value));
    MZ_TRY(mz_bind_f32(b, "attention.scale", false, &d->attn_scale));
    if (!(d->attn_scale > 0)) d->attn_scale = 1.0f / sqrtf((float)d->d_head);
out:
    return st;
}

mz_status mz_decoder_begin(mz_bind *b, mz_decoder *d)
{
    mz_status st = MZ_OK;
    mz_model *m = b->m;
    MZ_TRY(mz_bind_matrix(b, "token_embd.weight", 0, m->d_model, true, &d->embed));
    if (b->p->out_of_memory) goto out;
    m->n_vocab = b->p->weight[d->embed].w.n_out;
    d->x = mz_prog_add_buf(b->p, "x", MZ_ROWS_STEP, MZ_ELEM_F32, m->d_model);
    d->delta = mz_prog_add_buf(b->p, "delta", MZ_ROWS_STEP, MZ_ELEM_F32, m->d_model);
    d->normed = mz_block_act(b, "normed", "normed_q", MZ_ROWS_STEP, m->d_model);
    mz_op op = mz_op_make(MZ_OP_EMBED, -1);
    op.out = d->x;
    op.weight = d->embed;
    op.p.scale = d->embed_scale;
    mz_prog_add_op(b->p, &op);
    mz_block_tap(b, 0, d->x, "embed");
out:
    return st;
}

static mz_status norm(mz_bind *b, const mz_decoder *d, int layer, const char *what, int in, mz_act *out)
{
    mz_status st = MZ_OK;
    char name[96];
    int w;
    MZ_TRY(mz_bind_vector(b, layer < 0 ? what : mz_bind_layer_name(name, layer, what), b->m->d_model, true, &w));
    mz_block_norm(b, layer, in, w, d->eps, 1, out->f32);
    mz_block_touch(out);
out:
    return st;
}

/* delta joins the residual stream, through a norm of its own where the family has one. */
static mz_status join(mz_bind *b, const mz_decoder *d, int layer, const char *what)
{
    mz_status st = MZ_OK;
    mz_act delta = {.f32 = d->delta};
    if (d->post_norm) MZ_TRY(norm(b, d, layer, what, d->delta, &delta));
    mz_block_add(b, layer, d->x, d->delta, d->x);
out:
    return st;
}

static mz_status build_layer(mz_bind *b, mz_decoder *d, int layer, mz_gqa *gqa, mz_ffn *ffn)
{
    mz_status st = MZ_OK;
    char name[96];
    const mz_layer_kind *kind = d->period > 0 && (layer + 1) % d->period == 0 ? &d->nth : &d->usual;
    gqa->window = kind->window;
    MZ_TRY(norm(b, d, layer, "attn_norm.weight", d->x, &d->normed));
    mz_block_tap(b, layer, d->normed.f32, "attn_in");
    MZ_TRY(mz_block_gqa(b, layer, gqa, kind->rope, &d->normed, b->m->d_model, d->delta));
    mz_block_tap(b, layer, d->delta, "attn_out");
    MZ_TRY(join(b, d, layer, "post_attention_norm.weight"));
    MZ_TRY(norm(b, d, layer, "ffn_norm.weight", d->x, &d->normed));
    MZ_TRY(mz_block_ffn(b, layer, ffn, &d->normed, b->m->d_model, d->delta));
    mz_block_tap(b, layer, d->delta, "ffn_out");
    MZ_TRY(join(b, d, layer, "post_ffw_norm.weight"));
    mz_block_tap(b, layer, d->x, "resid");
    mz_bind_mark_used(b, mz_bind_layer_name(name, layer, "attn_rot_embd.weight")); /* early files: the table, derived */
out:
    return st;
}

/* Buffers are shared by layers; layers of other shapes (per-layer head counts or widths) get their own. */
static mz_status build_layers(mz_bind *b, mz_decoder *d)
{
    mz_status st = MZ_OK;
    mz_gqa gqa = {0};
    mz_ffn ffn = {0};
    for (int layer = 0; layer < b->m->n_layer && !b->p->out_of_memory; layer++) {
        int64_t n_head, n_head_kv, n_ff;
        MZ_TRY(mz_bind_layer_i64(b, "attention.head_count", layer, true, 1, 65536, &n_head));
        n_head_kv = n_head;
        MZ_TRY(mz_bind_layer_i64(b, "attention.head_count_kv", layer, false, 1, 65536, &n_head_kv));
        MZ_TRY(mz_bind_layer_i64(b, "feed_forward_length", layer, true, 1, 1 << 24, &n_ff));
        if (n_head % n_head_kv != 0)
            MZ_FAIL(MZ_EFORMAT, b->err, "layer %d has %lld query heads and %lld key/value heads, expected a multiple", layer,
                    (long long)n_head, (long long)n_head_kv);
        if (layer == 0 || n_head != gqa.n_head || n_head_kv != gqa.n_head_kv) {
            gqa = (mz_gqa){.n_head = n_head,
                           .n_head_kv = n_head_kv,
                           .d_head = d->d_head,
                           .d_value = d->d_value,
                           .scale = d->attn_scale,
                           .softcap = d->attn_softcap,
                           .has_norms = d->qk_norm,
                           .eps = d->eps};
            mz_block_gqa_buffers(b, &gqa);
        }
        if (layer == 0 || n_ff != ffn.d_ff) {
            ffn = (mz_ffn){.d_ff = n_ff, .act = d->act};
            mz_block_ffn_buffers(b, &ffn);
        }
        MZ_TRY(build_layer(b, d, layer, &gqa, &ffn));
    }
out:
    return st;
}

static mz_status build_head(mz_bind *b, mz_decoder *d)
{
    mz_status st = MZ_OK;
    int head, bias;
    mz_act last = mz_block_act(b, "last", "last_q", MZ_ROWS_LOGIT, b->m->d_model);
    mz_op op = mz_op_make(MZ_OP_SELECT_ROWS, -1);
    op.in = d->x;
    op.out = last.f32;
    mz_prog_add_op(b->p, &op);
    MZ_TRY(norm(b, d, -1, "output_norm.weight", last.f32, &last));
    mz_block_tap(b, -1, last.f32, "norm");
    MZ_TRY(mz_bind_matrix(b, "output.weight", b->m->n_vocab, b->m->d_model, false, &head));
    MZ_TRY(mz_bind_vector(b, "output.bias", b->m->n_vocab, false, &bias));
    if (head < 0 && !b->p->out_of_memory) { /* tied */
        head = d->embed;
        mz_prog_share_weight(b->p, d->embed, 2);
    }
    b->p->logits = mz_prog_add_buf(b->p, "logits", MZ_ROWS_LOGIT, MZ_ELEM_F32, b->m->n_vocab);
    if (b->p->out_of_memory) goto out;
    mz_block_linear(b, -1, &last, head, bias, b->p->logits);
    if (!(d->final_softcap > 0)) goto out;
    op = mz_op_make(MZ_OP_SOFTCAP, -1);
    op.in = op.out = b->p->logits;
    op.p.scale = d->final_softcap;
    mz_prog_add_op(b->p, &op);
out:
    return st;
}

mz_status mz_decoder_end(mz_bind *b, mz_decoder *d)
{
    mz_status st = MZ_OK;
    MZ_TRY(build_layers(b, d));
    MZ_TRY(build_head(b, d));
out:
    return st;
}
