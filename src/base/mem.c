/* SPDX-License-Identifier: Apache-2.0 */
#include "mem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The guard is per thread: other threads (loading, a second engine) may allocate meanwhile. */
static _Thread_local int guard_depth;
static atomic_uint_fast64_t guard_violations;

void mz_mem_guard_enter(void)
{
    guard_depth++;
}

void mz_mem_guard_leave(void)
{
    assert(guard_depth > 0);
    guard_depth--;
}

uint64_t mz_mem_guard_violations(void)
{
    return atomic_load(&guard_violations);
}

static void note_alloc(void)
{
    if (guard_depth == 0) return;
    atomic_fetch_add(&guard_violations, 1);
    assert(false && "allocation inside a steady-state step");
}

void *mz_calloc(size_t n, size_t size)
{
    note_alloc();
    if (n == 0 || size == 0) n = size = 1;
    return calloc(n, size);
}

void *mz_realloc(void *p, size_t n, size_t size)
{
    size_t bytes;
    note_alloc();
    if (!mz_mul_size(n, size, &bytes)) return NULL;
    return realloc(p, bytes ? bytes : 1);
}

void *mz_calloc_aligned(size_t bytes)
{
    size_t padded;
    note_alloc();
    if (!mz_add_size(bytes, 63, &padded)) return NULL;
    padded &= ~(size_t)63;
    if (padded == 0) padded = 64;
    void *p = aligned_alloc(64, padded);
    if (p) memset(p, 0, padded);
    return p;
}

char *mz_strndup(const char *s, size_t n)
{
    size_t bytes;
    if (!mz_add_size(n, 1, &bytes)) return NULL;
    char *p = mz_calloc(bytes, 1);
    if (p && n) memcpy(p, s, n);
    return p;
}

void mz_free(void *p)
{
    free(p);
}

void *mz_reserve(size_t bytes)
{
    note_alloc();
    if (bytes == 0) bytes = 1;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void mz_unreserve(void *p, size_t bytes)
{
    if (p) (void)munmap(p, bytes ? bytes : 1);
}

struct mz_arena_block {
    struct mz_arena_block *next;
    size_t used, cap;
    char data[] __attribute__((aligned(16)));
};

#define ARENA_BLOCK_BYTES ((size_t)16384)

void *mz_arena_alloc(mz_arena *a, size_t bytes)
{
    size_t padded;
    if (!mz_add_size(bytes, 15, &padded)) return NULL;
    padded &= ~(size_t)15;
    if (padded == 0) padded = 16;
    if (a->limit_bytes && (padded > a->limit_bytes || a->total_bytes > a->limit_bytes - padded)) return NULL;
    struct mz_arena_block *b = a->head;
    if (!b || b->cap - b->used < padded) {
        size_t cap = padded > ARENA_BLOCK_BYTES ? padded : ARENA_BLOCK_BYTES, need;
        if (!mz_add_size(cap, sizeof *b, &need)) return NULL;
        b = mz_calloc(need, 1);
        if (!b) return NULL;
        b->cap = cap;
        b->next = a->head;
        a->head = b;
    }
    void *p = b->data + b->used;
    b->used += padded;
    a->total_bytes += padded;
    return p;
}

char *mz_arena_strndup(mz_arena *a, const char *s, size_t n)
{
    size_t bytes;
    if (!mz_add_size(n, 1, &bytes)) return NULL;
    char *p = mz_arena_alloc(a, bytes);
    if (p && n) memcpy(p, s, n);
    return p;
}

void mz_arena_free(mz_arena *a)
{
    while (a->head) {
        struct mz_arena_block *next = a->head->next;
        mz_free(a->head);
        a->head = next;
    }
    a->total_bytes = 0;
}

static bool buf_reserve(mz_buf *b, size_t extra)
{
    size_t need;
    if (!mz_add_size(b->len, extra, &need) || !mz_add_size(need, 1, &need)) return false;
    if (b->limit && need - 1 > b->limit) return false;
    if (need <= b->cap) return true;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < need)
        if (!mz_mul_size(cap, 2, &cap)) return false;
    char *p = mz_realloc(b->data, cap, 1);
    if (!p) return false;
    b->data = p;
    b->cap = cap;
    return true;
}

bool mz_buf_add(mz_buf *b, const void *data, size_t n)
{
    if (!buf_reserve(b, n)) return false;
    if (n) memcpy(b->data + b->len, data, n);
    b->len += n;
    b->data[b->len] = '\0';
    return true;
}

bool mz_buf_addf(mz_buf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    bool ok = n >= 0 && buf_reserve(b, (size_t)n);
    if (ok) {
        (void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
    return ok;
}

void mz_buf_free(mz_buf *b)
{
    mz_free(b->data);
    *b = (mz_buf){0};
}
