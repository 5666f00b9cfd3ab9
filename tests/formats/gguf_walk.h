/* SPDX-License-Identifier: Apache-2.0
 *
 * gguf_walk.h: touches everything an opened GGUF promises to be readable; for sanitizers.
 *
 * Shared by the unit tests and the fuzz target. Returns a sum, so that no read is optimised away. */
#ifndef MZ_TESTS_GGUF_WALK_H
#define MZ_TESTS_GGUF_WALK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/gguf.h"

static inline uint64_t gguf_walk_kv(const mz_gguf *g, const mz_gguf_kv *kv)
{
    uint64_t sum = strlen(mz_gguf_type_name(kv->type));
    size_t cursor = 0;
    mz_str s = {0};
    int64_t i64 = 0;
    double f64 = 0;
    bool b = false;
    mz_err err;
    for (size_t i = 0; i < kv->key.n; i++) sum += (uint8_t)kv->key.s[i];
    while (mz_gguf_next_str(kv, &cursor, &s))
        for (size_t i = 0; i < s.n; i++) sum += (uint8_t)s.s[i];
    for (uint64_t i = 0; i <= kv->n_elem && i < 1000; i++) {
        sum += mz_gguf_elem_i64(kv, i, &i64) ? (uint64_t)i64 : 0;
        sum += mz_gguf_elem_f64(kv, i, &f64);
    }
    char *key = malloc(kv->key.n + 1);
    if (!key) abort();
    memcpy(key, kv->key.s, kv->key.n);
    key[kv->key.n] = '\0';
    if (strlen(key) == kv->key.n && mz_gguf_find(g, key) != kv) abort(); /* every key is found under its name */
    sum += mz_gguf_get_i64(g, key, true, INT64_MIN, INT64_MAX, &i64, &err) == MZ_OK;
    sum += mz_gguf_get_f64(g, key, true, &f64, &err) == MZ_OK;
    sum += mz_gguf_get_bool(g, key, true, &b, &err) == MZ_OK;
    sum += mz_gguf_get_str(g, key, true, &s, &err) == MZ_OK;
    free(key);
    return sum;
}

static inline uint64_t gguf_walk_tensor(const mz_gguf *g, const mz_gguf_tensor *t)
{
    const mz_dtype_info *info = mz_dtype_get(t->type);
    uint64_t sum = 0;
    float y[256];
    if (!info || info->block_elems > 256 || mz_gguf_find_tensor(g, t->name) != t) abort();
    if (info->decode && t->n_bytes) {
        size_t n_block = t->n_bytes / info->block_bytes;
        info->decode(t->data, y, info->block_elems);
        info->decode(t->data + (n_block - 1) * info->block_bytes, y, info->block_elems);
        sum += y[0] == y[info->block_elems - 1];
    }
    for (size_t i = 0; i < t->n_bytes; i += 64) sum += t->data[i];
    return sum + t->data[t->n_bytes - 1];
}

static inline uint64_t gguf_walk(const mz_gguf *g)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < g->n_kv; i++) sum += gguf_walk_kv(g, &g->kv[i]);
    for (uint64_t i = 0; i < g->n_tensor; i++) sum += gguf_walk_tensor(g, &g->tensor[i]);
    return sum;
}

#endif
