/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_iter.c: iteration. Filters such as map and select give generators, as in jinja2: lazy, always true, without a
 * length, and used up by one pass; templates depend on each of these. */
#include <string.h>

#include "text/jinja_ast.h"
#include "text/utf8.h"

typedef enum { IT_EMPTY, IT_SEQ, IT_REV, IT_STR, IT_DICT, IT_RANGE, IT_LOOP, IT_MAP, IT_SELECT, IT_UNIQUE, IT_BATCH, IT_FOR } it_kind;

struct mz_jiter {
    uint8_t kind;
    bool negate, by_attr, done, started;
    mz_jv src;       /* what is iterated; MAP …: the source, opened at the first item */
    size_t i;        /* next position */
    mz_jiter *inner; /* MAP … */
    mz_jargs args;   /* MAP, SELECT */
    mz_jv attr, fill;
    mz_jdict *seen;          /* UNIQUE */
    int64_t n;               /* BATCH */
    const mz_jnode *node;    /* FOR */
    mz_jscope *scope, local; /* FOR */
};

static mz_jiter *make(mz_jst *st, it_kind kind, mz_jv src)
{
    mz_jiter *it = mz_j_alloc(st, 1, sizeof *it);
    if (!it) return NULL;
    it->kind = (uint8_t)kind;
    it->src = src;
    return it;
}

static bool as_value(mz_jiter *it, mz_jv *out)
{
    if (!it) return false;
    *out = (mz_jv){.type = MZ_J_ITER, .it = it};
    return true;
}

bool mz_j_iter(mz_jst *st, mz_jv v, mz_jiter **out)
{
    it_kind kind;
    switch (v.type) {
    case MZ_J_UNDEF: kind = IT_EMPTY; break;
    case MZ_J_LIST:
    case MZ_J_TUPLE: kind = IT_SEQ; break;
    case MZ_J_STR: kind = IT_STR; break;
    case MZ_J_DICT:
    case MZ_J_VIEW: kind = IT_DICT; break;
    case MZ_J_RANGE: kind = IT_RANGE; break;
    case MZ_J_LOOP: kind = IT_LOOP; break;
    case MZ_J_ITER: *out = v.it; return true;
    default: return mz_j_fail(st, MZ_EINVAL, "'%s' object is not iterable", mz_j_type_name(v));
    }
    *out = make(st, kind, v);
    return *out != NULL;
}

static bool seq_item(mz_jst *st, mz_jv src, size_t i, mz_jv *out)
{
    switch (src.type) {
    case MZ_J_LIST:
    case MZ_J_TUPLE: *out = src.l->v[i]; return true;
    case MZ_J_DICT: *out = src.d->e[i].key; return true;
    case MZ_J_VIEW: return mz_j_view_item(st, src, i, out);
    default: *out = mz_j_int((int64_t)((uint64_t)src.r->start + (uint64_t)i * (uint64_t)src.r->step)); return true;
    }
}

static int next_plain(mz_jst *st, mz_jiter *it, mz_jv *out)
{
    size_t n = 0;
    if (it->kind == IT_STR) {
        int32_t cp;
        const mz_jstr *s = it->src.s;
        if (it->i >= s->n) return 0;
        size_t k = mz_utf8_decode(s->p + it->i, s->n - it->i, &cp);
        if (!mz_j_str_borrow(st, s->p + it->i, k, out)) return -1;
        it->i += k;
        return 1;
    }
    (void)mz_j_len(it->src, &n);
    if (it->i >= n) return 0;
    size_t i = it->kind == IT_REV ? n - 1 - it->i : it->i;
    it->i++;
    return seq_item(st, it->src, i, out) ? 1 : -1;
}

