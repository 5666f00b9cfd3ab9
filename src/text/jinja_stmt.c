/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_stmt.c: statements, loops and macros. Variables are looked up through the chain of enclosing scopes; `if` opens
 * none, every other block does, and an assignment goes to the innermost. */
#include <stdio.h>
#include <string.h>

#include "text/jinja_ast.h"

bool mz_j_scope_set(mz_jst *st, uint32_t atom, mz_jv v)
{
    mz_jscope *s = st->scope;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->v[i].atom == atom) {
            s->v[i].val = v;
            return true;
        }
    if (s->n == s->cap) {
        uint32_t cap = s->cap ? s->cap * 2 : 4;
        struct mz_jvar *grown = mz_j_alloc(st, cap, sizeof *grown);
        if (!grown) return false;
        if (s->n) memcpy(grown, s->v, s->n * sizeof *grown);
        s->v = grown;
        s->cap = cap;
    }
    s->v[s->n].atom = atom;
    s->v[s->n++].val = v;
    return true;
}

static bool assign_ns(mz_jst *st, const mz_jnode *target, mz_jv v)
{
    mz_jv ns;
    if (!mz_j_eval(st, target->a, &ns)) return false;
    st->pos = target->pos;
    if (ns.type != MZ_J_NS) return mz_j_fail(st, MZ_EINVAL, "cannot assign attribute on non-namespace object");
    if (target->value.s->n && target->value.s->p[0] == '_')
        return mz_j_fail(st, MZ_EINVAL, "attributes of a namespace cannot begin with an underscore; rename '%.*s'",
                         (int)(target->value.s->n < 80 ? target->value.s->n : 80), target->value.s->p);
    return mz_j_dict_set(st, ns.d, target->value, v);
}

bool mz_j_assign(mz_jst *st, const mz_jnode *target, mz_jv v)
{
    mz_jv l;
    if (target->kind == MZ_JN_NAME) return mz_j_scope_set(st, target->atom, v);
    if (target->kind == MZ_JN_NSREF) return assign_ns(st, target, v);
    st->pos = target->pos;
    if (v.type == MZ_J_LIST || v.type == MZ_J_TUPLE)
        l = v;
    else if (!mz_j_to_list(st, v, &l))
        return false;
    if (l.l->n != target->n)
        return mz_j_fail(st, MZ_EINVAL, "%s values to unpack (expected %u, got %zu)", l.l->n < target->n ? "not enough" : "too many",
                         target->n, l.l->n);
    size_t i = 0;
    for (const mz_jnode *k = target->list; k; k = k->next)
        if (!mz_j_assign(st, k, l.l->v[i++])) return false;
    return true;
}

/* Runs a body with its output caught. A break inside a caught body drops the text, as leaving Python's loop does. */
static mz_jflow capture(mz_jst *st, const mz_jnode *body, mz_jv *out)
{
    mz_buf b = {0}, *saved = st->out;
    st->out = &b;
    size_t base = st->out_base;
    st->out_base = 0;
    mz_jflow f = mz_j_exec(st, body);
    st->out = saved;
    st->out_base = base;
    if (f == MZ_J_DONE && !mz_j_str_take(st, &b, out)) return MZ_J_FAILED;
    mz_buf_free(&b);
    return f;
}

static mz_jscope *new_scope(mz_jst *st, mz_jscope *parent)
{
    mz_jscope *s = mz_j_alloc(st, 1, sizeof *s);
    if (s) s->parent = parent;
    return s;
}

static mz_jflow run_loop(mz_jst *st, const mz_jnode *n, mz_jscope *outer, mz_jv iterable, uint32_t depth0)
{
    mz_jloop *l = mz_j_alloc(st, 1, sizeof *l);
    mz_jscope *scope = new_scope(st, outer), *saved = st->scope;
    mz_jv item, loop_v = {.type = MZ_J_LOOP, .loop = l};
    mz_jflow f = MZ_J_DONE;
    bool completed = false;
    int r;
    if (!l || !scope) return MZ_J_FAILED;
    *l = (mz_jloop){.node = n, .outer = outer, .iterable = iterable, .index0 = -1, .length = -1, .depth0 = depth0};
    st->pos = n->b->pos;
    if (n->c ? !mz_j_iter_for(st, iterable, n, outer, &l->it) : !mz_j_iter(st, iterable, &l->it)) return MZ_J_FAILED;
    while ((r = mz_j_loop_next(st, l, &item)) == 1) {
        scope->n = 0;
        st->scope = scope;
        f = mz_j_scope_set(st, st->t->atom_loop, loop_v) && mz_j_assign(st, n->a, item) ? mz_j_exec(st, n->body) : MZ_J_FAILED;
        st->scope = saved;
        if (f == MZ_J_FAILED || f == MZ_J_BREAK) break;
        completed = completed || f == MZ_J_DONE; /* jinja2 runs `else` also when every pass ended in continue or break */
    }
    if (r < 0 || f == MZ_J_FAILED) return MZ_J_FAILED;
    if (completed || !n->orelse) return MZ_J_DONE;
    if (!(scope = new_scope(st, outer))) return MZ_J_FAILED;
    st->scope = scope;
    f = mz_j_exec(st, n->orelse);
    st->scope = saved;
    return f;
}

