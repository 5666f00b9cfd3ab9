/* SPDX-License-Identifier: Apache-2.0
 * Family `llama`: Llama 1–3.x, SmolLM2, and others that publish as this architecture (Touvron et al. 2023, arXiv 2302.13971).
 * GGUF stores q and k rows permuted so that rotation pairs are neighbours (2i, 2i+1). */
#include <math.h>
#include "model/blocks/blocks.h"

typedef struct hparams {
    int64_t n_ff, d_head, d_value, window;
    float eps, attn_scale;
} hparams;

static mz_status read_hparams(mz_bind *b, hparams *h)
{
    mz_status st = MZ_OK;
    mz_model *m = b->m;
    int64_t n_expert = 0, n_head;
    MZ_TRY(mz_bind_i64(b, "block_count", true, 1, 4096, &m->n_layer));
    MZ_TRY(mz_bind_i64(b, "embedding_length", true, 1, 1 << 20, &m->d_model));
    MZ_TRY(mz_bind_i64(b, "context_length", true, 1, INT32_MAX, &m->ctx_tok));
    MZ_TRY(mz_bind_i64(b, "expert_count", false, 0, INT32_MAX, &n_expert));
    if (n_expert > 0)
        MZ_FAIL(MZ_ESUPPORT, b->err, "key %s.expert_count is %lld: mixtures of experts are not supported in family llama", b->arch,
                (long long)n_expert);
    MZ_TRY(mz_bind_f32(b, "attention.layer_norm_rms_epsilon", true, &h->eps));
    if (!(h->eps >= 0))
        MZ_FAIL(MZ_EFORMAT, b->err, "key %s.attention.layer_norm_rms_epsilon is %g, expected 0 or more", b->arch, (double)h->eps);
    MZ_TRY(mz_bind_layer_i64(b, "attention.head_count", 0, true, 1, 65536, &n_head));
    h->d_head = m->d_model / n_head;
    MZ_TRY(mz_bind_i64(b, "attention.key_length", false, 2, 65536, &h->d_head));
    if (h->d_head < 2 || h->d_head % 2 != 0)
        MZ_FAIL(MZ_EFORMAT, b->err, "head size is %lld (embedding %lld over %lld heads), expected an even number", (long long)h->d_head,
                (long long)m->d_model, (long long)n_head);
    h->d_value = h->d_head;
    MZ_TRY(mz_bind_i64(b, "attention.value_length", false, 1, 65536, &h->d_value));
    MZ_TRY(mz_bind_i64(b, "attention.sliding_window", false, 0, INT32_MAX, &h->window));
    MZ_TRY(mz_bind_f32(b, "attention.scale", false, &h->attn_scale));
out:
    return st;
}

static mz_status build_layer(mz_bind *b, const hparams *h, int layer, mz_gqa *gqa, mz_ffn *ffn, const mz_rope *rope, int x, int delta,
                             mz_act *normed)
{
    mz_status st = MZ_OK;
    char name[96];
    int norm;
    MZ_TRY(mz_bind_vector(b, mz_bind_layer_name(name, layer, "attn_norm.weight"), b->m->d_model, true, &norm));
    mz_block_rms_norm(b, layer, x, norm, h->eps, normed);
    mz_block_tap(b, layer, normed->f32, "attn_in");
    MZ_TRY(mz_block_gqa(b, layer, gqa, rope, normed, b->m->d_model, delta));
    mz_block_tap(b, layer, delta, "attn_out");
    mz_block_add(b, layer, x, delta, x);
    MZ_TRY(mz_bind_vector(b, mz_bind_layer_name(name, layer, "ffn_norm.weight"), b->m->d_model, true, &norm));
    mz_block_rms_norm(b, layer, x, norm, h->eps, normed);
    MZ_TRY(mz_block_ffn(b, layer, ffn, normed, b->m->d_model, delta));
    mz_block_tap(b, layer, delta, "ffn_out");
    mz_block_add(b, layer, x, delta, x);
    mz_block_tap(b, layer, x, "resid");
    mz_bind_mark_used(b, mz_bind_layer_name(name, layer, "attn_rot_embd.weight")); /* early files: the table, derived */
out:
    return st;
}

