/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_json.c: |tojson as transformers defines it (json.dumps without HTML escapes, ensure_ascii off), and the render's
 * context from JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/jinja_value.h"
#include "text/utf8.h"

static bool add(mz_jst *st, mz_buf *b, const char *s)
{
    return mz_j_buf_add(st, b, s, strlen(s));
}

static bool dump_str(mz_jst *st, mz_buf *b, const mz_jdump *d, const mz_jstr *s)
{
    static const char from[] = "\"\\\n\r\t\f\b", to[] = "\"\\nrtfb";
    size_t start = 0;
    if (!mz_j_charge(st, s->n / 16) || !add(st, b, "\"")) return false;
    for (size_t i = 0; i < s->n;) {
        int32_t cp = (unsigned char)s->p[i];
        size_t k = 1;
        char u[16];
        const char *hit = cp ? strchr(from, cp) : NULL;
        if (cp >= 0x80) {
            k = mz_utf8_decode(s->p + i, s->n - i, &cp);
            if (!d->ascii) {
                i += k;
                continue;
            }
        }
        if (hit)
            (void)snprintf(u, sizeof u, "\\%c", to[hit - from]);
        else if (cp < 0x20 || (cp >= 0x80 && cp < 0x10000))
            (void)snprintf(u, sizeof u, "\\u%04x", (unsigned)cp);
        else if (cp >= 0x10000)
            (void)snprintf(u, sizeof u, "\\u%04x\\u%04x", 0xd800u + ((unsigned)(cp - 0x10000) >> 10),
                           0xdc00u + ((unsigned)(cp - 0x10000) & 0x3ff));
        else {
            i++;
            continue;
        }
        if (!mz_j_buf_add(st, b, s->p + start, i - start) || !add(st, b, u)) return false;
        i += k;
        start = i;
    }
    return mz_j_buf_add(st, b, s->p + start, s->n - start) && add(st, b, "\"");
}

static bool newline(mz_jst *st, mz_buf *b, const mz_jdump *d, unsigned level)
{
    if (!d->indent) return true;
    if (!add(st, b, "\n")) return false;
    for (unsigned i = 0; i < level; i++)
        if (!mz_j_buf_str(st, b, d->indent)) return false;
    return true;
}

static size_t number_text(mz_jv v, char t[40])
{
    if (v.type != MZ_J_FLOAT) return (size_t)snprintf(t, 40, "%" PRId64, v.i);
    if (v.f != v.f) return (size_t)snprintf(t, 40, "NaN");
    if (isinf(v.f)) return (size_t)snprintf(t, 40, v.f < 0 ? "-Infinity" : "Infinity");
    return mz_j_float_repr(v.f, t);
}

static bool dump_key(mz_jst *st, mz_buf *b, const mz_jdump *d, mz_jv key)
{
    char t[40];
    switch (key.type) {
    case MZ_J_STR: return dump_str(st, b, d, key.s);
    case MZ_J_NONE: return add(st, b, "\"null\"");
    case MZ_J_BOOL: return add(st, b, key.b ? "\"true\"" : "\"false\"");
    case MZ_J_INT:
    case MZ_J_FLOAT: {
        size_t n = number_text(key, t);
        return add(st, b, "\"") && mz_j_buf_add(st, b, t, n) && add(st, b, "\"");
    }
    default: return mz_j_fail(st, MZ_EINVAL, "keys must be str, int, float, bool or None, not %s", mz_j_type_name(key));
    }
}

static bool dump(mz_jst *st, mz_buf *b, const mz_jdump *d, mz_jv v, unsigned level);

