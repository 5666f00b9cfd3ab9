/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_value.c: failing, charging, allocating and making values. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text/jinja_ast.h"

bool mz_j_fail(mz_jst *st, mz_status code, const char *fmt, ...)
{
    char text[400];
    unsigned line, col;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    mz_j_where(st->t, st->pos, &line, &col);
    st->status = mz_err_set(st->err, code, "chat template, line %u, column %u: %s", line, col, text);
    return false;
}

bool mz_j_charge(mz_jst *st, uint64_t n_step)
{
    if (st->fuel >= n_step) {
        st->fuel -= n_step;
        return true;
    }
    st->fuel = 0;
    return mz_j_fail(st, MZ_ELIMIT, "rendering takes more steps than are allowed; the template may not end");
}

bool mz_j_enter(mz_jst *st)
{
    if (st->depth < st->depth_max) {
        st->depth++;
        return true;
    }
    return mz_j_fail(st, MZ_ELIMIT, "calls, expressions and values nest more than %u deep", st->depth_max);
}

void mz_j_leave(mz_jst *st)
{
    st->depth--;
}

void *mz_j_alloc(mz_jst *st, size_t n, size_t size)
{
    size_t bytes;
    if (!mz_mul_size(n, size, &bytes) ||
        (st->arena.limit_bytes && (bytes > st->arena.limit_bytes || st->arena.total_bytes > st->arena.limit_bytes - bytes))) {
        mz_j_fail(st, MZ_ELIMIT, "rendering takes more memory than is allowed (%zu bytes)", st->arena.limit_bytes);
        return NULL;
    }
    /* Touching memory takes time too. */
    if (!mz_j_charge(st, bytes / 64)) return NULL;
    void *p = mz_arena_alloc(&st->arena, bytes);
    if (!p) mz_j_fail(st, MZ_ENOMEM, "out of memory while rendering");
    return p;
}

mz_jv mz_j_none(void)
{
    return (mz_jv){.type = MZ_J_NONE};
}

mz_jv mz_j_bool(bool b)
{
    return (mz_jv){.type = MZ_J_BOOL, .b = b};
}

mz_jv mz_j_int(int64_t i)
{
    return (mz_jv){.type = MZ_J_INT, .i = i};
}

mz_jv mz_j_float(double f)
{
    return (mz_jv){.type = MZ_J_FLOAT, .f = f};
}

static bool str_over_limit(mz_jst *st, size_t n)
{
    if (n <= st->out_limit) return false;
    mz_j_fail(st, MZ_ELIMIT, "a string would have %zu bytes; at most %zu are allowed", n, st->out_limit);
    return true;
}

bool mz_j_str_borrow(mz_jst *st, const char *p, size_t n, mz_jv *out)
{
    mz_jstr *s = mz_j_alloc(st, 1, sizeof *s);
    if (!s) return false;
    *s = (mz_jstr){.p = p, .n = n, .n_cp = SIZE_MAX};
    *out = (mz_jv){.type = MZ_J_STR, .s = s};
    return true;
}

bool mz_j_cstr(mz_jst *st, const char *literal, mz_jv *out)
{
    return mz_j_str_borrow(st, literal, strlen(literal), out);
}

bool mz_j_str(mz_jst *st, const char *p, size_t n, mz_jv *out)
{
    char *copy;
    if (str_over_limit(st, n) || !(copy = mz_j_alloc(st, n ? n : 1, 1))) return false;
    if (n) memcpy(copy, p, n);
    return mz_j_str_borrow(st, copy, n, out);
}

