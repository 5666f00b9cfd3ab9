/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.h: what this machine can do at best, measured in the process that is judged by it.
 *
 * - Read bandwidth: the engine's number of threads sum a buffer far larger than the last cache; the best of several passes.
 * - Peak arithmetic: the model's own kernels for many rows, all threads, on slices of the model's own weights and on rows
 *   that lie in the cache; formats are joined by the operations the model spends on each. It is the speed of these
 *   kernels without memory in the way, not of the silicon.
 * Threading: one caller; starts and ends threads of its own. */
#ifndef MZ_EVAL_MACHINE_H
#define MZ_EVAL_MACHINE_H

#include <mizan/engine.h>

#include "base/err.h"

typedef struct mz_machine {
    double read_bytes_per_s;
    double flop_per_s;    /* 2 operations a weight and row, joined over the model's formats; 0: nothing is multiplied */
    char main_format[32]; /* on which most operations are spent */
    char cpu[96];         /* model name, "unknown" when the system does not tell */
} mz_machine;

mz_status mz_machine_measure(const mz_engine *e, mz_machine *out, mz_err *err) MZ_MUST_USE;

#endif