/* Entry numbers in the order to write: insertion, or by key (merge sort of runs of one, bottom up). */
static bool key_order(mz_jst *st, const mz_jdump *d, const mz_jdict *dict, uint32_t **out)
{
    size_t n = dict->n;
    uint32_t *a = mz_j_alloc(st, n + 1, sizeof *a), *t = d->sort_keys ? mz_j_alloc(st, n + 1, sizeof *t) : a;
    if (!a || !t) return false;
    for (size_t i = 0; i < n; i++) a[i] = (uint32_t)i;
    for (size_t w = 1; d->sort_keys && w < n; w *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * w) {
            size_t mid = lo + w < n ? lo + w : n, hi = lo + 2 * w < n ? lo + 2 * w : n, i = lo, j = mid;
            for (size_t k = lo; k < hi; k++) {
                bool right = i >= mid;
                if (i < mid && j < hi && !mz_j_lt(st, dict->e[a[j]].key, dict->e[a[i]].key, &right)) return false;
                if (!mz_j_charge(st, 1)) return false;
                t[k] = right ? a[j++] : a[i++];
            }
        }
        uint32_t *swap = a;
        a = t;
        t = swap;
    }
    *out = a;
    return true;
}

static bool dump_dict(mz_jst *st, mz_buf *b, const mz_jdump *d, const mz_jdict *dict, unsigned level)
{
    uint32_t *order;
    if (dict->n == 0) return add(st, b, "{}");
    if (!key_order(st, d, dict, &order) || !add(st, b, "{") || !newline(st, b, d, level + 1)) return false;
    for (size_t i = 0; i < dict->n; i++) {
        const mz_jentry *e = &dict->e[order[i]];
        if (i && (!mz_j_buf_str(st, b, &d->item_sep) || !newline(st, b, d, level + 1))) return false;
        if (!dump_key(st, b, d, e->key) || !mz_j_buf_str(st, b, &d->key_sep) || !dump(st, b, d, e->val, level + 1)) return false;
    }
    return newline(st, b, d, level) && add(st, b, "}");
}

static bool dump_list(mz_jst *st, mz_buf *b, const mz_jdump *d, const mz_jlist *l, unsigned level)
{
    if (l->n == 0) return add(st, b, "[]");
    if (!add(st, b, "[") || !newline(st, b, d, level + 1)) return false;
    for (size_t i = 0; i < l->n; i++) {
        if (i && (!mz_j_buf_str(st, b, &d->item_sep) || !newline(st, b, d, level + 1))) return false;
        if (!dump(st, b, d, l->v[i], level + 1)) return false;
    }
    return newline(st, b, d, level) && add(st, b, "]");
}

static bool dump_inner(mz_jst *st, mz_buf *b, const mz_jdump *d, mz_jv v, unsigned level)
{
    char t[40];
    switch (v.type) {
    case MZ_J_NONE: return add(st, b, "null");
    case MZ_J_BOOL: return add(st, b, v.b ? "true" : "false");
    case MZ_J_INT:
    case MZ_J_FLOAT: return mz_j_buf_add(st, b, t, number_text(v, t));
    case MZ_J_STR: return dump_str(st, b, d, v.s);
    case MZ_J_LIST:
    case MZ_J_TUPLE: return dump_list(st, b, d, v.l, level);
    case MZ_J_DICT: return dump_dict(st, b, d, v.d, level);
    default: return mz_j_fail(st, MZ_EINVAL, "Object of type %s is not JSON serializable", mz_j_type_name(v));
    }
}

static bool dump(mz_jst *st, mz_buf *b, const mz_jdump *d, mz_jv v, unsigned level)
{
    if (!mz_j_charge(st, 1) || !mz_j_enter(st)) return false;
    bool ok = dump_inner(st, b, d, v, level);
    mz_j_leave(st);
    return ok;
}

