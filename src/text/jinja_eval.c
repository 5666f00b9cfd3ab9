/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_eval.c: the value of an expression. */
#include <string.h>

#include "text/jinja_ast.h"

static bool eval_name(mz_jst *st, const mz_jnode *n, mz_jv *out)
{
    for (const mz_jscope *s = st->scope; s; s = s->parent)
        for (uint32_t i = 0; i < s->n; i++)
            if (s->v[i].atom == n->atom) {
                *out = s->v[i].val;
                return out->type != MZ_J_MISSING || mz_j_undef_name(st, n->value, out);
            }
    if (!mz_j_dict_get(st, st->globals, n->value, true, out)) return false;
    return out->type != MZ_J_MISSING || mz_j_undef_name(st, n->value, out);
}

static bool eval_list(mz_jst *st, const mz_jnode *n, mz_jv *out)
{
    mz_jv l;
    if (!mz_j_list(st, n->n, &l)) return false;
    if (n->kind == MZ_JN_TUPLE) l.type = MZ_J_TUPLE;
    for (const mz_jnode *k = n->list; k; k = k->next) {
        if (!mz_j_eval(st, k, &l.l->v[l.l->n])) return false;
        l.l->n++;
    }
    *out = l;
    return true;
}

static bool eval_dict(mz_jst *st, const mz_jnode *n, mz_jv *out)
{
    mz_jv d, key, val;
    if (!mz_j_dict(st, &d)) return false;
    for (const mz_jnode *k = n->list; k; k = k->next->next)
        if (!mz_j_eval(st, k, &key) || !mz_j_eval(st, k->next, &val) || !mz_j_dict_set(st, d.d, key, val)) return false;
    *out = d;
    return true;
}

static bool eval_concat(mz_jst *st, const mz_jnode *n, mz_jv *out)
{
    mz_jv acc = {0}, v, s;
    for (const mz_jnode *k = n->list; k; k = k->next) {
        if (!mz_j_eval(st, k, &v) || !mz_j_to_str(st, v, &s)) return false;
        if (acc.type == MZ_J_MISSING)
            acc = s;
        else if (!mz_j_str_cat(st, acc.s, s.s, &acc))
            return false;
    }
    *out = acc;
    return true;
}

static bool eval_binary(mz_jst *st, const mz_jnode *n, mz_jv *out)
{
    mz_jv acc, right;
    if (!mz_j_eval(st, n->a, &acc)) return false;
    for (const mz_jnode *k = n->list; k; k = k->next) {
        if (!mz_j_charge(st, 1) || !mz_j_eval(st, k->a, &right)) return false;
        st->pos = n->pos;
        if (!mz_j_binary(st, k->op, acc, right, &acc)) return false;
    }
    *out = acc;
    return true;
}

static bool compare(mz_jst *st, int op, mz_jv a, mz_jv b, bool *out)
{
    int c;
    switch (op) {
    case MZ_JT_EQ:
    case MZ_JT_NE:
        if (!mz_j_eq(st, a, b, out)) return false;
        *out = *out == (op == MZ_JT_EQ);
        return true;
    case MZ_JT_IN:
    case MZ_JT_NOTIN:
        if (!mz_j_in(st, a, b, out)) return false;
        *out = *out == (op == MZ_JT_IN);
        return true;
    case MZ_JT_LT:
        if (!mz_j_order(st, a, b, "<", &c)) return false;
        *out = c == -1;
        return true;
    case MZ_JT_LE:
        if (!mz_j_order(st, a, b, "<=", &c)) return false;
        *out = c == -1 || c == 0;
        return true;
    case MZ_JT_GT:
        if (!mz_j_order(st, a, b, ">", &c)) return false;
        *out = c == 1;
        return true;
    default:
        if (!mz_j_order(st, a, b, ">=", &c)) return false;
        *out = c == 0 || c == 1;
        return true;
    }
}

static bool eval_compare(mz_jst *st, const mz_jnode *n, mz_jv *out)
{
    mz_jv left, right;
    bool yes = true;
    if (!mz_j_eval(st, n->a, &left)) return false;
    for (const mz_jnode *k = n->list; k && yes; k = k->next) {
        if (!mz_j_charge(st, 1) || !mz_j_eval(st, k->a, &right)) return false;
        st->pos = n->pos;
        if (!compare(st, k->op, left, right, &yes)) return false;
        left = right;
    }
    *out = mz_j_bool(yes);
    return true;
}