bool mz_j_call_loop(mz_jst *st, const mz_jloop *l, mz_jv iterable, mz_jv *out)
{
    mz_buf b = {0}, *saved = st->out;
    size_t base = st->out_base;
    st->pos = l->node->pos;
    if (!l->node->flag) return mz_j_fail(st, MZ_EINVAL, "the loop must have the 'recursive' marker to be called recursively");
    if (!mz_j_enter(st)) return false;
    st->out = &b;
    st->out_base = 0;
    mz_jflow f = run_loop(st, l->node, l->outer, iterable, l->depth0 + 1);
    st->out = saved;
    st->out_base = base;
    mz_j_leave(st);
    if (f != MZ_J_FAILED) return mz_j_str_take(st, &b, out);
    mz_buf_free(&b);
    return false;
}

int mz_j_loop_next(mz_jst *st, mz_jloop *l, mz_jv *out)
{
    if (l->after.type != MZ_J_MISSING) {
        *out = l->after;
        l->after = (mz_jv){0};
    } else {
        int r = mz_j_next(st, l->it, out);
        if (r != 1) return r;
    }
    l->index0++;
    l->before = l->cur;
    l->cur = *out;
    return 1;
}

static bool loop_length(mz_jst *st, mz_jloop *l)
{
    size_t n;
    if (l->length >= 0) return true;
    if (!l->node->c && mz_j_len(l->iterable, &n)) {
        l->length = (int64_t)n;
        return true;
    }
    mz_jv rest, again;
    if (!mz_j_to_list(st, (mz_jv){.type = MZ_J_ITER, .it = l->it}, &rest) || !mz_j_iter_of_list(st, rest.l, &again)) return false;
    l->it = again.it;
    l->length = (int64_t)rest.l->n + l->index0 + 1 + (l->after.type != MZ_J_MISSING);
    return true;
}

static bool peek(mz_jst *st, mz_jloop *l)
{
    mz_jv next; /* written also when nothing is left */
    if (l->after.type != MZ_J_MISSING) return true;
    int r = mz_j_next(st, l->it, &next);
    if (r == 1) l->after = next;
    return r >= 0;
}

bool mz_j_loop_attr(mz_jst *st, mz_jloop *l, const mz_jstr *name, mz_jv *out)
{
    static const char *const names[] = {"index",     "index0", "first",  "last",     "length",  "revindex",
                                        "revindex0", "depth",  "depth0", "previtem", "nextitem"};
    size_t k = 0, n = sizeof names / sizeof *names;
    while (k < n && !(name->n == strlen(names[k]) && memcmp(names[k], name->p, name->n) == 0)) k++;
    *out = (mz_jv){0};
    if (k >= 4 && k <= 6 && !loop_length(st, l)) return false;
    if ((k == 3 || k == 10) && !peek(st, l)) return false;
    switch (k) {
    case 0: *out = mz_j_int(l->index0 + 1); return true;
    case 1: *out = mz_j_int(l->index0); return true;
    case 2: *out = mz_j_bool(l->index0 == 0); return true;
    case 3: *out = mz_j_bool(l->after.type == MZ_J_MISSING); return true;
    case 4: *out = mz_j_int(l->length); return true;
    case 5: *out = mz_j_int(l->length - l->index0); return true;
    case 6: *out = mz_j_int(l->length - l->index0 - 1); return true;
    case 7: *out = mz_j_int((int64_t)l->depth0 + 1); return true;
    case 8: *out = mz_j_int(l->depth0); return true;
    case 9:
        if (l->index0 == 0) return mz_j_undef_hint(st, "there is no previous item", out);
        *out = l->before;
        return true;
    case 10:
        if (l->after.type == MZ_J_MISSING) return mz_j_undef_hint(st, "there is no next item", out);
        *out = l->after;
        return true;
    default: return true;
    }
}

static bool take_kw(mz_jargs *a, const mz_jv *name, mz_jv *out)
{
    for (size_t i = 0; i < a->n_kw; i++) {
        if (!mz_j_is_str(a->kw[i].name, name->s->p, name->s->n)) continue;
        *out = a->kw[i].val;
        memmove(&a->kw[i], &a->kw[i + 1], (a->n_kw - i - 1) * sizeof *a->kw);
        a->n_kw--;
        return true;
    }
    return false;
}