/* The functions below are the bodies of jinja2's generators. */
static int next_map(mz_jst *st, mz_jiter *it, mz_jv *out)
{
    mz_jv item, attr = {0}, fallback = {0};
    mz_jargs *a = &it->args;
    int id = -1;
    if (!it->started) {
        it->started = true;
        it->done = it->src.type != MZ_J_ITER && !mz_j_truth(it->src);
        if (!it->done && !mz_j_iter(st, it->src, &it->inner)) return -1;
    }
    if (it->done) return 0;
    if (a->n == 0) {
        for (size_t i = 0; i < a->n_kw; i++) {
            if (MZ_J_IS(a->kw[i].name, "attribute"))
                attr = a->kw[i].val;
            else if (MZ_J_IS(a->kw[i].name, "default"))
                fallback = a->kw[i].val;
            else
                return mz_j_fail(st, MZ_EINVAL, "map: unexpected keyword argument"), -1;
        }
        if (attr.type == MZ_J_MISSING) return mz_j_fail(st, MZ_EINVAL, "map requires a filter argument"), -1;
        if (fallback.type == MZ_J_NONE) fallback.type = MZ_J_MISSING;
    } else {
        if (a->v[0].type == MZ_J_STR) id = mz_j_filter_find(a->v[0].s->p, a->v[0].s->n);
        if (id < 0) {
            if (a->v[0].type == MZ_J_STR)
                mz_j_fail(st, MZ_ESUPPORT, "map: unknown filter '%.*s'", (int)(a->v[0].s->n < 80 ? a->v[0].s->n : 80), a->v[0].s->p);
            else
                mz_j_fail(st, MZ_EINVAL, "map: the filter's name must be a string, not %s", mz_j_type_name(a->v[0]));
            return -1;
        }
    }
    int r = mz_j_next(st, it->inner, &item);
    if (r != 1) return r;
    if (id < 0) return mz_j_pick(st, item, attr, fallback, false, out) ? 1 : -1;
    mz_jargs rest = *a;
    rest.v++;
    rest.n--;
    if (!mz_j_enter(st)) return -1;
    r = mz_j_filter_call(st, id, item, &rest, out) ? 1 : -1;
    mz_j_leave(st);
    return r;
}

static int next_select(mz_jst *st, mz_jiter *it, mz_jv *out)
{
    mz_jargs rest = it->args;
    int id = -1;
    if (!it->started) {
        it->started = true;
        it->done = it->src.type != MZ_J_ITER && !mz_j_truth(it->src);
        if (!it->done && !mz_j_iter(st, it->src, &it->inner)) return -1;
    }
    if (it->done) return 0;
    if (it->by_attr) {
        if (rest.n == 0) return mz_j_fail(st, MZ_EINVAL, "missing parameter for the attribute's name"), -1;
        rest.v++;
        rest.n--;
    }
    if (rest.n) {
        if (rest.v[0].type == MZ_J_STR) id = mz_j_test_find(rest.v[0].s->p, rest.v[0].s->n);
        if (id < 0) {
            if (rest.v[0].type == MZ_J_STR)
                mz_j_fail(st, MZ_ESUPPORT, "unknown test '%.*s'", (int)(rest.v[0].s->n < 80 ? rest.v[0].s->n : 80), rest.v[0].s->p);
            else
                mz_j_fail(st, MZ_EINVAL, "the test's name must be a string, not %s", mz_j_type_name(rest.v[0]));
            return -1;
        }
        rest.v++;
        rest.n--;
    }
    for (;;) {
        mz_jv item, v;
        bool yes;
        int r = mz_j_next(st, it->inner, &item);
        if (r != 1) return r;
        v = item;
        if (it->by_attr && !mz_j_pick(st, item, it->args.v[0], (mz_jv){0}, false, &v)) return -1;
        if (id < 0)
            yes = mz_j_truth(v);
        else if (!mz_j_test_call(st, id, v, &rest, &yes))
            return -1;
        if (yes == it->negate) continue;
        *out = item;
        return 1;
    }
}

static int next_unique(mz_jst *st, mz_jiter *it, mz_jv *out)
{
    mz_jv key, hit;
    int r;
    if (!it->started) {
        mz_jv d;
        it->started = true;
        if (!mz_j_dict(st, &d) || !mz_j_iter(st, it->src, &it->inner)) return -1;
        it->seen = d.d;
    }
    while ((r = mz_j_next(st, it->inner, out)) == 1) {
        if (!mz_j_pick(st, *out, it->attr, (mz_jv){0}, !it->by_attr, &key) || !mz_j_dict_get(st, it->seen, key, true, &hit)) return -1;
        if (hit.type != MZ_J_MISSING) continue;
        return mz_j_dict_set(st, it->seen, key, mz_j_none()) ? 1 : -1;
    }
    return r;
}

