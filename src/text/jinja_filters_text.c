/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_filters_text.c: filters that give text. */
#include <stdio.h>
#include <string.h>

#include "text/jinja_filters.h"
#include "text/utf8.h"

static bool with_case(mz_jst *st, mz_jv v, mz_jcase how, mz_jv *out)
{
    mz_jv s;
    return mz_j_soft_str(st, v, &s) && mz_j_case(st, s, how, out);
}

bool mz_jf_upper(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    (void)a;
    return with_case(st, v, MZ_J_UPPER, out);
}

bool mz_jf_lower(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    (void)a;
    return with_case(st, v, MZ_J_LOWER, out);
}

bool mz_jf_capitalize(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    (void)a;
    return with_case(st, v, MZ_J_CAPITALIZE, out);
}

/* jinja2's own rule: a word starts after white space or one of - ( { [ <, and its first letter becomes upper case. */
bool mz_jf_title(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_jv s, part;
    mz_buf b = {0};
    bool ok = true, start = true;
    (void)a;
    if (!mz_j_soft_str(st, v, &s)) return false;
    for (size_t i = 0; i < s.s->n && ok;) {
        int32_t cp;
        size_t from = i, k = mz_utf8_decode(s.s->p + i, s.s->n - i, &cp);
        bool sep = mz_j_is_space(cp) || (cp > 0 && cp < 0x80 && strchr("-({[<", cp));
        i += k;
        while (!sep && !start && i < s.s->n) { /* the rest of a word in one piece */
            k = mz_utf8_decode(s.s->p + i, s.s->n - i, &cp);
            if (mz_j_is_space(cp) || (cp > 0 && cp < 0x80 && strchr("-({[<", cp))) break;
            i += k;
        }
        ok = mz_j_str_borrow(st, s.s->p + from, i - from, &part) && (sep || mz_j_case(st, part, start ? MZ_J_UPPER : MZ_J_LOWER, &part)) &&
             mz_j_buf_str(st, &b, part.s);
        start = sep;
    }
    if (!ok) {
        mz_buf_free(&b);
        return false;
    }
    return mz_j_str_take(st, &b, out);
}

bool mz_jf_trim(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_jv s;
    bool with = a[0].type != MZ_J_MISSING && a[0].type != MZ_J_NONE;
    if (with && a[0].type != MZ_J_STR) return mz_j_fail(st, MZ_EINVAL, "trim: the characters must be a str, not %s", mz_j_type_name(a[0]));
    return mz_j_soft_str(st, v, &s) && mz_j_strip(st, s, with ? a[0].s : NULL, 3, out);
}

bool mz_jf_replace(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_jv s, from, to;
    int64_t count;
    return mz_jf_int_arg(st, a[2].type == MZ_J_NONE ? (mz_jv){0} : a[2], "replace", -1, &count) && mz_j_to_str(st, v, &s) &&
           mz_j_to_str(st, a[0], &from) && mz_j_to_str(st, a[1], &to) && mz_j_replace(st, s.s, from.s, to.s, count, out);
}

bool mz_jf_string(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    (void)a;
    return mz_j_soft_str(st, v, out);
}

bool mz_jf_safe(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    (void)a;
    if (!mz_j_to_str(st, v, out)) return false;
    out->sub = 1;
    return true;
}

bool mz_jf_escape(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    (void)a;
    return mz_j_escape(st, v, out);
}

bool mz_jf_forceescape(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_jv s;
    (void)a;
    return mz_j_to_str(st, v, &s) && mz_j_escape(st, s, out);
}

