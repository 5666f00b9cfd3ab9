/* SPDX-License-Identifier: Apache-2.0
 * Families `gemma3` (Gemma Team 2025, arXiv 2503.19786) and `gemma2` (arXiv 2408.00118).
 *
 * Traps: the files hold 1 + w in all norm weights, so they are plain weights here. Embeddings are multiplied by sqrt(d_model), not
 * rounded to bfloat16 as the training code did: float references do not round it either. A norm follows attention and
 * feed-forward, before the residual add. Every period-th layer sees everything, the others a window; the local ones of Gemma 3 rotate
 * with a base of their own and are not scaled when the global ones are. Gemma 2 soft-caps scores and logits instead of
 * norming q and k. The 27B models divide scores by sqrt(d_model / n_head), which their files do not say (llama.cpp tells them by their
 * number of layers, and so does this file); the others by sqrt(d_head). */
#include "model/blocks/decoder.h"

#include <math.h>

static mz_status read_softcap(mz_bind *b, const char *key, float *out)
{
    mz_status st = MZ_OK;
    MZ_TRY(mz_bind_f32(b, key, false, out));
    if (!(*out >= 0)) MZ_FAIL(MZ_EFORMAT, b->err, "key %s.%s is %g, expected a positive number, or 0 for none", b->arch, key, (double)*out);
out:
    return st;
}

/* What a family has when its files are silent. */
typedef struct defaults {
    int64_t window, period, n_layer_27b;
    float attn_softcap, final_softcap;
} defaults;

static mz_status read_common(mz_bind *b, mz_decoder *d, const defaults *def)
{
    mz_status st = MZ_OK;
    int64_t n_head;
    MZ_TRY(mz_decoder_read(b, d));
    d->embed_scale = sqrtf((float)b->m->d_model);
    d->act = MZ_GLU_GELU_TANH;
    d->post_norm = true;
    d->attn_softcap = def->attn_softcap;
    d->final_softcap = def->final_softcap;
    d->usual.window = def->window;
    d->period = def->period;
    MZ_TRY(mz_bind_i64(b, "attention.sliding_window", false, 0, INT32_MAX, &d->usual.window));
    MZ_TRY(mz_bind_i64(b, "attention.sliding_window_pattern", false, 1, 4096, &d->period));
    MZ_TRY(mz_bind_layer_i64(b, "attention.head_count", 0, true, 1, 65536, &n_head));
    if (b->m->n_layer == def->n_layer_27b) d->attn_scale = 1.0f / sqrtf((float)(b->m->d_model / n_head));
    MZ_TRY(mz_bind_f32(b, "attention.scale", false, &d->attn_scale));
    if (!(d->attn_scale > 0))
        MZ_FAIL(MZ_EFORMAT, b->err, "key %s.attention.scale is %g, expected a positive number", b->arch, (double)d->attn_scale);
    MZ_TRY(read_softcap(b, "attn_logit_softcapping", &d->attn_softcap));
    MZ_TRY(read_softcap(b, "final_logit_softcapping", &d->final_softcap));
out:
    return st;
}

mz_status mz_family_gemma3(mz_bind *b)
{
    mz_status st = MZ_OK;
    static const defaults def = {.period = 6, .n_layer_27b = 62};
    mz_decoder d;
    mz_rope global, local;
    float local_base = 10000.0f;
    MZ_TRY(read_common(b, &d, &def));
    MZ_TRY(mz_bind_f32(b, "rope.freq_base_swa", false, &local_base));
    if (!(local_base > 1.0f))
        MZ_FAIL(MZ_EFORMAT, b->err, "key %s.rope.freq_base_swa is %g, expected more than 1", b->arch, (double)local_base);
    d.qk_norm = true;
    MZ_TRY(mz_decoder_begin(b, &d));
    MZ_TRY(mz_block_rope_table(b, d.d_head, false, &global));
    d.usual.rope = d.nth.rope = &global;
    if (d.usual.window > 0 && d.period > 1) {
        MZ_TRY(mz_block_rope_plain(b, "rope_local", local_base, global.n_rot, false, &local));
        d.usual.rope = &local;
    }
    MZ_TRY(mz_decoder_end(b, &d));
out:
    return st;
}

mz_status mz_family_gemma2(mz_bind *b)
{
    mz_status st = MZ_OK;
    static const defaults def = {.window = 4096, .period = 2, .n_layer_27b = 46, .attn_softcap = 50.0f, .final_softcap = 30.0f};
    mz_decoder d;
    mz_rope rope;
    MZ_TRY(read_common(b, &d, &def));
    MZ_TRY(mz_decoder_begin(b, &d));
    MZ_TRY(mz_block_rope_table(b, d.d_head, false, &rope));
    d.usual.rope = d.nth.rope = &rope;
    MZ_TRY(mz_decoder_end(b, &d));
out:
    return st;
}
