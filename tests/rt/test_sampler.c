/* SPDX-License-Identifier: Apache-2.0
 *
 * test_sampler.c: each filter alone, their order, ties, penalties, the distribution drawn from, and that a draw depends
 * on nothing but logits, seed and index. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <mizan/sample.h>

#include "base/mem.h"
#include "base/rng.h"

static mz_sample_options plain(float temp)
{
    mz_sample_options o = mz_sample_options_default();
    o.temp = temp;
    o.top_k = 0;
    o.top_p = 1;
    o.min_p = 0;
    return o;
}

static mz_sampler *make(mz_sample_options o, int32_t n)
{
    mz_sampler *s = NULL;
    mz_err err = {0};
    mz_status st = mz_sampler_create(&o, n, &s, &err);
    if (st != MZ_OK) fail_msg("%s", err.text);
    return s;
}

static int32_t pick(mz_sampler *s, const float *x, uint64_t i)
{
    int32_t id = -1;
    mz_err err = {0};
    if (mz_sampler_pick(s, x, i, &id, &err) != MZ_OK) fail_msg("%s", err.text);
    return id;
}

/* Pearson's statistic of n_draw draws against p; draws of p = 0 fail at once. Expected counts are all above 5. */
static double chi_square(mz_sample_options o, const float *x, const double *p, int32_t n, int n_draw)
{
    int count[64] = {0};
    mz_sampler *s = make(o, n);
    for (int i = 0; i < n_draw; i++) {
        int32_t id = pick(s, x, (uint64_t)i);
        assert_in_range(id, 0, n - 1);
        count[id]++;
    }
    mz_sampler_free(s);
    double chi = 0;
    for (int32_t i = 0; i < n; i++) {
        if (p[i] == 0) {
            assert_int_equal(count[i], 0);
            continue;
        }
        double want = p[i] * n_draw;
        assert_true(want > 5);
        chi += (count[i] - want) * (count[i] - want) / want;
    }
    return chi;
}

static void normalise(double *p, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += p[i];
    for (int i = 0; i < n; i++) p[i] /= sum;
}

/* Ten tokens, not in order of likelihood. */
static const float ten[10] = {0.5f, 2.0f, -1.0f, 1.5f, 0.0f, 1.0f, -0.5f, 2.5f, -2.0f, 0.25f};

static void softmax_ten(double temp, double *p)
{
    for (int i = 0; i < 10; i++) p[i] = exp((double)ten[i] / temp);
    normalise(p, 10);
}

/* The 99.99 % points of chi-square with 1..9 degrees of freedom: a correct sampler with these fixed seeds passes or fails
 * for ever; a wrong one (a filter off by one token) is beyond them by orders of magnitude, as the controls show. */
static const double limit[10] = {0, 15.1, 18.4, 21.1, 23.5, 25.7, 27.9, 29.9, 31.8, 33.7};

static void test_distribution(void **state)
{
    (void)state;
    double p[10];
    for (int k = 0; k < 3; k++) {
        float temp = (float[]){0.7f, 1.0f, 1.8f}[k];
        mz_sample_options o = plain(temp);
        softmax_ten((double)temp, p);
        for (o.seed = 1; o.seed <= 3; o.seed++) {
            assert_true(chi_square(o, ten, p, 10, 100000) < limit[9]);
            mz_sample_options sorted = o; /* the other two ways of drawing, with filters that let all pass */
            sorted.top_k = 9;
            double q[10];
            memcpy(q, p, sizeof q);
            q[8] = 0;
            normalise(q, 10);
            assert_true(chi_square(sorted, ten, q, 10, 100000) < limit[8]);
            sorted.top_k = 0;
            sorted.top_p = 0.9999f;
            if (temp > 0.9f) assert_true(chi_square(sorted, ten, p, 10, 100000) < limit[9]);
        }
        o.temp = temp * 1.05f; /* control: a temperature 5 % off is seen */
        assert_true(chi_square(o, ten, p, 10, 100000) > limit[9]);
    }
}

static void test_top_k(void **state)
{
    (void)state;
    double p[10];
    softmax_ten(1, p);
    for (int i = 0; i < 10; i++)
        if (ten[i] < 1.5f) p[i] = 0; /* 2.5, 2.0, 1.5 stay */
    normalise(p, 10);
    mz_sample_options o = plain(1);
    o.top_k = 3;
    assert_true(chi_square(o, ten, p, 10, 50000) < limit[2]);
    o.top_k = 1;
    mz_sampler *s = make(o, 10);
    for (uint64_t i = 0; i < 200; i++) assert_int_equal(pick(s, ten, i), 7);
    mz_sampler_free(s);
}

