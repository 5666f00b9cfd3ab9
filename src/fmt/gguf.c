/* SPDX-License-Identifier: Apache-2.0 */
#include "fmt/gguf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fmt/gguf_impl.h"

/* Parts of a split file are named NAME-00001-of-00005.gguf, the number counting from 1. */
enum { SPLIT_SUFFIX_BYTES = sizeof "-00001-of-00005.gguf" - 1 };

void mz_gguf_drop_tables(mz_gguf *g)
{
    if (g->index) {
        mz_free(g->index->by_key);
        mz_free(g->index->by_name);
        mz_arena_free(&g->index->names);
        mz_free(g->index);
    }
    mz_free(g->kv);
    mz_free(g->tensor);
    g->index = NULL;
    g->kv = NULL;
    g->tensor = NULL;
}

void mz_gguf_close(mz_gguf *g)
{
    if (!g) return;
    mz_gguf_drop_tables(g);
    for (int i = 0; g->part && !g->is_borrowed && i < g->n_part; i++) mz_file_unmap(&g->part[i]);
    mz_free(g->part);
    mz_free(g);
}

static mz_gguf *new_gguf(void)
{
    mz_gguf *g = mz_calloc(1, sizeof *g);
    if (!g) return NULL;
    g->part = mz_calloc(1, sizeof *g->part);
    g->n_part = 1;
    if (g->part) return g;
    mz_free(g);
    return NULL;
}

/* The place of the suffix in path and its two numbers; NULL when the name has another form. */
static const char *split_suffix(const char *path, int *i_part, int *n_part)
{
    size_t n = strlen(path);
    if (n <= SPLIT_SUFFIX_BYTES) return NULL;
    const char *s = path + n - SPLIT_SUFFIX_BYTES;
    static const char form[] = "-ddddd-of-ddddd.gguf";
    int number[2] = {0, 0};
    for (int i = 0; i < SPLIT_SUFFIX_BYTES; i++) {
        if (form[i] != 'd' && form[i] != s[i]) return NULL;
        if (form[i] == 'd' && (s[i] < '0' || s[i] > '9')) return NULL;
        if (form[i] == 'd') number[i > 6] = number[i > 6] * 10 + (s[i] - '0');
    }
    *i_part = number[0];
    *n_part = number[1];
    return s;
}

static mz_status split_keys(const mz_gguf *g, int64_t *no, int64_t *count, int64_t *n_tensor, mz_err *err)
{
    mz_status st = MZ_OK;
    *no = 0;
    *count = 0;
    *n_tensor = -1;
    MZ_TRY(mz_gguf_get_i64(g, "split.no", false, 0, UINT16_MAX, no, err));
    MZ_TRY(mz_gguf_get_i64(g, "split.count", false, 0, UINT16_MAX, count, err));
    MZ_TRY(mz_gguf_get_i64(g, "split.tensors.count", false, 0, INT32_MAX, n_tensor, err));
out:
    return st;
}

/* Moves the tensors of `from` behind those of g. Data stays where it is mapped. */
static mz_status append_tensors(mz_gguf *g, const mz_gguf *from, int i_part, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_gguf_tensor *all = mz_realloc(g->tensor, g->n_tensor + from->n_tensor, sizeof *all);
    if (!all) MZ_FAIL(MZ_ENOMEM, err, "out of memory for a table of %" PRIu64 " tensors", g->n_tensor + from->n_tensor);
    g->tensor = all;
    for (uint64_t i = 0; i < from->n_tensor; i++) {
        mz_gguf_tensor t = from->tensor[i];
        t.i_part = i_part;
        t.name = mz_arena_strndup(&g->index->names, t.name, strlen(t.name));
        if (!t.name) MZ_FAIL(MZ_ENOMEM, err, "out of memory for the names of tensors");
        g->tensor[g->n_tensor++] = t;
    }
out:
    return st;
}

static mz_status add_part(mz_gguf *g, const char *path, int i_part, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_gguf one = {0};
    int64_t no, count, n_tensor;
    char prefix[32];
    (void)snprintf(prefix, sizeof prefix, "part %d of %d", i_part + 1, g->n_part);
    st = mz_file_map(path, &g->part[i_part], err);
    if (st != MZ_OK) {
        mz_err_prefix(err, prefix);
        return st;
    }
    g->file_bytes += g->part[i_part].size;
    MZ_TRY(mz_gguf_parse(g->part[i_part].data, g->part[i_part].size, &one, err));
    MZ_TRY(split_keys(&one, &no, &count, &n_tensor, err));
    if (no != i_part || count != g->n_part)
        MZ_FAIL(MZ_EFORMAT, err,
                "the file says split.no %" PRId64 ", split.count %" PRId64 ", but its name says %d, %d: parts were renamed or mixed up", no,
                count, i_part, g->n_part);
    MZ_TRY(append_tensors(g, &one, i_part, err));
out:
    mz_gguf_drop_tables(&one);
    if (st != MZ_OK) mz_err_prefix(err, path);
    return st;
}

