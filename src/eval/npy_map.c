/* SPDX-License-Identifier: Apache-2.0
 *
 * npy_map.c: the header is "\x93NUMPY", two version bytes, the length of the dictionary (2 bytes in version 1, 4 later),
 * and a Python dictionary literal such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 * (numpy.lib.format, NEP 1). */
#include "eval/npy_map.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

typedef struct cursor {
    const char *s, *end;
} cursor;

static void skip_space(cursor *c)
{
    while (c->s < c->end && (*c->s == ' ' || *c->s == '\n' || *c->s == '\t' || *c->s == '\r')) c->s++;
}

static bool take(cursor *c, char want)
{
    skip_space(c);
    if (c->s == c->end || *c->s != want) return false;
    c->s++;
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    size_t n = strlen(word);
    skip_space(c);
    if ((size_t)(c->end - c->s) < n || memcmp(c->s, word, n) != 0) return false;
    c->s += n;
    return true;
}

/* A quoted string without escapes. */
static bool take_string(cursor *c, const char **s, size_t *n)
{
    skip_space(c);
    if (c->s == c->end || (*c->s != '\'' && *c->s != '"')) return false;
    const char *close = memchr(c->s + 1, *c->s, (size_t)(c->end - c->s - 1));
    if (!close) return false;
    *s = c->s + 1;
    *n = (size_t)(close - *s);
    c->s = close + 1;
    return memchr(*s, '\\', *n) == NULL;
}

static bool take_int(cursor *c, int64_t *out)
{
    skip_space(c);
    const char *start = c->s;
    int64_t v = 0;
    while (c->s < c->end && *c->s >= '0' && *c->s <= '9') {
        if (__builtin_mul_overflow(v, (int64_t)10, &v) || __builtin_add_overflow(v, (int64_t)(*c->s - '0'), &v)) return false;
        c->s++;
    }
    *out = v;
    return c->s > start;
}

/* A tuple of integers; more than two are counted but not kept. */
static bool take_shape(cursor *c, int64_t shape[2], int *n_dim)
{
    if (!take(c, '(')) return false;
    *n_dim = 0;
    while (!take(c, ')')) {
        int64_t v;
        if (!take_int(c, &v)) return false;
        if (*n_dim < 2) shape[*n_dim] = v;
        if (++*n_dim > 32) return false;
        if (!take(c, ',')) return take(c, ')');
    }
    return true;
}

static mz_status parse_header(cursor c, int64_t shape[2], mz_err *err)
{
    mz_status st = MZ_OK;
    bool has_descr = false, has_order = false, has_shape = false;
    int n_dim = 0;
    if (!take(&c, '{')) MZ_FAIL(MZ_EFORMAT, err, "the NPY header is not a dictionary");
    while (!take(&c, '}')) {
        const char *key, *value;
        size_t n_key, n_value;
        if (!take_string(&c, &key, &n_key) || !take(&c, ':')) MZ_FAIL(MZ_EFORMAT, err, "the NPY header is malformed: a key was expected");
        if (n_key == 5 && memcmp(key, "descr", 5) == 0 && !has_descr) {
            has_descr = true;
            if (!take_string(&c, &value, &n_value))
                MZ_FAIL(MZ_ESUPPORT, err, "the NPY file holds structured values, expected float32 ('<f4')");
            if (n_value != 3 || memcmp(value, "<f4", 3) != 0)
                MZ_FAIL(MZ_ESUPPORT, err, "the NPY file holds '%.*s' values, expected little-endian float32 ('<f4')",
                        n_value < 20 ? (int)n_value : 20, value);
        } else if (n_key == 13 && memcmp(key, "fortran_order", 13) == 0 && !has_order) {
            has_order = true;
            if (take_word(&c, "True")) MZ_FAIL(MZ_ESUPPORT, err, "the NPY file is in Fortran order, expected C order");
            if (!take_word(&c, "False")) MZ_FAIL(MZ_EFORMAT, err, "the NPY header is malformed: fortran_order is neither True nor False");
        } else if (n_key == 5 && memcmp(key, "shape", 5) == 0 && !has_shape) {
            has_shape = true;
            if (!take_shape(&c, shape, &n_dim))
                MZ_FAIL(MZ_EFORMAT, err, "the NPY header is malformed: the shape is not a tuple of whole numbers");
        } else {
            MZ_FAIL(MZ_EFORMAT, err, "the NPY header has an unexpected or repeated key '%.*s'", n_key < 40 ? (int)n_key : 40, key);
        }
        if (!take(&c, ',')) {
            if (!take(&c, '}')) MZ_FAIL(MZ_EFORMAT, err, "the NPY header is malformed: the dictionary does not end");
            break;
        }
    }
    skip_space(&c);
    if (c.s != c.end) MZ_FAIL(MZ_EFORMAT, err, "the NPY header has text behind the dictionary");
    if (!has_descr || !has_order || !has_shape) MZ_FAIL(MZ_EFORMAT, err, "the NPY header lacks descr, fortran_order or shape");
    if (n_dim != 2) MZ_FAIL(MZ_ESUPPORT, err, "the NPY file has %d dimensions, expected 2: rows and vocabulary", n_dim);
out:
    return st;
}

mz_status mz_npy_map_parse(const uint8_t *bytes, size_t n, mz_npy_map *out, mz_err *err)
{
    mz_status st = MZ_OK;
    int64_t shape[2] = {0, 0};
    size_t n_header, at = 10, n_elem, n_bytes;
    if (n < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0) MZ_FAIL(MZ_EFORMAT, err, "not an NPY file: the first bytes are not those of NumPy");
    if (bytes[6] < 1 || bytes[6] > 3) MZ_FAIL(MZ_ESUPPORT, err, "NPY version %d.%d is not known, expected 1.0 to 3.0", bytes[6], bytes[7]);
    n_header = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1) {
        at = 12;
        if (n < 12) MZ_FAIL(MZ_EFORMAT, err, "the NPY file is truncated in its header");
        n_header |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    }
    if (n_header > n - at)
        MZ_FAIL(MZ_EFORMAT, err, "the NPY file is truncated in its header: %zu bytes stated, %zu left", n_header, n - at);
    const char *header = (const char *)bytes + at;
    MZ_TRY(parse_header((cursor){header, header + n_header}, shape, err));
    at += n_header;
    if (!mz_mul_size((size_t)shape[0], (size_t)shape[1], &n_elem) || !mz_mul_size(n_elem, 4, &n_bytes) || n_bytes != n - at)
        MZ_FAIL(MZ_EFORMAT, err, "the NPY file states %lld x %lld values but has %zu bytes of data", (long long)shape[0],
                (long long)shape[1], n - at);
    out->data = bytes + at;
    out->n_row = shape[0];
    out->n_col = shape[1];
out:
    return st;
}

mz_status mz_npy_map_open(const char *path, mz_npy_map *out, mz_err *err)
{
    *out = (mz_npy_map){0};
    mz_status st = mz_file_map(path, &out->map, err);
    if (st != MZ_OK) return st;
    st = mz_npy_map_parse(out->map.data, out->map.size, out, err);
    if (st != MZ_OK) {
        mz_err_prefix(err, path);
        mz_npy_map_close(out);
    }
    return st;
}

void mz_npy_map_close(mz_npy_map *m)
{
    mz_file_unmap(&m->map);
    *m = (mz_npy_map){0};
}

void mz_npy_map_row(const mz_npy_map *m, int64_t i, float *row)
{
    size_t bytes = (size_t)m->n_col * sizeof *row;
    memcpy(row, m->data + (size_t)i * bytes, bytes);
}