static void test_top_p(void **state)
{
    (void)state;
    /* Probabilities .4 .3 .2 .1, out of order. */
    const float x[4] = {logf(0.2f), logf(0.4f), logf(0.1f), logf(0.3f)};
    mz_sample_options o = plain(1);
    o.top_p = 0.6f; /* .4 < .6, so .3 crosses and is kept */
    const double two[4] = {0, 4.0 / 7, 0, 3.0 / 7};
    assert_true(chi_square(o, x, two, 4, 50000) < limit[1]);
    o.top_p = 0.75f;
    const double three[4] = {2.0 / 9, 4.0 / 9, 0, 3.0 / 9};
    assert_true(chi_square(o, x, three, 4, 50000) < limit[2]);
    o.top_k = 3; /* the softmax is over the three: .444 .333 .222; .75 needs two */
    assert_true(chi_square(o, x, two, 4, 50000) < limit[1]);
    o.top_p = 0; /* one is always kept */
    for (o.top_k = 0; o.top_k < 4; o.top_k += 3) {
        mz_sampler *s = make(o, 4);
        for (uint64_t i = 0; i < 100; i++) assert_int_equal(pick(s, x, i), 1);
        mz_sampler_free(s);
    }
}

static void test_min_p(void **state)
{
    (void)state;
    const float x[4] = {logf(0.2f), logf(0.4f), logf(0.1f), logf(0.3f)};
    mz_sample_options o = plain(1);
    o.min_p = 0.6f; /* at least .24 */
    const double two[4] = {0, 4.0 / 7, 0, 3.0 / 7};
    assert_true(chi_square(o, x, two, 4, 50000) < limit[1]);
    o.top_k = 3;
    assert_true(chi_square(o, x, two, 4, 50000) < limit[1]);
    o.top_k = 0;
    o.top_p = 0.95f;
    assert_true(chi_square(o, x, two, 4, 50000) < limit[1]);
    o.min_p = 1;
    mz_sampler *s = make(o, 4);
    for (uint64_t i = 0; i < 100; i++) assert_int_equal(pick(s, x, i), 1);
    mz_sampler_free(s);
}

/* Temperature comes before top-p: at temp 2 the probabilities .4 .3 .2 .1 flatten to .3254 .2818 .2301 .1627. */
static void test_order(void **state)
{
    (void)state;
    const float x[4] = {logf(0.2f), logf(0.4f), logf(0.1f), logf(0.3f)};
    double p[4] = {sqrt(0.2), sqrt(0.4), 0, sqrt(0.3)};
    normalise(p, 4);
    mz_sample_options o = plain(2);
    o.top_p = 0.65f; /* flattened: .3254 + .2818 = .6072 < .65, so three; raw: .7 >= .65, so two */
    assert_true(chi_square(o, x, p, 4, 50000) < limit[2]);
    /* min-p also sees the tempered weights: .1/.4 = .25 raw, .5 tempered. */
    o = plain(2);
    o.min_p = 0.4f;
    double all[4] = {sqrt(0.2), sqrt(0.4), sqrt(0.1), sqrt(0.3)};
    normalise(all, 4);
    assert_true(chi_square(o, x, all, 4, 50000) < limit[3]);
    /* Bias comes before the repetition penalty: (-1 + 3) / 4 = .5 beats .4, while -1 * 4 + 3 would lose. */
    const float y[2] = {-1, 0.4f};
    mz_logit_bias bias = {0, 3};
    o = plain(0);
    o.bias = &bias;
    o.n_bias = 1;
    o.repeat_penalty = 4;
    mz_sampler *s = make(o, 2);
    mz_err err;
    assert_int_equal(mz_sampler_prime(s, (const int32_t[]){0}, 1, &err), MZ_OK);
    assert_int_equal(pick(s, y, 0), 0);
    mz_sampler_free(s);
    /* Repetition comes before presence: 4 / 2 - 1.5 = .5 loses to .6, (4 - 1.5) / 2 = 1.25 would win. */
    const float z[2] = {4, 0.6f};
    o = plain(0);
    o.repeat_penalty = 2;
    o.presence_penalty = 1.5f;
    s = make(o, 2);
    assert_int_equal(pick(s, z, 0), 0);
    assert_int_equal(pick(s, z, 1), 1);
    mz_sampler_free(s);
}