bool mz_jf_indent(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    static const mz_jstr splitlines = {.p = "splitlines", .n = 10, .n_cp = 10};
    const struct mz_jmethod_def *def;
    mz_jv lines;
    mz_buf ind = {0}, b = {0};
    bool first = mz_j_truth(a[1]), blank = mz_j_truth(a[2]), ok = true;
    int64_t width;
    if (v.type == MZ_J_UNDEF) return mz_j_undef_fail(st, v);
    if (v.type != MZ_J_STR) return mz_j_fail(st, MZ_EINVAL, "indent: a str is needed, not %s", mz_j_type_name(v));
    /* jinja2 adds a newline before it splits: it only matters for an empty text and one that ends in a newline. */
    mz_jstr nl = {.p = "\n", .n = 1, .n_cp = 1};
    mz_jv joined;
    if (!mz_j_str_cat(st, v.s, &nl, &joined) || mz_j_method_find(joined, &splitlines, &def) != MZ_J_ATTR_METHOD) return false;
    mz_jmethod m = {.self = joined, .def = def};
    if (!mz_j_method_call(st, &m, &(mz_jargs){0}, &lines)) return false;
    if (a[0].type == MZ_J_STR) {
        ok = mz_j_buf_str(st, &ind, a[0].s);
    } else {
        ok = mz_jf_int_arg(st, a[0], "indent", 4, &width);
        for (int64_t i = 0; ok && i < width; i++) ok = mz_j_buf_add(st, &ind, " ", 1) && mz_j_charge(st, i % 16 == 0);
    }
    const char *ind_p = ind.data ? ind.data : "";
    if (ok && first) ok = mz_j_buf_add(st, &b, ind_p, ind.len);
    for (size_t i = 0; ok && i < lines.l->n; i++) {
        const mz_jstr *line = lines.l->v[i].s;
        if (i) ok = mz_j_buf_add(st, &b, "\n", 1) && (!(blank || line->n) || mz_j_buf_add(st, &b, ind_p, ind.len));
        ok = ok && mz_j_charge(st, 1) && mz_j_buf_str(st, &b, line);
    }
    mz_buf_free(&ind);
    return mz_j_str_end(st, ok, &b, v.sub, out);
}

bool mz_jf_truncate(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    int64_t length, leeway;
    mz_jv end;
    if (v.type == MZ_J_UNDEF) {
        *out = v;
        return true;
    }
    if (v.type != MZ_J_STR) return mz_j_fail(st, MZ_EINVAL, "truncate: a str is needed, not %s", mz_j_type_name(v));
    if (!mz_jf_int_arg(st, a[0], "truncate", 255, &length) ||
        !mz_jf_int_arg(st, a[3].type == MZ_J_NONE ? (mz_jv){0} : a[3], "truncate", 5, &leeway))
        return false;
    if (a[2].type == MZ_J_MISSING ? !mz_j_cstr(st, "...", &end) : (end = a[2]).type != MZ_J_STR)
        return mz_j_fail(st, MZ_EINVAL, "truncate: the end must be a str");
    int64_t n = (int64_t)mz_j_str_len(v.s), n_end = (int64_t)mz_j_str_len(end.s);
    if (length < n_end) return mz_j_fail(st, MZ_EINVAL, "truncate: expected length >= %lld, got %lld", (long long)n_end, (long long)length);
    if (leeway < 0) return mz_j_fail(st, MZ_EINVAL, "truncate: expected leeway >= 0, got %lld", (long long)leeway);
    if (n - length <= leeway) {
        *out = v;
        return true;
    }
    size_t cut = mz_j_cp_offset(v.s, (size_t)(length - n_end));
    if (!mz_j_truth(a[1])) /* back to the last blank, if there is one */
        for (size_t i = cut; i-- > 0;)
            if (v.s->p[i] == ' ') {
                cut = i;
                break;
            }
    mz_jstr head = {.p = v.s->p, .n = cut, .n_cp = SIZE_MAX};
    return mz_j_str_cat(st, &head, end.s, out);
}

bool mz_jf_center(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    static const mz_jstr center = {.p = "center", .n = 6, .n_cp = 6};
    const struct mz_jmethod_def *def;
    mz_jv s, width = a[0].type == MZ_J_MISSING ? mz_j_int(80) : a[0];
    if (!mz_j_soft_str(st, v, &s) || mz_j_method_find(s, &center, &def) != MZ_J_ATTR_METHOD) return false;
    mz_jmethod m = {.self = s, .def = def};
    return mz_j_method_call(st, &m, &(mz_jargs){.v = &width, .n = 1}, out);
}

/* The number of runs of \w, the way Python's re defines it. */
bool mz_jf_wordcount(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_jv s;
    int64_t n = 0;
    bool in_word = false;
    (void)a;
    if (!mz_j_soft_str(st, v, &s) || !mz_j_charge(st, s.s->n / 2)) return false;
    for (size_t i = 0; i < s.s->n;) {
        int32_t cp;
        size_t k = mz_utf8_decode(s.s->p + i, s.s->n - i, &cp);
        mz_jstr one = {.p = s.s->p + i, .n = k};
        bool word = cp == '_' || mz_j_is_class(&one, MZ_J_ALNUM);
        n += word && !in_word;
        in_word = word;
        i += k;
    }
    *out = mz_j_int(n);
    return true;
}

