/* SPDX-License-Identifier: Apache-2.0 */
#include "workers.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

/* About 20 µs of pauses: longer than an op of a small model, far shorter than a scheduler slice. */
#define SPIN_LIMIT 4000

int mz_cpu_count(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n;
}

static atomic_uint_fast64_t n_syscall;

uint64_t mz_workers_syscalls(void)
{
    return atomic_load_explicit(&n_syscall, memory_order_relaxed);
}

static void futex_wait(atomic_int *word, int seen)
{
    atomic_fetch_add_explicit(&n_syscall, 1, memory_order_relaxed);
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake_all(atomic_int *word)
{
    atomic_fetch_add_explicit(&n_syscall, 1, memory_order_relaxed);
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static inline void cpu_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Waits until *word differs from seen. n_asleep is raised before the futex re-checks the word, and the waker changes the word
 * before reading n_asleep (both sequentially consistent), so no wake-up is lost. */
static void wait_change(atomic_int *word, int seen, atomic_int *n_asleep, int n_spin)
{
    for (int i = 0; i < n_spin; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) != seen) return;
        cpu_pause();
    }
    atomic_fetch_add(n_asleep, 1);
    while (atomic_load(word) == seen) futex_wait(word, seen);
    atomic_fetch_sub(n_asleep, 1);
}

static bool has_reached(int word, int target)
{
    return (int)((unsigned)word - (unsigned)target) >= 0;
}

void mz_wait_reach(atomic_int *word, int target, atomic_int *n_asleep, int n_spin)
{
    for (int i = 0; i < n_spin; i++) {
        if (has_reached(atomic_load_explicit(word, memory_order_acquire), target)) return;
        cpu_pause();
    }
    atomic_fetch_add(n_asleep, 1);
    for (int seen = atomic_load(word); !has_reached(seen, target); seen = atomic_load(word)) futex_wait(word, seen);
    atomic_fetch_sub(n_asleep, 1);
}

void mz_wake_waiting(atomic_int *word, atomic_int *n_asleep)
{
    if (atomic_load(n_asleep) > 0) futex_wake_all(word);
}

int mz_spin_limit(int n)
{
    return n <= mz_cpu_count() ? SPIN_LIMIT : 0;
}

struct mz_team {
    int n, n_made, n_spin; /* members; threads made; spins before sleeping */
    pthread_t *thread;
    atomic_int job; /* futex word: number of jobs posted */
    atomic_int n_asleep, n_returned, n_caller_asleep;
    atomic_bool quit;
    bool is_joined; /* this and the next two are written before job is raised */
    mz_team_fn *fn;
    void *arg;
};

typedef struct member {
    mz_team *team;
    int i;
} member;

static void *member_main(void *p)
{
    member m = *(member *)p;
    mz_free(p);
    mz_team *t = m.team;
    for (int seen = 0;;) {
        wait_change(&t->job, seen, &t->n_asleep, t->n_spin);
        seen = atomic_load_explicit(&t->job, memory_order_acquire);
        if (atomic_load_explicit(&t->quit, memory_order_acquire)) return NULL;
        t->fn(t->arg, m.i, t->n);
        if (!t->is_joined) continue;
        atomic_fetch_add(&t->n_returned, 1);
        mz_wake_waiting(&t->n_returned, &t->n_caller_asleep);
    }
}

static void post(mz_team *t)
{
    atomic_fetch_add(&t->job, 1);
    if (atomic_load(&t->n_asleep) > 0) futex_wake_all(&t->job);
}

mz_status mz_team_create(int n, mz_team **out, mz_err *err)
{
    mz_status st = MZ_OK;
    sigset_t all, old;
    *out = NULL;
    mz_team *t = mz_calloc(1, sizeof *t);
    if (t) t->thread = mz_calloc((size_t)n, sizeof *t->thread);
    if (!t || !t->thread) MZ_FAIL(MZ_ENOMEM, err, "out of memory while starting %d threads", n);
    t->n = n;
    t->n_spin = mz_spin_limit(n);
    /* Signals belong to the program's own threads. */
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    for (int i = 1; i < n && st == MZ_OK; i++) {
        member *m = mz_calloc(1, sizeof *m);
        if (m) *m = (member){t, i};
        if (!m || pthread_create(&t->thread[i], NULL, member_main, m) != 0) {
            mz_free(m);
            st = mz_err_set(err, MZ_ENOMEM, "cannot start thread %d of %d; use fewer with --threads", i + 1, n);
        } else {
            t->n_made++;
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (st != MZ_OK) goto out;
    *out = t;
    t = NULL;
out:
    mz_team_free(t);
    return st;
}

void mz_team_free(mz_team *t)
{
    if (!t) return;
    atomic_store_explicit(&t->quit, true, memory_order_release);
    post(t);
    for (int i = 1; i <= t->n_made; i++) (void)pthread_join(t->thread[i], NULL);
    mz_free(t->thread);
    mz_free(t);
}

int mz_team_size(const mz_team *t)
{
    return t->n;
}

void mz_team_run(mz_team *t, mz_team_fn *fn, void *arg)
{
    unsigned target = (unsigned)atomic_load(&t->n_returned) + (unsigned)t->n - 1;
    t->is_joined = true;
    t->fn = fn;
    t->arg = arg;
    if (t->n > 1) post(t);
    fn(arg, 0, t->n);
    mz_wait_reach(&t->n_returned, (int)target, &t->n_caller_asleep, t->n_spin);
}

void mz_team_call(mz_team *t, mz_team_fn *fn, void *arg)
{
    if (t->n == 1) return;
    /* A late member may be reading these: they are written only when they change, which is before the first call. */
    if (t->fn != fn || t->arg != arg) {
        t->fn = fn;
        t->arg = arg;
    }
    post(t);
}
