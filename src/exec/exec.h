/* SPDX-License-Identifier: Apache-2.0
 *
 * exec.h: executors run a checked program over a step view. Each is a row of a table; a new one (a tile
 * schedule, a device) needs no change in families, and none of its own for a new family.
 *
 * Ownership: an executor owns its buffers and threads; program, kernels and weights outlive it.
 * Threading: run from one thread at a time. A run allocates nothing. */
#ifndef MZ_EXEC_EXEC_H
#define MZ_EXEC_EXEC_H

#include "prog/prog.h"

typedef struct mz_exec_config {
    const mz_prog *prog;
    const mz_kern *kern;
    int n_thread;
    int64_t max_row, max_logit; /* most rows and logit rows of a step */
} mz_exec_config;

typedef struct mz_exec mz_exec;

typedef struct mz_exec_type {
    const char *name;
    mz_status (*create)(const mz_exec_config *c, mz_exec **out, mz_err *err);
    /* Runs one step. MZ_ERANGE names the layer whose keys or values do not fit the KV format; a tap's failure is passed on. */
    mz_status (*run)(mz_exec *x, const mz_step_view *step, mz_err *err);
    void (*destroy)(mz_exec *x); /* accepts NULL */
    /* Row i of the logits of the last run, [n_vocab] f32. */
    const float *(*logits)(const mz_exec *x, int64_t i);
} mz_exec_type;

/* "workers" or "reference" (NULL: workers); NULL when unknown. */
const mz_exec_type *mz_exec_find(const char *name);
/* The reference executor runs with reference kernels on one thread whatever the options say. */
bool mz_exec_is_reference(const mz_exec_type *t);
/* Bytes an executor of this configuration allocates. False on overflow. */
bool mz_exec_bytes(const mz_exec_config *c, size_t *out);

#endif
