/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/divergence.h"

#include <math.h>

#include "base/fmath.h"

double mz_exp_row(const float *x, int32_t n, double *e, double *max, int32_t *i_max)
{
    int32_t best = 0;
    double sum = 0;
    for (int32_t i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    *max = (double)x[best];
    *i_max = best;
    for (int32_t i = 0; i < n; i++) {
        /* mz_exp clamps, and a clamped NaN would vanish. */
        if (isnan(x[i])) return (double)NAN;
        e[i] = mz_exp((double)x[i] - *max);
        sum += e[i];
    }
    return isfinite(*max) ? sum : (double)NAN;
}

double mz_row_nll(const float *x, int32_t target, double sum, double max)
{
    return mz_log(sum) - ((double)x[target] - max);
}

double mz_row_kl(const float *ref, const double *e_r, double sum_r, double max_r, const float *model, double sum_x, double max_x, int32_t n)
{
    double log_ratio = (mz_log(sum_x) + max_x) - (mz_log(sum_r) + max_r), kl = 0;
    for (int32_t i = 0; i < n; i++)
        if (e_r[i] > 0) kl += e_r[i] / sum_r * (((double)ref[i] - (double)model[i]) + log_ratio);
    return kl < 0 ? 0 : kl;
}

double mz_quantile(const double *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    if (i + 1 >= n) return sorted[n - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}
