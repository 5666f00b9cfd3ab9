/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_filters_seq.c: filters on sequences and dicts. */
#include <string.h>

#include "text/jinja_filters.h"

bool mz_jf_default(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    *out = v;
    if (v.type != MZ_J_UNDEF && !(mz_j_truth(a[1]) && !mz_j_truth(v))) return true;
    if (a[0].type == MZ_J_MISSING) return mz_j_cstr(st, "", out);
    *out = a[0];
    return true;
}

bool mz_jf_length(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    size_t n;
    (void)a;
    if (v.type == MZ_J_LOOP) {
        static const mz_jstr length = {.p = "length", .n = 6, .n_cp = 6};
        return mz_j_loop_attr(st, v.loop, &length, out);
    }
    if (v.type == MZ_J_STR && !mz_j_charge(st, v.s->n_cp == SIZE_MAX ? v.s->n / 64 : 0)) return false;
    if (!mz_j_len(v, &n)) return mz_j_fail(st, MZ_EINVAL, "object of type '%s' has no len()", mz_j_type_name(v));
    *out = mz_j_int((int64_t)n);
    return true;
}

bool mz_jf_first(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_jiter *it;
    (void)a;
    if (!mz_j_iter(st, v, &it)) return false;
    int r = mz_j_next(st, it, out);
    if (r == 0) return mz_j_undef_hint(st, "No first item, sequence was empty.", out);
    return r == 1;
}

bool mz_jf_last(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_jv rev;
    (void)a;
    if (v.type == MZ_J_ITER || v.type == MZ_J_LOOP) return mz_j_fail(st, MZ_EINVAL, "'%s' object is not reversible", mz_j_type_name(v));
    if (!mz_j_reversed(st, v, &rev)) return false;
    mz_jiter *it;
    if (!mz_j_iter(st, rev, &it)) return false;
    int r = mz_j_next(st, it, out);
    if (r == 0) return mz_j_undef_hint(st, "No last item, sequence was empty.", out);
    return r == 1;
}

bool mz_jf_list(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    (void)a;
    return mz_j_to_list(st, v, out);
}

bool mz_jf_items(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_jv l;
    (void)a;
    if (v.type != MZ_J_UNDEF && v.type != MZ_J_DICT) return mz_j_fail(st, MZ_EINVAL, "Can only get item pairs from a mapping.");
    if (v.type == MZ_J_DICT) v = (mz_jv){.type = MZ_J_VIEW, .sub = MZ_J_ITEMS, .d = v.d};
    return mz_j_to_list(st, v, &l) && mz_j_iter_of_list(st, l.l, out);
}

bool mz_jf_reverse(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    (void)a;
    if (v.type == MZ_J_STR) return mz_j_slice(st, v, (mz_jv){0}, (mz_jv){0}, mz_j_int(-1), out);
    return mz_j_reversed(st, v, out);
}

bool mz_jf_unique(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    return mz_j_iter_unique(st, v, mz_j_truth(a[0]), a[1], out);
}

bool mz_jf_batch(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    int64_t n;
    return mz_jf_int_arg(st, a[0], "batch", 0, &n) && mz_j_iter_batch(st, v, n, a[1], out);
}

bool mz_jf_slice(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    int64_t slices;
    mz_jv seq, all, part;
    if (!mz_jf_int_arg(st, a[0], "slice", 0, &slices) || !mz_j_to_list(st, v, &seq) || !mz_j_list(st, 0, &all)) return false;
    if (slices == 0) return mz_j_fail(st, MZ_EINVAL, "integer division or modulo by zero");
    int64_t n = (int64_t)seq.l->n, per = slices > 0 ? n / slices : 0, extra = slices > 0 ? n % slices : 0, at = 0;
    for (int64_t k = 0; k < slices; k++) {
        int64_t len = per + (k < extra);
        if (!mz_j_charge(st, 1) || !mz_j_list(st, (size_t)len + 1, &part)) return false;
        for (int64_t i = 0; i < len; i++) part.l->v[part.l->n++] = seq.l->v[at++];
        if (a[1].type != MZ_J_MISSING && a[1].type != MZ_J_NONE && k >= extra) part.l->v[part.l->n++] = a[1];
        if (!mz_j_list_push(st, all.l, part)) return false;
    }
    return mz_j_iter_of_list(st, all.l, out);
}

/* Stable merge sort of items by keys, using only <, as Python's sorted(). reverse keeps equal items in order. */
static bool sort_by(mz_jst *st, mz_jv *item, mz_jv *key, size_t n, bool reverse)
{
    mz_jv *item2 = mz_j_alloc(st, n + 1, sizeof *item2), *key2 = mz_j_alloc(st, n + 1, sizeof *key2);
    mz_jv *from = item, *from_key = key, *to = item2, *to_key = key2;
    if (!item2 || !key2) return false;
    for (size_t w = 1; w < n; w *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * w) {
            size_t mid = lo + w < n ? lo + w : n, hi = lo + 2 * w < n ? lo + 2 * w : n, i = lo, j = mid;
            for (size_t k = lo; k < hi; k++) {
                bool right = i >= mid;
                if (!mz_j_charge(st, 1)) return false;
                if (i < mid && j < hi &&
                    !(reverse ? mz_j_lt(st, from_key[i], from_key[j], &right) : mz_j_lt(st, from_key[j], from_key[i], &right)))
                    return false;
                size_t s = right ? j++ : i++;
                to[k] = from[s];
                to_key[k] = from_key[s];
            }
        }
        mz_jv *t = from;
        from = to;
        to = t;
        t = from_key;
        from_key = to_key;
        to_key = t;
    }
    if (from != item && n) {
        memcpy(item, from, n * sizeof *item);
        memcpy(key, from_key, n * sizeof *key);
    }
    return true;
}

