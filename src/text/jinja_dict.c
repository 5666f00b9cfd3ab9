/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_dict.c: ordered dictionaries, equality, order and membership, as Python defines them. */
#include <string.h>

#include "text/jinja_value.h"

enum { SMALL = 8 };

static uint64_t mix(uint64_t h)
{
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 33;
    return h;
}

/* False: not hashable. Equal numbers hash alike whatever their type. */
static bool hash_of(mz_jst *st, mz_jv v, uint64_t *out)
{
    uint64_t h = 0xcbf29ce484222325ULL;
    switch (v.type) {
    case MZ_J_BOOL:
    case MZ_J_INT: *out = mix((uint64_t)mz_j_as_int(v)); return true;
    case MZ_J_FLOAT:
        if (v.f >= -9.0e18 && v.f <= 9.0e18 && (double)(int64_t)v.f == v.f)
            *out = mix((uint64_t)(int64_t)v.f);
        else
            memcpy(out, &v.f, sizeof *out);
        return true;
    case MZ_J_STR:
        for (size_t i = 0; i < v.s->n; i++) h = (h ^ (unsigned char)v.s->p[i]) * 0x100000001b3ULL;
        *out = mix(h);
        return mz_j_charge(st, v.s->n / 64);
    case MZ_J_TUPLE:
        if (!mz_j_enter(st)) return false;
        for (size_t i = 0; i < v.l->n; i++) {
            uint64_t k;
            if (!mz_j_charge(st, 1) || !hash_of(st, v.l->v[i], &k)) return false;
            h = mix(h ^ k) + i;
        }
        mz_j_leave(st);
        *out = h;
        return true;
    case MZ_J_LIST:
    case MZ_J_DICT: return mz_j_fail(st, MZ_EINVAL, "unhashable type: '%s'", mz_j_type_name(v));
    case MZ_J_NONE:
    case MZ_J_UNDEF: *out = mix(v.type); return true;
    default: *out = mix((uint64_t)(uintptr_t)v.id); return true;
    }
}

static bool is_hashable(mz_jv v)
{
    return v.type != MZ_J_LIST && v.type != MZ_J_DICT;
}

bool mz_j_dict(mz_jst *st, mz_jv *out)
{
    mz_jdict *d = mz_j_alloc(st, 1, sizeof *d);
    if (!d) return false;
    *out = (mz_jv){.type = MZ_J_DICT, .d = d};
    return true;
}

/* *at: the entry, or d->n. */
static bool find(mz_jst *st, const mz_jdict *d, mz_jv key, uint64_t h, size_t *at)
{
    bool eq;
    if (!d->index) {
        for (size_t i = 0; i < d->n; i++) {
            if (d->e[i].hash != h) continue;
            if (!mz_j_eq(st, d->e[i].key, key, &eq)) return false;
            if (eq) {
                *at = i;
                return true;
            }
        }
        *at = d->n;
        return true;
    }
    for (size_t k = (size_t)h & (d->n_index - 1);; k = (k + 1) & (d->n_index - 1)) {
        uint32_t i = d->index[k];
        if (!i) break;
        if (!mz_j_charge(st, 1)) return false;
        if (d->e[i - 1].hash != h) continue;
        if (!mz_j_eq(st, d->e[i - 1].key, key, &eq)) return false;
        if (eq) {
            *at = i - 1;
            return true;
        }
    }
    *at = d->n;
    return true;
}

static void index_add(mz_jdict *d, size_t i)
{
    size_t k = (size_t)d->e[i].hash & (d->n_index - 1);
    while (d->index[k]) k = (k + 1) & (d->n_index - 1);
    d->index[k] = (uint32_t)(i + 1);
}

static bool grow(mz_jst *st, mz_jdict *d)
{
    size_t cap = d->cap ? d->cap * 2 : SMALL;
    mz_jentry *e = mz_j_alloc(st, cap, sizeof *e);
    if (!e) return false;
    if (d->n) memcpy(e, d->e, d->n * sizeof *e);
    d->e = e;
    d->cap = cap;
    if (cap <= SMALL) return true;
    uint32_t *index = mz_j_alloc(st, cap * 2, sizeof *index);
    if (!index) return false;
    d->index = index;
    d->n_index = cap * 2;
    for (size_t i = 0; i < d->n; i++) index_add(d, i);
    return true;
}

bool mz_j_dict_set(mz_jst *st, mz_jdict *d, mz_jv key, mz_jv val)
{
    uint64_t h = 0;
    size_t at;
    if (!hash_of(st, key, &h) || !find(st, d, key, h, &at)) return false;
    if (at < d->n) {
        d->e[at].val = val;
        return true;
    }
    if (d->n == d->cap && !grow(st, d)) return false;
    d->e[d->n] = (mz_jentry){.key = key, .val = val, .hash = h};
    d->n++;
    if (d->index) index_add(d, d->n - 1);
    return true;
}

