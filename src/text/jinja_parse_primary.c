/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_parse_primary.c: literals and names with what may follow them: attributes, subscripts, calls, filters and tests. */
#include <string.h>

#include "text/jinja_ast.h"

static mz_jnode *parse_list(mz_jparse *p)
{
    mz_jnode *n = mz_j_node(p, MZ_JN_LIST, mz_j_cur(p)->pos), **tail;
    if (!n) return NULL;
    tail = &n->list;
    p->i++;
    while (!mz_j_at(p, MZ_JT_RBRACKET)) {
        if (n->n && !mz_j_expect(p, MZ_JT_COMMA, "',' or ']'")) return NULL;
        if (mz_j_at(p, MZ_JT_RBRACKET)) break;
        mz_jnode *item = mz_j_parse_expr(p, true);
        if (!item) return NULL;
        mz_j_append(n, &tail, item);
    }
    p->i++;
    return n;
}

static mz_jnode *parse_dict(mz_jparse *p)
{
    mz_jnode *n = mz_j_node(p, MZ_JN_DICT, mz_j_cur(p)->pos), **tail;
    if (!n) return NULL;
    tail = &n->list;
    p->i++;
    while (!mz_j_at(p, MZ_JT_RBRACE)) {
        if (n->n && !mz_j_expect(p, MZ_JT_COMMA, "',' or '}'")) return NULL;
        if (mz_j_at(p, MZ_JT_RBRACE)) break;
        mz_jnode *key = mz_j_parse_expr(p, true), *val;
        if (!key || !mz_j_expect(p, MZ_JT_COLON, "':'") || !(val = mz_j_parse_expr(p, true))) return NULL;
        mz_j_append(n, &tail, key);
        mz_j_append(n, &tail, val);
    }
    p->i++;
    return n;
}

static mz_jnode *parse_string(mz_jparse *p)
{
    const mz_jtoken *tok = mz_j_cur(p);
    mz_jnode *n = mz_j_node(p, MZ_JN_CONST, tok->pos);
    if (!n) return NULL;
    size_t total = 0, k = 0, at = 0;
    while (tok[k].type == MZ_JT_STRING) total += tok[k++].n;
    const char *bytes = tok->p;
    if (k > 1) { /* adjacent literals are one string */
        char *joined = mz_arena_alloc(&p->t->arena, total + 1);
        if (!joined) {
            mz_j_perr(p, MZ_ENOMEM, n->pos, "out of memory");
            return NULL;
        }
        for (size_t i = 0; i < k; i++) {
            if (tok[i].n) memcpy(joined + at, tok[i].p, tok[i].n);
            at += tok[i].n;
        }
        bytes = joined;
    }
    p->i += k;
    return mz_j_set_str(p, n, bytes, total) ? n : NULL;
}

mz_jnode *mz_j_parse_primary(mz_jparse *p)
{
    const mz_jtoken *tok = mz_j_cur(p);
    mz_jnode *n;
    switch (tok->type) {
    case MZ_JT_NAME:
        if (!(n = mz_j_node(p, MZ_JN_NAME, tok->pos))) return NULL;
        p->i++;
        if (mz_j_named_const(tok, &n->value)) {
            n->kind = MZ_JN_CONST;
            return n;
        }
        if (!mz_j_name_str(p, tok, n)) return NULL;
        mz_j_note_load(p, n->atom);
        return n;
    case MZ_JT_STRING: return parse_string(p);
    case MZ_JT_INT:
    case MZ_JT_FLOAT:
        if (!(n = mz_j_node(p, MZ_JN_CONST, tok->pos))) return NULL;
        p->i++;
        n->value = tok->type == MZ_JT_INT ? mz_j_int(tok->i) : mz_j_float(tok->f);
        return n;
    case MZ_JT_LPAREN:
        p->i++;
        n = mz_j_parse_tuple(p, true, MZ_J_END_NONE, true);
        return n && mz_j_expect(p, MZ_JT_RPAREN, "')'") ? n : NULL;
    case MZ_JT_LBRACKET: return parse_list(p);
    case MZ_JT_LBRACE: return parse_dict(p);
    default: mz_j_unexpected(p, "an expression"); return NULL;
    }
}

