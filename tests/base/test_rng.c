/* SPDX-License-Identifier: Apache-2.0
 *
 * test_rng.c: Philox4x32-10 against the known answers published with Random123, and the uniform numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"

static void test_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t ctr[4], key[2], out[4];
    } kat[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof kat / sizeof *kat; i++) {
        uint32_t out[4];
        mz_philox4x32(kat[i].key, kat[i].ctr, out);
        assert_memory_equal(out, kat[i].out, sizeof out);
        memcpy(out, kat[i].ctr, sizeof out); /* out may alias ctr */
        mz_philox4x32(kat[i].key, out, out);
        assert_memory_equal(out, kat[i].out, sizeof out);
    }
}

static void test_uniform(void **state)
{
    (void)state;
    /* Seed and index 0: words 6627e8d5 (upper 27 bits) and e169c58d (upper 26). */
    assert_true(mz_rng_uniform(0, 0) == (double)((UINT64_C(0x6627e8d5) >> 5) << 26 | UINT64_C(0xe169c58d) >> 6) / 9007199254740992.0);
    double sum = 0, square = 0;
    int bucket[16] = {0};
    enum { N = 100000 };
    for (uint64_t i = 0; i < N; i++) {
        double u = mz_rng_uniform(12345, i);
        assert_true(u >= 0.0 && u < 1.0);
        assert_true(u == mz_rng_uniform(12345, i));
        sum += u;
        square += u * u;
        bucket[(int)(u * 16)]++;
    }
    /* Six standard deviations of the mean, the mean square and a bucket count. */
    assert_true(sum / N > 0.5 - 0.0055 && sum / N < 0.5 + 0.0055);
    assert_true(square / N > 1.0 / 3 - 0.0057 && square / N < 1.0 / 3 + 0.0057);
    for (int i = 0; i < 16; i++) assert_in_range(bucket[i], N / 16 - 460, N / 16 + 460);
    assert_true(mz_rng_uniform(1, 0) != mz_rng_uniform(2, 0) && mz_rng_uniform(1, 0) != mz_rng_uniform(1, 1));
    assert_true(mz_rng_uniform(1, 0) != mz_rng_uniform(1, UINT64_C(1) << 32) &&
                mz_rng_uniform(1, 0) != mz_rng_uniform(UINT64_C(1) << 32 | 1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_answers), cmocka_unit_test(test_uniform)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
