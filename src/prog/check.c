/* SPDX-License-Identifier: Apache-2.0
 * The program checker: a family that emits a wrong program is caught here, at load, not by wrong text. */
#include <string.h>

#include "prog.h"

const char *mz_op_name(mz_op_kind kind)
{
    static const char *const name[MZ_OP_COUNT] = {[MZ_OP_EMBED] = "embed",
                                                  [MZ_OP_RMS_NORM] = "rms_norm",
                                                  [MZ_OP_LAYER_NORM] = "layer_norm",
                                                  [MZ_OP_QUANTISE] = "quantise_rows",
                                                  [MZ_OP_MATMUL] = "matmul",
                                                  [MZ_OP_ROPE_TABLE] = "rope_table",
                                                  [MZ_OP_ROPE] = "rope",
                                                  [MZ_OP_KV_STORE] = "kv_store",
                                                  [MZ_OP_ATTEND] = "attend",
                                                  [MZ_OP_GLU] = "glu",
                                                  [MZ_OP_ADD] = "add",
                                                  [MZ_OP_SCALE] = "scale",
                                                  [MZ_OP_SOFTCAP] = "softcap",
                                                  [MZ_OP_SELECT_ROWS] = "select_rows",
                                                  [MZ_OP_TAP] = "tap"};
    return (unsigned)kind < MZ_OP_COUNT ? name[kind] : "?";
}

mz_split mz_op_split(mz_op_kind kind)
{
    switch (kind) {
    case MZ_OP_MATMUL: return MZ_SPLIT_OUTPUTS;
    case MZ_OP_ATTEND: return MZ_SPLIT_ATTEND;
    case MZ_OP_TAP: return MZ_SPLIT_ONE;
    default: return MZ_SPLIT_ROWS;
    }
}

typedef struct checker {
    mz_prog *p;
    mz_err *err;
    bool *written; /* [n_buf] */
    bool *stored;  /* [n_seg] */
    /* since the last barrier: */
    bool *read_since, *wrote_since; /* [n_buf + n_seg] touched at all */
    bool *read_other, *wrote_other; /* [n_buf + n_seg] touched by an op not split by rows */
} checker;

/* A shape as an op sees it; width -1: absent. */
static int64_t width_of(const mz_prog *p, int b)
{
    return b < 0 ? -1 : p->buf[b].width;
}

#define DEMAND(cond, ...)                                                            \
    do {                                                                             \
        if (!(cond)) MZ_FAIL(MZ_EINVAL, c->err, "program op %d (%s): " __VA_ARGS__); \
    } while (0)

static mz_status check_operands(checker *c, int i)
{
    mz_status st = MZ_OK;
    const mz_prog *p = c->p;
    const mz_op *op = &p->op[i];
    const char *name = mz_op_name(op->kind);
    const int bufs[3] = {op->in, op->in2, op->out};
    for (int k = 0; k < 3; k++) DEMAND(bufs[k] < p->n_buf, "buffer %d does not exist", i, name, bufs[k]);
    DEMAND(op->weight < p->n_weight && op->weight2 < p->n_weight && op->seg < p->n_seg, "names a weight or segment that does not exist", i,
           name);
    for (int k = 0; k < 2; k++)
        DEMAND(bufs[k] < 0 || c->written[bufs[k]], "reads buffer '%s' before it is written", i, name, p->buf[bufs[k]].name);
    if (op->kind == MZ_OP_ROPE) DEMAND(op->out >= 0 && c->written[op->out], "rotates a buffer before it is written", i, name);
    for (int k = 0; k < 3; k++) {
        if (bufs[k] < 0) continue;
        bool want_q8 = op->kind == MZ_OP_QUANTISE
                           ? k == 2
                           : op->kind == MZ_OP_MATMUL && k == 0 && mz_dtype_get(p->weight[op->weight].w.type)->is_low_bit;
        DEMAND((p->buf[bufs[k]].elem == MZ_ELEM_Q8) == want_q8, "buffer '%s' has the wrong element kind", i, name, p->buf[bufs[k]].name);
        if (k < 2 && op->out >= 0 && op->kind != MZ_OP_SELECT_ROWS)
            DEMAND(p->buf[bufs[k]].rows == p->buf[op->out].rows, "mixes row domains", i, name);
    }
out:
    return st;
}

