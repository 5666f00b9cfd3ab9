/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_call.c: calling values, binding arguments to parameters, and the global functions. */
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "text/jinja_value.h"

enum { RANGE_MAX = 100000 }; /* jinja2.sandbox.MAX_RANGE */

bool mz_j_bind(mz_jst *st, const char *who, const mz_jargs *a, const char *const *params, size_t n_required, mz_jv *slots)
{
    size_t n = 0;
    for (; params && params[n]; n++) slots[n] = (mz_jv){0};
    if (a->n > n) return mz_j_fail(st, MZ_EINVAL, "%s takes at most %zu argument(s), %zu are given", who, n, a->n);
    for (size_t i = 0; i < a->n; i++) slots[i] = a->v[i];
    for (size_t k = 0; k < a->n_kw; k++) {
        const mz_jstr *name = a->kw[k].name.s;
        size_t i = 0;
        while (i < n && !(strlen(params[i]) == name->n && memcmp(params[i], name->p, name->n) == 0)) i++;
        int shown = (int)(name->n < 80 ? name->n : 80);
        if (i == n) return mz_j_fail(st, MZ_EINVAL, "%s has no argument named '%.*s'", who, shown, name->p);
        if (slots[i].type != MZ_J_MISSING)
            return mz_j_fail(st, MZ_EINVAL, "%s got multiple values for argument '%.*s'", who, shown, name->p);
        slots[i] = a->kw[k].val;
    }
    for (size_t i = 0; i < n_required; i++)
        if (slots[i].type == MZ_J_MISSING) return mz_j_fail(st, MZ_EINVAL, "%s misses its argument '%s'", who, params[i]);
    return true;
}

static bool int_arg(mz_jst *st, const char *who, mz_jv v, int64_t *out)
{
    if (v.type == MZ_J_UNDEF) return mz_j_undef_fail(st, v);
    if (!mz_j_is_int(v)) return mz_j_fail(st, MZ_EINVAL, "%s: '%s' object cannot be interpreted as an integer", who, mz_j_type_name(v));
    *out = mz_j_as_int(v);
    return true;
}

static bool fn_range(mz_jst *st, const mz_jargs *a, mz_jv *out)
{
    int64_t v[3] = {0, 0, 1};
    if (a->n_kw) return mz_j_fail(st, MZ_EINVAL, "range() takes no keyword arguments");
    if (a->n < 1 || a->n > 3) return mz_j_fail(st, MZ_EINVAL, "range expects 1 to 3 arguments, got %zu", a->n);
    for (size_t i = 0; i < a->n; i++)
        if (!int_arg(st, "range", a->v[i], &v[a->n == 1 ? 1 : i])) return false;
    if (v[2] == 0) return mz_j_fail(st, MZ_EINVAL, "range() arg 3 must not be zero");
    uint64_t n = 0, step = v[2] > 0 ? (uint64_t)v[2] : 0 - (uint64_t)v[2];
    if (v[2] > 0 ? v[0] < v[1] : v[0] > v[1])
        n = ((v[2] > 0 ? (uint64_t)v[1] - (uint64_t)v[0] : (uint64_t)v[0] - (uint64_t)v[1]) - 1) / step + 1;
    if (n > RANGE_MAX) return mz_j_fail(st, MZ_ELIMIT, "range too big; the sandbox blocks ranges of more than %d items", RANGE_MAX);
    mz_jrange *r = mz_j_alloc(st, 1, sizeof *r);
    if (!r) return false;
    *r = (mz_jrange){.start = v[0], .stop = v[1], .step = v[2], .n = (size_t)n};
    *out = (mz_jv){.type = MZ_J_RANGE, .r = r};
    return true;
}

static bool fn_dict(mz_jst *st, const mz_jargs *a, mz_jv *out)
{
    mz_jv d;
    if (a->n > 1) return mz_j_fail(st, MZ_EINVAL, "dict expected at most 1 argument, got %zu", a->n);
    if (!mz_j_dict(st, &d) || (a->n && !mz_j_dict_merge(st, d.d, a->v[0]))) return false;
    for (size_t i = 0; i < a->n_kw; i++)
        if (!mz_j_dict_set(st, d.d, a->kw[i].name, a->kw[i].val)) return false;
    *out = d;
    return true;
}

static bool fn_namespace(mz_jst *st, const mz_jargs *a, mz_jv *out)
{
    if (!fn_dict(st, a, out)) return false;
    for (size_t i = 0; i < out->d->n; i++) {
        const mz_jv *k = &out->d->e[i].key;
        if (k->type == MZ_J_STR && k->s->n && k->s->p[0] == '_')
            return mz_j_fail(st, MZ_EINVAL, "attributes of a namespace cannot begin with an underscore; rename '%.*s'",
                             (int)(k->s->n < 80 ? k->s->n : 80), k->s->p);
    }
    out->type = MZ_J_NS;
    return true;
}

static bool fn_cycler(mz_jst *st, const mz_jargs *a, mz_jtype type, mz_jv *out)
{
    static const char *const params[] = {"sep", NULL};
    mz_jv sep = {0};
    mz_jcycler *c = mz_j_alloc(st, 1, sizeof *c);
    if (!c) return false;
    if (type == MZ_J_JOINER) {
        if (!mz_j_bind(st, "joiner", a, params, 0, &sep) || (sep.type == MZ_J_MISSING && !mz_j_cstr(st, ", ", &sep))) return false;
        c->n = 1;
    } else {
        if (a->n == 0 || a->n_kw) return mz_j_fail(st, MZ_EINVAL, "cycler: at least one item has to be provided");
        c->n = a->n;
    }
    if (!(c->items = mz_j_alloc(st, c->n, sizeof *c->items))) return false;
    for (size_t i = 0; i < c->n; i++) c->items[i] = type == MZ_J_JOINER ? sep : a->v[i];
    *out = (mz_jv){.type = (uint8_t)type, .cy = c};
    return true;
}

