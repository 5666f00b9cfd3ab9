/* SPDX-License-Identifier: Apache-2.0
 *
 * test_answer.c: text held back across tokens and characters, stop strings and ids, the length limit. The vocabulary is
 * the test's own: mz_text_piece and mz_text_is_stop are defined here and stand in for the tokenizer's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mizan/sample.h>

#include "base/mem.h"
#include "base/rng.h"

/* Ids 0..255 are single bytes; then some words; 300 ends an answer, 301 is another control token. */
static const char *const words[] = {"Hello", " wor", "ld", "ST", "OP", "STOP", "xSTOPy", "\xE2\x82", "\xAC\xC3", "\xA9!"};
enum { HELLO = 256, WOR, LD, ST, OP, STOP, XSTOPY, EURO_2, AC_C3, A9, EOS = 300, CONTROL = 301, UNKNOWN = 400 };
static int dummy_text;
#define TEXT ((const mz_text *)(const void *)&dummy_text)

const char *mz_text_piece(const mz_text *t, int32_t id, bool with_special, size_t *n)
{
    static unsigned char byte[256];
    assert_ptr_equal(t, TEXT);
    if (id == EOS || id == CONTROL) {
        *n = with_special ? 3 : 0;
        return "<c>";
    }
    if (id >= 256) {
        size_t i = (size_t)(id - 256);
        if (i >= sizeof words / sizeof words[0]) return NULL;
        *n = strlen(words[i]);
        return words[i];
    }
    byte[id] = (unsigned char)id;
    *n = 1;
    return (const char *)&byte[id];
}

bool mz_text_is_stop(const mz_text *t, int32_t id)
{
    (void)t;
    return id == EOS;
}

static mz_answer *make(mz_answer_options o)
{
    mz_answer *a = NULL;
    mz_err err = {0};
    if (mz_answer_create(TEXT, &o, &a, &err) != MZ_OK) fail_msg("%s", err.text);
    return a;
}

/* Adds id and checks what comes out. */
static void add(mz_answer *a, int32_t id, const char *want, mz_finish want_finish)
{
    const char *delta = NULL;
    size_t n = 99;
    mz_finish finish = (mz_finish)99;
    mz_err err = {0};
    if (mz_answer_add(a, id, &delta, &n, &finish, &err) != MZ_OK) fail_msg("%s", err.text);
    assert_int_equal(n, strlen(want));
    assert_memory_equal(delta, want, n);
    assert_int_equal(finish, want_finish);
}

static void all_text(const mz_answer *a, const char *want)
{
    size_t n;
    const char *text = mz_answer_text(a, &n);
    assert_int_equal(n, strlen(want));
    assert_memory_equal(text, want, n);
}

static size_t n_ids(const mz_answer *a)
{
    size_t n;
    (void)mz_answer_ids(a, &n);
    return n;
}

static const mz_answer_options no_limit = {.n_max = -1};

static void test_plain(void **state)
{
    (void)state;
    mz_answer *a = make(no_limit);
    all_text(a, "");
    assert_int_equal(n_ids(a), 0);
    add(a, HELLO, "Hello", MZ_FINISH_NONE);
    add(a, CONTROL, "", MZ_FINISH_NONE);
    add(a, UNKNOWN, "", MZ_FINISH_NONE); /* padding of the output layer */
    add(a, WOR, " wor", MZ_FINISH_NONE);
    add(a, EOS, "", MZ_FINISH_STOP);
    all_text(a, "Hello wor");
    size_t n;
    const int32_t *ids = mz_answer_ids(a, &n), want[4] = {HELLO, CONTROL, UNKNOWN, WOR};
    assert_int_equal(n, 4); /* without the stop id */
    assert_memory_equal(ids, want, sizeof want);
    mz_finish finish;
    const char *delta;
    mz_err err;
    assert_int_equal(mz_answer_add(a, LD, &delta, &n, &finish, &err), MZ_EINVAL); /* it has ended */
    mz_answer_free(a);
    a = make(no_limit);
    assert_int_equal(mz_answer_add(a, -1, &delta, &n, &finish, &err), MZ_EINVAL);
    mz_answer_free(a);
}

static void test_characters(void **state)
{
    (void)state;
    mz_answer *a = make(no_limit);
    add(a, EURO_2, "", MZ_FINISH_NONE);
    add(a, AC_C3, "\xE2\x82\xAC", MZ_FINISH_NONE);
    add(a, A9, "\xC3\xA9!", MZ_FINISH_NONE);
    add(a, 0xF0, "", MZ_FINISH_NONE);
    add(a, 0x9F, "", MZ_FINISH_NONE);
    add(a, 0x98, "", MZ_FINISH_NONE);
    add(a, 0x80, "\xF0\x9F\x98\x80", MZ_FINISH_NONE);
    add(a, 0x80, "\x80", MZ_FINISH_NONE); /* cannot become a character: passes as it is */
    add(a, 0xE2, "", MZ_FINISH_NONE);
    add(a, 'x', "\xE2x", MZ_FINISH_NONE);
    add(a, 0xC3, "", MZ_FINISH_NONE);
    add(a, EOS, "\xC3", MZ_FINISH_STOP); /* nothing is lost at the end */
    all_text(a, "\xE2\x82\xAC\xC3\xA9!\xF0\x9F\x98\x80\x80\xE2x\xC3");
    mz_answer_free(a);
}