static mz_status check_shapes(checker *c, int i)
{
    mz_status st = MZ_OK;
    const mz_prog *p = c->p;
    const mz_op *op = &p->op[i];
    const char *name = mz_op_name(op->kind);
    const mz_prog_weight *w = op->weight >= 0 ? &p->weight[op->weight] : NULL, *w2 = op->weight2 >= 0 ? &p->weight[op->weight2] : NULL;
    const mz_prog_seg *seg = op->seg >= 0 ? &p->seg[op->seg] : NULL;
    int64_t in = width_of(p, op->in), in2 = width_of(p, op->in2), out = width_of(p, op->out);
    switch (op->kind) {
    case MZ_OP_EMBED: DEMAND(w && !w->is_vector && w->w.n_in == out, "weight and output widths differ", i, name); break;
    case MZ_OP_RMS_NORM:
        DEMAND(in >= 0 && in == out && op->p.n_head >= 1 && in % op->p.n_head == 0, "input and output widths differ", i, name);
        DEMAND(!w || (w->is_vector && w->w.n_in * op->p.n_head == in), "weight does not fit the rows", i, name);
        break;
    case MZ_OP_LAYER_NORM:
        DEMAND(in >= 0 && in == out && w && w->is_vector && w->w.n_in == in && (!w2 || (w2->is_vector && w2->w.n_in == in)),
               "widths differ", i, name);
        break;
    case MZ_OP_QUANTISE: DEMAND(in >= 0 && in == out, "widths differ", i, name); break;
    case MZ_OP_MATMUL:
        DEMAND(w && !w->is_vector && w->w.n_in == in && w->w.n_out == out, "weight '%s' is [%lld, %lld] but the buffers are %lld -> %lld",
               i, name, w ? w->name : "?", w ? (long long)w->w.n_out : 0, w ? (long long)w->w.n_in : 0, (long long)in, (long long)out);
        DEMAND(!w2 || (w2->is_vector && w2->w.n_in == out), "bias does not fit", i, name);
        break;
    case MZ_OP_ROPE_TABLE: DEMAND(out == op->p.n_rot && op->p.freq, "table width is not n_rot", i, name); break;
    case MZ_OP_ROPE:
        DEMAND(in == op->p.n_rot && op->p.n_rot <= op->p.d_head && out == op->p.n_head * op->p.d_head, "head shape does not fit", i, name);
        break;
    case MZ_OP_KV_STORE:
        DEMAND(seg && in == seg->n_head_kv * seg->d_k && in2 == seg->n_head_kv * seg->d_v, "keys or values do not fit the segment", i,
               name);
        break;
    case MZ_OP_ATTEND:
        DEMAND(seg && op->p.n_head % seg->n_head_kv == 0 && in == op->p.n_head * seg->d_k && out == op->p.n_head * seg->d_v,
               "heads do not fit the segment", i, name);
        DEMAND(c->stored[op->seg], "reads a segment that this step has not appended to", i, name);
        break;
    case MZ_OP_GLU:
    case MZ_OP_ADD: DEMAND(in >= 0 && in == out && in2 == out, "widths differ", i, name); break;
    case MZ_OP_SCALE: DEMAND(in >= 0 && in == out, "widths differ", i, name); break;
    case MZ_OP_SOFTCAP: DEMAND(in >= 0 && in == out && op->p.scale > 0, "widths differ, or the cap is not positive", i, name); break;
    case MZ_OP_SELECT_ROWS:
        DEMAND(in >= 0 && in == out && p->buf[op->in].rows == MZ_ROWS_STEP && p->buf[op->out].rows == MZ_ROWS_LOGIT,
               "does not go from step rows to logit rows", i, name);
        break;
    case MZ_OP_TAP: DEMAND(in >= 0 && op->p.name, "has no buffer or name", i, name); break;
    case MZ_OP_COUNT: DEMAND(false, "unknown kind", i, name); break;
    }
out:
    return st;
}

typedef struct touch {
    int item; /* buffer number, or n_buf + segment number */
    bool write;
} touch;