static bool eval_logic(mz_jst *st, const mz_jnode *n, mz_jv *out)
{
    for (const mz_jnode *k = n->list; k; k = k->next) {
        if (!mz_j_eval(st, k, out)) return false;
        if (mz_j_truth(*out) == (n->kind == MZ_JN_OR)) return true;
    }
    return true;
}

static bool eval_cond(mz_jst *st, const mz_jnode *n, mz_jv *out)
{
    mz_jv test;
    if (!mz_j_eval(st, n->a, &test)) return false;
    if (mz_j_truth(test)) return mz_j_eval(st, n->b, out);
    if (n->c) return mz_j_eval(st, n->c, out);
    return mz_j_undef_hint(st, "the inline if-expression evaluated to false and no else section was defined.", out);
}

static bool eval_slice(mz_jst *st, const mz_jnode *n, mz_jv *out)
{
    mz_jv v[4] = {{0}};
    const mz_jnode *const part[4] = {n->a, n->b, n->c, n->d};
    for (int i = 0; i < 4; i++)
        if (part[i] && !mz_j_eval(st, part[i], &v[i])) return false;
    st->pos = n->pos;
    return mz_j_slice(st, v[0], v[1], v[2], v[3], out);
}

static bool add_star(mz_jst *st, mz_jargs *a, mz_jv star)
{
    mz_jv l;
    if (!mz_j_to_list(st, star, &l)) return false;
    mz_jv *v = mz_j_alloc(st, a->n + l.l->n + 1, sizeof *v);
    if (!v) return false;
    if (a->n) memcpy(v, a->v, a->n * sizeof *v);
    if (l.l->n) memcpy(v + a->n, l.l->v, l.l->n * sizeof *v);
    a->v = v;
    a->n += l.l->n;
    return true;
}

static bool add_star2(mz_jst *st, mz_jargs *a, mz_jv star)
{
    if (star.type == MZ_J_UNDEF) return mz_j_undef_fail(st, star);
    if (star.type != MZ_J_DICT) return mz_j_fail(st, MZ_EINVAL, "argument after ** must be a mapping, not %s", mz_j_type_name(star));
    mz_jkw *kw = mz_j_alloc(st, a->n_kw + star.d->n + 1, sizeof *kw);
    if (!kw) return false;
    if (a->n_kw) memcpy(kw, a->kw, a->n_kw * sizeof *kw);
    size_t n = a->n_kw;
    for (size_t i = 0; i < star.d->n; i++) {
        const mz_jentry *e = &star.d->e[i];
        if (e->key.type != MZ_J_STR) return mz_j_fail(st, MZ_EINVAL, "keywords must be strings");
        for (size_t k = 0; k < a->n_kw; k++)
            if (mz_j_is_str(e->key, kw[k].name.s->p, kw[k].name.s->n))
                return mz_j_fail(st, MZ_EINVAL, "got multiple values for a keyword argument");
        if (!mz_j_charge(st, 1 + a->n_kw)) return false;
        kw[n].name = e->key;
        kw[n++].val = e->val;
    }
    a->kw = kw;
    a->n_kw = n;
    return true;
}

bool mz_j_eval_args(mz_jst *st, const mz_jcall *c, mz_jargs *out)
{
    mz_jargs a = {0};
    mz_jv v;
    if (!c) {
        *out = a;
        return true;
    }
    if (c->n_pos && !(a.v = mz_j_alloc(st, c->n_pos, sizeof *a.v))) return false;
    if (c->n_kw && !(a.kw = mz_j_alloc(st, c->n_kw, sizeof *a.kw))) return false;
    for (const mz_jnode *k = c->pos; k; k = k->next) {
        if (!mz_j_eval(st, k, &a.v[a.n])) return false;
        a.n++;
    }
    if (c->star && (!mz_j_eval(st, c->star, &v) || !add_star(st, &a, v))) return false;
    for (const mz_jnode *k = c->kw; k; k = k->next) {
        a.kw[a.n_kw].name = k->value;
        if (!mz_j_eval(st, k->a, &a.kw[a.n_kw].val)) return false;
        a.n_kw++;
    }
    if (c->star2 && (!mz_j_eval(st, c->star2, &v) || !add_star2(st, &a, v))) return false;
    *out = a;
    return true;
}

