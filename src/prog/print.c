/* SPDX-License-Identifier: Apache-2.0
 * Prints a program so that a reader sees the whole model on a screen. */
#include "prog.h"

static bool add_dims(mz_buf *out, const mz_prog *p, int b)
{
    static const char *const rows[MZ_ROWS_COUNT] = {"rows", "logit_rows"};
    const mz_prog_buf *x = &p->buf[b];
    return mz_buf_addf(out, "%s[%s, %lld]%s", x->name, rows[x->rows], (long long)x->width, x->elem == MZ_ELEM_Q8 ? " q8" : "");
}

static bool add_params(mz_buf *out, const mz_op *op)
{
    bool ok = true;
    switch (op->kind) {
    case MZ_OP_RMS_NORM:
    case MZ_OP_LAYER_NORM:
        ok = mz_buf_addf(out, "  eps=%g", (double)op->p.eps) &&
             (op->p.n_head <= 1 || mz_buf_addf(out, " heads=%lld", (long long)op->p.n_head));
        break;
    case MZ_OP_ROPE_TABLE: ok = mz_buf_addf(out, "  n_rot=%lld scale=%g", (long long)op->p.n_rot, (double)op->p.scale); break;
    case MZ_OP_ROPE:
        ok = mz_buf_addf(out, "  heads=%lld d=%lld n_rot=%lld %s", (long long)op->p.n_head, (long long)op->p.d_head, (long long)op->p.n_rot,
                         op->p.interleaved ? "interleaved" : "half-split");
        break;
    case MZ_OP_ATTEND:
        ok = mz_buf_addf(out, "  heads=%lld scale=%g", (long long)op->p.n_head, (double)op->p.scale) &&
             (op->p.window == 0 || mz_buf_addf(out, " window=%lld", (long long)op->p.window)) &&
             (!(op->p.softcap > 0) || mz_buf_addf(out, " softcap=%g", (double)op->p.softcap));
        break;
    case MZ_OP_GLU: {
        static const char *const act[MZ_GLU_COUNT] = {"silu", "gelu_tanh", "gelu_erf", "relu"};
        ok = mz_buf_addf(out, "  act=%s", act[op->p.glu]);
        break;
    }
    case MZ_OP_EMBED:
    case MZ_OP_SCALE:
    case MZ_OP_SOFTCAP: ok = op->p.scale == 1.0f || mz_buf_addf(out, "  scale=%g", (double)op->p.scale); break;
    case MZ_OP_TAP: ok = mz_buf_addf(out, "  '%s'", op->p.name); break;
    default: break;
    }
    return ok;
}

static bool add_op(mz_buf *out, const mz_prog *p, int i)
{
    const mz_op *op = &p->op[i];
    bool ok = mz_buf_addf(out, "%4d %c ", i, op->barrier ? '|' : ' ');
    ok = ok && (op->layer >= 0 ? mz_buf_addf(out, "L%-3d ", op->layer) : mz_buf_addf(out, "     ")) &&
         mz_buf_addf(out, "%-13s ", mz_op_name(op->kind));
    if (op->out >= 0) ok = ok && add_dims(out, p, op->out) && mz_buf_addf(out, " = ");
    const char *sep = "";
    if (op->in >= 0) {
        ok = ok && add_dims(out, p, op->in);
        sep = ", ";
    }
    if (op->in2 >= 0) {
        ok = ok && mz_buf_addf(out, "%s", sep) && add_dims(out, p, op->in2);
        sep = ", ";
    }
    for (int k = 0; k < 2; k++) {
        int w = k ? op->weight2 : op->weight;
        if (w < 0) continue;
        ok = ok && mz_buf_addf(out, "%s%s %s", sep, p->weight[w].name, mz_dtype_get(p->weight[w].w.type)->name);
        sep = ", ";
    }
    if (op->seg >= 0) ok = ok && mz_buf_addf(out, "%skv%d", sep, op->seg);
    return ok && add_params(out, op) && mz_buf_addf(out, "\n");
}

mz_status mz_prog_print(const mz_prog *p, mz_buf *out, mz_err *err)
{
    bool ok = mz_buf_addf(out, "# %d ops, %d buffers, %d weights, %d state segments; '|' marks a barrier\n", p->n_op, p->n_buf, p->n_weight,
                          p->n_seg);
    for (int i = 0; ok && i < p->n_op; i++) ok = add_op(out, p, i);
    for (int i = 0; ok && i < p->n_seg; i++)
        ok = mz_buf_addf(out, "kv%d: layer %d, %lld heads, keys %lld, values %lld\n", i, p->seg[i].layer, (long long)p->seg[i].n_head_kv,
                         (long long)p->seg[i].d_k, (long long)p->seg[i].d_v);
    return ok ? MZ_OK : mz_err_set(err, MZ_ENOMEM, "out of memory while printing the program");
}
