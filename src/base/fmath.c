/* SPDX-License-Identifier: Apache-2.0
 *
 * fmath.c: elementary functions with one spelled-out order of operations.
 *
 * The f32 functions are written without data-dependent branches: every "?:" below is a lane select in a
 * vector version, every line one instruction, so that a vector version is equal bit for bit. fmaf and
 * fma are exact fused operations everywhere (libm's, where the processor has none).
 * Polynomials were fitted by the Remez exchange in 40 digits and their coefficients rounded to f32. */
#include "fmath.h"

#include <math.h>
#include <stdint.h>

#include "base/bits.h"

/* Order of operations of mz_expf (a contract: vector versions repeat it line by line):
 *   x = x > 89 ? 89 : x;  x = x < -104.5 ? -104.5 : x          (comparisons are false for NaN: it stays;
 *                                                               x86: min_ps(89, x), max_ps(-104.5, x))
 *   t = fmaf(x, log2 e, 1.5 * 2^23);  n = t - 1.5 * 2^23        (n = rne(x * log2 e), an integer in -151..128)
 *   r = fmaf(n, -ln2_hi, x);  r = fmaf(n, -ln2_lo, r)           (|r| <= ln2 / 2)
 *   p = c6;  p = fmaf(p, r, c5) … c4, c3, c2;  p = fmaf(p, r, 1);  p = fmaf(p, r, 1)
 *   i = bits(t) - bits(1.5 * 2^23)                              (n as an integer, 32-bit wrap-around)
 *   h = i >> 1 (arithmetic);  y = (p * 2^h) * 2^(i - h)
 * p is in [0.70, 1.42], so the first product is exact for every h, and the second rounds once also where
 * the result is subnormal or infinite. With x NaN, i is some integer and p is NaN. */
#define EXP_MAGIC 0x1.8p23f