static bool quote(mz_jst *st, mz_buf *b, mz_jv v, bool query)
{
    mz_jv s;
    if (!mz_j_to_str(st, v, &s) || !mz_j_charge(st, s.s->n / 8)) return false;
    for (size_t i = 0; i < s.s->n; i++) {
        unsigned char c = (unsigned char)s.s->p[i];
        char t[4] = {(char)c, 0, 0, 0};
        bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_.-~", c)) || (c == '/' && !query);
        size_t n = 1;
        if (c == ' ' && query)
            t[0] = '+';
        else if (!plain)
            n = (size_t)snprintf(t, sizeof t, "%%%02X", c);
        if (!mz_j_buf_add(st, b, t, n)) return false;
    }
    return true;
}

static bool quote_pairs(mz_jst *st, mz_buf *b, mz_jv v)
{
    mz_jiter *it;
    mz_jv pair, l;
    int r;
    bool any = false;
    if (v.type == MZ_J_DICT) v = (mz_jv){.type = MZ_J_VIEW, .sub = MZ_J_ITEMS, .d = v.d};
    if (!mz_j_iter(st, v, &it)) return false;
    while ((r = mz_j_next(st, it, &pair)) == 1) {
        if (!mz_j_to_list(st, pair, &l)) return false;
        if (l.l->n != 2) return mz_j_fail(st, MZ_EINVAL, "urlencode: pairs are needed");
        if ((any && !mz_j_buf_add(st, b, "&", 1)) || !quote(st, b, l.l->v[0], true) || !mz_j_buf_add(st, b, "=", 1) ||
            !quote(st, b, l.l->v[1], true))
            return false;
        any = true;
    }
    return r == 0;
}

bool mz_jf_urlencode(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_buf b = {0};
    bool pairs = v.type == MZ_J_UNDEF || (v.type > MZ_J_STR && v.type <= MZ_J_ITER);
    (void)a;
    if (!(pairs ? quote_pairs(st, &b, v) : quote(st, &b, v, false))) {
        mz_buf_free(&b);
        return false;
    }
    return mz_j_str_take(st, &b, out);
}

bool mz_jf_format(mz_jst *st, mz_jv v, const mz_jargs *a, mz_jv *out)
{
    mz_jv s, args;
    if (a->n && a->n_kw) return mz_j_fail(st, MZ_EINVAL, "format: positional and keyword arguments cannot be mixed");
    if (!mz_j_soft_str(st, v, &s)) return false;
    if (a->n_kw) {
        if (!mz_j_dict(st, &args)) return false;
        for (size_t i = 0; i < a->n_kw; i++)
            if (!mz_j_dict_set(st, args.d, a->kw[i].name, a->kw[i].val)) return false;
    } else {
        if (!mz_j_list(st, a->n, &args)) return false;
        args.type = MZ_J_TUPLE;
        for (size_t i = 0; i < a->n; i++) args.l->v[args.l->n++] = a->v[i];
    }
    return mz_j_percent(st, s, args, out);
}

bool mz_jf_join(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_jiter *it;
    mz_jv sep = {0}, item;
    mz_buf b = {0};
    bool any = false;
    int r;
    if (a[0].type != MZ_J_MISSING && !mz_j_to_str(st, a[0], &sep)) return false;
    if (!mz_j_iter(st, v, &it)) return false;
    while ((r = mz_j_next(st, it, &item)) == 1) {
        bool ok = (a[1].type == MZ_J_MISSING || a[1].type == MZ_J_NONE || mz_j_pick(st, item, a[1], (mz_jv){0}, false, &item)) &&
                  (!any || sep.type == MZ_J_MISSING || mz_j_buf_str(st, &b, sep.s)) && mz_j_add_str(st, &b, item);
        if (!ok) {
            mz_buf_free(&b);
            return false;
        }
        any = true;
    }
    if (r < 0) {
        mz_buf_free(&b);
        return false;
    }
    return mz_j_str_take(st, &b, out);
}
