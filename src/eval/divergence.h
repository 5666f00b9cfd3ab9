/* SPDX-License-Identifier: Apache-2.0
 *
 * divergence.h: what one position says about a model, in nats and double precision.
 *
 * Pure functions over caller-owned memory, any thread. */
#ifndef MZ_EVAL_DIVERGENCE_H
#define MZ_EVAL_DIVERGENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* e [n] = exp(x_i - max), *max the largest x and *i_max its lowest index. Returns the sum over ascending i; NaN or
 * infinity when a logit is NaN or +infinity or all are -infinity. */
double mz_exp_row(const float *x, int32_t n, double *e, double *max, int32_t *i_max);

/* -log softmax(x)[target], from mz_exp_row's sum and max. */
double mz_row_nll(const float *x, int32_t target, double sum, double max);

/* KL(ref || model) = sum over i of p_i ((r_i - lse_r) - (x_i - lse_x)), p_i = e_r_i / sum_r; terms with p_i = 0 are 0.
 * Rounding below zero gives 0. e_r, sum_r, max_r are of ref. */
double mz_row_kl(const float *ref, const double *e_r, double sum_r, double max_r, const float *model, double sum_x, double max_x,
                 int32_t n);

/* The q-quantile (0..1) of sorted v [n >= 1], linear between neighbours (NumPy's default). */
double mz_quantile(const double *sorted, size_t n, double q);

#endif