static bool macro_specials(mz_jst *st, const mz_jnode *n, const mz_jargs *given, mz_jargs *rest, bool found_caller)
{
    mz_jv v, name;
    if ((n->uses & MZ_J_USES_CALLER) && !found_caller) {
        if (!mz_j_cstr(st, "caller", &name)) return false;
        if (!take_kw(rest, &name, &v) || v.type == MZ_J_NONE)
            if (!mz_j_undef_hint(st, "No caller defined", &v)) return false;
        if (!mz_j_scope_set(st, st->t->atom_caller, v)) return false;
    }
    if (n->uses & MZ_J_USES_KWARGS) {
        if (!mz_j_dict(st, &v)) return false;
        for (size_t i = 0; i < rest->n_kw; i++)
            if (!mz_j_dict_set(st, v.d, rest->kw[i].name, rest->kw[i].val)) return false;
        if (!mz_j_scope_set(st, st->t->atom_kwargs, v)) return false;
    } else if (rest->n_kw) {
        const mz_jstr *k = rest->kw[0].name.s;
        return mz_j_fail(st, MZ_EINVAL, "macro takes no keyword argument '%.*s'", (int)(k->n < 80 ? k->n : 80), k->p);
    }
    if (n->uses & MZ_J_USES_VARARGS) {
        size_t extra = given->n > n->n ? given->n - n->n : 0;
        if (!mz_j_list(st, extra, &v)) return false;
        v.type = MZ_J_TUPLE;
        for (size_t i = 0; i < extra; i++) v.l->v[v.l->n++] = given->v[n->n + i];
        return mz_j_scope_set(st, st->t->atom_varargs, v);
    }
    return given->n <= n->n || mz_j_fail(st, MZ_EINVAL, "macro takes not more than %u argument(s)", n->n);
}

static bool not_provided(mz_jst *st, const mz_jstr *name, mz_jv *out)
{
    char text[160];
    (void)snprintf(text, sizeof text, "parameter '%.*s' was not provided", (int)(name->n < 100 ? name->n : 100), name->p);
    char *hint = mz_j_alloc(st, strlen(text) + 1, 1);
    if (!hint) return false;
    memcpy(hint, text, strlen(text));
    return mz_j_undef_hint(st, hint, out);
}

static bool macro_params(mz_jst *st, const mz_jnode *n, const mz_jargs *given)
{
    mz_jargs rest = *given;
    bool found_caller = false;
    size_t i = 0;
    if (given->n_kw) { /* a copy: keywords are taken out of it */
        if (!(rest.kw = mz_j_alloc(st, given->n_kw, sizeof *rest.kw))) return false;
        memcpy(rest.kw, given->kw, given->n_kw * sizeof *rest.kw);
    }
    for (const mz_jnode *k = n->list; k; k = k->next, i++) {
        mz_jv v = {0};
        if (k->atom == st->t->atom_caller) found_caller = true;
        if (i < given->n)
            v = given->v[i];
        else
            (void)take_kw(&rest, &k->value, &v);
        if (!mz_j_charge(st, 1 + rest.n_kw / 8) || !mz_j_scope_set(st, k->atom, v)) return false;
    }
    if (!macro_specials(st, n, given, &rest, found_caller)) return false;
    for (const mz_jnode *k = n->list; k; k = k->next) { /* defaults may use the parameters before them */
        mz_jv v = {0};
        for (uint32_t s = 0; s < st->scope->n; s++)
            if (st->scope->v[s].atom == k->atom) v = st->scope->v[s].val;
        if (v.type != MZ_J_MISSING) continue;
        if (k->a ? !mz_j_eval(st, k->a, &v) : !not_provided(st, k->value.s, &v)) return false;
        if (!mz_j_scope_set(st, k->atom, v)) return false;
    }
    return true;
}

bool mz_j_call_macro(mz_jst *st, const mz_jmacro *m, const mz_jargs *a, mz_jv *out)
{
    mz_jscope *scope = new_scope(st, m->scope), *saved = st->scope;
    if (!scope || !mz_j_enter(st)) return false;
    st->scope = scope;
    bool ok = macro_params(st, m->node, a) && capture(st, m->node->body, out) == MZ_J_DONE;
    st->scope = saved;
    mz_j_leave(st);
    return ok;
}

static bool make_macro(mz_jst *st, const mz_jnode *n, mz_jv *out)
{
    mz_jmacro *m = mz_j_alloc(st, 1, sizeof *m);
    if (!m) return false;
    m->node = n;
    m->scope = st->scope;
    *out = (mz_jv){.type = MZ_J_MACRO, .m = m};
    return true;
}