static bool read_indent(mz_jst *st, mz_jv v, mz_jdump *d)
{
    mz_jv s;
    if (v.type == MZ_J_MISSING || v.type == MZ_J_NONE) return true;
    if (v.type == MZ_J_STR) {
        d->indent = v.s;
        return true;
    }
    if (v.type == MZ_J_UNDEF) return mz_j_undef_fail(st, v);
    if (!mz_j_is_int(v)) return mz_j_fail(st, MZ_EINVAL, "tojson: indent must be a number or a string, not %s", mz_j_type_name(v));
    int64_t n = mz_j_as_int(v);
    if (n > 1000) return mz_j_fail(st, MZ_ELIMIT, "tojson: an indent of %lld is too large", (long long)n);
    char blanks[1001];
    n = n < 0 ? 0 : n;
    memset(blanks, ' ', (size_t)n);
    if (!mz_j_str(st, blanks, (size_t)n, &s)) return false;
    d->indent = s.s;
    return true;
}

bool mz_j_tojson(mz_jst *st, mz_jv v, const mz_jargs *a, mz_jv *out)
{
    static const char *const params[] = {"ensure_ascii", "indent", "separators", "sort_keys", NULL};
    mz_jv arg[4];
    if (!mz_j_bind(st, "tojson", a, params, 0, arg)) return false;
    mz_jdump d = {.ascii = mz_j_truth(arg[0]), .sort_keys = mz_j_truth(arg[3])};
    if (!read_indent(st, arg[1], &d)) return false;
    d.item_sep = d.indent ? (mz_jstr){.p = ",", .n = 1} : (mz_jstr){.p = ", ", .n = 2};
    d.key_sep = (mz_jstr){.p = ": ", .n = 2};
    if (arg[2].type != MZ_J_MISSING && arg[2].type != MZ_J_NONE) {
        mz_jv l;
        if (!mz_j_to_list(st, arg[2], &l)) return false;
        if (l.l->n != 2 || l.l->v[0].type != MZ_J_STR || l.l->v[1].type != MZ_J_STR)
            return mz_j_fail(st, MZ_EINVAL, "tojson: separators must be two strings");
        d.item_sep = *l.l->v[0].s;
        d.key_sep = *l.l->v[1].s;
    }
    mz_buf b = {0};
    if (!dump(st, &b, &d, v, 0)) {
        mz_buf_free(&b);
        return false;
    }
    return mz_j_str_take(st, &b, out);
}

static bool from_object(mz_jst *st, const json_t *j, mz_jv *out)
{
    const char *key;
    size_t n;
    json_t *val;
    if (!mz_j_dict(st, out)) return false;
    json_object_keylen_foreach((json_t *)(uintptr_t)j, key, n, val)
    {
        mz_jv k, v;
        if (!mz_j_str_borrow(st, key, n, &k) || !mz_j_from_json(st, val, &v) || !mz_j_dict_set(st, out->d, k, v)) return false;
    }
    return true;
}

static bool from_array(mz_jst *st, const json_t *j, mz_jv *out)
{
    size_t n = json_array_size(j);
    if (!mz_j_list(st, n, out)) return false;
    for (size_t i = 0; i < n; i++) {
        mz_jv v;
        if (!mz_j_from_json(st, json_array_get(j, i), &v)) return false;
        out->l->v[out->l->n++] = v;
    }
    return true;
}

bool mz_j_from_json(mz_jst *st, const json_t *j, mz_jv *out)
{
    bool ok = true;
    if (!mz_j_enter(st)) return false;
    switch (json_typeof(j)) {
    case JSON_OBJECT: ok = from_object(st, j, out); break;
    case JSON_ARRAY: ok = from_array(st, j, out); break;
    case JSON_STRING: ok = mz_j_str_borrow(st, json_string_value(j), json_string_length(j), out); break;
    case JSON_INTEGER: *out = mz_j_int(json_integer_value(j)); break;
    case JSON_REAL: *out = mz_j_float(json_real_value(j)); break;
    case JSON_TRUE:
    case JSON_FALSE: *out = mz_j_bool(json_is_true(j)); break;
    default: *out = mz_j_none(); break;
    }
    mz_j_leave(st);
    return ok;
}
