/* SPDX-License-Identifier: Apache-2.0
 *
 * gguf_build.h: writes GGUF bytes for tests, right or deliberately wrong ones.
 *
 * Plain appends in file order; nothing is computed, so any field can lie. free(b.p) when done. */
#ifndef MZ_TESTS_GGUF_BUILD_H
#define MZ_TESTS_GGUF_BUILD_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/gguf.h"

typedef struct gb {
    uint8_t *p;
    size_t n, cap;
} gb;

static inline void gb_bytes(gb *b, const void *data, size_t n)
{
    if (b->n + n > b->cap) {
        b->cap = 2 * (b->n + n);
        b->p = realloc(b->p, b->cap);
        if (!b->p) abort();
    }
    if (n) memcpy(b->p + b->n, data, n);
    b->n += n;
}

/* The low n bytes of v, little-endian. */
static inline void gb_int(gb *b, uint64_t v, int n)
{
    for (int i = 0; i < n; i++) {
        uint8_t byte = (uint8_t)(v >> (8 * i));
        gb_bytes(b, &byte, 1);
    }
}

static inline void gb_str_n(gb *b, const char *s, size_t n)
{
    gb_int(b, n, 8);
    gb_bytes(b, s, n);
}

static inline void gb_str(gb *b, const char *s)
{
    gb_str_n(b, s, strlen(s));
}

static inline void gb_header(gb *b, uint32_t version, uint64_t n_tensor, uint64_t n_kv)
{
    gb_bytes(b, "GGUF", 4);
    gb_int(b, version, 4);
    gb_int(b, n_tensor, 8);
    gb_int(b, n_kv, 8);
}

/* Key and type; the value follows. */
static inline void gb_key(gb *b, const char *key, uint32_t type)
{
    gb_str(b, key);
    gb_int(b, type, 4);
}

static inline void gb_kv_int(gb *b, const char *key, uint32_t type, uint64_t v, int n_bytes)
{
    gb_key(b, key, type);
    gb_int(b, v, n_bytes);
}

static inline void gb_kv_u32(gb *b, const char *key, uint32_t v)
{
    gb_kv_int(b, key, MZ_GGUF_U32, v, 4);
}

static inline void gb_kv_str(gb *b, const char *key, const char *value)
{
    gb_key(b, key, MZ_GGUF_STRING);
    gb_str(b, value);
}

static inline void gb_kv_array(gb *b, const char *key, uint32_t elem_type, uint64_t n)
{
    gb_key(b, key, MZ_GGUF_ARRAY);
    gb_int(b, elem_type, 4);
    gb_int(b, n, 8);
}

/* A tensor entry; dims beyond n_dim are not written. */
static inline void gb_tensor(gb *b, const char *name, uint32_t n_dim, uint64_t d0, uint64_t d1, uint32_t type, uint64_t offset)
{
    gb_str(b, name);
    gb_int(b, n_dim, 4);
    for (uint32_t i = 0; i < n_dim; i++) gb_int(b, i == 0 ? d0 : i == 1 ? d1 : 1, 8);
    gb_int(b, type, 4);
    gb_int(b, offset, 8);
}

static inline void gb_pad(gb *b, size_t align)
{
    while (b->n % align != 0) gb_int(b, 0, 1);
}

/* n bytes that decode to finite numbers in every format. */
static inline void gb_data(gb *b, size_t n)
{
    for (size_t i = 0; i < n; i++) gb_int(b, 0x20 + i % 16, 1);
}

#endif
