/* SPDX-License-Identifier: Apache-2.0
 *
 * test_fmath.c: our elementary functions against libm in a wider type, their special values, and their bits:
 * the pinned sums fail when a compiler or processor changes any result. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/fmath.h"
#include "base/rng.h"

static float of_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}
static uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* |got - want| in units of the last place of f32 at want. */
static double ulps(float got, double want)
{
    int e;
    double size = fabs(want);
    (void)frexp(size < 0x1p-126 ? 0x1p-126 : size > 0x1.fffffep127 ? 0x1.fffffep127 : size, &e);
    return fabs((double)got - want) / ldexp(1.0, e - 24);
}

/* Every SWEEP-th f32 (a prime, so that low bits vary): about 430,000 values of all sizes and signs.
 * An exhaustive run over all 2^32 values gave at most 0.9092 ulp (exp), 1.3623 ulp (tanh), 1.37e-7 (erf). */
#define SWEEP 9973u

static void test_f32_accuracy(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < UINT64_C(1) << 32; i += SWEEP) {
        float x = of_bits((uint32_t)i);
        if (isnan(x)) {
            assert_true(isnan(mz_expf(x)) && isnan(mz_tanhf(x)) && isnan(mz_erff(x)));
            continue;
        }
        double e = exp((double)x);
        if (isinf((float)e))
            assert_true(mz_expf(x) == INFINITY);
        else if (!(ulps(mz_expf(x), e) < 0.92))
            fail_msg("exp(%a) = %a, want %a", (double)x, (double)mz_expf(x), e);
        if (!(ulps(mz_tanhf(x), tanh((double)x)) < 1.4)) fail_msg("tanh(%a) = %a", (double)x, (double)mz_tanhf(x));
        if (!(fabs((double)mz_erff(x) - erf((double)x)) < 1.5e-7)) fail_msg("erf(%a) = %a", (double)x, (double)mz_erff(x));
        assert_int_equal(bits_of(mz_tanhf(-x)), bits_of(mz_tanhf(x)) ^ 0x80000000u);
        assert_int_equal(bits_of(mz_erff(-x)), bits_of(mz_erff(x)) ^ 0x80000000u);
    }
}

static void test_f32_special(void **state)
{
    (void)state;
    assert_true(mz_expf(0.0f) == 1.0f && mz_expf(-0.0f) == 1.0f);
    assert_true(mz_expf(INFINITY) == INFINITY && bits_of(mz_expf(-INFINITY)) == 0);
    assert_true(mz_expf(0x1.62e42ep+6f) < INFINITY && mz_expf(0x1.62e430p+6f) == INFINITY);       /* 88.72283, 88.72284 */
    assert_true(mz_expf(-0x1.9fe368p+6f) == 0x1p-149f && bits_of(mz_expf(-0x1.9fe36ap+6f)) == 0); /* 150 ln 2 */
    /* Subnormal results are the correctly rounded product, not one rounded twice. */
    for (float x = -87.4f; x > -103.9f; x -= 0.013f) assert_true(ulps(mz_expf(x), exp((double)x)) < 0.92);
    assert_true(mz_tanhf(INFINITY) == 1.0f && mz_tanhf(-INFINITY) == -1.0f && mz_tanhf(20.0f) == 1.0f);
    assert_true(mz_erff(INFINITY) == 1.0f && mz_erff(-INFINITY) == -1.0f && mz_erff(5.0f) == 1.0f);
    assert_int_equal(bits_of(mz_tanhf(-0.0f)), 0x80000000u);
    assert_int_equal(bits_of(mz_erff(-0.0f)), 0x80000000u);
}

/* |got - want| in units of the last place of double at want. */
static double ulps_d(double got, long double want)
{
    int e;
    (void)frexpl(want, &e);
    return (double)(fabsl((long double)got - want) / ldexpl(1.0L, e - 53));
}

static uint64_t next_index;
static double uniform(void)
{
    return mz_rng_uniform(42, next_index++);
}

