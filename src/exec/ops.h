/* SPDX-License-Identifier: Apache-2.0
 *
 * ops.h: one member's share of one op; what every executor on processors is made of. Internal to exec/. */
#ifndef MZ_EXEC_OPS_H
#define MZ_EXEC_OPS_H

#include <stdatomic.h>

#include "exec/exec.h"

/* Query rows that share one pass over keys and values. */
#define MZ_ATTEND_ROWS 8

typedef struct mz_ops {
    mz_exec_config c;
    uint8_t *memory; /* all buffers */
    size_t memory_bytes;
    size_t *offset; /* [n_buf] */
    float *scratch; /* [n_thread, scratch_floats] */
    size_t scratch_floats;
    atomic_int bad_layer; /* lowest layer whose KV value did not fit; INT_MAX: none */
    mz_status tap_status; /* written by the one share of a tap */
    mz_err tap_err;
} mz_ops;

mz_status mz_ops_init(const mz_exec_config *c, mz_ops *o, mz_err *err) MZ_MUST_USE;
void mz_ops_free(mz_ops *o);
void mz_ops_begin(mz_ops *o);
/* Outcome of a run after all members have finished. */
mz_status mz_ops_end(const mz_ops *o, const mz_step_view *step, mz_err *err) MZ_MUST_USE;
/* Share t of n of op, done by member i_member (whose scratch it uses). */
void mz_ops_run(mz_ops *o, const mz_op *op, const mz_step_view *step, int t, int n, int i_member);
/* Into how many shares the ops [op0, op1), which need no barrier between them, are worth cutting; 1..most. */
int mz_ops_n_share(const mz_ops *o, int op0, int op1, const mz_step_view *step, int most);
float *mz_ops_row(const mz_ops *o, int buf, int64_t row);

#endif
