/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_attr.c: a.b, a[b] and slices, as jinja2's sandboxed environment resolves them: a.b tries Python's attribute and then
 * the item, a[b] the other way round; what exists but is unsafe is an undefined value that says so when used. */
#include <stdio.h>
#include <string.h>

#include "text/jinja_ast.h"
#include "text/utf8.h"

/* Attributes that every Python object has. All begin with an underscore, so all are unsafe. */
static bool is_object_attr(const mz_jstr *name)
{
    static const char *const names[] = {
        "__class__",        "__delattr__",  "__dir__",          "__doc__",    "__eq__",        "__format__",        "__ge__",
        "__getattribute__", "__getstate__", "__gt__",           "__hash__",   "__init__",      "__init_subclass__", "__le__",
        "__lt__",           "__ne__",       "__new__",          "__reduce__", "__reduce_ex__", "__repr__",          "__setattr__",
        "__sizeof__",       "__str__",      "__subclasshook__", "__len__",    "__iter__",      "__contains__",      "__getitem__",
        "__add__",          "__mul__",      "__module__",       "__dict__",   "__call__",      "__self__",          "__name__",
        "__globals__",      "__code__",     "__func__",         "__init__",   "__mod__",       "__bool__",          "__int__"};
    if (name->n < 5 || memcmp(name->p, "__", 2) != 0) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == name->n && memcmp(names[i], name->p, name->n) == 0) return true;
    return false;
}

static bool unsafe(mz_jst *st, mz_jv obj, const mz_jstr *name, mz_jv *out)
{
    char text[256];
    (void)snprintf(text, sizeof text, "access to attribute '%.*s' of '%s' object is unsafe.", (int)(name->n < 100 ? name->n : 100), name->p,
                   mz_j_type_name(obj));
    char *hint = mz_j_alloc(st, strlen(text) + 1, 1);
    if (!hint) return false;
    memcpy(hint, text, strlen(text));
    return mz_j_undef_hint(st, hint, out);
}

static bool name_is(const mz_jstr *s, const char *lit)
{
    return s->n == strlen(lit) && memcmp(s->p, lit, s->n) == 0;
}

static bool macro_attr(mz_jst *st, const mz_jmacro *m, const mz_jstr *name, mz_jv *out)
{
    const mz_jnode *n = m->node;
    if (name_is(name, "name")) {
        *out = n->kind == MZ_JN_MACRO ? n->value : mz_j_none();
    } else if (name_is(name, "arguments")) {
        if (!mz_j_list(st, n->n, out)) return false;
        out->type = MZ_J_TUPLE;
        for (const mz_jnode *k = n->list; k; k = k->next)
            if (!mz_j_list_push(st, out->l, k->value)) return false;
    } else if (name_is(name, "catch_kwargs")) {
        *out = mz_j_bool(n->uses & MZ_J_USES_KWARGS);
    } else if (name_is(name, "catch_varargs")) {
        *out = mz_j_bool(n->uses & MZ_J_USES_VARARGS);
    } else if (name_is(name, "caller")) {
        *out = mz_j_bool(n->uses & MZ_J_USES_CALLER);
    }
    return true;
}

static bool number_attr(mz_jv obj, const mz_jstr *name, mz_jv *out)
{
    if (name_is(name, "real") || (obj.type != MZ_J_FLOAT && name_is(name, "numerator")))
        *out = obj.type == MZ_J_FLOAT ? obj : mz_j_int(mz_j_as_int(obj));
    else if (name_is(name, "imag"))
        *out = obj.type == MZ_J_FLOAT ? mz_j_float(0) : mz_j_int(0);
    else if (obj.type != MZ_J_FLOAT && name_is(name, "denominator"))
        *out = mz_j_int(1);
    return true;
}