/* g holds the parsed first file; the other parts are opened when its metadata speaks of them.
 * *is_file_named: err names the file at fault, a part other than the first. */
static mz_status open_siblings(mz_gguf *g, const char *path, bool *is_file_named, mz_err *err)
{
    mz_status st = MZ_OK;
    int64_t no, count, n_tensor;
    int name_no = 0, name_count = 0;
    mz_buf sibling = {0};
    const char *suffix = split_suffix(path, &name_no, &name_count);
    int n_stem = (int)(suffix ? suffix - path : 0);
    MZ_TRY(split_keys(g, &no, &count, &n_tensor, err));
    if (count <= 1 && no == 0) goto out;
    if (no != 0 && suffix)
        MZ_FAIL(MZ_EINVAL, err, "part %" PRId64 " of a split model; open the first part, %.*s-00001-of-%05" PRId64 ".gguf", no + 1, n_stem,
                path, count);
    if (no != 0) MZ_FAIL(MZ_EINVAL, err, "part %" PRId64 " of %" PRId64 " of a split model; open the first part", no + 1, count);
    if (!suffix || name_no != 1 || name_count != count)
        MZ_FAIL(MZ_EINVAL, err,
                "the first of %" PRId64 " parts, whose siblings are found by name; rename it to the form NAME-00001-of-%05" PRId64 ".gguf",
                count, count);
    mz_map *part = mz_realloc(g->part, (size_t)count, sizeof *part);
    if (!part) MZ_FAIL(MZ_ENOMEM, err, "out of memory for %" PRId64 " parts", count);
    memset(part + 1, 0, ((size_t)count - 1) * sizeof *part);
    g->part = part;
    g->n_part = (int)count;
    for (int i = 1; i < g->n_part; i++) {
        sibling.len = 0;
        if (!mz_buf_addf(&sibling, "%.*s-%05d-of-%05d.gguf", n_stem, path, i + 1, g->n_part))
            MZ_FAIL(MZ_ENOMEM, err, "out of memory for a file name");
        *is_file_named = true;
        MZ_TRY(add_part(g, sibling.data, i, err));
        *is_file_named = false;
    }
    if (n_tensor >= 0 && (uint64_t)n_tensor != g->n_tensor)
        MZ_FAIL(MZ_EFORMAT, err, "split.tensors.count is %" PRId64 ", but the %d parts hold %" PRIu64 " tensors", n_tensor, g->n_part,
                g->n_tensor);
out:
    mz_buf_free(&sibling);
    return st;
}

mz_status mz_gguf_open(const char *path, mz_gguf **out, mz_err *err)
{
    mz_status st = MZ_OK;
    bool is_file_named = true;
    *out = NULL;
    mz_gguf *g = new_gguf();
    if (!g) MZ_FAIL(MZ_ENOMEM, err, "out of memory");
    MZ_TRY(mz_file_map(path, &g->part[0], err));
    is_file_named = false;
    g->file_bytes = g->part[0].size;
    MZ_TRY(mz_gguf_parse(g->part[0].data, g->part[0].size, g, err));
    MZ_TRY(open_siblings(g, path, &is_file_named, err));
    MZ_TRY(mz_gguf_index_tensors(g, err));
    *out = g;
    g = NULL;
out:
    mz_gguf_close(g);
    if (st != MZ_OK && !is_file_named) mz_err_prefix(err, path);
    return st;
}

mz_status mz_gguf_open_memory(const void *data, size_t size, mz_gguf **out, mz_err *err)
{
    mz_status st = MZ_OK;
    int64_t no, count, n_tensor;
    *out = NULL;
    mz_gguf *g = new_gguf();
    if (!g) MZ_FAIL(MZ_ENOMEM, err, "out of memory");
    g->is_borrowed = true;
    g->part[0] = (mz_map){data, size};
    g->file_bytes = size;
    MZ_TRY(mz_gguf_parse(data, size, g, err));
    MZ_TRY(split_keys(g, &no, &count, &n_tensor, err));
    if (no != 0 || count > 1) MZ_FAIL(MZ_EINVAL, err, "one of %" PRId64 " parts of a split model, which must be opened by its path", count);
    MZ_TRY(mz_gguf_index_tensors(g, err));
    *out = g;
    g = NULL;
out:
    mz_gguf_close(g);
    return st;
}

mz_status mz_gguf_decode(const mz_gguf_tensor *t, float *out, mz_err *err)
{
    const mz_dtype_info *info = mz_dtype_get(t->type);
    if (!info->decode) return mz_err_set(err, MZ_ESUPPORT, "tensor \"%s\" is stored as %s, which mizan does not read", t->name, info->name);
    info->decode(t->data, out, (int64_t)t->n_elem);
    return MZ_OK;
}
