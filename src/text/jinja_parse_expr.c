/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_parse_expr.c: operators in jinja2's order of precedence (recursive descent; chains of one precedence become one flat
 * node, so that a long a + b + c … needs no depth), tuples and the targets of assignments. */
#include <string.h>

#include "text/jinja_ast.h"

static mz_jnode *parse_or(mz_jparse *p);
static mz_jnode *parse_unary(mz_jparse *p, bool with_filter);

static mz_jnode *parse_unary(mz_jparse *p, bool with_filter)
{
    mz_jnode *n;
    if (mz_j_at(p, MZ_JT_SUB) || mz_j_at(p, MZ_JT_ADD)) {
        if (!(n = mz_j_node(p, MZ_JN_UNARY, mz_j_cur(p)->pos))) return NULL;
        n->op = mz_j_cur(p)->type;
        p->i++;
        if (++p->depth > MZ_J_PARSE_DEPTH) {
            mz_j_perr(p, MZ_ELIMIT, n->pos, "expressions nest more than %d deep", MZ_J_PARSE_DEPTH);
            return NULL;
        }
        n->a = parse_unary(p, false);
        p->depth--;
        if (!n->a) return NULL;
    } else {
        n = mz_j_parse_primary(p);
    }
    if (n) n = mz_j_parse_postfix(p, n);
    return n && with_filter ? mz_j_parse_filter_expr(p, n) : n;
}

/* One level of left-associative operators: the first operand alone, or a node with all of them. */
static mz_jnode *parse_chain(mz_jparse *p, int level)
{
    static const struct {
        uint8_t kind, from, to; /* token types */
    } levels[] = {{MZ_JN_BINARY, MZ_JT_ADD, MZ_JT_SUB},
                  {MZ_JN_CONCAT, MZ_JT_TILDE, MZ_JT_TILDE},
                  {MZ_JN_BINARY, MZ_JT_MUL, MZ_JT_MOD},
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
            if (n->kind == MZ_JN_CONCAT)
                mz_j_append(n, &tail, first);
            else
                n->a = first;
        }
        /* An operand node may itself be a chain whose op field is taken: wrap it in a link of its own. */
        mz_jnode *link = mz_j_node(p, MZ_JN_BINARY, right->pos);
        if (!link) return NULL;
        link->op = op;
        link->a = right;
        mz_j_append(n, &tail, n->kind == MZ_JN_CONCAT ? right : link);
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
        mz_j_append(n, &tail, link);
    }
    return n ? n : first;
}

static mz_jnode *parse_not(mz_jparse *p)
{
    if (!mz_j_at_name(p, "not")) return parse_compare(p);
    mz_jnode *n = mz_j_node(p, MZ_JN_NOT, mz_j_cur(p)->pos);
    if (!n) return NULL;
    p->i++;
    if (++p->depth > MZ_J_PARSE_DEPTH) {
        mz_j_perr(p, MZ_ELIMIT, n->pos, "expressions nest more than %d deep", MZ_J_PARSE_DEPTH);
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
            mz_j_append(n, &tail, first);
        }
        mz_j_append(n, &tail, right);
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
        if (++links > MZ_J_PARSE_DEPTH) {
            mz_j_perr(p, MZ_ELIMIT, n->pos, "more than %d inline ifs in one chain", MZ_J_PARSE_DEPTH);
            return NULL;
        }
    }
    return value;
}

mz_jnode *mz_j_parse_expr(mz_jparse *p, bool with_cond)
{
    if (++p->depth > MZ_J_PARSE_DEPTH) {
        mz_j_perr(p, MZ_ELIMIT, mz_j_cur(p)->pos, "expressions nest more than %d deep", MZ_J_PARSE_DEPTH);
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
        mz_j_append(n, &tail, item);
        if (!mz_j_at(p, MZ_JT_COMMA)) break;
        is_tuple = true;
    }
    if (is_tuple) return n;
    if (n->n) return n->list;
    if (parens) return n;
    mz_j_unexpected(p, "an expression");
    return NULL;
}

static mz_jnode *parse_target_item(mz_jparse *p, bool with_ns, bool is_param)
{
    const mz_jtoken *tok = mz_j_cur(p);
    mz_jv ignored;
    if (tok->type == MZ_JT_LPAREN) {
        p->i++;
        if (++p->depth > MZ_J_PARSE_DEPTH) {
            mz_j_perr(p, MZ_ELIMIT, tok->pos, "targets nest more than %d deep", MZ_J_PARSE_DEPTH);
            return NULL;
        }
        mz_jnode *inner = mz_j_parse_target(p, MZ_J_END_NONE, false, is_param);
        p->depth--;
        return inner && mz_j_expect(p, MZ_JT_RPAREN, "')'") ? inner : NULL;
    }
    if (tok->type != MZ_JT_NAME || mz_j_named_const(tok, &ignored)) {
        mz_j_unexpected(p, "the name of a variable to assign");
        return NULL;
    }
    mz_jnode *n = mz_j_node(p, MZ_JN_NAME, tok->pos);
    if (!n || !mz_j_name_str(p, tok, n)) return NULL;
    p->i++;
    if (with_ns && mz_j_skip(p, MZ_JT_DOT)) {
        const mz_jtoken *attr = mz_j_cur(p);
        mz_jnode *ref = mz_j_node(p, MZ_JN_NSREF, tok->pos);
        if (!ref || !mz_j_expect(p, MZ_JT_NAME, "an attribute's name") || !mz_j_set_str(p, ref, attr->p, attr->n)) return NULL;
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
        mz_j_append(n, &tail, item);
        if (!mz_j_at(p, MZ_JT_COMMA)) break;
        is_tuple = true;
    }
    return is_tuple ? n : n->list;
}