/* Python's getattr. *out stays MISSING when there is none. */
static bool python_attr(mz_jst *st, mz_jv obj, mz_jv name_v, mz_jv *out)
{
    const mz_jstr *name = name_v.s;
    const struct mz_jmethod_def *def;
    *out = (mz_jv){0};
    switch (mz_j_method_find(obj, name, &def)) {
    case MZ_J_ATTR_METHOD: {
        mz_jmethod *m = mz_j_alloc(st, 1, sizeof *m);
        if (!m) return false;
        m->self = obj;
        m->def = def;
        *out = (mz_jv){.type = MZ_J_METHOD, .meth = m};
        return true;
    }
    case MZ_J_ATTR_UNSAFE: return unsafe(st, obj, name, out);
    case MZ_J_ATTR_UNSUPPORTED:
        return mz_j_fail(st, MZ_ESUPPORT, "the attribute '%.*s' of '%s' objects is not supported", (int)(name->n < 80 ? name->n : 80),
                         name->p, mz_j_type_name(obj));
    case MZ_J_ATTR_NONE: break;
    }
    switch (obj.type) {
    case MZ_J_NS:
        if (!mz_j_dict_get(st, obj.d, name_v, true, out)) return false;
        return out->type == MZ_J_MISSING || name->n == 0 || name->p[0] != '_' || unsafe(st, obj, name, out);
    case MZ_J_TUPLE:
        if (obj.sub && name_is(name, "grouper"))
            *out = obj.l->v[0];
        else if (obj.sub && name_is(name, "list"))
            *out = obj.l->v[1];
        break;
    case MZ_J_RANGE:
        if (name_is(name, "start"))
            *out = mz_j_int(obj.r->start);
        else if (name_is(name, "stop"))
            *out = mz_j_int(obj.r->stop);
        else if (name_is(name, "step"))
            *out = mz_j_int(obj.r->step);
        break;
    case MZ_J_MACRO:
        if (!macro_attr(st, obj.m, name, out)) return false;
        break;
    case MZ_J_LOOP:
        if (!mz_j_loop_attr(st, obj.loop, name, out)) return false;
        break;
    case MZ_J_CYCLER:
        if (name_is(name, "current")) *out = obj.cy->items[obj.cy->pos];
        break;
    case MZ_J_BOOL:
    case MZ_J_INT:
    case MZ_J_FLOAT:
        if (!number_attr(obj, name, out)) return false;
        break;
    default: break;
    }
    if (out->type == MZ_J_MISSING && is_object_attr(name)) return unsafe(st, obj, name, out);
    return true;
}

/* Python's obj[key]; MISSING where that raises TypeError or LookupError. */
static bool python_item(mz_jst *st, mz_jv obj, mz_jv key, mz_jv *out)
{
    size_t n;
    *out = (mz_jv){0};
    switch (obj.type) {
    case MZ_J_UNDEF: return mz_j_undef_fail(st, obj);
    case MZ_J_DICT: return mz_j_dict_get(st, obj.d, key, false, out);
    case MZ_J_STR:
    case MZ_J_LIST:
    case MZ_J_TUPLE:
    case MZ_J_RANGE: break;
    default: return true;
    }
    if (!mz_j_is_int(key)) return true;
    int64_t i = mz_j_as_int(key);
    if (obj.type == MZ_J_STR) (void)mz_j_str_len(obj.s);
    if (!mz_j_len(obj, &n)) return true;
    if (i < 0) i += (int64_t)n;
    if (i < 0 || (uint64_t)i >= n) return true;
    if (obj.type == MZ_J_LIST || obj.type == MZ_J_TUPLE) {
        *out = obj.l->v[i];
        return true;
    }
    if (obj.type == MZ_J_RANGE) {
        *out = mz_j_int(obj.r->start + i * obj.r->step);
        return true;
    }
    int32_t cp;
    if (!mz_j_charge(st, obj.s->n == n ? 0 : obj.s->n / 32)) return false;
    size_t at = mz_j_cp_offset(obj.s, (size_t)i);
    if (!mz_j_str_borrow(st, obj.s->p + at, mz_utf8_decode(obj.s->p + at, obj.s->n - at, &cp), out)) return false;
    out->sub = obj.sub;
    return true;
}

bool mz_j_getattr(mz_jst *st, mz_jv obj, mz_jv name, mz_jv *out)
{
    if (obj.type == MZ_J_UNDEF) return mz_j_undef_fail(st, obj);
    if (!python_attr(st, obj, name, out)) return false;
    if (out->type != MZ_J_MISSING) return true;
    if (!python_item(st, obj, name, out)) return false;
    return out->type != MZ_J_MISSING || mz_j_undef_attr(st, obj, name, out);
}

bool mz_j_getitem(mz_jst *st, mz_jv obj, mz_jv key, mz_jv *out)
{
    if (!python_item(st, obj, key, out)) return false;
    if (out->type != MZ_J_MISSING) return true;
    if (key.type == MZ_J_STR) {
        if (!python_attr(st, obj, key, out)) return false;
        if (out->type != MZ_J_MISSING) return true;
    }
    return mz_j_undef_attr(st, obj, key, out);
}

static bool slice_bound(mz_jst *st, mz_jv v, int64_t fallback, int64_t lo, int64_t hi, int64_t n, int64_t *out)
{
    if (v.type == MZ_J_NONE || v.type == MZ_J_MISSING) {
        *out = fallback;
        return true;
    }
    if (!mz_j_is_int(v)) return mz_j_fail(st, MZ_EINVAL, "slice indices must be integers or None, not %s", mz_j_type_name(v));
    int64_t i = mz_j_as_int(v);
    if (i < 0) i = i < -n ? lo : i + n < lo ? lo : i + n;
    *out = i > hi ? hi : i;
    return true;
}

