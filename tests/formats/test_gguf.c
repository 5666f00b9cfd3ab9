/* SPDX-License-Identifier: Apache-2.0
 *
 * GGUF files that are right: every metadata type, typed reads, tensors, alignment, versions; and
 * sweeps that cut and change a right file everywhere. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <time.h>

#include "gguf_build.h"
#include "gguf_walk.h"

static mz_gguf *open_ok(const gb *b)
{
    mz_gguf *g = NULL;
    mz_err err = {0};
    if (mz_gguf_open_memory(b->p, b->n, &g, &err) != MZ_OK) fail_msg("%s", err.text);
    assert_non_null(g);
    return g;
}

/* 13 keys, one a type (two arrays), and three tensors. */
static gb sample(uint32_t version)
{
    gb b = {0};
    gb_header(&b, version, 3, 14);
    gb_kv_str(&b, "general.architecture", "test");
    gb_kv_int(&b, "u8", MZ_GGUF_U8, 200, 1);
    gb_kv_int(&b, "i8", MZ_GGUF_I8, (uint64_t)-3, 1);
    gb_kv_int(&b, "u16", MZ_GGUF_U16, 65535, 2);
    gb_kv_int(&b, "i16", MZ_GGUF_I16, (uint64_t)-300, 2);
    gb_kv_u32(&b, "u32", 4000000000U);
    gb_kv_int(&b, "i32", MZ_GGUF_I32, (uint64_t)-70000, 4);
    gb_kv_int(&b, "f32", MZ_GGUF_F32, 0x3FC00000, 4);
    gb_kv_int(&b, "bool", MZ_GGUF_BOOL, 1, 1);
    gb_kv_int(&b, "u64", MZ_GGUF_U64, UINT64_MAX, 8);
    gb_kv_int(&b, "i64", MZ_GGUF_I64, (uint64_t)INT64_MIN, 8);
    gb_kv_int(&b, "f64", MZ_GGUF_F64, 0x3FB999999999999A, 8);
    gb_kv_array(&b, "tokens", MZ_GGUF_STRING, 3);
    gb_str(&b, "a");
    gb_str(&b, "");
    gb_str_n(&b, "\xFF\0z", 3);
    gb_kv_array(&b, "ids", MZ_GGUF_I16, 2);
    gb_int(&b, (uint64_t)-1, 2);
    gb_int(&b, 7, 2);
    gb_tensor(&b, "a.weight", 2, 32, 3, MZ_DTYPE_Q4_0, 0);
    gb_tensor(&b, "c", 1, 5, 0, MZ_DTYPE_F32, 128);
    gb_tensor(&b, "b", 4, 2, 3, MZ_DTYPE_F16, 64); /* order in the file need not follow the list */
    gb_pad(&b, 32);
    gb_data(&b, 54 + 10 + 12 + 52 + 20);
    return b;
}

static void test_types(void **state)
{
    (void)state;
    for (uint32_t version = 2; version <= 3; version++) {
        gb b = sample(version);
        mz_gguf *g = open_ok(&b);
        int64_t i = 0;
        double f = 0;
        bool flag = false;
        mz_str s = {0};
        assert_int_equal(g->version, version);
        assert_int_equal(g->n_kv, 14);
        assert_int_equal(g->file_bytes, b.n);
        static const struct {
            const char *key;
            int64_t value;
        } ints[] = {{"u8", 200},         {"i8", -3},      {"u16", 65535}, {"i16", -300},
                    {"u32", 4000000000}, {"i32", -70000}, {"bool", 1},    {"i64", INT64_MIN}};
        for (size_t k = 0; k < sizeof ints / sizeof *ints; k++) {
            assert_int_equal(mz_gguf_get_i64(g, ints[k].key, true, INT64_MIN, INT64_MAX, &i, NULL), MZ_OK);
            assert_true(i == ints[k].value);
            assert_int_equal(mz_gguf_get_f64(g, ints[k].key, true, &f, NULL), MZ_OK);
            assert_true(f == (double)ints[k].value);
        }
        assert_int_equal(mz_gguf_get_f64(g, "f32", true, &f, NULL), MZ_OK);
        assert_true(f == 1.5);
        assert_int_equal(mz_gguf_get_f64(g, "f64", true, &f, NULL), MZ_OK);
        assert_true(f == 0.1);
        assert_int_equal(mz_gguf_get_f64(g, "u64", true, &f, NULL), MZ_OK);
        assert_true(f == 0x1p64);
        assert_int_equal(mz_gguf_get_bool(g, "bool", true, &flag, NULL), MZ_OK);
        assert_true(flag);
        assert_int_equal(mz_gguf_get_str(g, "general.architecture", true, &s, NULL), MZ_OK);
        assert_int_equal(s.n, 4);
        assert_memory_equal(s.s, "test", 4);
        mz_gguf_close(g);
        free(b.p);
    }
}