static bool call_block(mz_jst *st, const mz_jnode *n)
{
    mz_jv caller, f, v, name;
    mz_jargs a;
    if (!make_macro(st, n, &caller) || !mz_j_eval(st, n->a->a, &f) || !mz_j_eval_args(st, n->a->call, &a)) return false;
    mz_jkw *kw = mz_j_alloc(st, a.n_kw + 1, sizeof *kw);
    if (!kw || !mz_j_cstr(st, "caller", &name)) return false;
    if (a.n_kw) memcpy(kw, a.kw, a.n_kw * sizeof *kw);
    kw[a.n_kw].name = name;
    kw[a.n_kw].val = caller;
    a.kw = kw;
    a.n_kw++;
    st->pos = n->a->pos;
    return mz_j_call(st, f, &a, &v) && mz_j_add_str(st, st->out, v);
}

static mz_jflow exec_if(mz_jst *st, const mz_jnode *n)
{
    mz_jv v;
    for (const mz_jnode *k = n->list; k; k = k->next) {
        if (!mz_j_eval(st, k->a, &v)) return MZ_J_FAILED;
        if (mz_j_truth(v)) return mz_j_exec(st, k->body);
    }
    return mz_j_exec(st, n->orelse);
}

static mz_jflow exec_set(mz_jst *st, const mz_jnode *n)
{
    mz_jv v;
    if (n->kind == MZ_JN_SET) {
        if (!mz_j_eval(st, n->b, &v)) return MZ_J_FAILED;
    } else {
        mz_jscope *saved = st->scope, *scope = new_scope(st, saved);
        if (!scope) return MZ_J_FAILED;
        st->scope = scope;
        mz_jflow f = capture(st, n->body, &v);
        for (const mz_jnode *k = n->b; f == MZ_J_DONE && k; k = NULL)
            if (!mz_j_eval_filter(st, k, v, &v)) f = MZ_J_FAILED;
        st->scope = saved;
        if (f != MZ_J_DONE) return f;
    }
    return mz_j_assign(st, n->a, v) ? MZ_J_DONE : MZ_J_FAILED;
}

static mz_jflow exec_filter_block(mz_jst *st, const mz_jnode *n)
{
    mz_jscope *saved = st->scope, *scope = new_scope(st, saved);
    mz_jv v;
    if (!scope) return MZ_J_FAILED;
    st->scope = scope;
    mz_jflow f = capture(st, n->body, &v);
    if (f == MZ_J_DONE && (!mz_j_eval_filter(st, n->a, v, &v) || !mz_j_add_str(st, st->out, v))) f = MZ_J_FAILED;
    st->scope = saved;
    return f;
}

static mz_jflow exec_scoped(mz_jst *st, const mz_jnode *n)
{
    mz_jscope *saved = st->scope, *scope = new_scope(st, saved);
    mz_jv v;
    if (!scope) return MZ_J_FAILED;
    for (const mz_jnode *k = n->list; k; k = k->next->next) { /* with: values see the outer variables only */
        if (!mz_j_eval(st, k->next, &v)) return MZ_J_FAILED;
        st->scope = scope;
        bool ok = mz_j_assign(st, k, v);
        st->scope = saved;
        if (!ok) return MZ_J_FAILED;
    }
    st->scope = scope;
    mz_jflow f = mz_j_exec(st, n->body);
    st->scope = saved;
    return f;
}

static mz_jflow exec_one(mz_jst *st, const mz_jnode *n)
{
    mz_jv v;
    bool ok;
    st->pos = n->pos;
    switch (n->kind) {
    case MZ_JN_DATA: ok = mz_j_buf_str(st, st->out, n->value.s); break;
    case MZ_JN_PRINT: ok = mz_j_eval(st, n->a, &v) && mz_j_add_str(st, st->out, v); break;
    case MZ_JN_FOR: return mz_j_eval(st, n->b, &v) ? run_loop(st, n, st->scope, v, 0) : MZ_J_FAILED;
    case MZ_JN_IF: return exec_if(st, n);
    case MZ_JN_SET:
    case MZ_JN_SET_BLOCK: return exec_set(st, n);
    case MZ_JN_MACRO: ok = make_macro(st, n, &v) && mz_j_scope_set(st, n->atom, v); break;
    case MZ_JN_CALL_BLOCK: ok = call_block(st, n); break;
    case MZ_JN_FILTER_BLOCK: return exec_filter_block(st, n);
    case MZ_JN_BREAK: return MZ_J_BREAK;
    case MZ_JN_CONTINUE: return MZ_J_CONTINUE;
    default: return exec_scoped(st, n);
    }
    return ok ? MZ_J_DONE : MZ_J_FAILED;
}

mz_jflow mz_j_exec(mz_jst *st, const mz_jnode *list)
{
    mz_jflow f = MZ_J_DONE;
    if (!mz_j_enter(st)) return MZ_J_FAILED;
    for (const mz_jnode *n = list; n && f == MZ_J_DONE; n = n->next) f = mz_j_charge(st, 1) ? exec_one(st, n) : MZ_J_FAILED;
    mz_j_leave(st);
    return f;
}
