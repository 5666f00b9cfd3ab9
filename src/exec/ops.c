/* SPDX-License-Identifier: Apache-2.0
 * Splitting and running single ops. Every split is over output elements, so the number of members never
 * enters a result. */
#include "exec/ops.h"

#include <limits.h>

#include "base/fmath.h"
#include "prog/kv_name.h"

typedef struct share {
    mz_ops *o;
    const mz_op *op;
    const mz_step_view *step;
    int t, n, i_member;
} share;

float *mz_ops_row(const mz_ops *o, int buf, int64_t row)
{
    return (float *)(void *)(o->memory + o->offset[buf] + (size_t)row * mz_prog_row_bytes(&o->c.prog->buf[buf]));
}

static int64_t n_rows(const share *s, int buf)
{
    return s->o->c.prog->buf[buf].rows == MZ_ROWS_LOGIT ? s->step->n_logit : s->step->n_row;
}

static const mz_prog_weight *weight(const share *s, int w)
{
    return &s->o->c.prog->weight[w];
}

/* [*lo, *hi) of `total` items for this member: contiguous, the same for all ops with the same total. */
static void range(const share *s, int64_t total, int64_t *lo, int64_t *hi)
{
    *lo = total * s->t / s->n;
    *hi = total * (s->t + 1) / s->n;
}

static void run_matmul(const share *s)
{
    const mz_op *op = s->op;
    const mz_prog *p = s->o->c.prog;
    const mz_prog_weight *w = weight(s, op->weight);
    int64_t lo, hi, rows = n_rows(s, op->out);
    if (rows == 0) return;
    range(s, (w->w.n_out + 7) / 8, &lo, &hi);
    int64_t out0 = lo * 8, out1 = hi * 8 < w->w.n_out ? hi * 8 : w->w.n_out;
    if (out0 >= out1) return;
    float *y = mz_ops_row(s->o, op->out, 0);
    int64_t ldy = (int64_t)(mz_prog_row_bytes(&p->buf[op->out]) / sizeof(float));
    mz_kern_matmul(s->o->c.kern, &w->w)
        ->fn(&w->w, mz_ops_row(s->o, op->in, 0), mz_prog_row_bytes(&p->buf[op->in]), rows, y, ldy, out0, out1);
    if (op->weight2 < 0) return;
    const float *bias = weight(s, op->weight2)->vec + out0;
    for (int64_t r = 0; r < rows; r++) s->o->c.kern->add(y + r * ldy + out0, bias, out1 - out0, y + r * ldy + out0);
}

static mz_attend_args attend_args(const share *s, const mz_run *run)
{
    const mz_prog_seg *seg = &s->o->c.prog->seg[s->op->seg];
    const mz_state_layout *l = s->step->layout;
    return (mz_attend_args){.kv = l->kv,
                            .n_head_kv = seg->n_head_kv,
                            .d_k = seg->d_k,
                            .d_v = seg->d_v,
                            .pool = s->step->pool,
                            .page_bytes = l->page_bytes,
                            .k_offset = l->k_offset[s->op->seg],
                            .v_offset = l->v_offset[s->op->seg],
                            .page = run->page,
                            .scale = s->op->p.scale,
                            .softcap = s->op->p.softcap,
                            .window = s->op->p.window};
}

/* Units are (block of rows, head) pairs, dealt out in turn: later blocks see more keys, so contiguous shares
 * would be uneven. */
static void run_attend(const share *s)
{
    const mz_op *op = s->op;
    const mz_prog *p = s->o->c.prog;
    const mz_prog_seg *seg = &p->seg[op->seg];
    int64_t ldq = (int64_t)(mz_prog_row_bytes(&p->buf[op->in]) / sizeof(float)),
            ldo = (int64_t)(mz_prog_row_bytes(&p->buf[op->out]) / sizeof(float));
    float *scratch = s->o->scratch + (size_t)s->i_member * s->o->scratch_floats;
    int64_t unit = 0;
    for (int r = 0; r < s->step->n_run; r++) {
        const mz_run *run = &s->step->run[r];
        mz_attend_args a = attend_args(s, run);
        for (int32_t row = 0; row < run->n_row; row += MZ_ATTEND_ROWS) {
            int64_t n_q = run->n_row - row < MZ_ATTEND_ROWS ? run->n_row - row : MZ_ATTEND_ROWS;
            for (int64_t head = 0; head < op->p.n_head; head++, unit++) {
                if (unit % s->n != s->t) continue;
                s->o->c.kern->attend(&a, mz_ops_row(s->o, op->in, run->row0 + row) + head * seg->d_k, ldq, n_q, run->pos0 + row,
                                     head / (op->p.n_head / seg->n_head_kv), mz_ops_row(s->o, op->out, run->row0 + row) + head * seg->d_v,
                                     ldo, scratch);
            }
        }
    }
}