static mz_jcall *parse_call_args(mz_jparse *p)
{
    mz_jcall *c = mz_arena_alloc(&p->t->arena, sizeof *c);
    if (!c) {
        mz_j_perr(p, MZ_ENOMEM, mz_j_cur(p)->pos, "out of memory");
        return NULL;
    }
    mz_jnode **tail = &c->pos, **kw_tail = &c->kw;
    uint32_t open = mz_j_cur(p)->pos;
    bool comma = false;
    p->i++;
    while (!mz_j_at(p, MZ_JT_RPAREN)) {
        bool ok;
        mz_jnode *v;
        if (comma) {
            if (!mz_j_expect(p, MZ_JT_COMMA, "',' or ')'")) return NULL;
            if (mz_j_at(p, MZ_JT_RPAREN)) break;
        }
        comma = true;
        const mz_jtoken *tok = mz_j_cur(p);
        if (mz_j_skip(p, MZ_JT_MUL)) {
            ok = !c->star && !c->star2;
            if (!(v = c->star = mz_j_parse_expr(p, true))) return NULL;
        } else if (mz_j_skip(p, MZ_JT_POW)) {
            ok = !c->star2;
            if (!(v = c->star2 = mz_j_parse_expr(p, true))) return NULL;
        } else if (tok->type == MZ_JT_NAME && tok[1].type == MZ_JT_ASSIGN) {
            ok = !c->star2;
            mz_jnode *kw = mz_j_node(p, MZ_JN_PARAM, tok->pos);
            p->i += 2;
            if (!kw || !mz_j_set_str(p, kw, tok->p, tok->n) || !(kw->a = mz_j_parse_expr(p, true))) return NULL;
            for (const mz_jnode *k = c->kw; k; k = k->next)
                if (k->value.s->n == tok->n && memcmp(k->value.s->p, tok->p, tok->n) == 0) {
                    mz_j_perr(p, MZ_EFORMAT, tok->pos, "the argument '%.*s' is given twice", (int)(tok->n < 80 ? tok->n : 80), tok->p);
                    return NULL;
                }
            *kw_tail = kw;
            kw_tail = &kw->next;
            c->n_kw++;
        } else {
            ok = !c->star && !c->star2 && !c->kw;
            if (!(v = mz_j_parse_expr(p, true))) return NULL;
            *tail = v;
            tail = &v->next;
            c->n_pos++;
        }
        if (!ok) {
            mz_j_perr(p, MZ_EFORMAT, open, "invalid order of arguments in this call (plain, then *list, then name=value, then **dict)");
            return NULL;
        }
    }
    p->i++;
    return c;
}

static mz_jnode *parse_subscribed(mz_jparse *p)
{
    uint32_t pos = mz_j_cur(p)->pos;
    mz_jnode *lo = NULL;
    if (!mz_j_at(p, MZ_JT_COLON)) {
        if (!(lo = mz_j_parse_expr(p, true))) return NULL;
        if (!mz_j_at(p, MZ_JT_COLON)) return lo;
    }
    p->i++;
    mz_jnode *n = mz_j_node(p, MZ_JN_SLICE, pos);
    if (!n) return NULL;
    n->b = lo;
    if (!mz_j_at(p, MZ_JT_COLON) && !mz_j_at(p, MZ_JT_RBRACKET) && !(n->c = mz_j_parse_expr(p, true))) return NULL;
    if (mz_j_skip(p, MZ_JT_COLON) && !mz_j_at(p, MZ_JT_RBRACKET) && !(n->d = mz_j_parse_expr(p, true))) return NULL;
    return n;
}