bool mz_j_str_cat(mz_jst *st, const mz_jstr *a, const mz_jstr *b, mz_jv *out)
{
    size_t n;
    mz_jsbuf *buf = a->buf;
    if (!mz_add_size(a->n, b->n, &n) || str_over_limit(st, n) || !mz_j_charge(st, b->n / 64)) return false;
    /* A string that ends where its store ends is extended in place: `s = s + x` in a loop stays linear. */
    if (!buf || a->p + a->n != buf->data + buf->used || buf->cap - buf->used < b->n) {
        size_t cap = n < 32 ? 32 : n * 2;
        buf = mz_j_alloc(st, 1, sizeof *buf + cap);
        if (!buf) return false;
        buf->cap = cap;
        if (a->n) memcpy(buf->data, a->p, a->n);
        buf->used = a->n;
        if (b->n) memcpy(buf->data + buf->used, b->p, b->n);
        buf->used += b->n;
        if (!mz_j_str_borrow(st, buf->data, n, out)) return false;
    } else {
        if (b->n) memcpy(buf->data + buf->used, b->p, b->n);
        buf->used += b->n;
        if (!mz_j_str_borrow(st, a->p, n, out)) return false;
    }
    out->s->buf = buf;
    return true;
}

bool mz_j_str_take(mz_jst *st, mz_buf *b, mz_jv *out)
{
    bool ok = mz_j_str(st, b->len ? b->data : "", b->len, out);
    mz_buf_free(b);
    return ok;
}

bool mz_j_str_end(mz_jst *st, bool ok, mz_buf *b, uint8_t sub, mz_jv *out)
{
    if (!ok) {
        mz_buf_free(b);
        return false;
    }
    if (!mz_j_str_take(st, b, out)) return false;
    out->sub = sub;
    return true;
}

bool mz_j_buf_add(mz_jst *st, mz_buf *b, const void *p, size_t n)
{
    size_t base = b == st->out ? st->out_base : 0;
    if (n > st->out_limit || b->len - base > st->out_limit - n)
        return mz_j_fail(st, MZ_ELIMIT, "the text grows past %zu bytes, the most that is allowed", st->out_limit);
    if (!mz_j_charge(st, n / 64)) return false;
    return mz_buf_add(b, p, n) || mz_j_fail(st, MZ_ENOMEM, "out of memory while rendering");
}

bool mz_j_list(mz_jst *st, size_t cap, mz_jv *out)
{
    mz_jlist *l = mz_j_alloc(st, 1, sizeof *l);
    if (!l || (cap && !(l->v = mz_j_alloc(st, cap, sizeof *l->v)))) return false;
    l->cap = cap;
    *out = (mz_jv){.type = MZ_J_LIST, .l = l};
    return true;
}

bool mz_j_list_push(mz_jst *st, mz_jlist *l, mz_jv v)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 8;
        mz_jv *grown = mz_j_alloc(st, cap, sizeof *grown);
        if (!grown) return false;
        if (l->n) memcpy(grown, l->v, l->n * sizeof *grown);
        l->v = grown;
        l->cap = cap;
    }
    l->v[l->n++] = v;
    return true;
}

bool mz_j_tuple2(mz_jst *st, mz_jv a, mz_jv b, mz_jv *out)
{
    if (!mz_j_list(st, 2, out)) return false;
    out->type = MZ_J_TUPLE;
    out->l->v[0] = a;
    out->l->v[1] = b;
    out->l->n = 2;
    return true;
}

static bool undef(mz_jst *st, const char *hint, mz_jv obj, mz_jv name, mz_jv *out)
{
    mz_jundef *u = mz_j_alloc(st, 1, sizeof *u);
    if (!u) return false;
    *u = (mz_jundef){.hint = hint, .obj = obj, .name = name};
    *out = (mz_jv){.type = MZ_J_UNDEF, .u = u};
    return true;
}

bool mz_j_undef_name(mz_jst *st, mz_jv name, mz_jv *out)
{
    return undef(st, NULL, (mz_jv){0}, name, out);
}

bool mz_j_undef_attr(mz_jst *st, mz_jv obj, mz_jv name, mz_jv *out)
{
    return undef(st, NULL, obj, name, out);
}

bool mz_j_undef_hint(mz_jst *st, const char *hint, mz_jv *out)
{
    return undef(st, hint, (mz_jv){0}, (mz_jv){0}, out);
}