/* What a typed read says when the key is absent, of another type or out of its bounds. */
static void test_typed_errors(void **state)
{
    (void)state;
    gb b = sample(3);
    mz_gguf *g = open_ok(&b);
    int64_t i = 42;
    double f = 42;
    bool flag = true;
    mz_str s = {"x", 1};
    mz_err err;
    assert_int_equal(mz_gguf_get_i64(g, "none", false, 0, 1, &i, &err), MZ_OK);
    assert_int_equal(mz_gguf_get_f64(g, "none", false, &f, &err), MZ_OK);
    assert_int_equal(mz_gguf_get_bool(g, "none", false, &flag, &err), MZ_OK);
    assert_int_equal(mz_gguf_get_str(g, "none", false, &s, &err), MZ_OK);
    assert_true(i == 42 && f == 42 && flag && s.n == 1);
    assert_int_equal(mz_gguf_get_i64(g, "none", true, 0, 1, &i, &err), MZ_EFORMAT);
    assert_string_equal(err.text, "key \"none\" is missing");
    assert_int_equal(mz_gguf_get_i64(g, "u8", true, 0, 199, &i, &err), MZ_EFORMAT);
    assert_string_equal(err.text, "key \"u8\" is 200, expected 0 to 199");
    assert_int_equal(mz_gguf_get_i64(g, "i8", true, 0, 199, &i, &err), MZ_EFORMAT);
    assert_int_equal(mz_gguf_get_i64(g, "u64", true, 0, INT64_MAX, &i, &err), MZ_EFORMAT);
    assert_string_equal(err.text, "key \"u64\" is 18446744073709551615, expected 0 to 9223372036854775807");
    assert_int_equal(mz_gguf_get_i64(g, "f32", true, 0, 9, &i, &err), MZ_EFORMAT);
    assert_string_equal(err.text, "key \"f32\" is of type f32, expected an integer");
    assert_int_equal(mz_gguf_get_i64(g, "ids", true, 0, 9, &i, &err), MZ_EFORMAT);
    assert_string_equal(err.text, "key \"ids\" is of type array of i16, expected an integer");
    assert_int_equal(mz_gguf_get_f64(g, "tokens", true, &f, &err), MZ_EFORMAT);
    assert_int_equal(mz_gguf_get_f64(g, "general.architecture", true, &f, &err), MZ_EFORMAT);
    assert_int_equal(mz_gguf_get_bool(g, "u8", true, &flag, &err), MZ_EFORMAT);
    assert_int_equal(mz_gguf_get_str(g, "tokens", true, &s, &err), MZ_EFORMAT);
    assert_string_equal(err.text, "key \"tokens\" is of type array of string, expected string");
    assert_true(i == 42 && f == 42 && flag && s.n == 1);
    mz_gguf_close(g);
    free(b.p);
}

static void test_not_finite(void **state)
{
    (void)state;
    gb b = {0};
    double f = 42;
    mz_err err;
    gb_header(&b, 3, 0, 2);
    gb_kv_int(&b, "nan", MZ_GGUF_F32, 0x7FC00000, 4);
    gb_kv_int(&b, "inf", MZ_GGUF_F64, 0x7FF0000000000000, 8);
    mz_gguf *g = open_ok(&b);
    assert_int_equal(mz_gguf_get_f64(g, "nan", true, &f, &err), MZ_EFORMAT);
    assert_non_null(strstr(err.text, "nan"));
    assert_int_equal(mz_gguf_get_f64(g, "inf", true, &f, &err), MZ_EFORMAT);
    assert_true(f == 42);
    mz_gguf_close(g);
    free(b.p);
}