static mz_jnode *parse_subscript(mz_jparse *p, mz_jnode *a)
{
    const mz_jtoken *tok = mz_j_cur(p);
    mz_jnode *n;
    p->i++;
    if (tok->type == MZ_JT_DOT) {
        const mz_jtoken *attr = mz_j_cur(p);
        if (attr->type != MZ_JT_NAME && attr->type != MZ_JT_INT) {
            mz_j_unexpected(p, "a name or number after '.'");
            return NULL;
        }
        p->i++;
        if (!(n = mz_j_node(p, attr->type == MZ_JT_NAME ? MZ_JN_ATTR : MZ_JN_ITEM, tok->pos))) return NULL;
        n->a = a;
        if (attr->type == MZ_JT_NAME) return mz_j_set_str(p, n, attr->p, attr->n) ? n : NULL;
        if (!(n->b = mz_j_node(p, MZ_JN_CONST, attr->pos))) return NULL;
        n->b->value = mz_j_int(attr->i);
        return n;
    }
    mz_jnode *items = mz_j_node(p, MZ_JN_TUPLE, tok->pos), **tail;
    if (!items) return NULL;
    tail = &items->list;
    while (!mz_j_at(p, MZ_JT_RBRACKET)) {
        if (items->n && !mz_j_expect(p, MZ_JT_COMMA, "',' or ']'")) return NULL;
        mz_jnode *arg = parse_subscribed(p);
        if (!arg) return NULL;
        mz_j_append(items, &tail, arg);
    }
    p->i++;
    if (items->n == 1 && items->list->kind == MZ_JN_SLICE) {
        items->list->a = a;
        return items->list;
    }
    for (mz_jnode *k = items->list; k; k = k->next)
        if (k->kind == MZ_JN_SLICE) {
            mz_j_perr(p, MZ_EFORMAT, k->pos, "a slice among several subscripts is not valid");
            return NULL;
        }
    if (!(n = mz_j_node(p, MZ_JN_ITEM, tok->pos))) return NULL;
    n->a = a;
    n->b = items->n == 1 ? items->list : items;
    return n;
}

static mz_jnode *parse_call(mz_jparse *p, mz_jnode *a)
{
    mz_jnode *n = mz_j_node(p, MZ_JN_CALL, mz_j_cur(p)->pos);
    if (!n || !(n->call = parse_call_args(p))) return NULL;
    n->a = a;
    return n;
}

mz_jnode *mz_j_parse_postfix(mz_jparse *p, mz_jnode *n)
{
    uint32_t links = 0;
    while (n) {
        if (mz_j_at(p, MZ_JT_DOT) || mz_j_at(p, MZ_JT_LBRACKET))
            n = parse_subscript(p, n);
        else if (mz_j_at(p, MZ_JT_LPAREN))
            n = parse_call(p, n);
        else
            break;
        if (++links > MZ_J_PARSE_DEPTH) {
            mz_j_perr(p, MZ_ELIMIT, mz_j_cur(p)->pos, "more than %d attributes and calls in one chain", MZ_J_PARSE_DEPTH);
            return NULL;
        }
    }
    return n;
}

static bool note_unknown(mz_jparse *p, const mz_jnode *node, const char *what)
{
    struct mz_junknown *u = mz_arena_alloc(&p->t->arena, sizeof *u);
    if (!u) return mz_j_perr(p, MZ_ENOMEM, node->pos, "out of memory");
    u->up = p->unknown;
    u->what = what;
    u->node = node;
    p->unknown = u;
    return true;
}

/* name or dotted.name, as filters and tests have */
static bool parse_dotted(mz_jparse *p, mz_jnode *n, const char *what)
{
    const mz_jtoken *first = mz_j_cur(p), *last = first;
    if (!mz_j_expect(p, MZ_JT_NAME, what)) return false;
    while (mz_j_skip(p, MZ_JT_DOT)) {
        last = mz_j_cur(p);
        if (!mz_j_expect(p, MZ_JT_NAME, what)) return false;
    }
    return mz_j_set_str(p, n, first->p, (size_t)(last->p + last->n - first->p));
}