static void run_kv_store(const share *s, int64_t row)
{
    const mz_run *run = &s->step->run[s->step->row_run[row]];
    mz_attend_args a = attend_args(s, run);
    bool fits = s->o->c.kern->kv_store(&a, s->step->pool, run->pos0 + row - run->row0, mz_ops_row(s->o, s->op->in, row),
                                       mz_ops_row(s->o, s->op->in2, row));
    if (fits) return;
    int seen = atomic_load(&s->o->bad_layer);
    while (s->op->layer < seen && !atomic_compare_exchange_weak(&s->o->bad_layer, &seen, s->op->layer)) {
    }
}

static void run_rope_table(const share *s, int64_t row)
{
    const mz_run *run = &s->step->run[s->step->row_run[row]];
    float *cs = mz_ops_row(s->o, s->op->out, row), pos = (float)(run->pos0 + row - run->row0);
    for (int64_t i = 0; i < s->op->p.n_rot / 2; i++) {
        float angle = pos * s->op->p.freq[i]; /* rounded to f32, as the published implementations do */
        cs[2 * i] = (float)mz_cos((double)angle) * s->op->p.scale;
        cs[2 * i + 1] = (float)mz_sin((double)angle) * s->op->p.scale;
    }
}

static void run_rms_norm(const share *s, const float *in, float *out)
{
    const mz_op *op = s->op;
    int64_t n = s->o->c.prog->buf[op->in].width / op->p.n_head;
    const float *w = op->weight >= 0 ? weight(s, op->weight)->vec : NULL;
    for (int64_t h = 0; h < op->p.n_head; h++) s->o->c.kern->rms_norm(in + h * n, w, n, op->p.eps, out + h * n);
}

/* Ops whose rows are independent. */
static void run_row(const share *s, int64_t row)
{
    const mz_op *op = s->op;
    const mz_prog *p = s->o->c.prog;
    const mz_kern *k = s->o->c.kern;
    float *out = op->out >= 0 ? mz_ops_row(s->o, op->out, row) : NULL;
    const float *in = op->in >= 0 && op->kind != MZ_OP_SELECT_ROWS ? mz_ops_row(s->o, op->in, row) : NULL;
    const float *in2 = op->in2 >= 0 ? mz_ops_row(s->o, op->in2, row) : NULL;
    int64_t width = op->out >= 0 ? p->buf[op->out].width : 0;
    switch (op->kind) {
    case MZ_OP_EMBED:
        k->weight_row(&weight(s, op->weight)->w, s->step->token[row], out);
        if (op->p.scale != 1.0f) k->scale(out, op->p.scale, width, out);
        break;
    case MZ_OP_RMS_NORM: run_rms_norm(s, in, out); break;
    case MZ_OP_LAYER_NORM:
        k->layer_norm(in, weight(s, op->weight)->vec, op->weight2 >= 0 ? weight(s, op->weight2)->vec : NULL, width, op->p.eps, out);
        break;
    case MZ_OP_QUANTISE: k->quantise_row(in, width, out); break;
    case MZ_OP_ROPE_TABLE: run_rope_table(s, row); break;
    case MZ_OP_ROPE: k->rope(out, op->p.n_head, op->p.d_head, op->p.n_rot, in, op->p.interleaved); break;
    case MZ_OP_KV_STORE: run_kv_store(s, row); break;
    case MZ_OP_GLU: k->glu(op->p.glu, in, in2, width, out); break;
    case MZ_OP_ADD: k->add(in, in2, width, out); break;
    case MZ_OP_SCALE: k->scale(in, op->p.scale, width, out); break;
    case MZ_OP_SOFTCAP: k->softcap(in, op->p.scale, width, out); break;
    case MZ_OP_SELECT_ROWS: k->scale(mz_ops_row(s->o, op->in, s->step->logit_row[row]), 1.0f, width, out); break;
    default: break;
    }
}

static void run_tap(const share *s)
{
    const mz_op *op = s->op;
    const mz_prog *p = s->o->c.prog;
    if (s->t != 0 || !s->step->tap || s->o->tap_status != MZ_OK) return;
    size_t stride = mz_prog_row_bytes(&p->buf[op->in]);
    int64_t rows = n_rows(s, op->in), width = p->buf[op->in].width;
    bool dense = stride == (size_t)width * sizeof(float);
    mz_mem_guard_leave(); /* the observer is not part of the steady state */
    for (int64_t r = 0; r < rows && s->o->tap_status == MZ_OK; r += dense ? rows : 1)
        s->o->tap_status =
            s->step->tap(s->step->tap_user, op->layer, op->p.name, dense ? rows : 1, width, mz_ops_row(s->o, op->in, r), &s->o->tap_err);
    mz_mem_guard_enter();
}

