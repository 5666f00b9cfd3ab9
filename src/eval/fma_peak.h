/* SPDX-License-Identifier: Apache-2.0
 *
 * fma_peak.h: f32 multiply-adds a team of threads does a second out of registers, on the widest vectors there are.
 *
 * No memory, no loop worth naming: twelve chains, more than the latency of the operation asks for. What a product of floats
 * cannot pass. Threading: the team's caller. */
#ifndef MZ_EVAL_FMA_PEAK_H
#define MZ_EVAL_FMA_PEAK_H

#include "base/workers.h"

/* Operations a second, 2 for each multiply-add. */
double mz_fma_peak_measure(mz_team *team);

#endif