static bool slice_str(mz_jst *st, mz_jv obj, int64_t lo, int64_t step, size_t n, mz_jv *out)
{
    const mz_jstr *s = obj.s;
    bool ok;
    if (step == 1 || n <= 1) {
        size_t from = n ? mz_j_cp_offset(s, (size_t)lo) : 0, to = n ? mz_j_cp_offset(s, (size_t)lo + n) : 0;
        ok = mz_j_charge(st, s->n / 128) && mz_j_str_borrow(st, s->p + from, to - from, out);
    } else {
        mz_buf b = {0};
        int32_t cp;
        /* Byte offsets of all characters, when they are not one byte each. */
        uint32_t *at = NULL;
        ok = s->n_cp == s->n || (at = mz_j_alloc(st, s->n_cp + 1, sizeof *at)) != NULL;
        if (ok && at)
            for (size_t i = 0, k = 0; i < s->n && k < s->n_cp; i++)
                if (((unsigned char)s->p[i] & 0xC0) != 0x80) at[k++] = (uint32_t)i;
        for (size_t k = 0; ok && k < n; k++, lo += step) {
            size_t i = at ? at[lo] : (size_t)lo;
            ok = mz_j_charge(st, 1) && mz_j_buf_add(st, &b, s->p + i, mz_utf8_decode(s->p + i, s->n - i, &cp));
        }
        if (!ok) {
            mz_buf_free(&b);
            return false;
        }
        ok = mz_j_str_take(st, &b, out);
    }
    if (ok) out->sub = obj.sub;
    return ok;
}

bool mz_j_slice(mz_jst *st, mz_jv obj, mz_jv lo_v, mz_jv hi_v, mz_jv step_v, mz_jv *out)
{
    size_t len;
    int64_t step = 1, lo = 0, hi = 0;
    if (obj.type == MZ_J_UNDEF) return mz_j_undef_fail(st, obj);
    if (obj.type != MZ_J_STR && obj.type != MZ_J_LIST && obj.type != MZ_J_TUPLE && obj.type != MZ_J_RANGE)
        return mz_j_fail(st, MZ_EINVAL,
                         obj.type == MZ_J_DICT ? "unhashable type: 'slice' (a %s cannot be sliced)" : "'%s' object cannot be sliced",
                         mz_j_type_name(obj));
    if (obj.type == MZ_J_STR) (void)mz_j_str_len(obj.s);
    (void)mz_j_len(obj, &len);
    int64_t n = (int64_t)len;
    if (step_v.type != MZ_J_NONE && step_v.type != MZ_J_MISSING) {
        if (!mz_j_is_int(step_v)) return mz_j_fail(st, MZ_EINVAL, "slice indices must be integers or None, not %s", mz_j_type_name(step_v));
        step = mz_j_as_int(step_v);
        if (step == 0) return mz_j_fail(st, MZ_EINVAL, "slice step cannot be zero");
        if (step > n + 1) step = n + 1;
        if (step < -n - 1) step = -n - 1;
    }
    int64_t min = step < 0 ? -1 : 0, max = step < 0 ? n - 1 : n;
    if (!slice_bound(st, lo_v, step < 0 ? max : min, min, max, n, &lo) || !slice_bound(st, hi_v, step < 0 ? min : max, min, max, n, &hi))
        return false;
    size_t count = step > 0 ? (lo < hi ? (size_t)((hi - lo - 1) / step + 1) : 0) : (hi < lo ? (size_t)((lo - hi - 1) / -step + 1) : 0);
    if (obj.type == MZ_J_STR) return slice_str(st, obj, lo, step, count, out);
    if (obj.type == MZ_J_RANGE) {
        mz_jrange *r = mz_j_alloc(st, 1, sizeof *r);
        if (!r) return false;
        *r = (mz_jrange){
            .start = obj.r->start + lo * obj.r->step, .stop = obj.r->start + hi * obj.r->step, .step = obj.r->step * step, .n = count};
        *out = (mz_jv){.type = MZ_J_RANGE, .r = r};
        return true;
    }
    if (!mz_j_list(st, count, out) || !mz_j_charge(st, count / 8)) return false;
    out->type = obj.type;
    for (size_t k = 0; k < count; k++, lo += step) out->l->v[k] = obj.l->v[lo];
    out->l->n = count;
    return true;
}