static void test_arrays(void **state)
{
    (void)state;
    gb b = sample(3);
    mz_gguf *g = open_ok(&b);
    const mz_gguf_kv *kv = mz_gguf_find(g, "tokens");
    static const mz_str want[] = {{"a", 1}, {"", 0}, {"\xFF\0z", 3}};
    size_t cursor = 0;
    mz_str s;
    int64_t i;
    double f;
    assert_int_equal(kv->type, MZ_GGUF_ARRAY);
    assert_int_equal(kv->elem_type, MZ_GGUF_STRING);
    assert_int_equal(kv->n_elem, 3);
    for (int k = 0; k < 3; k++) {
        assert_true(mz_gguf_next_str(kv, &cursor, &s));
        assert_int_equal(s.n, want[k].n);
        assert_memory_equal(s.s, want[k].s, s.n);
    }
    assert_false(mz_gguf_next_str(kv, &cursor, &s));
    assert_false(mz_gguf_elem_i64(kv, 0, &i));
    kv = mz_gguf_find(g, "ids");
    assert_true(mz_gguf_elem_i64(kv, 0, &i) && i == -1);
    assert_true(mz_gguf_elem_i64(kv, 1, &i) && i == 7);
    assert_true(mz_gguf_elem_f64(kv, 1, &f) && f == 7);
    assert_false(mz_gguf_elem_i64(kv, 2, &i));
    assert_false(mz_gguf_elem_f64(kv, 2, &f));
    cursor = 0;
    assert_false(mz_gguf_next_str(kv, &cursor, &s));
    kv = mz_gguf_find(g, "f32"); /* a scalar is an array of one */
    assert_false(mz_gguf_elem_i64(kv, 0, &i));
    assert_true(mz_gguf_elem_f64(kv, 0, &f) && f == 1.5);
    assert_null(mz_gguf_find(g, "id"));
    assert_null(mz_gguf_find(g, ""));
    mz_gguf_close(g);
    free(b.p);
}

static void test_tensors(void **state)
{
    (void)state;
    gb b = sample(3);
    mz_gguf *g = open_ok(&b);
    float y[96];
    const mz_gguf_tensor *t = mz_gguf_find_tensor(g, "a.weight");
    assert_int_equal(g->n_tensor, 3);
    assert_ptr_equal(t, &g->tensor[0]);
    assert_int_equal(t->type, MZ_DTYPE_Q4_0);
    assert_int_equal(t->n_dim, 2);
    assert_true(t->dim[0] == 32 && t->dim[1] == 3 && t->dim[2] == 1 && t->dim[3] == 1);
    assert_int_equal(t->n_elem, 96);
    assert_int_equal(t->n_bytes, 54);
    assert_int_equal(t->file_offset % 32, 0);
    assert_ptr_equal(t->data, b.p + t->file_offset);
    assert_int_equal(t->i_part, 0);
    assert_int_equal(mz_gguf_decode(t, y, NULL), MZ_OK);
    /* d = bytes 20 21 = 0x2120; the next byte is 22: (2 - 8) d, and 16 elements on again. */
    assert_true(y[0] == -6 * mz_f16_to_f32(0x2120) && y[16] == y[0]);
    t = mz_gguf_find_tensor(g, "b");
    assert_true(t->n_dim == 4 && t->n_elem == 6 && t->n_bytes == 12);
    assert_null(mz_gguf_find_tensor(g, "a"));
    assert_null(mz_gguf_find_tensor(g, ""));
    gguf_walk(g);
    mz_gguf_close(g);
    free(b.p);
}

static void test_alignment(void **state)
{
    (void)state;
    for (uint32_t align = 8; align <= 4096; align *= 2) {
        gb b = {0};
        gb_header(&b, 3, 2, 1);
        gb_kv_u32(&b, "general.alignment", align);
        gb_tensor(&b, "a", 1, 1, 0, MZ_DTYPE_I8, 0);
        gb_tensor(&b, "b", 1, 1, 0, MZ_DTYPE_I8, align);
        gb_pad(&b, align);
        size_t begin = b.n;
        gb_data(&b, align + 1);
        mz_gguf *g = open_ok(&b);
        assert_int_equal(mz_gguf_find_tensor(g, "a")->file_offset, begin);
        assert_int_equal(mz_gguf_find_tensor(g, "b")->file_offset, begin + align);
        mz_gguf_close(g);
        free(b.p);
    }
}

/* Gaps between tensors, a file without tensors, one without anything, a type without decoder. */
static void test_unusual(void **state)
{
    (void)state;
    gb b = {0};
    float y[256];
    mz_err err;
    gb_header(&b, 3, 2, 0);
    gb_tensor(&b, "a", 1, 1, 0, MZ_DTYPE_I8, 64);
    gb_tensor(&b, "code\xC3\xA9", 1, 256, 0, MZ_DTYPE_IQ2_XXS, 256);
    gb_pad(&b, 32);
    gb_data(&b, 256 + 66);
    mz_gguf *g = open_ok(&b);
    const mz_gguf_tensor *t = mz_gguf_find_tensor(g, "code\xC3\xA9");
    assert_int_equal(mz_gguf_decode(t, y, &err), MZ_ESUPPORT);
    assert_string_equal(err.text, "tensor \"code\xC3\xA9\" is stored as IQ2_XXS, which mizan does not read");
    mz_gguf_close(g);
    b.n = 0;
    gb_header(&b, 3, 0, 1);
    gb_kv_array(&b, "empty", MZ_GGUF_STRING, 0);
    g = open_ok(&b);
    size_t cursor = 0;
    mz_str s;
    assert_false(mz_gguf_next_str(mz_gguf_find(g, "empty"), &cursor, &s));
    mz_gguf_close(g);
    b.n = 0;
    gb_header(&b, 2, 0, 0);
    g = open_ok(&b);
    assert_null(mz_gguf_find(g, "x"));
    assert_null(mz_gguf_find_tensor(g, "x"));
    mz_gguf_close(g);
    mz_gguf_close(NULL);
    free(b.p);
}

