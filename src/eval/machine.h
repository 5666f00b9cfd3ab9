/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.h: what this machine can do at best, measured in the process that is judged by it.
 *
 * - Read bandwidth: eval/bandwidth.h. f32 multiply-adds: eval/fma_peak.h.
 * - Peak arithmetic: joined over the model's formats by the operations it spends on each. F32, F16 and BF16 weights: the f32
 *   multiply-adds. Others: the model's own kernels for many rows, all threads, on slices of the model's own weights and on rows
 *   that lie in the cache, which is the speed of these kernels without memory in the way, not of the silicon.
 * Threading: one caller; starts and ends threads of its own. */
#ifndef MZ_EVAL_MACHINE_H
#define MZ_EVAL_MACHINE_H

#include <mizan/engine.h>

#include "base/err.h"

typedef struct mz_machine {
    double read_bytes_per_s;
    double fma_per_s;     /* f32 operations, 2 a multiply-add */
    double flop_per_s;    /* 2 operations a weight and row, joined over the model's formats; 0: nothing is multiplied */
    double token_s;       /* that one token's multiplications take at this rate, logits left out */
    double logit_s;       /* and those of its logits */
    char main_format[32]; /* on which most operations are spent */
    char cpu[96];         /* model name, "unknown" when the system does not tell */
    char governor[32];    /* of the clock rate, "unknown" when the system does not tell */
} mz_machine;

mz_status mz_machine_measure(const mz_engine *e, mz_machine *out, mz_err *err) MZ_MUST_USE;

/* Bytes of one session's state that a step must read when n_tok tokens are held: layers with a window read no more than it. */
double mz_machine_state_bytes(const mz_engine *e, int64_t n_tok);

#endif