static void test_double_accuracy(void **state)
{
    (void)state;
    for (int i = 0; i < 200000; i++) {
        double x = (uniform() - 0.5) * 1400;
        long double e = expl((long double)x);
        if (e > 0x1p-1022L) assert_true(ulps_d(mz_exp(x), e) < 1.0);
        x = i % 3 ? exp((uniform() - 0.5) * 1400) : 1 + (uniform() - 0.5) * ldexp(1.0, -(i % 40));
        if (x > 0 && x != 1) assert_true(ulps_d(mz_log(x), logl((long double)x)) < 1.0);
        /* RoPE's case (a base to a negative fraction) and any y with |y ln x| < 50 */
        double y = i % 2 ? -uniform() : (uniform() - 0.5) * 100 / log(x);
        if (i % 2) x = 1e4 * (1 + 100 * uniform());
        long double p = powl((long double)x, (long double)y);
        if (fabs(y) < 1e300) assert_true(fabsl((long double)mz_pow(x, y) - p) < 1e-14L * p);
        double a = (uniform() - 0.5) * ldexp(2.0, i % 41 - 10);
        if (i % 5 == 0) a = rint((uniform() - 0.5) * 0x1p30) * 1.5707963267948966; /* next to a multiple of pi/2 */
        if (fabs(a) >= 0x1p30) continue;
        if (!(fabsl((long double)mz_sin(a) - sinl((long double)a)) < 1e-15L)) fail_msg("sin(%a) = %a", a, mz_sin(a));
        if (!(fabsl((long double)mz_cos(a) - cosl((long double)a)) < 1e-15L)) fail_msg("cos(%a) = %a", a, mz_cos(a));
    }
}

static void test_double_special(void **state)
{
    (void)state;
    assert_true(mz_exp(0.0) == 1.0 && mz_exp(800.0) == (double)INFINITY && mz_exp(-800.0) == 0.0 && isnan(mz_exp((double)NAN)));
    assert_true(mz_exp(-745.0) > 0.0);
    assert_true(mz_log(1.0) == 0.0 && mz_log(0.0) == -(double)INFINITY && isnan(mz_log(-1.0)) && isnan(mz_log((double)NAN)));
    assert_true(mz_log((double)INFINITY) == (double)INFINITY && ulps_d(mz_log(0x1p-1074), logl(0x1p-1074L)) < 1.0);
    assert_true(mz_pow(7.0, 0.0) == 1.0 && mz_pow(1.0, 1e300) == 1.0 && mz_pow(2.0, 10.0) == 1024.0 && mz_pow(10.0, 2.0) == 100.0);
    assert_true(mz_pow(2.0, 5000.0) == (double)INFINITY && mz_pow(2.0, -5000.0) == 0.0);
    assert_true(mz_sin(0.0) == 0.0 && mz_cos(0.0) == 1.0 && isnan(mz_sin((double)NAN)) && isnan(mz_cos((double)INFINITY)));
}

/* FNV-1a over the bits of results: these are the numbers every build must give. */
static uint64_t mix(uint64_t h, uint64_t v)
{
    return (h ^ v) * UINT64_C(0x100000001b3);
}
static uint64_t mix_d(uint64_t h, double v)
{
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    return mix(h, u);
}

/* Made by this test: gcc and clang, -O0 to -O3, with and without -mfma agree. */
#define PIN_EXP    UINT64_C(0xd29a1f5d44222538)
#define PIN_TANH   UINT64_C(0xcafc9b5347922d04)
#define PIN_ERF    UINT64_C(0x58bf7a63cbee6daf)
#define PIN_DOUBLE UINT64_C(0xc5b36c0f43efbb93)

static void test_pinned_bits(void **state)
{
    (void)state;
    uint64_t h[3] = {1, 1, 1}, hd = 1;
    for (uint64_t i = 0; i < UINT64_C(1) << 32; i += 65521u) {
        float x = of_bits((uint32_t)i);
        if (isnan(x)) continue;
        h[0] = mix(h[0], bits_of(mz_expf(x)));
        h[1] = mix(h[1], bits_of(mz_tanhf(x)));
        h[2] = mix(h[2], bits_of(mz_erff(x)));
    }
    for (uint64_t i = 0; i < 20000; i++) {
        double x = mz_rng_uniform(7, i);
        hd = mix_d(hd, mz_exp(x * 100 - 50));
        hd = mix_d(hd, mz_log(x * 100 + 1e-9));
        hd = mix_d(hd, mz_pow(10000.0, -x));
        hd = mix_d(hd, mz_sin(x * 1e6));
        hd = mix_d(hd, mz_cos(x * 1e6));
    }
    assert_int_equal(h[0], PIN_EXP);
    assert_int_equal(h[1], PIN_TANH);
    assert_int_equal(h[2], PIN_ERF);
    assert_int_equal(hd, PIN_DOUBLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f32_accuracy),   cmocka_unit_test(test_f32_special), cmocka_unit_test(test_double_accuracy),
        cmocka_unit_test(test_double_special), cmocka_unit_test(test_pinned_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