/* Every prefix of a right file fails with a sentence; only the whole file opens. */
static void test_truncation(void **state)
{
    (void)state;
    gb b = sample(3);
    for (size_t n = 0; n <= b.n; n++) {
        uint8_t *copy = malloc(n ? n : 1); /* of exact size: a read past it is seen */
        memcpy(copy, b.p, n);
        mz_gguf *g = NULL;
        mz_err err = {0};
        mz_status st = mz_gguf_open_memory(copy, n, &g, &err);
        assert_int_equal(st, n == b.n ? MZ_OK : MZ_EFORMAT);
        assert_true((g != NULL) == (n == b.n));
        assert_true((strlen(err.text) > 20) == (n != b.n));
        if (n > 0 && n < b.n && !strstr(err.text, "incomplete") && !strstr(err.text, "cut short")) assert_true(n < 4);
        mz_gguf_close(g);
        free(copy);
    }
    free(b.p);
}

/* Every byte of a right file changed in 12 ways: it opens and can be walked, or fails cleanly. */
static void test_mutation(void **state)
{
    (void)state;
    gb b = sample(3);
    uint8_t *copy = malloc(b.n);
    size_t n_open = 0, n_fail = 0;
    for (size_t i = 0; i < b.n; i++) {
        for (int k = 0; k < 12; k++) {
            static const uint8_t value[4] = {0, 0xFF, 0x7F, 1};
            memcpy(copy, b.p, b.n);
            copy[i] = (uint8_t)(k < 8 ? copy[i] ^ 1 << k : value[k - 8]);
            mz_gguf *g = NULL;
            mz_err err = {0};
            mz_status st = mz_gguf_open_memory(copy, b.n, &g, &err);
            assert_true((g != NULL) == (st == MZ_OK));
            if (g) {
                gguf_walk(g);
                n_open++;
            } else {
                assert_true(st == MZ_EFORMAT || st == MZ_ESUPPORT);
                assert_true(strlen(err.text) > 20);
                n_fail++;
            }
            mz_gguf_close(g);
        }
    }
    assert_true(n_open > b.n && n_fail > b.n); /* the sweep met both outcomes often */
    free(copy);
    free(b.p);
}

/* 100,000 tensors and a million strings open in moments, and the strings are not copied. The bound
 * leaves room for sanitizers; quadratic work would pass it by orders of magnitude. */
static void test_large(void **state)
{
    (void)state;
    enum { N_TENSOR = 100000, N_STR = 1000000 };
    gb b = {0};
    gb_header(&b, 3, N_TENSOR, 1);
    gb_kv_array(&b, "tokens", MZ_GGUF_STRING, N_STR);
    for (int i = 0; i < N_STR; i++) gb_str(&b, "token");
    for (uint64_t i = 0; i < N_TENSOR; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "blk.%u.weight", (unsigned)(i * 7919 % N_TENSOR));
        gb_tensor(&b, name, 1, 1, 0, MZ_DTYPE_I8, i * 32);
    }
    gb_pad(&b, 32);
    gb_data(&b, N_TENSOR * 32);
    clock_t start = clock();
    mz_gguf *g = open_ok(&b);
    for (uint64_t i = 0; i < N_TENSOR; i++) assert_ptr_equal(mz_gguf_find_tensor(g, g->tensor[i].name), &g->tensor[i]);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("# opening and 100000 look-ups: %.3f s\n", seconds);
    assert_true(seconds < 10);
    mz_str s;
    size_t cursor = 0;
    assert_true(mz_gguf_next_str(mz_gguf_find(g, "tokens"), &cursor, &s));
    assert_true((const uint8_t *)s.s > b.p && (const uint8_t *)s.s < b.p + b.n);
    mz_gguf_close(g);
    free(b.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),   cmocka_unit_test(test_typed_errors), cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_arrays),  cmocka_unit_test(test_tensors),      cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_unusual), cmocka_unit_test(test_truncation),   cmocka_unit_test(test_mutation),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests_name("gguf", tests, NULL, NULL);
}
