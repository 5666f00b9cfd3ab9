/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks over all tensors and keys of a GGUF file: unique names, and tensors that lie inside the
 * file, aligned and apart. Both sort, so that hostile files cost n log n. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/gguf_impl.h"

static int compare_str(mz_str a, mz_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = memcmp(a.s, b.s, n);
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

static int compare_keys(const void *a, const void *b)
{
    const mz_gguf_kv *const *ka = a, *const *kb = b;
    return compare_str((*ka)->key, (*kb)->key);
}

static int compare_names(const void *a, const void *b)
{
    const mz_gguf_tensor *const *ta = a, *const *tb = b;
    return strcmp((*ta)->name, (*tb)->name);
}

static int compare_offsets(const void *a, const void *b)
{
    const mz_gguf_tensor *const *ta = a, *const *tb = b;
    return ((*ta)->file_offset > (*tb)->file_offset) - ((*ta)->file_offset < (*tb)->file_offset);
}

mz_status mz_gguf_index_keys(mz_gguf *g, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_gguf_kv **by_key = mz_calloc(g->n_kv, sizeof *by_key);
    if (!by_key) MZ_FAIL(MZ_ENOMEM, err, "out of memory for an index of %" PRIu64 " keys", g->n_kv);
    g->index->by_key = by_key;
    for (uint64_t i = 0; i < g->n_kv; i++) by_key[i] = &g->kv[i];
    qsort(by_key, g->n_kv, sizeof *by_key, compare_keys);
    for (uint64_t i = 1; i < g->n_kv; i++)
        if (compare_str(by_key[i - 1]->key, by_key[i]->key) == 0)
            MZ_FAIL(MZ_EFORMAT, err, "key \"%.*s\" is there twice", MZ_GGUF_SHOW(by_key[i]->key));
out:
    return st;
}

mz_status mz_gguf_index_tensors(mz_gguf *g, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_gguf_tensor **by_name = mz_calloc(g->n_tensor, sizeof *by_name);
    if (!by_name) MZ_FAIL(MZ_ENOMEM, err, "out of memory for an index of %" PRIu64 " tensors", g->n_tensor);
    mz_free(g->index->by_name);
    g->index->by_name = by_name;
    for (uint64_t i = 0; i < g->n_tensor; i++) by_name[i] = &g->tensor[i];
    qsort(by_name, g->n_tensor, sizeof *by_name, compare_names);
    for (uint64_t i = 1; i < g->n_tensor; i++) {
        if (strcmp(by_name[i - 1]->name, by_name[i]->name) != 0) continue;
        if (g->n_part > 1)
            MZ_FAIL(MZ_EFORMAT, err, "tensor \"%s\" is there twice (parts %d and %d)", by_name[i]->name, by_name[i - 1]->i_part + 1,
                    by_name[i]->i_part + 1);
        MZ_FAIL(MZ_EFORMAT, err, "tensor \"%s\" is there twice", by_name[i]->name);
    }
out:
    return st;
}

const mz_gguf_kv *mz_gguf_find(const mz_gguf *g, const char *key)
{
    mz_gguf_kv probe = {.key = {key, strlen(key)}};
    const mz_gguf_kv *p = &probe;
    const mz_gguf_kv **hit = bsearch(&p, g->index->by_key, g->n_kv, sizeof p, compare_keys);
    return hit ? *hit : NULL;
}

const mz_gguf_tensor *mz_gguf_find_tensor(const mz_gguf *g, const char *name)
{
    mz_gguf_tensor probe = {.name = (char *)(uintptr_t)name};
    const mz_gguf_tensor *p = &probe;
    const mz_gguf_tensor **hit = bsearch(&p, g->index->by_name, g->n_tensor, sizeof p, compare_names);
    return hit ? *hit : NULL;
}

static mz_status check_overlap(const mz_gguf *g, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_gguf_tensor **order = mz_calloc(g->n_tensor, sizeof *order);
    if (!order) MZ_FAIL(MZ_ENOMEM, err, "out of memory for checking %" PRIu64 " tensors", g->n_tensor);
    for (uint64_t i = 0; i < g->n_tensor; i++) order[i] = &g->tensor[i];
    qsort(order, g->n_tensor, sizeof *order, compare_offsets);
    for (uint64_t i = 1; i < g->n_tensor; i++) {
        const mz_gguf_tensor *a = order[i - 1], *b = order[i];
        if (a->file_offset + a->n_bytes > b->file_offset)
            MZ_FAIL(MZ_EFORMAT, err, "tensors \"%s\" (bytes %zu to %zu) and \"%s\" (from byte %zu) overlap", a->name, a->file_offset,
                    a->file_offset + a->n_bytes, b->name, b->file_offset);
    }
out:
    mz_free(order);
    return st;
}

static mz_status read_alignment(const mz_gguf *g, size_t *alignment, mz_err *err)
{
    int64_t a = 32;
    mz_status st = mz_gguf_get_i64(g, "general.alignment", false, 0, UINT32_MAX, &a, err);
    if (st == MZ_OK && (a < 8 || (a & (a - 1)) != 0))
        st = mz_err_set(err, MZ_EFORMAT, "key \"general.alignment\" is %" PRId64 ", expected a power of two from 8 up", a);
    *alignment = (size_t)a;
    return st;
}

mz_status mz_gguf_place_tensors(const uint8_t *data, size_t size, const uint64_t *offset, mz_gguf *g, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t alignment, sum = 0;
    MZ_TRY(read_alignment(g, &alignment, err));
    size_t begin = (g->header_bytes + alignment - 1) & ~(alignment - 1);
    /* Where the data would end if nothing but padding lay between the tensors: a tensor beyond the
     * end of the file but before this is a sign of a file cut short, one after it of a wrong offset. */
    for (uint64_t i = 0; i < g->n_tensor; i++)
        if (!mz_add_size(sum, g->tensor[i].n_bytes, &sum) || !mz_add_size(sum, alignment, &sum)) sum = SIZE_MAX;
    const mz_gguf_tensor *last = NULL;
    for (uint64_t i = 0; i < g->n_tensor; i++) {
        mz_gguf_tensor *t = &g->tensor[i];
        size_t end;
        if (offset[i] % alignment != 0)
            MZ_FAIL(MZ_EFORMAT, err, "tensor \"%s\" has offset %" PRIu64 ", expected a multiple of the alignment %zu", t->name, offset[i],
                    alignment);
        if (!mz_add_size(begin, offset[i], &t->file_offset) || !mz_add_size(t->file_offset, t->n_bytes, &end))
            MZ_FAIL(MZ_EFORMAT, err, "tensor \"%s\": offset %" PRIu64 " and %zu bytes do not fit in any file", t->name, offset[i],
                    t->n_bytes);
        if (end > size && offset[i] > sum)
            MZ_FAIL(MZ_EFORMAT, err, "tensor \"%s\" has offset %" PRIu64 ", far outside the file of %zu bytes: the file is damaged",
                    t->name, offset[i], size);
        if (end > size && (!last || end > last->file_offset + last->n_bytes)) last = t;
    }
    if (last)
        MZ_FAIL(MZ_EFORMAT, err, "the file ends at byte %zu, tensor \"%s\" needs it to reach byte %zu: the download is incomplete", size,
                last->name, last->file_offset + last->n_bytes);
    for (uint64_t i = 0; i < g->n_tensor; i++) g->tensor[i].data = data + g->tensor[i].file_offset;
    MZ_TRY(check_overlap(g, err));
out:
    return st;
}
