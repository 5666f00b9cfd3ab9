/* SPDX-License-Identifier: Apache-2.0
 *
 * fmath.h: our own elementary functions. libm's results change with the processor's features and
 * the library's version; these use only +, -, *, /, sqrt, fma and rounding, so they give the same
 * bits everywhere.
 *
 * f32 functions are spelled so that a vector version is equal bit for bit; double ones are
 * scalar, for tables made at load or once per step. Pure functions, any thread. */
#ifndef MZ_BASE_FMATH_H
#define MZ_BASE_FMATH_H

/* exp(x), error < 1 ulp; exp(0) = 1; below about -103.97 gives +0, above 88.7228 gives inf;
 * subnormal results are rounded once. NaN gives NaN. */
float mz_expf(float x);
/* tanh(x), error < 2 ulp, odd, +-1 for large |x|. */
float mz_tanhf(float x);
/* erf(x), absolute error < 2e-7, odd. */
float mz_erff(float x);

double mz_exp(double x);           /* error < 2 ulp */
double mz_log(double x);           /* x > 0; error < 2 ulp */
double mz_pow(double x, double y); /* x > 0; relative error < 1e-14 for |y ln x| < 50 */
double mz_sin(double x);           /* |x| < 2^30; absolute error < 1e-15 */
double mz_cos(double x);

#endif