static void test_stop_string(void **state)
{
    (void)state;
    const char *stop[] = {"STOP", "ld!"};
    mz_answer_options o = {.n_max = -1, .stop = stop, .n_stop = 2};
    mz_answer *a = make(o);
    stop[0] = "gone"; /* copied at creation */
    add(a, HELLO, "Hello", MZ_FINISH_NONE);
    add(a, ST, "", MZ_FINISH_NONE);
    add(a, ST, "ST", MZ_FINISH_NONE); /* "STST": the first cannot be a beginning any more */
    add(a, OP, "", MZ_FINISH_STOP);
    all_text(a, "HelloST");
    assert_int_equal(n_ids(a), 4); /* the tokens of the stop string were generated */
    mz_answer_free(a);

    stop[0] = "STOP";
    a = make(o);
    add(a, XSTOPY, "x", MZ_FINISH_STOP); /* inside one token, more behind it */
    mz_answer_free(a);
    a = make(o);
    add(a, WOR, " wor", MZ_FINISH_NONE);
    add(a, LD, "", MZ_FINISH_NONE);
    add(a, '!', "", MZ_FINISH_STOP);
    all_text(a, " wor");
    mz_answer_free(a);
    a = make(o);
    add(a, LD, "", MZ_FINISH_NONE);
    add(a, ' ', "ld ", MZ_FINISH_NONE);
    add(a, ST, "", MZ_FINISH_NONE);
    add(a, EOS, "ST", MZ_FINISH_STOP); /* what was held back is shown when the answer ends otherwise */
    all_text(a, "ld ST");
    mz_answer_free(a);
}

static void test_stop_overlaps(void **state)
{
    (void)state;
    const char *stop[] = {"aab", "bc", "abcd"};
    mz_answer_options o = {.n_max = -1, .stop = stop, .n_stop = 1};
    mz_answer *a = make(o); /* "aaab": the match begins at the second a */
    add(a, 'a', "", MZ_FINISH_NONE);
    add(a, 'a', "", MZ_FINISH_NONE);
    add(a, 'a', "a", MZ_FINISH_NONE);
    add(a, 'b', "", MZ_FINISH_STOP);
    all_text(a, "a");
    mz_answer_free(a);
    o.stop = stop + 1;
    o.n_stop = 2;
    a = make(o); /* "abc" completes "bc" before "abcd" could be */
    add(a, 'a', "", MZ_FINISH_NONE);
    add(a, 'b', "", MZ_FINISH_NONE);
    add(a, 'c', "a", MZ_FINISH_STOP);
    mz_answer_free(a);
    const char *euro[] = {"\xE2\x82\xAC"};
    o = (mz_answer_options){.n_max = -1, .stop = euro, .n_stop = 1};
    a = make(o);
    add(a, 'x', "x", MZ_FINISH_NONE);
    add(a, EURO_2, "", MZ_FINISH_NONE);
    add(a, AC_C3, "", MZ_FINISH_STOP);
    all_text(a, "x");
    mz_answer_free(a);
    a = make(o); /* another character with the same first bytes */
    add(a, EURO_2, "", MZ_FINISH_NONE);
    add(a, 0xAB, "\xE2\x82\xAB", MZ_FINISH_NONE);
    mz_answer_free(a);
}

static void test_length(void **state)
{
    (void)state;
    const char *stop[] = {"STOP"};
    mz_answer_options o = {.n_max = 2, .stop = stop, .n_stop = 1};
    mz_answer *a = make(o);
    add(a, HELLO, "Hello", MZ_FINISH_NONE);
    add(a, ST, "ST", MZ_FINISH_LENGTH); /* held text comes out */
    assert_int_equal(n_ids(a), 2);
    mz_answer_free(a);
    a = make(o);
    add(a, ST, "", MZ_FINISH_NONE);
    add(a, OP, "", MZ_FINISH_STOP); /* both at once: stop */
    mz_answer_free(a);
    a = make(o);
    add(a, HELLO, "Hello", MZ_FINISH_NONE);
    add(a, EOS, "", MZ_FINISH_STOP);
    mz_answer_free(a);
    o.n_max = 0;
    a = make(o);
    add(a, HELLO, "", MZ_FINISH_LENGTH);
    assert_int_equal(n_ids(a), 0);
    mz_answer_free(a);
}

