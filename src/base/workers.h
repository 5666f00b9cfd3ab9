/* SPDX-License-Identifier: Apache-2.0
 *
 * workers.h: a fixed team of threads that run one function together, and waiting that does not burn a busy machine.
 *
 * Threads are created once. Waiting is a bounded spin, then a futex; when the team is larger than the processors it may use, it never spins.
 * Ownership: creator's. Threading: mz_team_run from one thread at a time (it is member 0). */
#ifndef MZ_BASE_WORKERS_H
#define MZ_BASE_WORKERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Processors this process may use (affinity mask), at least 1. */
int mz_cpu_count(void);

typedef struct mz_team mz_team;
typedef void mz_team_fn(void *arg, int i_member, int n_member);

/* A team of n >= 1 members: the caller and n - 1 new threads. MZ_ENOMEM when a thread cannot be made. */
mz_status mz_team_create(int n, mz_team **out, mz_err *err) MZ_MUST_USE;
void mz_team_free(mz_team *t);
int mz_team_size(const mz_team *t);
/* Runs fn(arg, i, n) on every member and returns when all have returned. */
void mz_team_run(mz_team *t, mz_team_fn *fn, void *arg);
/* Calls the other members to fn(arg, i, n) and returns at once. A member that is late may come to fn long after, or once for
 * several calls: fn must find out by itself whether there is still work. Not to be mixed with mz_team_run on one team. */
void mz_team_call(mz_team *t, mz_team_fn *fn, void *arg);

/* Waits until *word has reached target (compared as a difference, so that it may wrap). */
void mz_wait_reach(atomic_int *word, int target, atomic_int *n_asleep, int n_spin);
/* After *word was raised to what others may wait for. */
void mz_wake_waiting(atomic_int *word, atomic_int *n_asleep);
/* System calls that waiting and waking made in this process so far: the only ones of a decode step. */
uint64_t mz_workers_syscalls(void);
/* Spins worth doing before sleeping in a team of n. */
int mz_spin_limit(int n);

#endif
