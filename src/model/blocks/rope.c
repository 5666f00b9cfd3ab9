/* SPDX-License-Identifier: Apache-2.0
 * Rotation frequencies: plain, linear, YaRN (Peng et al. 2023, arXiv 2309.00071, as transformers computes it) and the
 * per-pair factors that GGUF stores for Llama 3 in rope_freqs.weight. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fmath.h"
#include "model/blocks/blocks.h"

typedef enum { SCALING_NONE, SCALING_LINEAR, SCALING_YARN } scaling_kind;

typedef struct scaling {
    scaling_kind kind;
    float factor, attn_factor, beta_fast, beta_slow;
    int64_t original_ctx;
} scaling;

/* Refinements of YaRN that neither this file nor the published Llama and Qwen models have: passed over, they would give a
 * somewhat wrong model in silence. */
static mz_status refuse_refinements(mz_bind *b)
{
    mz_status st = MZ_OK;
    static const struct {
        const char *key;
        float neutral;
    } refinement[] = {
        {"rope.scaling.yarn_ext_factor", 1.0f}, {"rope.scaling.yarn_attn_factor", 1.0f}, {"rope.scaling.yarn_log_multiplier", 0.0f}};
    for (size_t i = 0; i < sizeof refinement / sizeof *refinement; i++) {
        float x = refinement[i].neutral;
        MZ_TRY(mz_bind_f32(b, refinement[i].key, false, &x));
        if (x < refinement[i].neutral || x > refinement[i].neutral)
            MZ_FAIL(MZ_ESUPPORT, b->err, "key %s.%s is %g, and only %g is supported", b->arch, refinement[i].key, (double)x,
                    (double)refinement[i].neutral);
    }
out:
    return st;
}

static mz_status read_scaling(mz_bind *b, scaling *s)
{
    mz_status st = MZ_OK;
    char key[160];
    mz_str type = {"none", 4};
    float linear = 1.0f;
    *s = (scaling){.factor = 1.0f, .attn_factor = 1.0f, .beta_fast = 32.0f, .beta_slow = 1.0f, .original_ctx = b->m->ctx_tok};
    (void)snprintf(key, sizeof key, "%s.rope.scaling.type", b->arch);
    MZ_TRY(mz_gguf_get_str(b->g, key, false, &type, b->err));
    MZ_TRY(mz_bind_f32(b, "rope.scaling.factor", false, &s->factor));
    MZ_TRY(mz_bind_f32(b, "rope.scale_linear", false, &linear)); /* the key of early files */
    if (type.n == 4 && memcmp(type.s, "yarn", 4) == 0)
        s->kind = SCALING_YARN;
    else if (type.n == 6 && memcmp(type.s, "linear", 6) == 0)
        s->kind = SCALING_LINEAR;
    else if (type.n == 4 && memcmp(type.s, "none", 4) == 0)
        s->kind = SCALING_NONE;
    else
        MZ_FAIL(MZ_ESUPPORT, b->err, "key %s is '%.*s', expected none, linear or yarn", key, (int)(type.n < 40 ? type.n : 40), type.s);
    if (s->kind == SCALING_NONE && linear > 1.0f) {
        s->kind = SCALING_LINEAR;
        s->factor = linear;
    }
    if (!(s->factor > 0)) MZ_FAIL(MZ_EFORMAT, b->err, "rope scaling factor is %g, expected a positive number", (double)s->factor);
    MZ_TRY(mz_bind_f32(b, "rope.scaling.attn_factor", false, &s->attn_factor));
    MZ_TRY(mz_bind_f32(b, "rope.scaling.yarn_beta_fast", false, &s->beta_fast));
    MZ_TRY(mz_bind_f32(b, "rope.scaling.yarn_beta_slow", false, &s->beta_slow));
    MZ_TRY(mz_bind_i64(b, "rope.scaling.original_context_length", false, 1, INT32_MAX, &s->original_ctx));
    if (s->kind == SCALING_YARN) MZ_TRY(refuse_refinements(b));
    if (!(s->beta_fast > 0) || !(s->beta_slow > 0))
        MZ_FAIL(MZ_EFORMAT, b->err, "YaRN betas are %g and %g, expected positive numbers", (double)s->beta_fast, (double)s->beta_slow);
out:
    return st;
}

/* The dimension at which a frequency turns `turns` times within the original context. */
static double yarn_dim(double turns, double n_rot, double base, double original_ctx)
{
    return n_rot * mz_log(original_ctx / (turns * 6.283185307179586)) / (2 * mz_log(base));
}

