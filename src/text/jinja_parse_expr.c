/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_parse_expr.c: expressions, in jinja2's order of precedence (recursive descent; chains of one precedence become one
 * flat node, so that a long a + b + c … needs no depth). */
#include <stdio.h>
#include <string.h>

#include "text/jinja_ast.h"
#include "text/utf8.h"

enum { PARSE_DEPTH = 100 };

static mz_jnode *parse_or(mz_jparse *p);
static mz_jnode *parse_unary(mz_jparse *p, bool with_filter);

const char *mz_j_describe(const mz_jtoken *tok, char out[48])
{
    static const char *const fixed[] = {[MZ_JT_EOF] = "the end of the template", [MZ_JT_DATA] = "text", [MZ_JT_VAR_BEGIN] = "{{",
                                        [MZ_JT_VAR_END] = "}}", [MZ_JT_BLOCK_BEGIN] = "{%", [MZ_JT_BLOCK_END] = "%}"};
    if (tok->type < sizeof fixed / sizeof *fixed) return fixed[tok->type];
    if (tok->type == MZ_JT_STRING) return "a string";
    size_t n = tok->n < 40 ? tok->n : 40;
    n -= mz_utf8_incomplete_tail(tok->p, n);
    (void)snprintf(out, 48, "'%.*s'", (int)n, tok->p);
    return out;
}

bool mz_j_at_name(const mz_jparse *p, const char *name)
{
    const mz_jtoken *t = mz_j_cur(p);
    return t->type == MZ_JT_NAME && t->n == strlen(name) && memcmp(t->p, name, t->n) == 0;
}

bool mz_j_skip(mz_jparse *p, mz_jtok type)
{
    if (!mz_j_at(p, type)) return false;
    p->i++;
    return true;
}

bool mz_j_skip_name(mz_jparse *p, const char *name)
{
    if (!mz_j_at_name(p, name)) return false;
    p->i++;
    return true;
}

static bool unexpected(mz_jparse *p, const char *expected)
{
    char buf[48];
    return mz_j_perr(p, MZ_EFORMAT, mz_j_cur(p)->pos, "found %s, expected %s", mz_j_describe(mz_j_cur(p), buf), expected);
}

bool mz_j_expect(mz_jparse *p, mz_jtok type, const char *what)
{
    return mz_j_skip(p, type) || unexpected(p, what);
}

mz_jnode *mz_j_node(mz_jparse *p, mz_jkind kind, uint32_t pos)
{
    mz_jnode *n = mz_arena_alloc(&p->t->arena, sizeof *n);
    if (!n) {
        mz_j_perr(p, MZ_ENOMEM, pos, "out of memory");
        return NULL;
    }
    n->kind = (uint8_t)kind;
    n->pos = pos;
    n->id = -1;
    return n;
}

static bool set_str(mz_jparse *p, mz_jnode *node, const char *s, size_t n)
{
    mz_jstr *str = mz_arena_alloc(&p->t->arena, sizeof *str);
    if (!str) return mz_j_perr(p, MZ_ENOMEM, node->pos, "out of memory");
    *str = (mz_jstr){.p = s, .n = n, .n_cp = mz_j_cp_count(s, n)};
    node->value.type = MZ_J_STR;
    node->value.s = str;
    return true;
}

bool mz_j_atom(mz_jparse *p, const char *name, size_t n, uint32_t *out)
{
    uint32_t k = p->t->n_atom;
    for (uint32_t i = 0; i < k; i++)
        if (p->atom[i].n == n && memcmp(p->atom[i].p, name, n) == 0) {
            *out = i;
            return true;
        }
    if (k == 1024) return mz_j_perr(p, MZ_ELIMIT, mz_j_cur(p)->pos, "more than 1024 different variable names");
    if (k == p->cap_atom) {
        uint32_t cap = p->cap_atom ? p->cap_atom * 2 : 64;
        struct mz_jatom *grown = mz_realloc(p->atom, cap, sizeof *grown);
        if (!grown) return mz_j_perr(p, MZ_ENOMEM, mz_j_cur(p)->pos, "out of memory");
        p->atom = grown;
        p->cap_atom = cap;
    }
    p->atom[k].p = name;
    p->atom[k].n = n;
    p->t->n_atom = k + 1;
    *out = k;
    return true;
}