bool mz_j_dict_get(mz_jst *st, const mz_jdict *d, mz_jv key, bool strict, mz_jv *out)
{
    uint64_t h = 0;
    size_t at;
    *out = (mz_jv){0};
    if (!strict && !is_hashable(key)) return true;
    if (!hash_of(st, key, &h) || !find(st, d, key, h, &at)) return false;
    if (at < d->n) *out = d->e[at].val;
    return true;
}

bool mz_j_dict_get_str(mz_jst *st, const mz_jdict *d, const char *name, mz_jv *out)
{
    mz_jstr s = {.p = name, .n = strlen(name), .n_cp = SIZE_MAX};
    return mz_j_dict_get(st, d, (mz_jv){.type = MZ_J_STR, .s = &s}, true, out);
}

bool mz_j_dict_merge(mz_jst *st, mz_jdict *d, mz_jv from)
{
    if (from.type == MZ_J_DICT) {
        for (size_t i = 0; i < from.d->n; i++)
            if (!mz_j_charge(st, 1) || !mz_j_dict_set(st, d, from.d->e[i].key, from.d->e[i].val)) return false;
        return true;
    }
    mz_jiter *it;
    mz_jv pair, l;
    int r;
    if (!mz_j_iter(st, from, &it)) return false;
    while ((r = mz_j_next(st, it, &pair)) == 1) {
        if (!mz_j_to_list(st, pair, &l)) return false;
        if (l.l->n != 2) return mz_j_fail(st, MZ_EINVAL, "an item for a dict has %zu elements; 2 are needed", l.l->n);
        if (!mz_j_dict_set(st, d, l.l->v[0], l.l->v[1])) return false;
    }
    return r == 0;
}

bool mz_j_view_item(mz_jst *st, mz_jv view, size_t i, mz_jv *out)
{
    const mz_jentry *e = &view.d->e[i];
    if (view.sub == MZ_J_ITEMS) return mz_j_tuple2(st, e->key, e->val, out);
    *out = view.sub == MZ_J_KEYS ? e->key : e->val;
    return true;
}

static int cmp_num(mz_jv a, mz_jv b)
{
    if (a.type != MZ_J_FLOAT && b.type != MZ_J_FLOAT) {
        int64_t x = mz_j_as_int(a), y = mz_j_as_int(b);
        return x < y ? -1 : x > y;
    }
    double x = mz_j_as_float(a), y = mz_j_as_float(b);
    if (x != x || y != y) return 2;
    if (x != y || (a.type == MZ_J_FLOAT && b.type == MZ_J_FLOAT)) return x < y ? -1 : x > y;
    /* Equal after rounding: compare an integer past 2^53 exactly. */
    bool swap = a.type == MZ_J_FLOAT;
    int64_t i = mz_j_as_int(swap ? b : a);
    double f = swap ? x : y;
    if (f >= 9223372036854775808.0) return swap ? 1 : -1;
    int64_t k = (int64_t)f;
    int c = i < k ? -1 : i > k;
    return swap ? -c : c;
}

bool mz_j_same(mz_jv a, mz_jv b)
{
    if (a.type != b.type) return false;
    switch (a.type) {
    case MZ_J_NONE: return true;
    case MZ_J_BOOL: return a.b == b.b;
    case MZ_J_INT: return a.i == b.i && a.i >= -5 && a.i <= 256; /* the integers that Python keeps one object of */
    case MZ_J_FUNC: return a.sub == b.sub;
    default: return a.id == b.id && a.sub == b.sub;
    }
}

static bool eq_lists(mz_jst *st, const mz_jlist *a, const mz_jlist *b, bool *out)
{
    *out = a == b || a->n == b->n;
    if (a == b) return true;
    for (size_t i = 0; i < a->n && *out; i++)
        if (!mz_j_eq(st, a->v[i], b->v[i], out)) return false;
    return true;
}

static bool eq_dicts(mz_jst *st, const mz_jdict *a, const mz_jdict *b, bool *out)
{
    *out = a == b || a->n == b->n;
    if (a == b) return true;
    for (size_t i = 0; i < a->n && *out; i++) {
        mz_jv v;
        if (!mz_j_dict_get(st, b, a->e[i].key, true, &v)) return false;
        if (v.type == MZ_J_MISSING)
            *out = false;
        else if (!mz_j_eq(st, a->e[i].val, v, out))
            return false;
    }
    return true;
}

