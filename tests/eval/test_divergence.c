/* SPDX-License-Identifier: Apache-2.0
 *
 * test_divergence.c: one position's numbers against cases worked by hand, and logits that no model should give. Whole
 * texts are checked by tests/cli against a computation of its own. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "eval/divergence.h"

static int near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * (1 + fabs(want));
}

static double kl(const float *ref, const float *model, int32_t n)
{
    double e_r[8], e_x[8], max_r, max_x;
    int32_t i;
    double sum_r = mz_exp_row(ref, n, e_r, &max_r, &i), sum_x = mz_exp_row(model, n, e_x, &max_x, &i);
    return mz_row_kl(ref, e_r, sum_r, max_r, model, sum_x, max_x, n);
}

static void test_nll(void **state)
{
    (void)state;
    const float x[4] = {700, 700, -700, 0}; /* exp overflows double's neighbours without the maximum taken off */
    double e[4], max;
    int32_t top;
    double sum = mz_exp_row(x, 4, e, &max, &top);
    assert_int_equal(top, 0); /* the lower id on a tie */
    assert_true(near(mz_row_nll(x, 1, sum, max), log(2)));
    assert_true(near(mz_row_nll(x, 2, sum, max), 1400 + log(2)));
    const float one[1] = {-3};
    sum = mz_exp_row(one, 1, e, &max, &top);
    assert_true(mz_row_nll(one, 0, sum, max) == 0);
}

static void test_kl(void **state)
{
    (void)state;
    const float p[2] = {0, logf(3)}, q[2] = {5, 5};
    double a = exp((double)p[1]), want = 1 / (1 + a) * log(2 / (1 + a)) + a / (1 + a) * log(2 * a / (1 + a));
    assert_true(near(kl(p, q, 2), want));
    want = 0.5 * log((1 + a) / 2) + 0.5 * log((1 + a) / (2 * a));
    assert_true(near(kl(q, p, 2), want)); /* it is not symmetric, and the reference comes first */
    const float shifted[2] = {p[0] + 8, p[1] + 8};
    assert_true(kl(p, shifted, 2) < 1e-6); /* f32 rounding of the shift */
    assert_true(kl(p, p, 2) == 0);
    const float cut[3] = {1, 2, -INFINITY}, whole[3] = {1, 2, 3};
    assert_true(isfinite(kl(cut, whole, 3)) && kl(cut, whole, 3) > 0); /* a token the reference rules out costs nothing */
    assert_true(isinf(kl(whole, cut, 3)));
}

static void test_never_negative(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int round = 0; round < 2000; round++) {
        float x[8], y[8];
        for (int i = 0; i < 8; i++) {
            seed = seed * 1664525u + 1013904223u;
            x[i] = (float)(seed >> 8) * 1e-6f;
            y[i] = round % 2 ? x[i] : nextafterf(x[i], 100);
        }
        assert_true(kl(x, y, 8) >= 0);
        if (round % 2) assert_true(kl(x, y, 8) == 0);
    }
}

static void test_not_finite(void **state)
{
    (void)state;
    double e[3], max;
    int32_t top;
    const float nan_first[3] = {NAN, 1, 2}, nan_later[3] = {1, NAN, 2}, inf[3] = {1, INFINITY, 2},
                none[3] = {-INFINITY, -INFINITY, -INFINITY};
    assert_false(isfinite(mz_exp_row(nan_first, 3, e, &max, &top)));
    assert_false(isfinite(mz_exp_row(nan_later, 3, e, &max, &top)));
    assert_false(isfinite(mz_exp_row(inf, 3, e, &max, &top)));
    assert_false(isfinite(mz_exp_row(none, 3, e, &max, &top)));
}

static void test_quantile(void **state)
{
    (void)state;
    const double v[5] = {1, 2, 4, 8, 16};
    assert_true(mz_quantile(v, 5, 0) == 1 && mz_quantile(v, 5, 1) == 16 && mz_quantile(v, 5, 0.5) == 4);
    assert_true(near(mz_quantile(v, 5, 0.9), 8 + 0.6 * 8));
    assert_true(mz_quantile(v, 1, 0.999) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nll),        cmocka_unit_test(test_kl),       cmocka_unit_test(test_never_negative),
        cmocka_unit_test(test_not_finite), cmocka_unit_test(test_quantile),
    };
    return cmocka_run_group_tests_name("divergence", tests, NULL, NULL);
}