bool mz_j_name_str(mz_jparse *p, const mz_jtoken *tok, mz_jnode *node)
{
    return set_str(p, node, tok->p, tok->n) && mz_j_atom(p, tok->p, tok->n, &node->atom);
}

static uint8_t special_of(const mz_jparse *p, uint32_t atom)
{
    return atom == p->t->atom_caller    ? MZ_J_USES_CALLER
           : atom == p->t->atom_kwargs  ? MZ_J_USES_KWARGS
           : atom == p->t->atom_varargs ? MZ_J_USES_VARARGS
                                        : 0;
}

void mz_j_note_store(mz_jparse *p, uint32_t atom)
{
    for (mz_jmacro_scan *m = p->macro; m; m = m->up) m->stored |= special_of(p, atom);
}

static void note_load(mz_jparse *p, uint32_t atom)
{
    for (mz_jmacro_scan *m = p->macro; m; m = m->up) m->used |= (uint8_t)(special_of(p, atom) & ~m->stored);
}

/* Appends to a linked list whose last link is *tail. */
static void append(mz_jnode *owner, mz_jnode ***tail, mz_jnode *item)
{
    **tail = item;
    *tail = &item->next;
    owner->n++;
}

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
        append(n, &tail, item);
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
        append(n, &tail, key);
        append(n, &tail, val);
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
    return set_str(p, n, bytes, total) ? n : NULL;
}