float mz_expf(float x)
{
    x = x > 89.0f ? 89.0f : x;
    x = x < -104.5f ? -104.5f : x;
    float t = fmaf(x, 0x1.715476p+0f, EXP_MAGIC);
    float n = t - EXP_MAGIC;
    float r = fmaf(n, -0x1.62e430p-1f, x);
    r = fmaf(n, 0x1.05c610p-29f, r);
    float p = 0x1.6a244cp-10f;
    p = fmaf(p, r, 0x1.1239d4p-7f);
    p = fmaf(p, r, 0x1.5558f2p-5f);
    p = fmaf(p, r, 0x1.555492p-3f);
    p = fmaf(p, r, 0x1.fffffcp-2f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    uint32_t i = mz_f32_to_bits(t) - mz_f32_to_bits(EXP_MAGIC);
    uint32_t h = (i >> 1) | (i & 0x80000000u);
    return p * mz_bits_to_f32((h + 127u) << 23) * mz_bits_to_f32((i - h + 127u) << 23);
}

/* Order of operations of mz_tanhf:
 *   a = |x|;  z = a * a
 *   small: p = c4;  p = fmaf(p, z, c3) … c0;  s = fmaf(a * z, p, a)
 *   large: e = expf(a + a);  s = 1 - 2 / (e + 1)
 *   s = a < 0.625 ? small : large      (NaN takes large, and stays NaN)
 *   y = s with the sign bit of x or-ed in */
float mz_tanhf(float x)
{
    float a = mz_bits_to_f32(mz_f32_to_bits(x) & 0x7fffffffu);
    float z = a * a;
    float p = -0x1.75e1cep-8f;
    p = fmaf(p, z, 0x1.52269cp-6f);
    p = fmaf(p, z, -0x1.b83c5ap-5f);
    p = fmaf(p, z, 0x1.110726p-3f);
    p = fmaf(p, z, -0x1.555532p-2f);
    float small = fmaf(a * z, p, a);
    float large = 1.0f - 2.0f / (mz_expf(a + a) + 1.0f);
    float s = a < 0.625f ? small : large;
    return mz_bits_to_f32(mz_f32_to_bits(s) | (mz_f32_to_bits(x) & 0x80000000u));
}

/* Order of operations of mz_erff (erf near 0 is a * P(a^2); beyond 1 it is 1 - exp(-a * G(a)), with
 * a * G(a) fitted to -log(erfc(a))):
 *   a = |x|;  z = a * a
 *   small: p = c6;  p = fmaf(p, z, c5) … c0;  s = a * p
 *   large: b = a > 4 ? 4 : a;  g = g5;  g = fmaf(g, b, g4) … g0;  s = 1 - expf(-(b * g))
 *   s = a < 1 ? small : large          (NaN takes large, and stays NaN)
 *   y = s with the sign bit of x or-ed in */
float mz_erff(float x)
{
    float a = mz_bits_to_f32(mz_f32_to_bits(x) & 0x7fffffffu);
    float z = a * a;
    float p = 0x1.496a32p-14f;
    p = fmaf(p, z, -0x1.a3f700p-11f);
    p = fmaf(p, z, 0x1.5405b2p-8f);
    p = fmaf(p, z, -0x1.b7f90ep-6f);
    p = fmaf(p, z, 0x1.ce2cf8p-4f);
    p = fmaf(p, z, -0x1.81273ep-2f);
    p = fmaf(p, z, 0x1.20dd74p+0f);
    float small = a * p;
    float b = a > 4.0f ? 4.0f : a;
    float g = -0x1.b8c8a0p-13f;
    g = fmaf(g, b, 0x1.a137aep-9f);
    g = fmaf(g, b, -0x1.7553c4p-6f);
    g = fmaf(g, b, 0x1.ae79d8p-4f);
    g = fmaf(g, b, 0x1.458da8p-1f);
    g = fmaf(g, b, 0x1.20e3c6p+0f);
    float large = 1.0f - mz_expf(-(b * g));
    float s = a < 1.0f ? small : large;
    return mz_bits_to_f32(mz_f32_to_bits(s) | (mz_f32_to_bits(x) & 0x80000000u));
}

/* ---- double ---------------------------------------------------------------------------------- */

#define D_MAGIC  0x1.8p52
#define D_LN2_HI 0x1.62e42fefa39efp-1 /* ln 2 rounded to double, and the rest of it */
#define D_LN2_LO 0x1.abc9e3b39803fp-56

/* Taylor to degree 13: the first term left out is below 5e-18 of the result for |r| <= ln2 / 2. */
static double exp_poly(double r)
{
    double p = 1.0 / 6227020800.0;
    p = fma(p, r, 1.0 / 479001600.0);
    p = fma(p, r, 1.0 / 39916800.0);
    p = fma(p, r, 1.0 / 3628800.0);
    p = fma(p, r, 1.0 / 362880.0);
    p = fma(p, r, 1.0 / 40320.0);
    p = fma(p, r, 1.0 / 5040.0);
    p = fma(p, r, 1.0 / 720.0);
    p = fma(p, r, 1.0 / 120.0);
    p = fma(p, r, 1.0 / 24.0);
    p = fma(p, r, 1.0 / 6.0);
    p = fma(p, r, 0.5);
    p = fma(p, r, 1.0);
    return fma(p, r, 1.0);
}

double mz_exp(double x)
{
    x = x > 710.0 ? 710.0 : x;
    x = x < -746.0 ? -746.0 : x;
    double t = fma(x, 0x1.71547652b82fep+0, D_MAGIC);
    double n = t - D_MAGIC;
    double r = fma(n, -D_LN2_HI, x);
    r = fma(n, -D_LN2_LO, r);
    uint64_t i = mz_f64_to_bits(t) - mz_f64_to_bits(D_MAGIC);
    uint64_t h = (i >> 1) | (i & (UINT64_C(1) << 63));
    return exp_poly(r) * mz_bits_to_f64((h + 1023u) << 52) * mz_bits_to_f64((i - h + 1023u) << 52);
}

/* x = 2^e * m with m in [sqrt(1/2), sqrt(2)); x finite and > 0. */
static double split_exponent(double x, double *e)
{
    int64_t shift = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        shift = 54;
    }
    uint64_t u = mz_f64_to_bits(x);
    /* Adding the distance from sqrt(1/2) to 1 makes mantissas of sqrt(2) and above carry into the exponent. */
    u += UINT64_C(0x3ff0000000000000) - UINT64_C(0x3fe6a09e667f3bcd);
    int64_t k = (int64_t)(u >> 52) - 1023;
    *e = (double)(k - shift);
    return mz_bits_to_f64((u & UINT64_C(0x000fffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd));
}

/* (2 atanh(s) - 2 s) / s for z = s^2, |s| < 0.172: 2 z / 3 + 2 z^2 / 5 + … */
static double atanh_tail(double z)
{
    double p = 2.0 / 25.0;
    p = fma(p, z, 2.0 / 23.0);
    p = fma(p, z, 2.0 / 21.0);
    p = fma(p, z, 2.0 / 19.0);
    p = fma(p, z, 2.0 / 17.0);
    p = fma(p, z, 2.0 / 15.0);
    p = fma(p, z, 2.0 / 13.0);
    p = fma(p, z, 2.0 / 11.0);
    p = fma(p, z, 2.0 / 9.0);
    p = fma(p, z, 2.0 / 7.0);
    p = fma(p, z, 2.0 / 5.0);
    p = fma(p, z, 2.0 / 3.0);
    return p * z;
}

/* log(x) as an unevaluated sum *hi + *lo, error about 2^-58 relative. log m = 2 atanh(s), s = f / (2 + f),
 * f = m - 1 (exact); s is carried with a correction term. */
static void log_two(double x, double *hi, double *lo)
{
    double e;
    double f = split_exponent(x, &e) - 1.0;
    double dh = 2.0 + f;
    double dl = f - (dh - 2.0);
    double s = f / dh;
    double sl = (fma(-s, dh, f) - s * dl) / dh;
    double mh = 2.0 * s; /* log m = mh + ml */
    double ml = fma(s, atanh_tail(s * s), 2.0 * sl);
    double kh = e * 0x1.62e42fee00000p-1; /* exact: 32 bits of ln 2, 11 of e */
    double kl = e * 0x1.a39ef35793c76p-33;
    double sum = kh + mh; /* |kh| >= |mh| or kh = 0, so the difference below is exact */
    double rest = (e != 0.0 ? mh - (sum - kh) : 0.0) + (ml + kl);
    *hi = sum + rest;
    *lo = rest - (*hi - sum);
}

double mz_log(double x)
{
    if (!(x > 0.0)) return x == 0.0 ? -(double)INFINITY : (double)NAN;
    if (x > 0x1.fffffffffffffp+1023) return x;
    double hi, lo;
    log_two(x, &hi, &lo);
    return hi;
}

double mz_pow(double x, double y)
{
    if (y == 0.0 || x == 1.0) return 1.0;
    if (!(x > 0.0) || x > 0x1.fffffffffffffp+1023 || !(fabs(y) <= 0x1.fffffffffffffp+1023)) return mz_exp(y * mz_log(x));
    double hi, lo;
    log_two(x, &hi, &lo);
    double ph = y * hi;
    double pl = fma(y, hi, -ph) + y * lo;
    double r = mz_exp(ph);
    if (!(fabs(ph) < 709.0)) return r; /* the correction is meaningless where the result leaves the range */
    return fma(r, pl, r);
}

/* |r| <= pi/4 (and a little), Taylor to degree 17: the first term left out is below 1e-19. */
static double sin_poly(double r)
{
    double z = r * r;
    double p = 1.0 / 355687428096000.0;
    p = fma(p, z, -1.0 / 1307674368000.0);
    p = fma(p, z, 1.0 / 6227020800.0);
    p = fma(p, z, -1.0 / 39916800.0);
    p = fma(p, z, 1.0 / 362880.0);
    p = fma(p, z, -1.0 / 5040.0);
    p = fma(p, z, 1.0 / 120.0);
    p = fma(p, z, -1.0 / 6.0);
    return fma(r * z, p, r);
}

static double cos_poly(double r)
{
    double z = r * r;
    double p = -1.0 / 6402373705728000.0;
    p = fma(p, z, 1.0 / 20922789888000.0);
    p = fma(p, z, -1.0 / 87178291200.0);
    p = fma(p, z, 1.0 / 479001600.0);
    p = fma(p, z, -1.0 / 3628800.0);
    p = fma(p, z, 1.0 / 40320.0);
    p = fma(p, z, -1.0 / 720.0);
    p = fma(p, z, 1.0 / 24.0);
    p = fma(p, z, -0.5);
    return fma(p, z, 1.0);
}

/* x = n * pi/2 + (*r + *rl), |r| <= pi/4. For |x| < 2^30, n * (first 53 bits of pi/2) taken off by fma is
 * exact (a multiple of ulp(x) or 2^-52 below 1); the next 53 bits times n are taken off with their
 * rounding error kept; what remains of pi/2 is below 2^-107 and n below 2^30. */
static int64_t reduce_pi2(double x, double *r, double *rl)
{
    double n = (x * 0x1.45f306dc9c883p-1 + D_MAGIC) - D_MAGIC;
    double a = fma(-n, 0x1.921fb54442d18p+0, x);
    double b = -(n * 0x1.1a62633145c07p-54);
    double bl = -fma(n, 0x1.1a62633145c07p-54, b);
    double s = a + b;
    double bb = s - a;
    *rl = (a - (s - bb)) + (b - bb) + bl;
    *r = s;
    return (int64_t)n;
}

static double sin_quadrant(double x, int64_t add)
{
    if (!(fabs(x) < 0x1p30)) return (double)NAN;
    double r, rl;
    int64_t n = reduce_pi2(x, &r, &rl) + add;
    /* First-order effect of the small part of the remainder. */
    double y = (n & 1) ? fma(-rl, r, cos_poly(r)) : fma(rl, fma(-0.5 * r, r, 1.0), sin_poly(r));
    return (n & 2) ? -y : y;
}

double mz_sin(double x)
{
    return x == 0.0 ? x : sin_quadrant(x, 0);
}

double mz_cos(double x)
{
    return sin_quadrant(x, 1);
}