/* Factors of rope_freqs.weight, or NULL when the file has none. */
static mz_status read_factors(mz_bind *b, int64_t n_pair, float **out)
{
    mz_status st = MZ_OK;
    const mz_gguf_tensor *t = mz_gguf_find_tensor(b->g, "rope_freqs.weight");
    *out = NULL;
    if (!t) goto out;
    mz_bind_mark_used(b, "rope_freqs.weight");
    if ((int64_t)t->n_elem != n_pair || t->type != MZ_DTYPE_F32)
        MZ_FAIL(MZ_EFORMAT, b->err, "tensor rope_freqs.weight is %s with %llu values, expected F32 with %lld", mz_dtype_get(t->type)->name,
                (unsigned long long)t->n_elem, (long long)n_pair);
    float *f = mz_prog_floats(b->p, n_pair);
    if (!f) MZ_FAIL(MZ_ENOMEM, b->err, "out of memory while building the model");
    MZ_TRY(mz_gguf_decode(t, f, b->err));
    for (int64_t i = 0; i < n_pair; i++)
        if (!(f[i] > 0 && f[i] < 1e30f))
            MZ_FAIL(MZ_EFORMAT, b->err, "tensor rope_freqs.weight holds %g at %lld, expected positive numbers", (double)f[i], (long long)i);
    *out = f;
out:
    return st;
}

static mz_rope emit_table(mz_bind *b, const char *name, int64_t n_rot, bool interleaved, const float *freq, float scale)
{
    mz_rope r = {.n_rot = n_rot, .interleaved = interleaved, .table = mz_prog_add_buf(b->p, name, MZ_ROWS_STEP, MZ_ELEM_F32, n_rot)};
    mz_op op = mz_op_make(MZ_OP_ROPE_TABLE, -1);
    op.out = r.table;
    op.p.n_rot = n_rot;
    op.p.freq = freq;
    op.p.scale = scale;
    mz_prog_add_op(b->p, &op);
    return r;
}

static double frequency(float base, int64_t i, int64_t n_rot)
{
    return mz_pow((double)base, -(double)(2 * i) / (double)n_rot);
}

mz_status mz_block_rope_plain(mz_bind *b, const char *name, float base, int64_t n_rot, bool interleaved, mz_rope *out)
{
    mz_status st = MZ_OK;
    assert(base > 1.0f);
    float *freq = mz_prog_floats(b->p, n_rot / 2);
    if (!freq) MZ_FAIL(MZ_ENOMEM, b->err, "out of memory while building the model");
    for (int64_t i = 0; i < n_rot / 2; i++) freq[i] = (float)frequency(base, i, n_rot);
    *out = emit_table(b, name, n_rot, interleaved, freq, 1.0f);
out:
    return st;
}

mz_status mz_block_rope_table(mz_bind *b, int64_t d_head, bool interleaved, mz_rope *out)
{
    mz_status st = MZ_OK;
    scaling s;
    float base = 10000.0f, *factors;
    int64_t n_rot = d_head;
    MZ_TRY(mz_bind_i64(b, "rope.dimension_count", false, 2, d_head, &n_rot));
    MZ_TRY(mz_bind_f32(b, "rope.freq_base", false, &base));
    if (n_rot % 2 != 0) MZ_FAIL(MZ_EFORMAT, b->err, "rope dimension count is %lld, expected an even number", (long long)n_rot);
    if (!(base > 1.0f)) MZ_FAIL(MZ_EFORMAT, b->err, "rope frequency base is %g, expected more than 1", (double)base);
    MZ_TRY(read_scaling(b, &s));
    MZ_TRY(read_factors(b, n_rot / 2, &factors));
    float *freq = mz_prog_floats(b->p, n_rot / 2), mscale = s.attn_factor;
    if (!freq) MZ_FAIL(MZ_ENOMEM, b->err, "out of memory while building the model");
    double low = 0, high = 0;
    if (s.kind == SCALING_YARN) {
        low = floor(yarn_dim((double)s.beta_fast, (double)n_rot, (double)base, (double)s.original_ctx));
        high = ceil(yarn_dim((double)s.beta_slow, (double)n_rot, (double)base, (double)s.original_ctx));
        if (low < 0) low = 0;
        if (high > (double)(n_rot - 1)) high = (double)(n_rot - 1);
        if (low == high) high += 0.001;
        if (s.factor > 1.0f) mscale *= (float)(0.1 * mz_log((double)s.factor) + 1.0);
    }
    for (int64_t i = 0; i < n_rot / 2; i++) {
        double f = frequency(base, i, n_rot);
        if (factors) f /= (double)factors[i];
        if (s.kind == SCALING_LINEAR) f /= (double)s.factor;
        if (s.kind == SCALING_YARN) {
            double ramp = ((double)i - low) / (high - low);
            ramp = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
            f = f / (double)s.factor * ramp + f * (1 - ramp);
        }
        freq[i] = (float)f;
    }
    *out = emit_table(b, "rope_table", n_rot, interleaved, freq, mscale);
out:
    return st;
}

void mz_block_rope(mz_bind *b, int layer, const mz_rope *r, int x, int64_t n_head, int64_t d_head)
{
    mz_op op = mz_op_make(MZ_OP_ROPE, layer);
    op.in = r->table;
    op.out = x;
    op.p.n_head = n_head;
    op.p.d_head = d_head;
    op.p.n_rot = r->n_rot;
    op.p.interleaved = r->interleaved;
    mz_prog_add_op(b->p, &op);
}
