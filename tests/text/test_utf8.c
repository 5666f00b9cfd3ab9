/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text/utf8.h"

/* Every code point goes there and back; its cut forms are incomplete, not valid. */
static void every_scalar(void **state)
{
    (void)state;
    for (int32_t cp = 0; cp <= 0x10FFFF; cp++) {
        if (cp >= 0xD800 && cp <= 0xDFFF) continue;
        char s[4];
        int32_t back;
        size_t n = mz_utf8_encode(cp, s);
        if (mz_utf8_decode(s, n, &back) != n || back != cp || !mz_utf8_is_valid(s, n)) fail_msg("U+%X does not survive", (unsigned)cp);
        for (size_t k = 1; k < n; k++) {
            if (mz_utf8_decode(s, k, &back) != k || back != -1) fail_msg("U+%X cut to %zu bytes", (unsigned)cp, k);
            if (mz_utf8_incomplete_tail(s, k) != k) fail_msg("U+%X cut to %zu bytes is not held", (unsigned)cp, k);
        }
        if (mz_utf8_incomplete_tail(s, n) != 0) fail_msg("whole U+%X is held", (unsigned)cp);
    }
}

/* Table 3-8 of Unicode 15 and its neighbours: bytes, length of the first maximal part. */
static void ill_formed(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        size_t n, part;
    } c[] = {
        {"\xC0\xAF", 2, 1},
        {"\xC1\xBF", 2, 1},
        {"\xE0\x80\xAF", 3, 1},
        {"\xE0\x9F\xBF", 3, 1},
        {"\xED\xA0\x80", 3, 1},
        {"\xED\xBF\xBF", 3, 1},
        {"\xF0\x80\x80\x80", 4, 1},
        {"\xF0\x8F\xBF\xBF", 4, 1},
        {"\xF4\x90\x80\x80", 4, 1},
        {"\xF5\x80\x80\x80", 4, 1},
        {"\xFF", 1, 1},
        {"\x80", 1, 1},
        {"\xBF", 1, 1},
        {"\xE1\x80", 2, 2},
        {"\xE1\x80z", 3, 2},
        {"\xF1\x80\x80", 3, 3},
        {"\xF1\x80\x80\xC3", 4, 3},
        {"\xF0\x90z", 3, 2},
        {"\xC3z", 2, 1},
        {"\xC3\xC3", 2, 1},
    };
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        int32_t cp = 0;
        assert_int_equal(mz_utf8_decode(c[i].s, c[i].n, &cp), c[i].part);
        assert_int_equal(cp, -1);
        assert_false(mz_utf8_is_valid(c[i].s, c[i].n));
    }
}

static void tails(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        size_t tail;
    } c[] = {{"", 0},
             {"a", 0},
             {"a\xC3", 1},
             {"\xC3\xA9", 0},
             {"\xE2\x82", 2},
             {"\xE2\x82\xAC", 0},
             {"x\xF0\x9F\x98", 3},
             {"\xF0\x9F\x98\x80", 0},
             {"\x80\x80\x80", 0},
             {"\xE0\x80", 0},
             {"\xED\xA0", 0},
             {"\xF4\x90", 0},
             {"\xF5", 0},
             {"\xC0", 0},
             {"\xF0\x9F\x98\x80\x80", 0}};
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) assert_int_equal(mz_utf8_incomplete_tail(c[i].s, strlen(c[i].s)), c[i].tail);
}

static void prefix_finds_the_first_fault(void **state)
{
    (void)state;
    char s[64];
    for (size_t at = 0; at < sizeof s; at++) {
        memset(s, 'x', sizeof s);
        s[at] = (char)0xFF;
        assert_int_equal(mz_utf8_valid_prefix(s, sizeof s), at);
    }
}

/* However the bytes are cut, nothing is lost and, of valid text, no character is split. */
static void streaming(void **state)
{
    (void)state;
    static const char text[] = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 \xD9\x85\xD8\xB1 end";
    for (size_t step = 1; step < sizeof text; step++) {
        mz_utf8_stream u = {0};
        char all[sizeof text + 8], out[sizeof text + 8];
        size_t n_all = 0;
        for (size_t i = 0; i < sizeof text - 1; i += step) {
            size_t n = sizeof text - 1 - i < step ? sizeof text - 1 - i : step;
            size_t k = mz_utf8_stream_add(&u, text + i, n, out);
            assert_true(mz_utf8_is_valid(out, k));
            memcpy(all + n_all, out, k);
            n_all += k;
        }
        assert_int_equal(mz_utf8_stream_flush(&u, out), 0);
        assert_int_equal(n_all, sizeof text - 1);
        assert_memory_equal(all, text, n_all);
    }
    mz_utf8_stream u = {0};
    char out[16];
    assert_int_equal(mz_utf8_stream_add(&u, "\xE2\x82", 2, out), 0);
    assert_int_equal(mz_utf8_stream_add(&u, "", 0, out), 0);
    assert_int_equal(mz_utf8_stream_add(&u, "z", 1, out), 3);
    assert_memory_equal(out, "\xE2\x82z", 3);
    assert_int_equal(mz_utf8_stream_add(&u, "\xF0\x9F\x98", 3, out), 0);
    assert_int_equal(mz_utf8_stream_flush(&u, out), 3);
    assert_memory_equal(out, "\xF0\x9F\x98", 3);
    assert_int_equal(mz_utf8_stream_flush(&u, out), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_scalar), cmocka_unit_test(ill_formed), cmocka_unit_test(tails),
                                       cmocka_unit_test(prefix_finds_the_first_fault), cmocka_unit_test(streaming)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