bool mz_j_undef_fail(mz_jst *st, mz_jv v)
{
    const mz_jundef *u = v.u;
    if (u->hint) return mz_j_fail(st, MZ_EINVAL, "%s", u->hint);
    mz_buf b = {0};
    bool ok = mz_j_add_repr(st, &b, u->name);
    if (!ok) {
        mz_buf_free(&b);
        return false;
    }
    const char *name = b.data ? b.data : "";
    if (u->obj.type == MZ_J_MISSING)
        mz_j_fail(st, MZ_EINVAL, "%s is undefined", name);
    else {
        const char *module = u->obj.type == MZ_J_LOOP || u->obj.type == MZ_J_MACRO ? "jinja2.runtime." : "";
        const char *type = u->obj.type == MZ_J_NONE ? "None" : mz_j_type_name(u->obj), *object = u->obj.type == MZ_J_NONE ? "" : " object";
        mz_j_fail(st, MZ_EINVAL, u->name.type == MZ_J_STR ? "'%s%s%s' has no attribute %s" : "%s%s%s has no element %s", module, type,
                  object, name);
    }
    mz_buf_free(&b);
    return false;
}

bool mz_j_truth(mz_jv v)
{
    size_t n;
    switch (v.type) {
    case MZ_J_MISSING:
    case MZ_J_UNDEF:
    case MZ_J_NONE: return false;
    case MZ_J_BOOL: return v.b;
    case MZ_J_INT: return v.i != 0;
    case MZ_J_FLOAT: return v.f != 0;
    default: return mz_j_len(v, &n) ? n > 0 : true;
    }
}

const char *mz_j_type_name(mz_jv v)
{
    static const char *const names[] = {[MZ_J_MISSING] = "missing",
                                        [MZ_J_UNDEF] = "Undefined",
                                        [MZ_J_NONE] = "NoneType",
                                        [MZ_J_BOOL] = "bool",
                                        [MZ_J_INT] = "int",
                                        [MZ_J_FLOAT] = "float",
                                        [MZ_J_STR] = "str",
                                        [MZ_J_LIST] = "list",
                                        [MZ_J_TUPLE] = "tuple",
                                        [MZ_J_DICT] = "dict",
                                        [MZ_J_VIEW] = "dict_items",
                                        [MZ_J_RANGE] = "range",
                                        [MZ_J_ITER] = "generator",
                                        [MZ_J_NS] = "Namespace",
                                        [MZ_J_MACRO] = "Macro",
                                        [MZ_J_LOOP] = "LoopContext",
                                        [MZ_J_METHOD] = "builtin_function_or_method",
                                        [MZ_J_FUNC] = "function",
                                        [MZ_J_CYCLER] = "Cycler",
                                        [MZ_J_JOINER] = "Joiner"};
    if (v.type == MZ_J_VIEW) return v.sub == MZ_J_KEYS ? "dict_keys" : v.sub == MZ_J_VALUES ? "dict_values" : "dict_items";
    if (v.type == MZ_J_STR && v.sub) return "Markup";
    return names[v.type];
}

bool mz_j_len(mz_jv v, size_t *n)
{
    switch (v.type) {
    case MZ_J_UNDEF: *n = 0; return true;
    case MZ_J_STR: *n = v.s->n_cp == SIZE_MAX ? mz_j_cp_count(v.s->p, v.s->n) : v.s->n_cp; return true;
    case MZ_J_LIST:
    case MZ_J_TUPLE: *n = v.l->n; return true;
    case MZ_J_DICT:
    case MZ_J_VIEW: *n = v.d->n; return true;
    case MZ_J_RANGE: *n = v.r->n; return true;
    default: return false;
    }
}

bool mz_j_is_num(mz_jv v)
{
    return v.type == MZ_J_INT || v.type == MZ_J_FLOAT || v.type == MZ_J_BOOL;
}

int64_t mz_j_as_int(mz_jv v)
{
    return v.type == MZ_J_BOOL ? v.b : v.i;
}

double mz_j_as_float(mz_jv v)
{
    return v.type == MZ_J_FLOAT ? v.f : (double)mz_j_as_int(v);
}
