/* SPDX-License-Identifier: Apache-2.0
 *
 * The byte structure of one GGUF file (v2 and v3; all integers little-endian):
 *
 *   0       4          8               16          24
 *   | GGUF  | version  | n_tensor i64  | n_kv i64  | n_kv x { str key, u32 type, value }
 *   n_tensor x { str name, u32 n_dim, i64 dim[n_dim], u32 type, u64 offset }
 *   padding to general.alignment, then tensor data; each offset counts from here
 *
 *   str: u64 length, bytes.   array value: u32 element type, u64 count, elements. */
#include "fmt/gguf_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fmt/dtype_bits.h"

enum { MAX_KEY_BYTES = 65535, MAX_NAME_BYTES = 127, MIN_KV_BYTES = 8 + 1 + 4 + 1, MIN_TENSOR_BYTES = 8 + 1 + 4 + 8 + 4 + 8 };

typedef struct reader {
    const uint8_t *data;
    size_t pos, size;
    /* Where we are, for messages: item i of n, and its name once it is known. */
    const char *item;
    uint64_t i, n;
    mz_str name;
} reader;

static const uint8_t value_size[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

static const uint8_t *take(reader *r, uint64_t n)
{
    if (n > r->size - r->pos) return NULL;
    const uint8_t *p = r->data + r->pos;
    r->pos += (size_t)n;
    return p;
}

static bool take_u32(reader *r, uint32_t *out)
{
    const uint8_t *p = take(r, 4);
    if (p) *out = mz_load_u32(p);
    return p != NULL;
}

static bool take_u64(reader *r, uint64_t *out)
{
    const uint8_t *p = take(r, 8);
    if (p) *out = mz_load_u64(p);
    return p != NULL;
}

static mz_status cut_short(const reader *r, const char *part, mz_err *err)
{
    char who[160];
    if (r->name.n)
        (void)snprintf(who, sizeof who, "%s \"%.*s\"", r->item, MZ_GGUF_SHOW(r->name));
    else
        (void)snprintf(who, sizeof who, "%s %" PRIu64 " of %" PRIu64, r->item, r->i + 1, r->n);
    return mz_err_set(
        err, MZ_EFORMAT,
        "the file ends at byte %zu, inside the %s of %s (being read at byte %zu): the download is incomplete or the file damaged", r->size,
        part, who, r->pos);
}

static bool take_str(reader *r, mz_str *out)
{
    size_t start = r->pos;
    uint64_t n;
    if (!take_u64(r, &n)) return false;
    const uint8_t *p = take(r, n);
    if (!p) r->pos = start;
    *out = (mz_str){(const char *)p, (size_t)n};
    return p != NULL;
}

/* The name of an item: a string with limits on its length. */
static mz_status read_name(reader *r, uint64_t max_bytes, mz_str *out, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t start = r->pos;
    mz_str name;
    uint64_t n;
    r->name = (mz_str){0};
    if (!take_u64(r, &n)) return cut_short(r, "name", err);
    if (n == 0 || n > max_bytes)
        MZ_FAIL(MZ_EFORMAT, err, "the name of %s %" PRIu64 " of %" PRIu64 " at byte %zu has %" PRIu64 " bytes, expected 1 to %" PRIu64,
                r->item, r->i + 1, r->n, start, n, max_bytes);
    const uint8_t *p = take(r, n);
    if (!p) return cut_short(r, "name", err);
    name = (mz_str){(const char *)p, (size_t)n};
    r->name = *out = name;
out:
    return st;
}

static mz_status check_bools(const mz_gguf_kv *kv, mz_err *err)
{
    for (uint64_t i = 0; i < kv->n_elem; i++)
        if (kv->value[i] > 1)
            return mz_err_set(err, MZ_EFORMAT, "key \"%.*s\": the byte of a bool (element %" PRIu64 ") is %u, expected 0 or 1",
                              MZ_GGUF_SHOW(kv->key), i, kv->value[i]);
    return MZ_OK;
}

static mz_status read_value(reader *r, mz_gguf_kv *kv, mz_err *err)
{
    mz_status st = MZ_OK;
    uint32_t type;
    if (!take_u32(r, &type)) return cut_short(r, "type", err);
    if (type > MZ_GGUF_F64)
        MZ_FAIL(MZ_EFORMAT, err, "key \"%.*s\" has value type %" PRIu32 ", expected 0 to 12", MZ_GGUF_SHOW(kv->key), type);
    kv->type = kv->elem_type = (mz_gguf_type)type;
    kv->n_elem = 1;
    if (type == MZ_GGUF_ARRAY) {
        if (!take_u32(r, &type)) return cut_short(r, "element type", err);
        if (type == MZ_GGUF_ARRAY)
            MZ_FAIL(MZ_ESUPPORT, err, "key \"%.*s\" is an array of arrays, which mizan (like ggml) does not read", MZ_GGUF_SHOW(kv->key));
        if (type > MZ_GGUF_F64)
            MZ_FAIL(MZ_EFORMAT, err, "key \"%.*s\" has element type %" PRIu32 ", expected 0 to 12", MZ_GGUF_SHOW(kv->key), type);
        kv->elem_type = (mz_gguf_type)type;
        if (!take_u64(r, &kv->n_elem)) return cut_short(r, "element count", err);
    }
    size_t start = r->pos;
    if (kv->elem_type == MZ_GGUF_STRING) {
        mz_str s;
        /* Every string takes 8 bytes at least, so a false count cannot make this loop long. */
        for (uint64_t i = 0; i < kv->n_elem; i++)
            if (!take_str(r, &s)) return cut_short(r, "text", err);
    } else {
        uint64_t bytes;
        if (__builtin_mul_overflow(kv->n_elem, (uint64_t)value_size[kv->elem_type], &bytes) || !take(r, bytes))
            return cut_short(r, "value", err);
    }
    kv->value = r->data + start;
    kv->value_bytes = r->pos - start;
    if (kv->elem_type == MZ_GGUF_BOOL) MZ_TRY(check_bools(kv, err));
out:
    return st;
}

/* Room for item i of n in *array: doubled as items really come, never taken from the count in the
 * header at once, because a hole in a file costs its maker nothing. */
static mz_status grow(void **array, size_t *cap, uint64_t i, uint64_t n, size_t size, mz_err *err)
{
    if (i < *cap) return MZ_OK;
    size_t want = *cap ? 2 * *cap : 64;
    if (want > n) want = (size_t)n;
    void *p = mz_realloc(*array, want, size);
    if (!p) return mz_err_set(err, MZ_ENOMEM, "out of memory for a table of %" PRIu64 " entries", n);
    *array = p;
    *cap = want;
    return MZ_OK;
}

static mz_status read_metadata(reader *r, uint64_t n_kv, mz_gguf *g, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t cap = 0;
    r->item = "key";
    r->n = n_kv;
    for (uint64_t i = 0; i < n_kv; i++) {
        r->i = i;
        MZ_TRY(grow((void **)&g->kv, &cap, i, n_kv, sizeof *g->kv, err));
        mz_gguf_kv *kv = &g->kv[i];
        memset(kv, 0, sizeof *kv);
        MZ_TRY(read_name(r, MAX_KEY_BYTES, &kv->key, err));
        MZ_TRY(read_value(r, kv, err));
        g->n_kv = i + 1;
    }
out:
    return st;
}

static mz_status read_dims(reader *r, mz_gguf_tensor *t, mz_err *err)
{
    mz_status st = MZ_OK;
    int64_t n_elem = 1;
    if (!take_u32(r, &t->n_dim)) return cut_short(r, "dimension count", err);
    if (t->n_dim < 1 || t->n_dim > 4)
        MZ_FAIL(MZ_EFORMAT, err, "tensor \"%s\" has %" PRIu32 " dimensions, expected 1 to 4", t->name, t->n_dim);
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t dim = 1;
        if (i < t->n_dim && !take_u64(r, &dim)) return cut_short(r, "dimensions", err);
        if (dim == 0) MZ_FAIL(MZ_EFORMAT, err, "tensor \"%s\": dimension %" PRIu32 " is 0", t->name, i);
        if (dim > INT64_MAX || __builtin_mul_overflow(n_elem, (int64_t)dim, &n_elem))
            MZ_FAIL(MZ_EFORMAT, err, "tensor \"%s\": dimension %" PRIu32 " is %" PRIu64 ", and the product of the dimensions exceeds 2^63",
                    t->name, i, dim);
        t->dim[i] = (int64_t)dim;
    }
    t->n_elem = (uint64_t)n_elem;
out:
    return st;
}