void mz_ops_run(mz_ops *o, const mz_op *op, const mz_step_view *step, int t, int n, int i_member)
{
    share s = {o, op, step, t, n, i_member};
    switch (mz_op_split(op->kind)) {
    case MZ_SPLIT_OUTPUTS: run_matmul(&s); break;
    case MZ_SPLIT_ATTEND: run_attend(&s); break;
    case MZ_SPLIT_ONE: run_tap(&s); break;
    case MZ_SPLIT_ROWS: {
        int64_t lo, hi;
        range(&s, n_rows(&s, op->out >= 0 ? op->out : op->in), &lo, &hi);
        for (int64_t r = lo; r < hi; r++) run_row(&s, r);
        break;
    }
    }
}

/* A share of a product is worth its claim from about this many weight bytes. */
#define SHARE_BYTES 16384

int mz_ops_n_share(const mz_ops *o, int op0, int op1, const mz_step_view *step, int most)
{
    const mz_prog *p = o->c.prog;
    int64_t want = 1;
    for (int i = op0; i < op1; i++) {
        const mz_op *op = &p->op[i];
        int64_t n = 1;
        switch (mz_op_split(op->kind)) {
        case MZ_SPLIT_OUTPUTS: {
            const mz_weight *w = &p->weight[op->weight].w;
            n = (int64_t)((size_t)w->n_out * w->row_bytes / SHARE_BYTES);
            break;
        }
        case MZ_SPLIT_ATTEND: n = step->n_row * op->p.n_head; break;
        case MZ_SPLIT_ROWS: n = p->buf[op->out >= 0 ? op->out : op->in].rows == MZ_ROWS_LOGIT ? step->n_logit : step->n_row; break;
        case MZ_SPLIT_ONE: break;
        }
        if (n > want) want = n;
    }
    return want < most ? (int)want : most;
}

static size_t scratch_floats(const mz_prog *p)
{
    size_t most = 0;
    for (int i = 0; i < p->n_seg; i++) {
        size_t f = (MZ_ATTEND_SCRATCH(MZ_ATTEND_ROWS, p->seg[i].d_v) + 15) & ~(size_t)15;
        if (f > most) most = f;
    }
    return most;
}

bool mz_exec_bytes(const mz_exec_config *c, size_t *out)
{
    size_t buffers, scratch;
    return mz_prog_buffer_bytes(c->prog, c->max_row, c->max_logit, NULL, &buffers) &&
           mz_mul_size(scratch_floats(c->prog) * sizeof(float), (size_t)c->n_thread, &scratch) && mz_add_size(buffers, scratch, out);
}

mz_status mz_ops_init(const mz_exec_config *c, mz_ops *o, mz_err *err)
{
    mz_status st = MZ_OK;
    *o = (mz_ops){.c = *c, .scratch_floats = scratch_floats(c->prog)};
    o->offset = mz_calloc((size_t)c->prog->n_buf + 1, sizeof *o->offset);
    if (!o->offset || !mz_prog_buffer_bytes(c->prog, c->max_row, c->max_logit, o->offset, &o->memory_bytes))
        MZ_FAIL(MZ_ENOMEM, err, "out of memory for buffers");
    o->memory = mz_reserve(o->memory_bytes);
    o->scratch = mz_calloc_aligned(o->scratch_floats * sizeof(float) * (size_t)c->n_thread);
    if (!o->memory || !o->scratch)
        MZ_FAIL(MZ_ENOMEM, err, "%zu bytes for the buffers of %lld rows could not be had; use a smaller --chunk", o->memory_bytes,
                (long long)c->max_row);
out:
    if (st != MZ_OK) mz_ops_free(o);
    return st;
}

void mz_ops_free(mz_ops *o)
{
    mz_unreserve(o->memory, o->memory_bytes);
    mz_free(o->scratch);
    mz_free(o->offset);
    *o = (mz_ops){0};
}

void mz_ops_begin(mz_ops *o)
{
    atomic_store(&o->bad_layer, INT_MAX);
    o->tap_status = MZ_OK;
}

mz_status mz_ops_end(const mz_ops *o, const mz_step_view *step, mz_err *err)
{
    int layer = atomic_load(&o->bad_layer);
    if (layer != INT_MAX)
        return mz_err_set(err, MZ_ERANGE, "a key or value of layer %d does not fit the KV format %s; choose a wider one with --kv", layer,
                          mz_kv_type_name(step->layout->kv));
    if (o->tap_status != MZ_OK && err) *err = o->tap_err;
    return o->tap_status;
}