static void test_stop_ids(void **state)
{
    (void)state;
    const int32_t ids[2] = {LD, CONTROL};
    mz_answer_options o = {.n_max = -1, .stop_ids = ids, .n_stop_ids = 2, .ignore_eos = true, .show_special = true};
    mz_answer *a = make(o);
    add(a, EOS, "<c>", MZ_FINISH_NONE);
    add(a, HELLO, "Hello", MZ_FINISH_NONE);
    add(a, LD, "", MZ_FINISH_STOP);
    all_text(a, "<c>Hello");
    mz_answer_free(a);
    mz_err err = {0};
    o = (mz_answer_options){.n_max = 3, .stop_ids = ids, .n_stop_ids = 1};
    assert_int_equal(mz_answer_create(NULL, &o, &a, &err), MZ_OK); /* without a tokenizer */
    add(a, HELLO, "", MZ_FINISH_NONE);
    add(a, EOS, "", MZ_FINISH_NONE);
    add(a, LD, "", MZ_FINISH_STOP);
    all_text(a, "");
    assert_int_equal(n_ids(a), 2);
    mz_answer_free(a);
}

static void test_refused(void **state)
{
    (void)state;
    const char *stop[] = {"x", ""};
    mz_answer_options o = {.n_max = -1, .stop = stop, .n_stop = 2};
    mz_answer *a = NULL;
    mz_err err = {0};
    assert_int_equal(mz_answer_create(TEXT, &o, &a, &err), MZ_EINVAL);
    assert_null(a);
    o.n_stop = 1;
    assert_int_equal(mz_answer_create(NULL, &o, &a, &err), MZ_EINVAL);
    assert_null(a);
    mz_answer_free(NULL);
}

static void test_flush(void **state)
{
    (void)state;
    const char *stop[] = {"STOP"}, *delta;
    size_t n;
    mz_err err;
    mz_answer_options o = {.n_max = -1, .stop = stop, .n_stop = 1};
    mz_answer *a = make(o);
    assert_int_equal(mz_answer_flush(a, &delta, &n, &err), MZ_OK);
    assert_int_equal(n, 0);
    add(a, ST, "", MZ_FINISH_NONE);
    add(a, 0xC3, "ST", MZ_FINISH_NONE);
    assert_int_equal(mz_answer_flush(a, &delta, &n, &err), MZ_OK);
    assert_int_equal(n, 1);
    assert_memory_equal(delta, "\xC3", 1);
    all_text(a, "ST\xC3");
    mz_answer_free(a);
}

/* Random answers against a plain definition: the text is everything before the first stop string to be completed, the
 * deltas add up to it, and no delta ends inside a stop string to come or a character. */
static void test_random(void **state)
{
    (void)state;
    static const char *const stops[] = {"ab", "bba", "\xC3\xA9", "aaaa"};
    static const unsigned char alphabet[] = {'a', 'b', 'a', 0xC3, 0xA9, 'x'};
    for (uint64_t round = 0; round < 3000; round++) {
        const char *stop[2] = {stops[round % 4], stops[(round / 4) % 4]};
        mz_answer_options o = {.n_max = -1, .stop = stop, .n_stop = 2};
        mz_answer *a = make(o);
        char raw[64], shown[64];
        size_t n_raw = 0, n_shown = 0, n;
        mz_finish finish = MZ_FINISH_NONE;
        mz_err err;
        const char *delta;
        for (uint64_t i = 0; i < 40 && finish == MZ_FINISH_NONE; i++) {
            unsigned char c = alphabet[(size_t)(mz_rng_uniform(round, i) * sizeof alphabet)];
            raw[n_raw++] = (char)c;
            assert_int_equal(mz_answer_add(a, c, &delta, &n, &finish, &err), MZ_OK);
            memcpy(shown + n_shown, delta, n);
            n_shown += n;
            size_t cut = n_raw;
            for (int k = 0; k < 2; k++) {
                char *at = memmem(raw, n_raw, stop[k], strlen(stop[k]));
                if (at && (size_t)(at - raw) < cut) cut = (size_t)(at - raw);
            }
            assert_int_equal(finish, cut < n_raw ? MZ_FINISH_STOP : MZ_FINISH_NONE);
            if (finish == MZ_FINISH_STOP) assert_int_equal(n_shown, cut);
            assert_memory_equal(shown, raw, n_shown);
            assert_true(n_shown <= cut);
        }
        if (finish == MZ_FINISH_NONE) {
            assert_int_equal(mz_answer_flush(a, &delta, &n, &err), MZ_OK);
            assert_int_equal(n_shown + n, n_raw);
        }
        mz_answer_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),         cmocka_unit_test(test_characters), cmocka_unit_test(test_stop_string),
        cmocka_unit_test(test_stop_overlaps), cmocka_unit_test(test_length),     cmocka_unit_test(test_stop_ids),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_flush),      cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests_name("answer", tests, NULL, NULL);
}