static int next_batch(mz_jst *st, mz_jiter *it, mz_jv *out)
{
    mz_jv item;
    int r = 0;
    if (!it->started) {
        it->started = true;
        if (!mz_j_iter(st, it->src, &it->inner)) return -1;
    }
    if (it->done) return 0;
    if (!mz_j_list(st, 0, out)) return -1;
    if (it->i) { /* the item that did not fit into the last batch */
        it->i = 0;
        if (!mz_j_list_push(st, out->l, it->local.v->val)) return -1;
    }
    while ((r = mz_j_next(st, it->inner, &item)) == 1) {
        if ((int64_t)out->l->n == it->n) {
            if (!it->local.v && !(it->local.v = mz_j_alloc(st, 1, sizeof *it->local.v))) return -1;
            it->local.v->val = item;
            it->i = 1;
            return 1;
        }
        if (!mz_j_list_push(st, out->l, item)) return -1;
    }
    if (r < 0) return r;
    it->done = true;
    if (out->l->n == 0) return 0;
    if (it->fill.type != MZ_J_NONE && it->fill.type != MZ_J_MISSING)
        while ((int64_t)out->l->n < it->n)
            if (!mz_j_charge(st, 1) || !mz_j_list_push(st, out->l, it->fill)) return -1;
    return 1;
}

/* The items of a `for … if`: the condition sees the loop's variables in a scope of its own. */
static int next_for(mz_jst *st, mz_jiter *it, mz_jv *out)
{
    mz_jscope *saved = st->scope;
    int r;
    if (!it->started) {
        it->started = true;
        if (!mz_j_iter(st, it->src, &it->inner)) return -1;
    }
    while ((r = mz_j_next(st, it->inner, out)) == 1) {
        mz_jv yes;
        it->local.n = 0;
        it->local.parent = it->scope;
        st->scope = &it->local;
        bool ok = mz_j_assign(st, it->node->a, *out) && mz_j_eval(st, it->node->c, &yes);
        st->scope = saved;
        if (!ok) return -1;
        if (mz_j_truth(yes)) return 1;
    }
    return r;
}

int mz_j_next(mz_jst *st, mz_jiter *it, mz_jv *out)
{
    int r;
    if (!mz_j_charge(st, 1)) return -1;
    if (it->kind < IT_LOOP) return it->kind == IT_EMPTY ? 0 : next_plain(st, it, out);
    if (!mz_j_enter(st)) return -1;
    switch (it->kind) {
    case IT_LOOP:
        r = mz_j_loop_next(st, it->src.loop, out);
        if (r == 1 && !mz_j_tuple2(st, *out, it->src, out)) r = -1;
        break;
    case IT_MAP: r = next_map(st, it, out); break;
    case IT_SELECT: r = next_select(st, it, out); break;
    case IT_UNIQUE: r = next_unique(st, it, out); break;
    case IT_BATCH: r = next_batch(st, it, out); break;
    default: r = next_for(st, it, out); break;
    }
    mz_j_leave(st);
    return r;
}

bool mz_j_to_list(mz_jst *st, mz_jv v, mz_jv *out)
{
    mz_jiter *it;
    mz_jv item;
    int r;
    if (v.type == MZ_J_LIST || v.type == MZ_J_TUPLE) {
        if (!mz_j_charge(st, v.l->n / 4) || !mz_j_list(st, v.l->n, out)) return false;
        if (v.l->n) memcpy(out->l->v, v.l->v, v.l->n * sizeof *v.l->v);
        out->l->n = v.l->n;
        return true;
    }
    if (!mz_j_iter(st, v, &it) || !mz_j_list(st, 0, out)) return false;
    while ((r = mz_j_next(st, it, &item)) == 1)
        if (!mz_j_list_push(st, out->l, item)) return false;
    return r == 0;
}

bool mz_j_iter_of_list(mz_jst *st, mz_jlist *l, mz_jv *out)
{
    return as_value(make(st, IT_SEQ, (mz_jv){.type = MZ_J_LIST, .l = l}), out);
}

bool mz_j_reversed(mz_jst *st, mz_jv v, mz_jv *out)
{
    switch (v.type) {
    case MZ_J_LIST:
    case MZ_J_TUPLE:
    case MZ_J_DICT:
    case MZ_J_VIEW:
    case MZ_J_RANGE: return as_value(make(st, IT_REV, v), out);
    default: { /* a fresh list, reversed */
        mz_jv l;
        if (!mz_j_to_list(st, v, &l)) return false;
        for (size_t i = 0, j = l.l->n; i + 1 < j; i++) {
            mz_jv t = l.l->v[i];
            l.l->v[i] = l.l->v[--j];
            l.l->v[j] = t;
        }
        *out = l;
        return true;
    }
    }
}