static bool named_const(const mz_jtoken *tok, mz_jv *out)
{
    static const struct {
        const char *name;
        int8_t v;
    } names[] = {{"true", 1}, {"True", 1}, {"false", 0}, {"False", 0}, {"none", -1}, {"None", -1}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (tok->n == strlen(names[i].name) && memcmp(tok->p, names[i].name, tok->n) == 0) {
            *out = names[i].v < 0 ? mz_j_none() : mz_j_bool(names[i].v);
            return true;
        }
    return false;
}

static mz_jnode *parse_primary(mz_jparse *p)
{
    const mz_jtoken *tok = mz_j_cur(p);
    mz_jnode *n;
    switch (tok->type) {
    case MZ_JT_NAME:
        if (!(n = mz_j_node(p, MZ_JN_NAME, tok->pos))) return NULL;
        p->i++;
        if (named_const(tok, &n->value)) {
            n->kind = MZ_JN_CONST;
            return n;
        }
        if (!mz_j_name_str(p, tok, n)) return NULL;
        note_load(p, n->atom);
        return n;
    case MZ_JT_STRING:
        return parse_string(p);
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
    case MZ_JT_LBRACKET:
        return parse_list(p);
    case MZ_JT_LBRACE:
        return parse_dict(p);
    default:
        unexpected(p, "an expression");
        return NULL;
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
            if (!kw || !set_str(p, kw, tok->p, tok->n) || !(kw->a = mz_j_parse_expr(p, true))) return NULL;
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
            unexpected(p, "a name or number after '.'");
            return NULL;
        }
        p->i++;
        if (!(n = mz_j_node(p, attr->type == MZ_JT_NAME ? MZ_JN_ATTR : MZ_JN_ITEM, tok->pos))) return NULL;
        n->a = a;
        if (attr->type == MZ_JT_NAME) return set_str(p, n, attr->p, attr->n) ? n : NULL;
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
        append(items, &tail, arg);
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

static mz_jnode *parse_postfix(mz_jparse *p, mz_jnode *n)
{
    uint32_t links = 0;
    while (n) {
        if (mz_j_at(p, MZ_JT_DOT) || mz_j_at(p, MZ_JT_LBRACKET)) n = parse_subscript(p, n);
        else if (mz_j_at(p, MZ_JT_LPAREN)) n = parse_call(p, n);
        else break;
        if (++links > PARSE_DEPTH) {
            mz_j_perr(p, MZ_ELIMIT, mz_j_cur(p)->pos, "more than %d attributes and calls in one chain", PARSE_DEPTH);
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
    return set_str(p, n, first->p, (size_t)(last->p + last->n - first->p));
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
        if (++links > PARSE_DEPTH) {
            mz_j_perr(p, MZ_ELIMIT, n->pos, "more than %d filters in one chain", PARSE_DEPTH);
            return NULL;
        }
        a = n;
    }
    return a;
}

static bool starts_test_arg(const mz_jparse *p)
{
    switch (mz_j_cur(p)->type) {
    case MZ_JT_NAME:
        return !mz_j_at_name(p, "else") && !mz_j_at_name(p, "or") && !mz_j_at_name(p, "and");
    case MZ_JT_STRING:
    case MZ_JT_INT:
    case MZ_JT_FLOAT:
    case MZ_JT_LBRACKET:
    case MZ_JT_LBRACE:
        return true;
    default:
        return false;
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
        mz_jnode *arg = parse_primary(p);
        if (!arg || !(arg = parse_postfix(p, arg))) return NULL;
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

static mz_jnode *parse_filter_expr(mz_jparse *p, mz_jnode *n)
{
    uint32_t links = 0;
    while (n) {
        if (mz_j_at(p, MZ_JT_PIPE)) n = mz_j_parse_filter(p, n, false);
        else if (mz_j_at_name(p, "is")) n = parse_test(p, n);
        else if (mz_j_at(p, MZ_JT_LPAREN)) n = parse_call(p, n);
        else break;
        if (++links > PARSE_DEPTH) {
            mz_j_perr(p, MZ_ELIMIT, mz_j_cur(p)->pos, "more than %d filters and tests in one chain", PARSE_DEPTH);
            return NULL;
        }
    }
    return n;
}

static mz_jnode *parse_unary(mz_jparse *p, bool with_filter)
{
    mz_jnode *n;
    if (mz_j_at(p, MZ_JT_SUB) || mz_j_at(p, MZ_JT_ADD)) {
        if (!(n = mz_j_node(p, MZ_JN_UNARY, mz_j_cur(p)->pos))) return NULL;
        n->op = mz_j_cur(p)->type;
        p->i++;
        if (++p->depth > PARSE_DEPTH) {
            mz_j_perr(p, MZ_ELIMIT, n->pos, "expressions nest more than %d deep", PARSE_DEPTH);
            return NULL;
        }
        n->a = parse_unary(p, false);
        p->depth--;
        if (!n->a) return NULL;
    } else {
        n = parse_primary(p);
    }
    if (n) n = parse_postfix(p, n);
    return n && with_filter ? parse_filter_expr(p, n) : n;
}

/* One level of left-associative operators: the first operand alone, or a node with all of them. */
static mz_jnode *parse_chain(mz_jparse *p, int level)
{
    static const struct {
        uint8_t kind, from, to; /* token types */
    } levels[] = {{MZ_JN_BINARY, MZ_JT_ADD, MZ_JT_SUB}, {MZ_JN_CONCAT, MZ_JT_TILDE, MZ_JT_TILDE}, {MZ_JN_BINARY, MZ_JT_MUL, MZ_JT_MOD},
                  {MZ_JN_BINARY, MZ_JT_POW, MZ_JT_POW}};
    if (level == 4) return parse_unary(p, true);
    uint32_t pos = mz_j_cur(p)->pos;
    mz_jnode *first = parse_chain(p, level + 1), *n = NULL, **tail = NULL;
    while (first && mz_j_cur(p)->type >= levels[level].from && mz_j_cur(p)->type <= levels[level].to) {
        uint8_t op = mz_j_cur(p)->type;
        p->i++;
        mz_jnode *right = parse_chain(p, level + 1);
        if (!right) return NULL;
        if (!n) {
            if (!(n = mz_j_node(p, (mz_jkind)levels[level].kind, pos))) return NULL;
            tail = &n->list;
            if (n->kind == MZ_JN_CONCAT) append(n, &tail, first);
            else n->a = first;
        }
        /* An operand node may itself be a chain whose op field is taken: wrap it in a link of its own. */
        mz_jnode *link = mz_j_node(p, MZ_JN_BINARY, right->pos);
        if (!link) return NULL;
        link->op = op;
        link->a = right;
        append(n, &tail, n->kind == MZ_JN_CONCAT ? right : link);
    }
    return n ? n : first;
}

static mz_jnode *parse_compare(mz_jparse *p)
{
    uint32_t pos = mz_j_cur(p)->pos;
    mz_jnode *first = parse_chain(p, 0), *n = NULL, **tail = NULL;
    while (first) {
        uint8_t op = mz_j_cur(p)->type;
        if (op >= MZ_JT_EQ && op <= MZ_JT_LE) {
            p->i++;
        } else if (mz_j_skip_name(p, "in")) {
            op = MZ_JT_IN;
        } else if (mz_j_at_name(p, "not") && p->t->tok[p->i + 1].type == MZ_JT_NAME && p->t->tok[p->i + 1].n == 2 &&
                   memcmp(p->t->tok[p->i + 1].p, "in", 2) == 0) {
            p->i += 2;
            op = MZ_JT_NOTIN;
        } else {
            break;
        }
        mz_jnode *right = parse_chain(p, 0), *link;
        if (!right || !(link = mz_j_node(p, MZ_JN_COMPARE, right->pos))) return NULL;
        if (!n) {
            if (!(n = mz_j_node(p, MZ_JN_COMPARE, pos))) return NULL;
            n->a = first;
            tail = &n->list;
        }
        link->op = op;
        link->a = right;
        append(n, &tail, link);
    }
    return n ? n : first;
}

static mz_jnode *parse_not(mz_jparse *p)
{
    if (!mz_j_at_name(p, "not")) return parse_compare(p);
    mz_jnode *n = mz_j_node(p, MZ_JN_NOT, mz_j_cur(p)->pos);
    if (!n) return NULL;
    p->i++;
    if (++p->depth > PARSE_DEPTH) {
        mz_j_perr(p, MZ_ELIMIT, n->pos, "expressions nest more than %d deep", PARSE_DEPTH);
        return NULL;
    }
    n->a = parse_not(p);
    p->depth--;
    return n->a ? n : NULL;
}

static mz_jnode *parse_logic(mz_jparse *p, bool is_or)
{
    uint32_t pos = mz_j_cur(p)->pos;
    mz_jnode *first = is_or ? parse_logic(p, false) : parse_not(p), *n = NULL, **tail = NULL;
    while (first && mz_j_skip_name(p, is_or ? "or" : "and")) {
        mz_jnode *right = is_or ? parse_logic(p, false) : parse_not(p);
        if (!right) return NULL;
        if (!n) {
            if (!(n = mz_j_node(p, is_or ? MZ_JN_OR : MZ_JN_AND, pos))) return NULL;
            tail = &n->list;
            append(n, &tail, first);
        }
        append(n, &tail, right);
    }
    return n ? n : first;
}

static mz_jnode *parse_or(mz_jparse *p)
{
    return parse_logic(p, true);
}

static mz_jnode *parse_cond(mz_jparse *p)
{
    uint32_t pos = mz_j_cur(p)->pos, links = 0;
    struct mz_junknown *mark = p->unknown;
    mz_jnode *value = parse_or(p);
    while (value && mz_j_skip_name(p, "if")) {
        mz_jnode *n = mz_j_node(p, MZ_JN_COND, pos);
        if (!n || !(n->a = parse_or(p))) return NULL;
        n->b = value;
        if (mz_j_skip_name(p, "else") && !(n->c = mz_j_parse_expr(p, true))) return NULL;
        p->unknown = mark;
        value = n;
        if (++links > PARSE_DEPTH) {
            mz_j_perr(p, MZ_ELIMIT, n->pos, "more than %d inline ifs in one chain", PARSE_DEPTH);
            return NULL;
        }
    }
    return value;
}

mz_jnode *mz_j_parse_expr(mz_jparse *p, bool with_cond)
{
    if (++p->depth > PARSE_DEPTH) {
        mz_j_perr(p, MZ_ELIMIT, mz_j_cur(p)->pos, "expressions nest more than %d deep", PARSE_DEPTH);
        return NULL;
    }
    mz_jnode *n = with_cond ? parse_cond(p) : parse_or(p);
    p->depth--;
    return n;
}

static bool at_tuple_end(const mz_jparse *p, mz_jend end)
{
    return mz_j_at(p, MZ_JT_VAR_END) || mz_j_at(p, MZ_JT_BLOCK_END) || mz_j_at(p, MZ_JT_RPAREN) ||
           (end == MZ_J_END_IN && mz_j_at_name(p, "in")) || (end == MZ_J_END_RECURSIVE && mz_j_at_name(p, "recursive"));
}

mz_jnode *mz_j_parse_tuple(mz_jparse *p, bool with_cond, mz_jend end, bool parens)
{
    uint32_t pos = mz_j_cur(p)->pos;
    mz_jnode *n = mz_j_node(p, MZ_JN_TUPLE, pos), **tail;
    bool is_tuple = false;
    if (!n) return NULL;
    tail = &n->list;
    for (;;) {
        if (n->n && !mz_j_expect(p, MZ_JT_COMMA, "','")) return NULL;
        if (at_tuple_end(p, end)) break;
        mz_jnode *item = mz_j_parse_expr(p, with_cond);
        if (!item) return NULL;
        append(n, &tail, item);
        if (!mz_j_at(p, MZ_JT_COMMA)) break;
        is_tuple = true;
    }
    if (is_tuple) return n;
    if (n->n) return n->list;
    if (parens) return n;
    unexpected(p, "an expression");
    return NULL;
}

static mz_jnode *parse_target_item(mz_jparse *p, bool with_ns, bool is_param)
{
    const mz_jtoken *tok = mz_j_cur(p);
    mz_jv ignored;
    if (tok->type == MZ_JT_LPAREN) {
        p->i++;
        if (++p->depth > PARSE_DEPTH) {
            mz_j_perr(p, MZ_ELIMIT, tok->pos, "targets nest more than %d deep", PARSE_DEPTH);
            return NULL;
        }
        mz_jnode *inner = mz_j_parse_target(p, MZ_J_END_NONE, false, is_param);
        p->depth--;
        return inner && mz_j_expect(p, MZ_JT_RPAREN, "')'") ? inner : NULL;
    }
    if (tok->type != MZ_JT_NAME || named_const(tok, &ignored)) {
        unexpected(p, "the name of a variable to assign");
        return NULL;
    }
    mz_jnode *n = mz_j_node(p, MZ_JN_NAME, tok->pos);
    if (!n || !mz_j_name_str(p, tok, n)) return NULL;
    p->i++;
    if (with_ns && mz_j_skip(p, MZ_JT_DOT)) {
        const mz_jtoken *attr = mz_j_cur(p);
        mz_jnode *ref = mz_j_node(p, MZ_JN_NSREF, tok->pos);
        if (!ref || !mz_j_expect(p, MZ_JT_NAME, "an attribute's name") || !set_str(p, ref, attr->p, attr->n)) return NULL;
        ref->a = n;
        return ref;
    }
    if (n->atom == p->t->atom_loop && p->n_for && !is_param) {
        mz_j_perr(p, MZ_EFORMAT, tok->pos, "the variable 'loop' cannot be assigned inside a for block");
        return NULL;
    }
    mz_j_note_store(p, n->atom);
    return n;
}

mz_jnode *mz_j_parse_target(mz_jparse *p, mz_jend end, bool with_ns, bool is_param)
{
    mz_jnode *n = mz_j_node(p, MZ_JN_TUPLE, mz_j_cur(p)->pos), **tail;
    bool is_tuple = false;
    if (!n) return NULL;
    tail = &n->list;
    for (;;) {
        if (n->n && !mz_j_expect(p, MZ_JT_COMMA, "','")) return NULL;
        if (n->n && at_tuple_end(p, end)) break;
        mz_jnode *item = parse_target_item(p, with_ns, is_param);
        if (!item) return NULL;
        append(n, &tail, item);
        if (!mz_j_at(p, MZ_JT_COMMA)) break;
        is_tuple = true;
    }
    return is_tuple ? n : n->list;
}
