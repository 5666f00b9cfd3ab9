/* SPDX-License-Identifier: Apache-2.0
 *
 * bandwidth.h: how fast a team of threads reads memory that no cache holds, at best.
 *
 * It is a bound that a model's speed is held against, so it must not be lower than what kernels reach: the block lies on huge
 * pages as the weights do, each line is asked for 2 KiB before it is read, and the best of several passes counts.
 * Threading: the team's caller. */
#ifndef MZ_EVAL_BANDWIDTH_H
#define MZ_EVAL_BANDWIDTH_H

#include "base/err.h"
#include "base/workers.h"

mz_status mz_bandwidth_measure(mz_team *team, double *bytes_per_s, mz_err *err) MZ_MUST_USE;

#endif