static mz_status read_type(reader *r, mz_gguf_tensor *t, mz_err *err)
{
    mz_status st = MZ_OK;
    uint32_t type;
    if (!take_u32(r, &type)) return cut_short(r, "type", err);
    const mz_dtype_info *info = mz_dtype_get(type);
    if (!info) MZ_FAIL(MZ_ESUPPORT, err, "tensor \"%s\" has type number %" PRIu32 ", which mizan does not know", t->name, type);
    t->type = (mz_dtype)type;
    if (t->dim[0] % info->block_elems != 0)
        MZ_FAIL(MZ_EFORMAT, err, "tensor \"%s\" has rows of %" PRId64 " elements, expected a multiple of %" PRIu32 ", the block of %s",
                t->name, t->dim[0], info->block_elems, info->name);
    if (!mz_mul_size(t->n_elem / info->block_elems, info->block_bytes, &t->n_bytes))
        MZ_FAIL(MZ_EFORMAT, err, "tensor \"%s\" would take more than 2^64 bytes (%" PRIu64 " elements of %s)", t->name, t->n_elem,
                info->name);
out:
    return st;
}

static mz_status read_tensors(reader *r, uint64_t n_tensor, mz_gguf *g, uint64_t **offset, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t cap = 0, offset_cap = 0;
    r->item = "tensor";
    r->n = n_tensor;
    for (uint64_t i = 0; i < n_tensor; i++) {
        mz_str name;
        r->i = i;
        MZ_TRY(grow((void **)&g->tensor, &cap, i, n_tensor, sizeof *g->tensor, err));
        MZ_TRY(grow((void **)offset, &offset_cap, i, n_tensor, sizeof **offset, err));
        mz_gguf_tensor *t = &g->tensor[i];
        memset(t, 0, sizeof *t);
        MZ_TRY(read_name(r, MAX_NAME_BYTES, &name, err));
        if (memchr(name.s, 0, name.n))
            MZ_FAIL(MZ_EFORMAT, err, "the name of tensor %" PRIu64 ", \"%.*s...\", has a zero byte inside", i + 1, MZ_GGUF_SHOW(name));
        t->name = mz_arena_strndup(&g->index->names, name.s, name.n);
        if (!t->name) MZ_FAIL(MZ_ENOMEM, err, "out of memory for the names of %" PRIu64 " tensors", n_tensor);
        MZ_TRY(read_dims(r, t, err));
        MZ_TRY(read_type(r, t, err));
        if (!take_u64(r, &(*offset)[i])) MZ_TRY(cut_short(r, "offset", err));
        g->n_tensor = i + 1;
    }
out:
    return st;
}