static int touches(const mz_prog *p, const mz_op *op, touch t[5])
{
    int n = 0;
    if (op->in >= 0) t[n++] = (touch){op->in, false};
    if (op->in2 >= 0) t[n++] = (touch){op->in2, false};
    if (op->out >= 0) t[n++] = (touch){op->out, true};
    if (op->kind == MZ_OP_ROPE) t[n++] = (touch){op->out, false};
    if (op->seg >= 0) t[n++] = (touch){p->n_buf + op->seg, op->kind == MZ_OP_KV_STORE};
    return n;
}

/* A row-split op may follow a row-split op without a barrier: the same thread owns the same rows of all buffers of a
 * domain. SELECT_ROWS crosses domains, so it counts as not row-split here. */
static void mark_barrier(checker *c, mz_op *op)
{
    touch t[5];
    int n = touches(c->p, op, t);
    bool by_rows = mz_op_split(op->kind) == MZ_SPLIT_ROWS && op->kind != MZ_OP_SELECT_ROWS;
    bool need = false;
    for (int k = 0; k < n; k++) {
        int x = t[k].item;
        bool hazard_any = c->wrote_since[x] || (t[k].write && c->read_since[x]);
        bool hazard_other = c->wrote_other[x] || (t[k].write && c->read_other[x]);
        need = need || (by_rows ? hazard_other : hazard_any);
    }
    size_t n_item = (size_t)(c->p->n_buf + c->p->n_seg);
    if (need) {
        memset(c->read_since, 0, n_item);
        memset(c->wrote_since, 0, n_item);
        memset(c->read_other, 0, n_item);
        memset(c->wrote_other, 0, n_item);
    }
    op->barrier = need;
    for (int k = 0; k < n; k++) {
        int x = t[k].item;
        if (t[k].write)
            c->wrote_since[x] = true;
        else
            c->read_since[x] = true;
        if (by_rows) continue;
        if (t[k].write)
            c->wrote_other[x] = true;
        else
            c->read_other[x] = true;
    }
}

mz_status mz_prog_check(mz_prog *p, mz_err *err)
{
    mz_status st = MZ_OK;
    checker local = {.p = p, .err = err}, *c = &local;
    size_t n_item = (size_t)(p->n_buf + p->n_seg);
    bool *flags = NULL;
    if (!p->out_of_memory) flags = mz_calloc(6 * n_item + 1, sizeof *flags);
    if (!flags) MZ_FAIL(MZ_ENOMEM, err, "out of memory while building the program");
    c->written = flags;
    c->stored = flags + n_item;
    c->read_since = flags + 2 * n_item;
    c->wrote_since = flags + 3 * n_item;
    c->read_other = flags + 4 * n_item;
    c->wrote_other = flags + 5 * n_item;
    for (int i = 0; i < p->n_weight; i++) p->weight[i].n_use = 0;
    for (int i = 0; i < p->n_op; i++) {
        mz_op *op = &p->op[i];
        MZ_TRY(check_operands(c, i));
        MZ_TRY(check_shapes(c, i));
        mark_barrier(c, op);
        if (op->out >= 0) c->written[op->out] = true;
        if (op->kind == MZ_OP_KV_STORE) c->stored[op->seg] = true;
        if (op->weight >= 0) {
            p->weight[op->weight].n_use++;
            if (op->kind == MZ_OP_MATMUL) p->weight[op->weight].is_matmul = true;
            if (op->kind == MZ_OP_EMBED) p->weight[op->weight].is_lookup = true;
        }
        if (op->weight2 >= 0) p->weight[op->weight2].n_use++;
    }
    for (int i = 0; i < p->n_weight; i++)
        if (p->weight[i].n_use != p->weight[i].n_use_declared)
            MZ_FAIL(MZ_EINVAL, err, "program weight '%s' is used %d times, declared %d", p->weight[i].name, p->weight[i].n_use,
                    p->weight[i].n_use_declared);
    if (p->logits < 0 || p->logits >= p->n_buf || !c->written[p->logits]) MZ_FAIL(MZ_EINVAL, err, "program never writes its logits");
out:
    mz_free(flags);
    return st;
}