static bool copy_args(mz_jst *st, const mz_jargs *a, mz_jargs *out)
{
    *out = *a;
    if (a->n) {
        if (!(out->v = mz_j_alloc(st, a->n, sizeof *a->v))) return false;
        memcpy(out->v, a->v, a->n * sizeof *a->v);
    }
    if (a->n_kw) {
        if (!(out->kw = mz_j_alloc(st, a->n_kw, sizeof *a->kw))) return false;
        memcpy(out->kw, a->kw, a->n_kw * sizeof *a->kw);
    }
    return true;
}

bool mz_j_iter_map(mz_jst *st, mz_jv src, const mz_jargs *a, mz_jv *out)
{
    mz_jiter *it = make(st, IT_MAP, src);
    return it && copy_args(st, a, &it->args) && as_value(it, out);
}

bool mz_j_iter_select(mz_jst *st, mz_jv src, const mz_jargs *a, bool negate, bool by_attr, mz_jv *out)
{
    mz_jiter *it = make(st, IT_SELECT, src);
    if (!it || !copy_args(st, a, &it->args)) return false;
    it->negate = negate;
    it->by_attr = by_attr;
    return as_value(it, out);
}

bool mz_j_iter_unique(mz_jst *st, mz_jv src, bool case_sensitive, mz_jv attr, mz_jv *out)
{
    mz_jiter *it = make(st, IT_UNIQUE, src);
    if (!it) return false;
    it->by_attr = case_sensitive;
    it->attr = attr;
    return as_value(it, out);
}

bool mz_j_iter_batch(mz_jst *st, mz_jv src, int64_t n, mz_jv fill, mz_jv *out)
{
    mz_jiter *it = make(st, IT_BATCH, src);
    if (!it) return false;
    it->n = n;
    it->fill = fill;
    return as_value(it, out);
}

bool mz_j_iter_for(mz_jst *st, mz_jv src, const mz_jnode *for_node, mz_jscope *scope, mz_jiter **out)
{
    mz_jiter *it = make(st, IT_FOR, src);
    if (!it) return false;
    it->node = for_node;
    it->scope = scope;
    *out = it;
    return true;
}

static bool fold_case(mz_jst *st, bool fold, mz_jv v, mz_jv *out)
{
    if (fold && v.type == MZ_J_STR) return mz_j_case(st, v, MZ_J_LOWER, out);
    *out = v;
    return true;
}

bool mz_j_pick(mz_jst *st, mz_jv v, mz_jv attr, mz_jv fallback, bool fold, mz_jv *out)
{
    if (attr.type == MZ_J_NONE || attr.type == MZ_J_MISSING) return fold_case(st, fold, v, out);
    if (attr.type != MZ_J_STR) {
        if (!mz_j_getitem(st, v, attr, &v)) return false;
        if (v.type == MZ_J_UNDEF && fallback.type != MZ_J_MISSING) v = fallback;
        return fold_case(st, fold, v, out);
    }
    const char *p = attr.s->p, *end = p + attr.s->n;
    for (;;) { /* a.b.0: one lookup for each part */
        const char *dot = memchr(p, '.', (size_t)(end - p));
        mz_jstr part = {.p = p, .n = (size_t)((dot ? dot : end) - p), .n_cp = SIZE_MAX};
        mz_jv key;
        int64_t i;
        bool large;
        if (!mz_j_charge(st, 1)) return false;
        if (mz_j_is_class(&part, MZ_J_DIGIT)) {
            if (!mz_j_parse_int(&part, 10, &i, &large)) return mz_j_fail(st, MZ_EINVAL, "an index in an attribute's name is not a number");
            key = mz_j_int(i);
        } else if (!mz_j_str_borrow(st, part.p, part.n, &key)) {
            return false;
        }
        if (!mz_j_getitem(st, v, key, &v)) return false;
        if (v.type == MZ_J_UNDEF && fallback.type != MZ_J_MISSING) v = fallback;
        if (!dot) break;
        p = dot + 1;
    }
    return fold_case(st, fold, v, out);
}