static bool unknown(mz_jst *st, const mz_jnode *n, const char *what)
{
    st->pos = n->pos;
    return mz_j_fail(st, MZ_ESUPPORT, "unknown %s '%.*s'", what, (int)(n->value.s->n < 80 ? n->value.s->n : 80), n->value.s->p);
}

bool mz_j_eval_filter(mz_jst *st, const mz_jnode *n, mz_jv in, mz_jv *out)
{
    mz_jargs a;
    if (n->a) { /* a chain of filters may end in a block's text instead of an expression: pass that down */
        if (!mz_j_enter(st)) return false;
        bool ok = n->a->kind == MZ_JN_FILTER ? mz_j_eval_filter(st, n->a, in, &in) : mz_j_eval(st, n->a, &in);
        mz_j_leave(st);
        if (!ok) return false;
    }
    if (n->id < 0) return unknown(st, n, "filter");
    if (!mz_j_charge(st, 1) || !mz_j_eval_args(st, n->call, &a)) return false;
    st->pos = n->pos;
    return mz_j_filter_call(st, n->id, in, &a, out);
}

static bool eval_test(mz_jst *st, const mz_jnode *n, mz_jv *out)
{
    mz_jv v;
    mz_jargs a;
    bool yes;
    if (!mz_j_eval(st, n->a, &v)) return false;
    if (n->id < 0) return unknown(st, n, "test");
    if (!mz_j_eval_args(st, n->call, &a)) return false;
    st->pos = n->pos;
    if (!mz_j_test_call(st, n->id, v, &a, &yes)) return false;
    *out = mz_j_bool(yes);
    return true;
}

static bool eval_inner(mz_jst *st, const mz_jnode *n, mz_jv *out)
{
    mz_jv v, k;
    mz_jargs a;
    switch (n->kind) {
    case MZ_JN_CONST: *out = n->value; return true;
    case MZ_JN_NAME: return eval_name(st, n, out);
    case MZ_JN_TUPLE:
    case MZ_JN_LIST: return eval_list(st, n, out);
    case MZ_JN_DICT: return eval_dict(st, n, out);
    case MZ_JN_ATTR:
        if (!mz_j_eval(st, n->a, &v)) return false;
        st->pos = n->pos;
        return mz_j_getattr(st, v, n->value, out);
    case MZ_JN_ITEM:
        if (!mz_j_eval(st, n->a, &v) || !mz_j_eval(st, n->b, &k)) return false;
        st->pos = n->pos;
        return mz_j_getitem(st, v, k, out);
    case MZ_JN_SLICE: return eval_slice(st, n, out);
    case MZ_JN_CALL:
        if (!mz_j_eval(st, n->a, &v) || !mz_j_eval_args(st, n->call, &a)) return false;
        st->pos = n->pos;
        return mz_j_call(st, v, &a, out);
    case MZ_JN_FILTER: return mz_j_eval_filter(st, n, (mz_jv){0}, out);
    case MZ_JN_TEST: return eval_test(st, n, out);
    case MZ_JN_BINARY: return eval_binary(st, n, out);
    case MZ_JN_CONCAT: return eval_concat(st, n, out);
    case MZ_JN_COMPARE: return eval_compare(st, n, out);
    case MZ_JN_AND:
    case MZ_JN_OR: return eval_logic(st, n, out);
    case MZ_JN_NOT:
        if (!mz_j_eval(st, n->a, &v)) return false;
        *out = mz_j_bool(!mz_j_truth(v));
        return true;
    case MZ_JN_UNARY:
        if (!mz_j_eval(st, n->a, &v)) return false;
        st->pos = n->pos;
        return mz_j_unary(st, n->op, v, out);
    default: return eval_cond(st, n, out);
    }
}

bool mz_j_eval(mz_jst *st, const mz_jnode *n, mz_jv *out)
{
    st->pos = n->pos;
    if (!mz_j_charge(st, 1) || !mz_j_enter(st)) return false;
    bool ok = eval_inner(st, n, out);
    mz_j_leave(st);
    return ok;
}
