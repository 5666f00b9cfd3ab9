/* SPDX-License-Identifier: Apache-2.0
 *
 * NPY files: the exact bytes, and that a file appears only when it is whole. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "fmt/npy.h"

static char dir[64], path[96];

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/mizan-npy-XXXXXX");
    if (!mkdtemp(dir)) return -1;
    (void)snprintf(path, sizeof path, "%s/x.npy", dir);
    return 0;
}

/* rmdir also proves that no temporary file was left. */
static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(dir);
}

static void check_file(const char *dict, const void *data, size_t n)
{
    char *got = NULL;
    size_t n_got = 0;
    assert_int_equal(mz_file_read(path, 1 << 20, &got, &n_got, NULL), MZ_OK);
    assert_int_equal(n_got, 128 + n); /* these headers all take 128 bytes */
    assert_memory_equal(got, "\x93NUMPY\x01\x00\x76\x00", 10);
    assert_memory_equal(got + 10, dict, strlen(dict));
    for (size_t i = 10 + strlen(dict); i < 127; i++) assert_int_equal(got[i], ' ');
    assert_int_equal(got[127], '\n');
    if (n) assert_memory_equal(got + 128, data, n);
    mz_free(got);
}

static void test_bytes(void **state)
{
    (void)state;
    static const float x[6] = {1, 2, 3, 4, 5, 6};
    static const int32_t ids[3] = {-1, 0, 70000};
    mz_npy w;
    assert_int_equal(mz_npy_open(path, (const int64_t[]){2, 3}, 2, false, &w, NULL), MZ_OK);
    assert_int_equal(mz_npy_write(&w, x, 4, NULL), MZ_OK);
    assert_int_equal(access(path, F_OK), -1); /* not before the commit */
    assert_int_equal(mz_npy_write(&w, x + 4, 2, NULL), MZ_OK);
    assert_int_equal(mz_npy_commit(&w, NULL), MZ_OK);
    check_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", x, sizeof x);
    assert_int_equal(mz_npy_open(path, (const int64_t[]){3}, 1, true, &w, NULL), MZ_OK);
    assert_int_equal(mz_npy_write(&w, ids, 3, NULL), MZ_OK);
    assert_int_equal(mz_npy_commit(&w, NULL), MZ_OK);
    check_file("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", ids, sizeof ids);
    assert_int_equal(mz_npy_open(path, NULL, 0, false, &w, NULL), MZ_OK);
    assert_int_equal(mz_npy_write(&w, x, 1, NULL), MZ_OK);
    assert_int_equal(mz_npy_commit(&w, NULL), MZ_OK);
    check_file("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", x, 4);
    assert_int_equal(mz_npy_open(path, (const int64_t[]){0, 7}, 2, false, &w, NULL), MZ_OK);
    assert_int_equal(mz_npy_commit(&w, NULL), MZ_OK);
    check_file("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 7), }", NULL, 0);
}

static void test_counts(void **state)
{
    (void)state;
    static const float x[4] = {0};
    mz_npy w;
    mz_err err = {0};
    assert_int_equal(mz_npy_open(path, (const int64_t[]){3}, 1, false, &w, &err), MZ_OK);
    assert_int_equal(mz_npy_write(&w, x, 4, &err), MZ_EINVAL);
    assert_non_null(strstr(err.text, "1 more elements"));
    assert_int_equal(mz_npy_write(&w, x, 2, &err), MZ_OK);
    assert_int_equal(mz_npy_commit(&w, &err), MZ_EINVAL);
    assert_non_null(strstr(err.text, "1 elements are missing"));
    assert_int_equal(access(path, F_OK), -1);
    mz_npy_abort(&w); /* a second one is harmless */
    assert_int_equal(mz_npy_open(path, (const int64_t[]){3}, 1, false, &w, &err), MZ_OK);
    mz_npy_abort(&w);
    assert_int_equal(access(path, F_OK), -1);
}

static void test_refused(void **state)
{
    (void)state;
    mz_npy w;
    mz_err err = {0};
    assert_int_equal(mz_npy_open(path, (const int64_t[]){2, -1}, 2, false, &w, &err), MZ_EINVAL);
    assert_int_equal(mz_npy_open(path, (const int64_t[]){INT64_MAX, 3}, 2, false, &w, &err), MZ_EINVAL);
    assert_int_equal(mz_npy_open("/nonexistent/x.npy", (const int64_t[]){2}, 1, false, &w, &err), MZ_EIO);
    assert_non_null(strstr(err.text, "/nonexistent/x.npy"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