mz_jnode *mz_j_parse_filter(mz_jparse *p, mz_jnode *a, bool start_inline)
{
    uint32_t links = 0;
    while (start_inline || mz_j_at(p, MZ_JT_PIPE)) {
        if (!start_inline) p->i++;
        start_inline = false;
        mz_jnode *n = mz_j_node(p, MZ_JN_FILTER, mz_j_cur(p)->pos);
        if (!n || !parse_dotted(p, n, "the name of a filter")) return NULL;
        n->a = a;
        n->id = mz_j_filter_find(n->value.s->p, n->value.s->n);
        if (n->id < 0 && !note_unknown(p, n, "filter")) return NULL;
        if (mz_j_at(p, MZ_JT_LPAREN) && !(n->call = parse_call_args(p))) return NULL;
        if (++links > MZ_J_PARSE_DEPTH) {
            mz_j_perr(p, MZ_ELIMIT, n->pos, "more than %d filters in one chain", MZ_J_PARSE_DEPTH);
            return NULL;
        }
        a = n;
    }
    return a;
}

static bool starts_test_arg(const mz_jparse *p)
{
    switch (mz_j_cur(p)->type) {
    case MZ_JT_NAME: return !mz_j_at_name(p, "else") && !mz_j_at_name(p, "or") && !mz_j_at_name(p, "and");
    case MZ_JT_STRING:
    case MZ_JT_INT:
    case MZ_JT_FLOAT:
    case MZ_JT_LBRACKET:
    case MZ_JT_LBRACE: return true;
    default: return false;
    }
}

static mz_jnode *parse_test(mz_jparse *p, mz_jnode *a)
{
    uint32_t pos = mz_j_cur(p)->pos;
    p->i++;
    bool negated = mz_j_skip_name(p, "not");
    mz_jnode *n = mz_j_node(p, MZ_JN_TEST, pos);
    if (!n || !parse_dotted(p, n, "the name of a test after 'is'")) return NULL;
    n->a = a;
    n->id = mz_j_test_find(n->value.s->p, n->value.s->n);
    if (n->id < 0 && !note_unknown(p, n, "test")) return NULL;
    if (mz_j_at(p, MZ_JT_LPAREN)) {
        if (!(n->call = parse_call_args(p))) return NULL;
    } else if (starts_test_arg(p)) {
        if (mz_j_at_name(p, "is")) {
            mz_j_perr(p, MZ_EFORMAT, mz_j_cur(p)->pos, "tests with 'is' cannot be chained");
            return NULL;
        }
        mz_jnode *arg = mz_j_parse_primary(p);
        if (!arg || !(arg = mz_j_parse_postfix(p, arg))) return NULL;
        if (!(n->call = mz_arena_alloc(&p->t->arena, sizeof *n->call))) {
            mz_j_perr(p, MZ_ENOMEM, pos, "out of memory");
            return NULL;
        }
        n->call->pos = arg;
        n->call->n_pos = 1;
    }
    if (!negated) return n;
    mz_jnode *no = mz_j_node(p, MZ_JN_NOT, pos);
    if (no) no->a = n;
    return no;
}

mz_jnode *mz_j_parse_filter_expr(mz_jparse *p, mz_jnode *n)
{
    uint32_t links = 0;
    while (n) {
        if (mz_j_at(p, MZ_JT_PIPE))
            n = mz_j_parse_filter(p, n, false);
        else if (mz_j_at_name(p, "is"))
            n = parse_test(p, n);
        else if (mz_j_at(p, MZ_JT_LPAREN))
            n = parse_call(p, n);
        else
            break;
        if (++links > MZ_J_PARSE_DEPTH) {
            mz_j_perr(p, MZ_ELIMIT, mz_j_cur(p)->pos, "more than %d filters and tests in one chain", MZ_J_PARSE_DEPTH);
            return NULL;
        }
    }
    return n;
}