static void test_greedy_and_ties(void **state)
{
    (void)state;
    mz_sampler *s = make(plain(0), 6);
    const float tie[6] = {1, 3, -2, 3, 3, 0};
    assert_int_equal(pick(s, tie, 0), 1);
    const float zeros[6] = {-1, -0.0f, 0.0f, -INFINITY, -5, 0.0f};
    assert_int_equal(pick(s, zeros, 1), 1); /* -0 equals +0 */
    const float odd[6] = {NAN, -INFINITY, -7, NAN, -7, INFINITY};
    assert_int_equal(pick(s, odd, 2), 2);
    mz_sampler_free(s);
    /* A tie at the edge of top-k goes to the lower id. */
    mz_sample_options o = plain(1);
    o.top_k = 2;
    s = make(o, 6);
    for (uint64_t i = 0; i < 300; i++) {
        int32_t id = pick(s, tie, i);
        assert_true(id == 1 || id == 3);
    }
    mz_sampler_free(s);
}

static void test_hostile_logits(void **state)
{
    (void)state;
    const float none[3] = {NAN, -INFINITY, INFINITY}, one[3] = {-INFINITY, -3e38f, NAN}, wide[3] = {3e38f, -3e38f, 0};
    for (int kind = 0; kind < 4; kind++) {
        mz_sample_options o = plain(kind == 0 ? 0 : kind == 1 ? 1e-30f : 1);
        o.top_k = kind == 2 ? 2 : 0;
        o.top_p = kind == 3 ? 0.5f : 1;
        mz_sampler *s = make(o, 3);
        int32_t id = 77;
        mz_err err = {0};
        assert_int_equal(mz_sampler_pick(s, none, 0, &id, &err), MZ_ERANGE);
        assert_true(err.text[0]);
        assert_int_equal(id, 77);
        assert_int_equal(mz_sampler_pick(s, NULL, 0, &id, &err), MZ_EINVAL);
        for (uint64_t i = 0; i < 50; i++) {
            assert_int_equal(pick(s, one, i), 1);
            assert_int_equal(pick(s, wide, i), 0);
        }
        mz_sampler_free(s);
    }
}

static void test_bias(void **state)
{
    (void)state;
    const float x[4] = {4, 3, 2, 1};
    mz_logit_bias bias[2] = {{0, -INFINITY}, {3, 2.5f}};
    mz_sample_options o = plain(0);
    o.bias = bias;
    o.n_bias = 2;
    mz_sampler *s = make(o, 4);
    bias[1].value = 0; /* copied at creation */
    assert_int_equal(pick(s, x, 0), 3);
    mz_sampler_free(s);
    const mz_logit_bias all[4] = {{0, -INFINITY}, {1, -INFINITY}, {2, -INFINITY}, {3, -INFINITY}};
    o.bias = all;
    o.n_bias = 4;
    s = make(o, 4);
    int32_t id;
    mz_err err = {0};
    assert_int_equal(mz_sampler_pick(s, x, 0, &id, &err), MZ_ERANGE);
    mz_sampler_free(s);
}

static void test_repetition_window(void **state)
{
    (void)state;
    const float x[4] = {8, 7, 6, -1};
    mz_err err = {0};
    mz_sample_options o = plain(0);
    o.repeat_penalty = 10;
    o.repeat_last_n = 2;
    mz_sampler *s = make(o, 4);
    const int32_t prompt[4] = {0, 0, 1, 3};
    assert_int_equal(mz_sampler_prime(s, prompt, 4, &err), MZ_OK); /* only 1 and 3 are in the window */
    assert_int_equal(pick(s, x, 0), 0);                            /* window 3 0 */
    assert_int_equal(pick(s, x, 1), 1);                            /* window 0 1 */
    assert_int_equal(pick(s, x, 2), 2);                            /* window 1 2 */
    assert_int_equal(pick(s, x, 3), 0);
    mz_sampler_free(s);
    o.repeat_last_n = -1;
    s = make(o, 4);
    assert_int_equal(mz_sampler_prime(s, prompt, 4, &err), MZ_OK);
    assert_int_equal(pick(s, x, 0), 2);
    assert_int_equal(pick(s, x, 1), 0); /* all penalised alike, divided once whatever the count */
    mz_sampler_free(s);
    o.repeat_last_n = 0;
    s = make(o, 4);
    assert_int_equal(mz_sampler_prime(s, prompt, 4, &err), MZ_OK);
    for (uint64_t i = 0; i < 3; i++) assert_int_equal(pick(s, x, i), 0);
    mz_sampler_free(s);
    /* A negative logit is multiplied: -1 becomes -10 and loses to -2. */
    const float neg[4] = {-1, -2, -50, -50};
    o.repeat_last_n = -1;
    s = make(o, 4);
    assert_int_equal(mz_sampler_prime(s, (const int32_t[]){0}, 1, &err), MZ_OK);
    assert_int_equal(pick(s, neg, 0), 1);
    mz_sampler_free(s);
}