/* Buffers are shared by layers; layers of other shapes (per-layer head counts or widths) get their own. */
static mz_status build_layers(mz_bind *b, const hparams *h, const mz_rope *rope, int x, int delta, mz_act *normed)
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
                           .d_head = h->d_head,
                           .d_value = h->d_value,
                           .window = h->window,
                           .scale = h->attn_scale};
            mz_block_gqa_buffers(b, &gqa);
        }
        if (layer == 0 || n_ff != ffn.d_ff) {
            ffn = (mz_ffn){.d_ff = n_ff, .act = MZ_GLU_SILU};
            mz_block_ffn_buffers(b, &ffn);
        }
        MZ_TRY(build_layer(b, h, layer, &gqa, &ffn, rope, x, delta, normed));
    }
out:
    return st;
}

static mz_status build_head(mz_bind *b, const hparams *h, int x, int embed)
{
    mz_status st = MZ_OK;
    int norm, head, bias;
    mz_act last = mz_block_act(b, "last", "last_q", MZ_ROWS_LOGIT, b->m->d_model);
    mz_op op = mz_op_make(MZ_OP_SELECT_ROWS, -1);
    op.in = x;
    op.out = last.f32;
    mz_prog_add_op(b->p, &op);
    MZ_TRY(mz_bind_vector(b, "output_norm.weight", b->m->d_model, true, &norm));
    mz_block_rms_norm(b, -1, last.f32, norm, h->eps, &last);
    mz_block_tap(b, -1, last.f32, "norm");
    MZ_TRY(mz_bind_matrix(b, "output.weight", b->m->n_vocab, b->m->d_model, false, &head));
    MZ_TRY(mz_bind_vector(b, "output.bias", b->m->n_vocab, false, &bias));
    if (head < 0 && !b->p->out_of_memory) { /* tied */
        head = embed;
        mz_prog_share_weight(b->p, embed, 2);
    }
    b->p->logits = mz_prog_add_buf(b->p, "logits", MZ_ROWS_LOGIT, MZ_ELEM_F32, b->m->n_vocab);
    if (!b->p->out_of_memory) mz_block_linear(b, -1, &last, head, bias, b->p->logits);
out:
    return st;
}

mz_status mz_family_llama(mz_bind *b)
{
    mz_status st = MZ_OK;
    hparams h = {0};
    mz_rope rope;
    int embed;
    MZ_TRY(read_hparams(b, &h));
    if (!(h.attn_scale > 0)) h.attn_scale = 1.0f / sqrtf((float)h.d_head);
    MZ_TRY(mz_bind_matrix(b, "token_embd.weight", 0, b->m->d_model, true, &embed));
    if (b->p->out_of_memory) goto out;
    b->m->n_vocab = b->p->weight[embed].w.n_out;
    int x = mz_prog_add_buf(b->p, "x", MZ_ROWS_STEP, MZ_ELEM_F32, b->m->d_model);
    int delta = mz_prog_add_buf(b->p, "delta", MZ_ROWS_STEP, MZ_ELEM_F32, b->m->d_model);
    mz_act normed = mz_block_act(b, "normed", "normed_q", MZ_ROWS_STEP, b->m->d_model);
    mz_op op = mz_op_make(MZ_OP_EMBED, -1);
    op.out = x;
    op.weight = embed;
    mz_prog_add_op(b->p, &op);
    mz_block_tap(b, 0, x, "embed");
    MZ_TRY(mz_block_rope_table(b, h.d_head, true, &rope));
    MZ_TRY(build_layers(b, &h, &rope, x, delta, &normed));
    MZ_TRY(build_head(b, &h, x, embed));
out:
    return st;
}
