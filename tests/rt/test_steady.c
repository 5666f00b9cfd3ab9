/* SPDX-License-Identifier: Apache-2.0
 * Steady-state decode allocates nothing: every allocator the process has is counted (link-time wrapping) while steps run.
 * Usage: test_steady MODEL */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <mizan/mizan.h>

#include "base/mem.h"

static const char *path;
static atomic_int counting, n_alloc;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
void *__real_mmap(void *addr, size_t n, int prot, int flags, int fd, off_t offset);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
void *__wrap_mmap(void *addr, size_t n, int prot, int flags, int fd, off_t offset);

static void note(void)
{
    if (atomic_load(&counting)) atomic_fetch_add(&n_alloc, 1);
}

void *__wrap_malloc(size_t n)
{
    note();
    return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    note();
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    note();
    return __real_realloc(p, n);
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
    note();
    return __real_aligned_alloc(align, n);
}

void *__wrap_mmap(void *addr, size_t n, int prot, int flags, int fd, off_t offset)
{
    note();
    return __real_mmap(addr, n, prot, flags, fd, offset);
}

static void decode(const char *executor, int n_thread)
{
    enum { N = 200 };
    mz_engine_options o = mz_engine_options_default();
    mz_engine *e = NULL;
    mz_session *s[2] = {NULL, NULL};
    mz_sampler *sampler = NULL;
    mz_err err = {0};
    o.executor = executor;
    o.n_thread = n_thread;
    o.n_session = 2;
    if (mz_engine_open(path, &o, &e, &err) != MZ_OK) fail_msg("%s", err.text);
    for (int i = 0; i < 2; i++) assert_int_equal(mz_session_create(e, &s[i], &err), MZ_OK);
    mz_sample_options so = mz_sample_options_default();
    so.repeat_penalty = 1.1f;
    assert_int_equal(mz_sampler_create(&so, mz_engine_get_info(e).n_vocab, &sampler, &err), MZ_OK);
    int32_t ids[2] = {1, 2};
    assert_int_equal(mz_step(e, s, ids, 2, &err), MZ_OK);
    atomic_store(&n_alloc, 0);
    atomic_store(&counting, 1);
    mz_status st = MZ_OK;
    for (int i = 0; i < N && st == MZ_OK; i++) { /* passes page borders */
        st = mz_sampler_pick(sampler, mz_session_logits(s[0]), (uint64_t)i, &ids[0], &err);
        if (st == MZ_OK) st = mz_step(e, s, ids, 2, &err);
    }
    atomic_store(&counting, 0);
    if (st != MZ_OK) fail_msg("%s", err.text);
    assert_int_equal(atomic_load(&n_alloc), 0);
    assert_int_equal(mz_mem_guard_violations(), 0);
    mz_sampler_free(sampler);
    for (int i = 0; i < 2; i++) mz_session_close(s[i]);
    mz_engine_close(e);
}

static void test_workers(void **state)
{
    (void)state;
    decode("workers", 1);
    decode("workers", 3);
}

static void test_reference(void **state)
{
    (void)state;
    decode("reference", 1);
}

/* The counter must be able to count. */
static void test_control(void **state)
{
    (void)state;
    atomic_store(&n_alloc, 0);
    atomic_store(&counting, 1);
    void *volatile p = malloc(10);
    atomic_store(&counting, 0);
    free(p);
    assert_int_equal(atomic_load(&n_alloc), 1);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    path = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_control), cmocka_unit_test(test_workers), cmocka_unit_test(test_reference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