static void test_presence_and_frequency(void **state)
{
    (void)state;
    const float x[2] = {1, 0};
    mz_err err = {0};
    mz_sample_options o = plain(0);
    o.frequency_penalty = 0.4f; /* 1, .6, .2, then -.2 < 0 */
    mz_sampler *s = make(o, 2);
    const int32_t prompt[3] = {0, 0, 0};
    assert_int_equal(mz_sampler_prime(s, prompt, 3, &err), MZ_OK); /* the prompt does not count */
    for (uint64_t i = 0; i < 3; i++) assert_int_equal(pick(s, x, i), 0);
    assert_int_equal(pick(s, x, 3), 1);
    mz_sampler_free(s);
    o.frequency_penalty = 0;
    o.presence_penalty = 0.9f; /* once, whatever the count */
    s = make(o, 2);
    for (uint64_t i = 0; i < 5; i++) assert_int_equal(pick(s, x, i), 0);
    mz_sampler_free(s);
    o.presence_penalty = 1.1f;
    s = make(o, 2);
    assert_int_equal(pick(s, x, 0), 0);
    assert_int_equal(pick(s, x, 1), 1);
    assert_int_equal(pick(s, x, 2), 0);
    mz_sampler_free(s);
}

/* The draw is a function of logits, seed and index: not of what was picked before, nor of the sampler that picks. */
static void test_determinism(void **state)
{
    (void)state;
    float x[1000];
    for (int i = 0; i < 1000; i++) x[i] = (float)(4 * mz_rng_uniform(99, (uint64_t)i));
    for (int kind = 0; kind < 3; kind++) {
        mz_sample_options o = plain(1);
        o.top_k = kind == 1 ? 100 : 0;
        o.top_p = kind == 2 ? 0.8f : 1;
        o.seed = 5;
        int32_t forward[64], other = 0;
        mz_sampler *a = make(o, 1000), *b = make(o, 1000);
        for (uint64_t i = 0; i < 64; i++) forward[i] = pick(a, x, i);
        for (uint64_t i = 64; i-- > 0;) assert_int_equal(pick(b, x, i), forward[i]);
        mz_sampler_free(b);
        o.seed = 6;
        b = make(o, 1000);
        for (uint64_t i = 0; i < 64; i++) other += pick(b, x, i) != forward[i];
        assert_true(other > 48);
        mz_sampler_free(a);
        mz_sampler_free(b);
    }
}

/* A filter that lets everything pass changes which way tokens are found, not which tokens can come; and sorting a
 * large vocabulary partly gives the same first tokens as looking for the maximum again and again. */
static void test_partial_selection(void **state)
{
    (void)state;
    enum { N = 5000 };
    static float x[N];
    for (int i = 0; i < N; i++) x[i] = floorf((float)(50 * mz_rng_uniform(7, (uint64_t)i))) / 5; /* many ties */
    for (int32_t k = 1; k < N; k = k * 3 + 1) {
        /* With logits spread by the temperature to equal weights, all of the first k and no other may come. */
        static unsigned char in[N];
        memset(in, 0, sizeof in);
        for (int32_t n = 0; n < k; n++) {
            int32_t best = -1;
            for (int32_t i = 0; i < N; i++)
                if (!in[i] && (best < 0 || x[i] > x[best])) best = i;
            in[best] = 1;
        }
        mz_sample_options o = plain(1e6f);
        o.top_k = k;
        mz_sampler *s = make(o, N);
        int32_t n_seen = 0;
        static unsigned char seen[N];
        memset(seen, 0, sizeof seen);
        for (uint64_t i = 0; i < (k <= 40 ? 600 : 60); i++) {
            int32_t id = pick(s, x, i);
            assert_true(in[id]);
            n_seen += !seen[id];
            seen[id] = 1;
        }
        if (k <= 40) assert_int_equal(n_seen, k);
        mz_sampler_free(s);
    }
}