/* Files that are met under a .gguf name and deserve their own sentence. */
static mz_status wrong_magic(const uint8_t *data, size_t size, mz_err *err)
{
    static const struct {
        const char *begin, *what;
    } known[] = {
        {"version https://git-lfs", "a Git LFS pointer, not the file itself: fetch it with git lfs pull"},
        {"<!DOCTYPE", "a web page, probably an error message saved by a download"},
        {"<!doctype", "a web page, probably an error message saved by a download"},
        {"<html", "a web page, probably an error message saved by a download"},
        {"ggjt", "in the GGJT format that came before GGUF: convert the model again"},
        {"tjgg", "in the GGJT format that came before GGUF: convert the model again"},
        {"fmgg", "in the GGMF format that came before GGUF: convert the model again"},
        {"lmgg", "in the GGML format that came before GGUF: convert the model again"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (size >= strlen(known[i].begin) && memcmp(data, known[i].begin, strlen(known[i].begin)) == 0)
            return mz_err_set(err, MZ_EFORMAT, "not a GGUF file: it is %s", known[i].what);
    return mz_err_set(err, MZ_EFORMAT, "not a GGUF file: it begins with bytes %02X %02X %02X %02X, expected 47 47 55 46 (\"GGUF\")",
                      data[0], data[1], data[2], data[3]);
}

static mz_status read_header(reader *r, mz_gguf *g, uint64_t *n_tensor, uint64_t *n_kv, mz_err *err)
{
    mz_status st = MZ_OK;
    if (r->size == 0) MZ_FAIL(MZ_EFORMAT, err, "the file is empty, expected a GGUF file");
    if (r->size < 4 && memcmp(r->data, "GGUF", r->size) != 0) MZ_FAIL(MZ_EFORMAT, err, "not a GGUF file: it has only %zu bytes", r->size);
    if (r->size >= 4 && memcmp(r->data, "GGUF", 4) != 0) MZ_TRY(wrong_magic(r->data, r->size, err));
    r->pos = 4;
    if (r->size < 4 || !take_u32(r, &g->version))
        MZ_FAIL(MZ_EFORMAT, err, "the file ends at byte %zu, inside the GGUF header: the download is incomplete", r->size);
    if (g->version != 0 && (g->version & 0xFFFF) == 0)
        MZ_FAIL(MZ_ESUPPORT, err, "a big-endian GGUF file (version %" PRIu32 "), mizan reads little-endian ones: convert it with gguf-py",
                __builtin_bswap32(g->version));
    if (g->version == 1) MZ_FAIL(MZ_ESUPPORT, err, "GGUF version 1, mizan reads versions 2 and 3: convert the model again");
    if (g->version < 2 || g->version > 3) MZ_FAIL(MZ_ESUPPORT, err, "GGUF version %" PRIu32 ", mizan reads versions 2 and 3", g->version);
    if (!take_u64(r, n_tensor) || !take_u64(r, n_kv))
        MZ_FAIL(MZ_EFORMAT, err, "the file ends at byte %zu, inside the GGUF header: the download is incomplete", r->size);
    uint64_t left = r->size - r->pos;
    if (*n_kv > left / MIN_KV_BYTES)
        MZ_FAIL(MZ_EFORMAT, err,
                "the header announces %" PRIu64 " keys, more than %" PRIu64 " bytes of file can hold: cut short or damaged", *n_kv, left);
    if (*n_tensor > (left - *n_kv * MIN_KV_BYTES) / MIN_TENSOR_BYTES)
        MZ_FAIL(MZ_EFORMAT, err,
                "the header announces %" PRIu64 " tensors, more than %" PRIu64 " bytes of file can hold: cut short or damaged", *n_tensor,
                left);
out:
    return st;
}

mz_status mz_gguf_parse(const uint8_t *data, size_t size, mz_gguf *g, mz_err *err)
{
    mz_status st = MZ_OK;
    reader r = {.data = data, .size = size};
    uint64_t n_tensor = 0, n_kv = 0, *offset = NULL;
    g->index = mz_calloc(1, sizeof *g->index);
    if (!g->index) MZ_FAIL(MZ_ENOMEM, err, "out of memory");
    MZ_TRY(read_header(&r, g, &n_tensor, &n_kv, err));
    MZ_TRY(read_metadata(&r, n_kv, g, err));
    MZ_TRY(mz_gguf_index_keys(g, err));
    g->header_bytes = r.pos;
    MZ_TRY(read_tensors(&r, n_tensor, g, &offset, err));
    g->header_bytes = r.pos;
    MZ_TRY(mz_gguf_place_tensors(data, size, offset, g, err));
out:
    mz_free(offset);
    return st;
}
