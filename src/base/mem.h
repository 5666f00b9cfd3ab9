/* SPDX-License-Identifier: Apache-2.0
 *
 * mem.h: allocation with checked sizes, an arena, and the steady-state guard.
 *
 * Every allocation of the library's own code goes through these calls. Between mz_mem_guard_enter
 * and mz_mem_guard_leave (a decode step) an allocation is a broken promise: it is counted, and in
 * builds with assertions it aborts.
 * Threading: all calls may be used from any thread; an arena belongs to one thread at a time. */
#ifndef MZ_BASE_MEM_H
#define MZ_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* Checked arithmetic on sizes that come from files: false when the result does not fit. */
static inline bool mz_mul_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool mz_add_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

/* Zeroed memory for n items of size bytes each; NULL when it cannot be had or n*size overflows.
 * n*size == 0 gives a valid pointer. Free with mz_free. */
void *mz_calloc(size_t n, size_t size) MZ_MUST_USE;
/* Grows p (NULL: new) to n items of size bytes; new bytes are not cleared. NULL leaves p alone. */
void *mz_realloc(void *p, size_t n, size_t size) MZ_MUST_USE;
/* Zeroed, aligned to 64 bytes. Free with mz_free. */
void *mz_calloc_aligned(size_t bytes) MZ_MUST_USE;
char *mz_strndup(const char *s, size_t n) MZ_MUST_USE;
void mz_free(void *p);

void mz_mem_guard_enter(void);
void mz_mem_guard_leave(void);
/* Allocations seen inside guards since the program started (0 in a correct program). */
uint64_t mz_mem_guard_violations(void);

/* Address space for `bytes`, zero on first touch, returned to the system by mz_unreserve. */
void *mz_reserve(size_t bytes) MZ_MUST_USE;
void mz_unreserve(void *p, size_t bytes);

/* Arena: many small objects with one lifetime. Zero-initialise; mz_arena_free releases all. */
typedef struct mz_arena {
    struct mz_arena_block *head;
    size_t total_bytes; /* handed out so far */
    size_t limit_bytes; /* 0: none; a request past it fails as if memory were out */
} mz_arena;

void *mz_arena_alloc(mz_arena *a, size_t bytes) MZ_MUST_USE; /* zeroed, 16-byte aligned */
char *mz_arena_strndup(mz_arena *a, const char *s, size_t n) MZ_MUST_USE;
void mz_arena_free(mz_arena *a);

/* Growable byte buffer. Zero-initialise; data stays zero-terminated (the zero is not counted). */
typedef struct mz_buf {
    char *data;
    size_t len, cap;
    size_t limit; /* 0: none; a growth past it fails */
} mz_buf;

bool mz_buf_add(mz_buf *b, const void *data, size_t n) MZ_MUST_USE;
bool mz_buf_addf(mz_buf *b, const char *fmt, ...) MZ_PRINTF(2, 3) MZ_MUST_USE;
void mz_buf_free(mz_buf *b);

#endif