static void test_no_allocation(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        mz_sample_options o = plain(kind == 0 ? 0 : 1);
        o.top_k = kind == 1 ? 4 : 0;
        o.top_p = kind == 2 ? 0.5f : 1;
        o.repeat_penalty = 1.1f;
        mz_sampler *s = make(o, 10);
        uint64_t before = mz_mem_guard_violations();
        mz_mem_guard_enter();
        for (uint64_t i = 0; i < 200; i++) (void)pick(s, ten, i);
        mz_mem_guard_leave();
        assert_int_equal(mz_mem_guard_violations(), before);
        mz_sampler_free(s);
    }
}

static void refused(mz_sample_options o, const char *word)
{
    mz_sampler *s = (mz_sampler *)&o;
    mz_err err = {0};
    assert_int_equal(mz_sampler_create(&o, 10, &s, &err), MZ_EINVAL);
    assert_null(s);
    assert_non_null(strstr(err.text, word));
}

static void test_bad_options(void **state)
{
    (void)state;
    mz_sample_options d = mz_sample_options_default(), o;
#define BAD(field, value, word) \
    o = d;                      \
    o.field = value;            \
    refused(o, word)
    BAD(temp, -0.1f, "temp");
    BAD(temp, NAN, "temp");
    BAD(temp, INFINITY, "temp");
    BAD(top_k, -1, "top_k");
    BAD(top_p, 1.5f, "top_p");
    BAD(top_p, NAN, "top_p");
    BAD(min_p, -0.5f, "min_p");
    BAD(repeat_penalty, 0, "repeat_penalty");
    BAD(repeat_last_n, -2, "repeat_last_n");
    BAD(presence_penalty, NAN, "presence");
    BAD(frequency_penalty, INFINITY, "frequency");
#undef BAD
    const mz_logit_bias far = {10, 1}, nan_bias = {1, NAN}, inf_bias = {1, INFINITY};
    o = d;
    o.n_bias = 1;
    o.bias = &far;
    refused(o, "token 10");
    o.bias = &nan_bias;
    refused(o, "bias");
    o.bias = &inf_bias;
    refused(o, "bias");
    mz_sampler *s = NULL;
    mz_err err = {0};
    assert_int_equal(mz_sampler_create(&d, 0, &s, &err), MZ_EINVAL);
    s = make(d, 10);
    assert_int_equal(mz_sampler_prime(s, (const int32_t[]){3, 10}, 2, &err), MZ_EINVAL);
    assert_int_equal(mz_sampler_prime(s, (const int32_t[]){-1}, 1, &err), MZ_EINVAL);
    mz_sampler_free(s);
    mz_sampler_free(NULL);
}

static void test_logprobs(void **state)
{
    (void)state;
    double p[10], lp, top[12];
    int32_t ids[12];
    softmax_ten(1, p);
    mz_logprobs(ten, 10, 3, &lp, 4, ids, top);
    assert_true(fabs(lp - log(p[3])) < 1e-12);
    const int32_t want[4] = {7, 1, 3, 5};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ids[i], want[i]);
        assert_true(fabs(top[i] - log(p[want[i]])) < 1e-12);
    }
    mz_logprobs(ten, 10, 0, &lp, 12, ids, top); /* more than there are */
    double sum = 0;
    for (int i = 0; i < 10; i++) sum += exp(top[i]);
    assert_true(fabs(sum - 1) < 1e-12);
    assert_int_equal(ids[10], -1);
    assert_int_equal(ids[11], -1);
    mz_logprobs(ten, 10, 0, &lp, 0, NULL, NULL);
    assert_true(fabs(lp - log(p[0])) < 1e-12);
    const float odd[4] = {-INFINITY, 700, 700, -700};
    mz_logprobs(odd, 4, 0, &lp, 3, ids, top);
    assert_true(isinf(lp) && lp < 0);
    assert_int_equal(ids[0], 1);
    assert_int_equal(ids[1], 2);
    assert_int_equal(ids[2], 3);
    assert_true(fabs(top[0] - log(0.5)) < 1e-12);
    assert_true(fabs(top[2] - (-1400 - log(2))) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distribution),
        cmocka_unit_test(test_top_k),
        cmocka_unit_test(test_top_p),
        cmocka_unit_test(test_min_p),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_greedy_and_ties),
        cmocka_unit_test(test_hostile_logits),
        cmocka_unit_test(test_bias),
        cmocka_unit_test(test_repetition_window),
        cmocka_unit_test(test_presence_and_frequency),
        cmocka_unit_test(test_determinism),
        cmocka_unit_test(test_partial_selection),
        cmocka_unit_test(test_no_allocation),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_logprobs),
    };
    return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
