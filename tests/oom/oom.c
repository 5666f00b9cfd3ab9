/* SPDX-License-Identifier: Apache-2.0 */
#include "oom.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

static atomic_bool is_open;
static atomic_uint_fast64_t n_seen, fail_at, n_failed;
static atomic_bool fail_rest;
static atomic_int_fast64_t n_live;

void oom_open(uint64_t nth, bool for_good)
{
    atomic_store(&n_seen, 0);
    atomic_store(&n_failed, 0);
    atomic_store(&fail_at, nth);
    atomic_store(&fail_rest, for_good);
    atomic_store(&is_open, true);
}

uint64_t oom_close(bool *failed)
{
    atomic_store(&is_open, false);
    *failed = atomic_load(&n_failed) > 0;
    return atomic_load(&n_seen);
}

static bool refuse(void)
{
    if (!atomic_load(&is_open)) return false;
    uint64_t i = atomic_fetch_add(&n_seen, 1) + 1, at = atomic_load(&fail_at);
    bool no = at != 0 && (i == at || (i > at && atomic_load(&fail_rest)));
    if (no) {
        atomic_fetch_add(&n_failed, 1);
        errno = ENOMEM;
    }
    return no;
}

/* Threads and maps are memory too; always through --wrap, since glibc itself needs them unharmed. */
int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg)
{
    return refuse() ? EAGAIN : __real_pthread_create(t, a, f, arg);
}

void *__real_mmap(void *addr, size_t n, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t n, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t n, int prot, int flags, int fd, off_t offset)
{
    return refuse() ? MAP_FAILED : __real_mmap(addr, n, prot, flags, fd, offset);
}

#ifdef OOM_WRAP

int64_t oom_live(void)
{
    (void)n_live;
    return -1;
}

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
    return refuse() ? NULL : __real_malloc(n);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
    return refuse() ? NULL : __real_calloc(n, size);
}

void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n)
{
    return refuse() ? NULL : __real_realloc(p, n);
}

void *__real_aligned_alloc(size_t align, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return refuse() ? NULL : __real_aligned_alloc(align, n);
}

#else

/* glibc's own names; a program may define the public ones (glibc manual, "Replacing malloc"). Visible, or the
 * shared libraries would go on with glibc's. */
#pragma GCC visibility push(default)
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
void __libc_free(void *p);
int posix_memalign(void **out, size_t align, size_t n);
void *malloc(size_t n);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t n);
void *aligned_alloc(size_t align, size_t n);
void *memalign(size_t align, size_t n);
void free(void *p);

int64_t oom_live(void)
{
    return atomic_load(&n_live);
}

static void *count(void *p)
{
    if (p) atomic_fetch_add(&n_live, 1);
    return p;
}

void *malloc(size_t n)
{
    return refuse() ? NULL : count(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
    return refuse() ? NULL : count(__libc_calloc(n, size));
}

void *realloc(void *p, size_t n)
{
    if (p && n == 0) {
        free(p);
        return NULL;
    }
    if (refuse()) return NULL;
    void *q = __libc_realloc(p, n);
    return p ? q : count(q);
}

void *memalign(size_t align, size_t n)
{
    return refuse() ? NULL : count(__libc_memalign(align, n));
}

void *aligned_alloc(size_t align, size_t n)
{
    return memalign(align, n);
}

int posix_memalign(void **out, size_t align, size_t n)
{
    void *p = memalign(align, n);
    if (!p) return ENOMEM;
    *out = p;
    return 0;
}

void free(void *p)
{
    if (!p) return;
    atomic_fetch_sub(&n_live, 1);
    __libc_free(p);
}

#pragma GCC visibility pop

#endif
