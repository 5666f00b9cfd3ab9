/* SPDX-License-Identifier: Apache-2.0
 * The two executors: `reference` (one thread, meant with reference kernels: the oracle) and `workers` (a persistent
 * team that walks the op list together and meets at the barriers the checker marked). */
#include <string.h>

#include "base/workers.h"
#include "exec/ops.h"

struct mz_exec {
    mz_ops ops;
    mz_team *team; /* NULL: reference */
    const mz_step_view *step;
};

static void destroy(mz_exec *x)
{
    if (!x) return;
    mz_team_free(x->team);
    mz_ops_free(&x->ops);
    mz_free(x);
}

static mz_status create(const mz_exec_config *c, bool with_team, mz_exec **out, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_exec_config one = *c;
    *out = NULL;
    mz_exec *x = mz_calloc(1, sizeof *x);
    if (!x) MZ_FAIL(MZ_ENOMEM, err, "out of memory for the executor");
    if (!with_team) one.n_thread = 1;
    MZ_TRY(mz_ops_init(&one, &x->ops, err));
    if (with_team) MZ_TRY(mz_team_create(c->n_thread, &x->team, err));
    *out = x;
    x = NULL;
out:
    destroy(x);
    return st;
}

static mz_status create_reference(const mz_exec_config *c, mz_exec **out, mz_err *err)
{
    return create(c, false, out, err);
}

static mz_status create_workers(const mz_exec_config *c, mz_exec **out, mz_err *err)
{
    return create(c, true, out, err);
}

static mz_status run_reference(mz_exec *x, const mz_step_view *step, mz_err *err)
{
    mz_ops_begin(&x->ops);
    mz_mem_guard_enter();
    for (int i = 0; i < x->ops.c.prog->n_op; i++) mz_ops_run(&x->ops, &x->ops.c.prog->op[i], step, 0, 1);
    mz_mem_guard_leave();
    return mz_ops_end(&x->ops, step, err);
}

static void walk(void *arg, int t, int n)
{
    mz_exec *x = arg;
    const mz_prog *p = x->ops.c.prog;
    mz_barrier *barrier = mz_team_barrier(x->team);
    mz_mem_guard_enter();
    for (int i = 0; i < p->n_op; i++) {
        if (p->op[i].barrier) mz_barrier_wait(barrier);
        mz_ops_run(&x->ops, &p->op[i], x->step, t, n);
    }
    mz_mem_guard_leave();
}

static mz_status run_workers(mz_exec *x, const mz_step_view *step, mz_err *err)
{
    mz_ops_begin(&x->ops);
    x->step = step;
    mz_team_run(x->team, walk, x);
    return mz_ops_end(&x->ops, step, err);
}

static const float *logits(const mz_exec *x, int64_t i)
{
    return mz_ops_row(&x->ops, x->ops.c.prog->logits, i);
}

static const mz_exec_type exec_table[] = {
    {"workers", create_workers, run_workers, destroy, logits},
    {"reference", create_reference, run_reference, destroy, logits},
};

const mz_exec_type *mz_exec_find(const char *name)
{
    if (!name) return &exec_table[0];
    for (size_t i = 0; i < sizeof exec_table / sizeof exec_table[0]; i++)
        if (strcmp(exec_table[i].name, name) == 0) return &exec_table[i];
    return NULL;
}

bool mz_exec_is_reference(const mz_exec_type *t)
{
    return t == &exec_table[1];
}