bool mz_j_eq(mz_jst *st, mz_jv a, mz_jv b, bool *out)
{
    bool ok = true;
    *out = false;
    if (mz_j_is_num(a) && mz_j_is_num(b)) {
        *out = cmp_num(a, b) == 0;
        return true;
    }
    if (a.type != b.type) return true;
    switch (a.type) {
    case MZ_J_NONE:
    case MZ_J_UNDEF: *out = true; return true;
    case MZ_J_STR:
        *out = a.s->n == b.s->n && (a.s->p == b.s->p || memcmp(a.s->p, b.s->p, a.s->n) == 0);
        return mz_j_charge(st, *out ? a.s->n / 256 : 0);
    case MZ_J_RANGE:
        *out = a.r->n == b.r->n && (a.r->n == 0 || (a.r->start == b.r->start && (a.r->n == 1 || a.r->step == b.r->step)));
        return true;
    case MZ_J_LIST:
    case MZ_J_TUPLE:
    case MZ_J_DICT:
        if (!mz_j_charge(st, 1) || !mz_j_enter(st)) return false;
        ok = a.type == MZ_J_DICT ? eq_dicts(st, a.d, b.d, out) : eq_lists(st, a.l, b.l, out);
        mz_j_leave(st);
        return ok;
    default: *out = mz_j_same(a, b); return true;
    }
}

static int cmp_bytes(const mz_jstr *a, const mz_jstr *b)
{
    size_t n = a->n < b->n ? a->n : b->n;
    int c = n ? memcmp(a->p, b->p, n) : 0;
    return c ? (c < 0 ? -1 : 1) : a->n < b->n ? -1 : a->n > b->n;
}

bool mz_j_order(mz_jst *st, mz_jv a, mz_jv b, const char *op, int *out)
{
    if (a.type == MZ_J_UNDEF) return mz_j_undef_fail(st, a);
    if (b.type == MZ_J_UNDEF) return mz_j_undef_fail(st, b);
    if (mz_j_is_num(a) && mz_j_is_num(b)) {
        *out = cmp_num(a, b);
        return true;
    }
    if (a.type == MZ_J_STR && b.type == MZ_J_STR) {
        *out = cmp_bytes(a.s, b.s); /* the order of bytes in UTF-8 is that of code points */
        return mz_j_charge(st, a.s->n / 256);
    }
    if ((a.type == MZ_J_LIST && b.type == MZ_J_LIST) || (a.type == MZ_J_TUPLE && b.type == MZ_J_TUPLE)) {
        size_t n = a.l->n < b.l->n ? a.l->n : b.l->n;
        bool eq, ok = true;
        if (!mz_j_enter(st)) return false;
        for (size_t i = 0; i < n; i++) {
            if (!mz_j_charge(st, 1) || !mz_j_eq(st, a.l->v[i], b.l->v[i], &eq)) return false;
            if (eq) continue;
            ok = mz_j_order(st, a.l->v[i], b.l->v[i], op, out);
            mz_j_leave(st);
            return ok;
        }
        mz_j_leave(st);
        *out = a.l->n < b.l->n ? -1 : a.l->n > b.l->n;
        return true;
    }
    return mz_j_fail(st, MZ_EINVAL, "'%s' not supported between instances of '%s' and '%s'", op, mz_j_type_name(a), mz_j_type_name(b));
}

bool mz_j_lt(mz_jst *st, mz_jv a, mz_jv b, bool *out)
{
    int c;
    if (!mz_j_order(st, a, b, "<", &c)) return false;
    *out = c == -1;
    return true;
}

bool mz_j_in(mz_jst *st, mz_jv item, mz_jv seq, bool *out)
{
    mz_jv v;
    mz_jiter *it;
    int r;
    *out = false;
    if (seq.type == MZ_J_STR) {
        if (item.type != MZ_J_STR)
            return mz_j_fail(st, MZ_EINVAL, "'in <string>' requires string as left operand, not %s", mz_j_type_name(item));
        *out = mz_j_find(seq.s->p, seq.s->n, item.s->p, item.s->n) != NULL;
        return mz_j_charge(st, seq.s->n / 64);
    }
    if (seq.type == MZ_J_DICT || (seq.type == MZ_J_VIEW && seq.sub == MZ_J_KEYS)) {
        if (!mz_j_dict_get(st, seq.d, item, true, &v)) return false;
        *out = v.type != MZ_J_MISSING;
        return true;
    }
    if (seq.type == MZ_J_NONE || mz_j_is_num(seq) || seq.type >= MZ_J_NS)
        return mz_j_fail(st, MZ_EINVAL, "argument of type '%s' is not iterable", mz_j_type_name(seq));
    if (!mz_j_iter(st, seq, &it)) return false;
    while ((r = mz_j_next(st, it, &v)) == 1) {
        if (!mz_j_eq(st, v, item, out)) return false;
        if (*out) return true;
    }
    return r == 0;
}