static bool fn_raise(mz_jst *st, const mz_jargs *a)
{
    static const char *const params[] = {"message", NULL};
    mz_jv m, s;
    if (!mz_j_bind(st, "raise_exception", a, params, 1, &m) || !mz_j_to_str(st, m, &s)) return false;
    st->status = mz_err_set(st->err, MZ_EINVAL, "%.*s", (int)(s.s->n < 500 ? s.s->n : 500), s.s->p);
    return false;
}

static bool fn_strftime(mz_jst *st, const mz_jargs *a, mz_jv *out)
{
    static const char *const params[] = {"format", NULL};
    mz_jv f;
    char fmt[256], text[1024];
    struct tm tm;
    time_t now = (time_t)st->now_s;
    if (!mz_j_bind(st, "strftime_now", a, params, 1, &f)) return false;
    if (f.type == MZ_J_UNDEF) return mz_j_undef_fail(st, f);
    if (f.type != MZ_J_STR) return mz_j_fail(st, MZ_EINVAL, "strftime_now: the format must be a str, not %s", mz_j_type_name(f));
    if (f.s->n >= sizeof fmt)
        return mz_j_fail(st, MZ_ELIMIT, "strftime_now: the format has %zu bytes; at most %zu are accepted", f.s->n, sizeof fmt - 1);
    memcpy(fmt, f.s->p, f.s->n);
    fmt[f.s->n] = '\0';
    if (!localtime_r(&now, &tm)) return mz_j_fail(st, MZ_EINVAL, "strftime_now: the time %lld has no date", (long long)st->now_s);
    /* English names whatever the host program's locale is. */
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0) return mz_j_fail(st, MZ_ENOMEM, "out of memory while rendering");
    /* %f is Python's own: microseconds, which a time in whole seconds has none of. */
    char *p = fmt;
    while ((p = strstr(p, "%f")) != NULL) {
        size_t rest = strlen(p + 2);
        if (p > fmt && p[-1] == '%') {
            p += 2;
            continue;
        }
        if ((size_t)(p - fmt) + 6 + rest >= sizeof fmt) break;
        memmove(p + 6, p + 2, rest + 1);
        memcpy(p, "000000", 6);
    }
    size_t n = fmt[0] ? strftime_l(text, sizeof text, fmt, &tm, c) : 0;
    freelocale(c);
    return mz_j_str(st, text, n, out);
}

bool mz_j_globals(mz_jst *st, mz_jdict *d)
{
    static const struct {
        const char *name;
        uint8_t id;
    } fns[] = {{"range", MZ_J_FN_RANGE},           {"dict", MZ_J_FN_DICT},     {"namespace", MZ_J_FN_NAMESPACE},
               {"cycler", MZ_J_FN_CYCLER},         {"joiner", MZ_J_FN_JOINER}, {"raise_exception", MZ_J_FN_RAISE},
               {"strftime_now", MZ_J_FN_STRFTIME}, {"lipsum", MZ_J_FN_LIPSUM}};
    for (size_t i = 0; i < sizeof fns / sizeof *fns; i++) {
        mz_jv name;
        if (!mz_j_cstr(st, fns[i].name, &name) || !mz_j_dict_set(st, d, name, (mz_jv){.type = MZ_J_FUNC, .sub = fns[i].id})) return false;
    }
    return true;
}

static bool call_function(mz_jst *st, int id, const mz_jargs *a, mz_jv *out)
{
    switch (id) {
    case MZ_J_FN_RANGE: return fn_range(st, a, out);
    case MZ_J_FN_DICT: return fn_dict(st, a, out);
    case MZ_J_FN_NAMESPACE: return fn_namespace(st, a, out);
    case MZ_J_FN_CYCLER: return fn_cycler(st, a, MZ_J_CYCLER, out);
    case MZ_J_FN_JOINER: return fn_cycler(st, a, MZ_J_JOINER, out);
    case MZ_J_FN_RAISE: return fn_raise(st, a);
    case MZ_J_FN_STRFTIME: return fn_strftime(st, a, out);
    default: return mz_j_fail(st, MZ_ESUPPORT, "the function lipsum is not supported");
    }
}

bool mz_j_call(mz_jst *st, mz_jv f, const mz_jargs *a, mz_jv *out)
{
    switch (f.type) {
    case MZ_J_UNDEF: return mz_j_undef_fail(st, f);
    case MZ_J_FUNC: return call_function(st, f.sub, a, out);
    case MZ_J_METHOD: return mz_j_method_call(st, f.meth, a, out);
    case MZ_J_MACRO: return mz_j_call_macro(st, f.m, a, out);
    case MZ_J_LOOP:
        if (a->n != 1 || a->n_kw) return mz_j_fail(st, MZ_EINVAL, "loop() takes exactly one argument");
        return mz_j_call_loop(st, f.loop, a->v[0], out);
    case MZ_J_JOINER:
        if (a->n || a->n_kw) return mz_j_fail(st, MZ_EINVAL, "a joiner takes no arguments");
        if (f.cy->pos++ == 0) return mz_j_cstr(st, "", out);
        *out = f.cy->items[0];
        return true;
    default: return mz_j_fail(st, MZ_EINVAL, "'%s' object is not callable", mz_j_type_name(f));
    }
}