/* The key of |sort: a list with one part for each attribute of "a,b". */
static bool multi_key(mz_jst *st, mz_jv item, mz_jv attr, bool fold, mz_jv *out)
{
    mz_jv key, part;
    if (attr.type != MZ_J_STR || !memchr(attr.s->p, ',', attr.s->n)) return mz_j_pick(st, item, attr, (mz_jv){0}, fold, out);
    if (!mz_j_list(st, 2, &key)) return false;
    const char *p = attr.s->p, *end = p + attr.s->n;
    for (;;) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        mz_jstr name = {.p = p, .n = (size_t)((comma ? comma : end) - p), .n_cp = SIZE_MAX};
        if (!mz_j_pick(st, item, (mz_jv){.type = MZ_J_STR, .s = &name}, (mz_jv){0}, fold, &part) || !mz_j_list_push(st, key.l, part))
            return false;
        if (!comma) break;
        p = comma + 1;
    }
    *out = key;
    return true;
}

bool mz_jf_sort(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_jv l;
    if (!mz_j_to_list(st, v, &l)) return false;
    mz_jv *key = mz_j_alloc(st, l.l->n + 1, sizeof *key);
    if (!key) return false;
    for (size_t i = 0; i < l.l->n; i++)
        if (!multi_key(st, l.l->v[i], a[2], !mz_j_truth(a[1]), &key[i])) return false;
    *out = l;
    return sort_by(st, l.l->v, key, l.l->n, mz_j_truth(a[0]));
}

bool mz_jf_dictsort(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_jv l;
    bool by_value = MZ_J_IS(a[1], "value");
    if (a[1].type != MZ_J_MISSING && !by_value && !MZ_J_IS(a[1], "key"))
        return mz_j_fail(st, MZ_EINVAL, "dictsort: You can only sort by either \"key\" or \"value\"");
    if (v.type == MZ_J_UNDEF) return mz_j_undef_fail(st, v);
    if (v.type != MZ_J_DICT) return mz_j_fail(st, MZ_EINVAL, "'%s' object has no attribute 'items'", mz_j_type_name(v));
    if (!mz_j_to_list(st, (mz_jv){.type = MZ_J_VIEW, .sub = MZ_J_ITEMS, .d = v.d}, &l)) return false;
    mz_jv *key = mz_j_alloc(st, l.l->n + 1, sizeof *key);
    if (!key) return false;
    for (size_t i = 0; i < l.l->n; i++)
        if (!mz_j_pick(st, l.l->v[i].l->v[by_value], mz_j_none(), (mz_jv){0}, !mz_j_truth(a[0]), &key[i])) return false;
    *out = l;
    return sort_by(st, l.l->v, key, l.l->n, mz_j_truth(a[2]));
}

bool mz_jf_groupby(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_jv l, groups, group = {0}, name, pair, fallback = a[1].type == MZ_J_NONE ? (mz_jv){0} : a[1];
    bool fold = !mz_j_truth(a[2]), same;
    if (!mz_j_to_list(st, v, &l) || !mz_j_list(st, 0, &groups)) return false;
    mz_jv *key = mz_j_alloc(st, l.l->n + 1, sizeof *key);
    if (!key) return false;
    for (size_t i = 0; i < l.l->n; i++)
        if (!mz_j_pick(st, l.l->v[i], a[0], fallback, fold, &key[i])) return false;
    if (!sort_by(st, l.l->v, key, l.l->n, false)) return false;
    for (size_t i = 0; i < l.l->n; i++) {
        if (i && !mz_j_eq(st, key[i - 1], key[i], &same)) return false;
        if (i == 0 || !same) { /* the name is that of the group's first item, with its own case */
            if (!mz_j_list(st, 0, &group) || !mz_j_pick(st, l.l->v[i], a[0], fallback, false, &name) ||
                !mz_j_tuple2(st, name, group, &pair) || !mz_j_list_push(st, groups.l, pair))
                return false;
            groups.l->v[groups.l->n - 1].sub = 1;
        }
        if (!mz_j_list_push(st, group.l, l.l->v[i])) return false;
    }
    *out = groups;
    return true;
}

bool mz_jf_attr(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_jv hit;
    if (a[0].type != MZ_J_STR) return mz_j_fail(st, MZ_EINVAL, "attr: the name must be a str, not %s", mz_j_type_name(a[0]));
    if (v.type == MZ_J_DICT) { /* an attribute only, never an item */
        const struct mz_jmethod_def *def;
        if (mz_j_method_find(v, a[0].s, &def) == MZ_J_ATTR_NONE) return mz_j_undef_attr(st, v, a[0], out);
    }
    if (!mz_j_getattr(st, v, a[0], &hit)) return false;
    *out = hit;
    return true;
}

bool mz_jf_select(mz_jst *st, mz_jv v, const mz_jargs *a, mz_jv *out)
{
    return mz_j_iter_select(st, v, a, false, false, out);
}

bool mz_jf_reject(mz_jst *st, mz_jv v, const mz_jargs *a, mz_jv *out)
{
    return mz_j_iter_select(st, v, a, true, false, out);
}

bool mz_jf_selectattr(mz_jst *st, mz_jv v, const mz_jargs *a, mz_jv *out)
{
    return mz_j_iter_select(st, v, a, false, true, out);
}

bool mz_jf_rejectattr(mz_jst *st, mz_jv v, const mz_jargs *a, mz_jv *out)
{
    return mz_j_iter_select(st, v, a, true, true, out);
}
