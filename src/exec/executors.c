/* SPDX-License-Identifier: Apache-2.0
 * The two executors: `reference` (one thread, meant with reference kernels: the oracle) and `workers` (a persistent
 * team that works through the program together).
 *
 * The barriers that the checker marked cut the program into phases. The ops of a phase are cut into shares, which
 * members claim one by one; a phase ends when its shares are done, not when its members have arrived. So a member that the
 * system has not scheduled costs the step nothing but its help, which keeps decode alive on a busy machine. A late member
 * notices by the epoch that its run is over. */
#include <string.h>

#include "base/workers.h"
#include "exec/ops.h"

/* Most shares per member: enough to even out members of unequal speed. */
#define SHARES_PER_MEMBER 6
#define MAX_SHARES        0xFFFF

typedef struct phase {
    int op0, op1;
    _Alignas(64) _Atomic uint64_t claim; /* epoch << 32 | shares << 16 | next share: one word, so that they belong together */
    atomic_int n_done;                   /* shares done since the executor exists; wraps */
    atomic_int target;                   /* n_done at the end of this phase of this run */
} phase;

struct mz_exec {
    mz_ops ops;
    mz_team *team; /* NULL: reference */
    const mz_step_view *step;
    phase *phase; /* [n_phase] */
    int n_phase, n_spin;
    atomic_uint epoch;
    atomic_int n_asleep;
};

static void destroy(mz_exec *x)
{
    if (!x) return;
    mz_team_free(x->team);
    mz_ops_free(&x->ops);
    mz_free(x->phase);
    mz_free(x);
}

static mz_status make_phases(mz_exec *x, mz_err *err)
{
    const mz_prog *p = x->ops.c.prog;
    x->n_phase = 1;
    for (int i = 1; i < p->n_op; i++) x->n_phase += p->op[i].barrier;
    x->phase = mz_calloc_aligned((size_t)x->n_phase * sizeof *x->phase);
    if (!x->phase) return mz_err_set(err, MZ_ENOMEM, "out of memory for the executor");
    for (int i = 0, k = 0; i < p->n_op; i++) {
        if (i > 0 && p->op[i].barrier) x->phase[++k].op0 = i;
        x->phase[k].op1 = i + 1;
    }
    return MZ_OK;
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
    if (with_team) {
        MZ_TRY(make_phases(x, err));
        MZ_TRY(mz_team_create(c->n_thread, &x->team, err));
        x->n_spin = mz_spin_limit(c->n_thread);
    }
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
    for (int i = 0; i < x->ops.c.prog->n_op; i++) mz_ops_run(&x->ops, &x->ops.c.prog->op[i], step, 0, 1, 0);
    mz_mem_guard_leave();
    return mz_ops_end(&x->ops, step, err);
}

/* Claims a share of the phase in this epoch: its number in *t of *n. False: none left; *is_over: the epoch has passed. */
static bool claim(phase *ph, uint32_t epoch, int *t, int *n, bool *is_over)
{
    uint64_t seen = atomic_load_explicit(&ph->claim, memory_order_acquire);
    for (;;) {
        *is_over = (uint32_t)(seen >> 32) != epoch;
        *n = (int)(seen >> 16 & 0xFFFF);
        *t = (int)(seen & 0xFFFF);
        if (*is_over || *t >= *n) return false;
        if (atomic_compare_exchange_weak_explicit(&ph->claim, &seen, seen + 1, memory_order_acq_rel, memory_order_acquire)) return true;
    }
}

static void walk(void *arg, int i_member, int n_member)
{
    mz_exec *x = arg;
    uint32_t epoch = atomic_load_explicit(&x->epoch, memory_order_acquire);
    (void)n_member;
    mz_mem_guard_enter();
    for (int k = 0; k < x->n_phase; k++) {
        phase *ph = &x->phase[k];
        int t, n;
        bool is_over;
        while (claim(ph, epoch, &t, &n, &is_over)) {
            for (int i = ph->op0; i < ph->op1; i++) mz_ops_run(&x->ops, &x->ops.c.prog->op[i], x->step, t, n, i_member);
            int done = atomic_fetch_add(&ph->n_done, 1) + 1;
            if (done == atomic_load_explicit(&ph->target, memory_order_relaxed)) mz_wake_waiting(&ph->n_done, &x->n_asleep);
        }
        if (is_over) break;
        mz_wait_reach(&ph->n_done, atomic_load_explicit(&ph->target, memory_order_relaxed), &x->n_asleep, x->n_spin);
    }
    mz_mem_guard_leave();
}

static mz_status run_workers(mz_exec *x, const mz_step_view *step, mz_err *err)
{
    int n_member = mz_team_size(x->team), most = n_member == 1 ? 1 : n_member * SHARES_PER_MEMBER;
    uint32_t epoch = atomic_load_explicit(&x->epoch, memory_order_relaxed) + 1;
    if (most > MAX_SHARES) most = MAX_SHARES;
    mz_ops_begin(&x->ops);
    x->step = step;
    for (int k = 0; k < x->n_phase; k++) {
        phase *ph = &x->phase[k];
        int n = mz_ops_n_share(&x->ops, ph->op0, ph->op1, step, most);
        atomic_store_explicit(&ph->target, (int)((unsigned)atomic_load_explicit(&ph->target, memory_order_relaxed) + (unsigned)n),
                              memory_order_relaxed);
        atomic_store_explicit(&ph->claim, (uint64_t)epoch << 32 | (uint64_t)n << 16, memory_order_release);
    }
    atomic_store_explicit(&x->epoch, epoch, memory_order_release);
    mz_team_call(x->team, walk, x);
    walk(x, 0, n_member);
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
