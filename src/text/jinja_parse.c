/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_parse.c: statements. Tags that jinja2 has and chat templates have no use for (include, extends, block …) are
 * refused by name. */
#include <stdio.h>
#include <string.h>

#include "text/jinja_ast.h"

enum { BLOCK_DEPTH = 100 };

static bool parse_body(mz_jparse *p, const char *const *ends, mz_jnode **out);
static mz_jnode *parse_statement(mz_jparse *p);

static const char *const END_FOR[] = {"endfor", "else", NULL}, *const END_FOR_ELSE[] = {"endfor", NULL},
                         *const END_IF[] = {"elif", "else", "endif", NULL}, *const END_IF_ELSE[] = {"endif", NULL},
                         *const END_SET[] = {"endset", NULL}, *const END_MACRO[] = {"endmacro", NULL},
                         *const END_CALL[] = {"endcall", NULL}, *const END_FILTER[] = {"endfilter", NULL},
                         *const END_WITH[] = {"endwith", NULL}, *const END_GENERATION[] = {"endgeneration", NULL};

static bool at_end_tag(const mz_jparse *p, const char *const *ends)
{
    for (; ends && *ends; ends++)
        if (mz_j_at_name(p, *ends)) return true;
    return false;
}

static bool fail_unclosed(mz_jparse *p, const char *const *ends)
{
    char text[96];
    size_t n = 0;
    for (size_t i = 0; ends[i]; i++) n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? " or " : "", ends[i]);
    return mz_j_perr(p, MZ_EFORMAT, mz_j_cur(p)->pos, "the template ends inside '%.*s'; expected %s", (int)p->n_tag, p->tag, text);
}

/* Frames other than `if` decide at once about unknown filters met in them. */
static bool check_unknown(mz_jparse *p, const struct mz_junknown *mark)
{
    if (p->unknown == mark) return true;
    const mz_jnode *n = p->unknown->node;
    return mz_j_perr(p, MZ_ESUPPORT, n->pos, "unknown %s '%.*s'", p->unknown->what, (int)(n->value.s->n < 80 ? n->value.s->n : 80),
                     n->value.s->p);
}

/* The rest of a tag, then statements up to one of ends (whose name is left current). */
static bool parse_statements(mz_jparse *p, const char *const *ends, mz_jnode **out)
{
    (void)mz_j_skip(p, MZ_JT_COLON);
    return mz_j_expect(p, MZ_JT_BLOCK_END, "%}") && parse_body(p, ends, out);
}

static bool parse_statements_drop(mz_jparse *p, const char *const *ends, mz_jnode **out)
{
    if (!parse_statements(p, ends, out)) return false;
    p->i++;
    return true;
}

static bool parse_for(mz_jparse *p, mz_jnode *n)
{
    p->n_for++;
    if (!(n->a = mz_j_parse_target(p, MZ_J_END_IN, false, false))) return false;
    if (!mz_j_skip_name(p, "in")) return mz_j_perr(p, MZ_EFORMAT, mz_j_cur(p)->pos, "expected 'in' after the loop's variables");
    if (!(n->b = mz_j_parse_tuple(p, false, MZ_J_END_RECURSIVE, false))) return false;
    struct mz_junknown *mark = p->unknown;
    if (mz_j_skip_name(p, "if") && !(n->c = mz_j_parse_expr(p, true))) return false;
    n->flag = mz_j_skip_name(p, "recursive");
    p->n_loop++;
    bool ok = parse_statements(p, END_FOR, &n->body);
    p->n_loop--;
    if (!ok) return false;
    bool has_else = mz_j_at_name(p, "else");
    p->i++;
    if (has_else && !parse_statements_drop(p, END_FOR_ELSE, &n->orelse)) return false;
    p->n_for--;
    return check_unknown(p, mark);
}

static bool parse_if(mz_jparse *p, mz_jnode *n)
{
    mz_jnode **tail = &n->list;
    struct mz_junknown *mark = p->unknown;
    for (;;) {
        mz_jnode *arm = mz_j_node(p, MZ_JN_IF_ARM, mz_j_cur(p)->pos);
        if (!arm || !(arm->a = mz_j_parse_tuple(p, false, MZ_J_END_NONE, false)) || !parse_statements(p, END_IF, &arm->body)) return false;
        *tail = arm;
        tail = &arm->next;
        if (mz_j_skip_name(p, "elif")) continue;
        bool has_else = mz_j_at_name(p, "else");
        p->i++;
        if (has_else && !parse_statements_drop(p, END_IF_ELSE, &n->orelse)) return false;
        p->unknown = mark;
        return true;
    }
}

static bool parse_set(mz_jparse *p, mz_jnode *n)
{
    if (!(n->a = mz_j_parse_target(p, MZ_J_END_NONE, true, false))) return false;
    if (mz_j_skip(p, MZ_JT_ASSIGN)) return (n->b = mz_j_parse_tuple(p, true, MZ_J_END_NONE, false)) != NULL;
    struct mz_junknown *mark = p->unknown;
    n->kind = MZ_JN_SET_BLOCK;
    if (mz_j_at(p, MZ_JT_PIPE) && !(n->b = mz_j_parse_filter(p, NULL, false))) return false;
    return parse_statements_drop(p, END_SET, &n->body) && check_unknown(p, mark);
}

static bool parse_signature(mz_jparse *p, mz_jnode *n)
{
    mz_jnode **tail = &n->list;
    bool with_default = false;
    if (!mz_j_expect(p, MZ_JT_LPAREN, "'('")) return false;
    while (!mz_j_at(p, MZ_JT_RPAREN)) {
        if (n->n && !mz_j_expect(p, MZ_JT_COMMA, "',' or ')'")) return false;
        const mz_jtoken *tok = mz_j_cur(p);
        mz_jnode *param = mz_j_node(p, MZ_JN_PARAM, tok->pos);
        if (!param || !mz_j_expect(p, MZ_JT_NAME, "a parameter's name") || !mz_j_name_str(p, tok, param)) return false;
        for (const mz_jnode *k = n->list; k; k = k->next)
            if (k->atom == param->atom) return mz_j_perr(p, MZ_EFORMAT, tok->pos, "this parameter's name is used twice");
        mz_j_note_store(p, param->atom);
        if (mz_j_skip(p, MZ_JT_ASSIGN)) {
            if (!(param->a = mz_j_parse_expr(p, true))) return false;
            with_default = true;
        } else if (with_default) {
            return mz_j_perr(p, MZ_EFORMAT, tok->pos, "a parameter without a default follows one with a default");
        }
        *tail = param;
        tail = &param->next;
        n->n++;
    }
    p->i++;
    return true;
}

/* A body that runs as a function of its own: no break out of it, its own special names. */
static bool parse_function_body(mz_jparse *p, mz_jnode *n, const char *const *ends)
{
    mz_jmacro_scan scan = {.up = p->macro};
    uint32_t n_loop = p->n_loop;
    p->n_loop = 0;
    p->macro = &scan;
    bool ok = parse_statements_drop(p, ends, &n->body);
    p->macro = scan.up;
    p->n_loop = n_loop;
    n->uses = scan.used;
    for (const mz_jnode *k = n->list; ok && k; k = k->next) {
        if (k->atom == p->t->atom_caller && (n->uses & MZ_J_USES_CALLER) && !k->a)
            return mz_j_perr(p, MZ_EFORMAT, k->pos, "the special parameter 'caller' must have a default");
        uint8_t bit = k->atom == p->t->atom_caller    ? MZ_J_USES_CALLER
                      : k->atom == p->t->atom_kwargs  ? MZ_J_USES_KWARGS
                      : k->atom == p->t->atom_varargs ? MZ_J_USES_VARARGS
                                                      : 0;
        n->uses &= (uint8_t)~bit;
    }
    return ok;
}

static bool parse_macro(mz_jparse *p, mz_jnode *n)
{
    const mz_jtoken *tok = mz_j_cur(p);
    struct mz_junknown *mark = p->unknown;
    return mz_j_expect(p, MZ_JT_NAME, "the macro's name") && mz_j_name_str(p, tok, n) && parse_signature(p, n) &&
           parse_function_body(p, n, END_MACRO) && check_unknown(p, mark);
}

static bool parse_call_block(mz_jparse *p, mz_jnode *n)
{
    if (mz_j_at(p, MZ_JT_LPAREN) && !parse_signature(p, n)) return false;
    if (!(n->a = mz_j_parse_expr(p, true))) return false;
    if (n->a->kind != MZ_JN_CALL) return mz_j_perr(p, MZ_EFORMAT, n->a->pos, "expected a call after 'call'");
    struct mz_junknown *mark = p->unknown;
    return parse_function_body(p, n, END_CALL) && check_unknown(p, mark);
}

static bool parse_filter_block(mz_jparse *p, mz_jnode *n)
{
    struct mz_junknown *mark = p->unknown;
    return (n->a = mz_j_parse_filter(p, NULL, true)) && parse_statements_drop(p, END_FILTER, &n->body) && check_unknown(p, mark);
}

static bool parse_with(mz_jparse *p, mz_jnode *n)
{
    mz_jnode **tail = &n->list;
    while (!mz_j_at(p, MZ_JT_BLOCK_END)) {
        if (n->n && !mz_j_expect(p, MZ_JT_COMMA, "','")) return false;
        mz_jnode *target = mz_j_parse_target(p, MZ_J_END_NONE, false, true), *val;
        if (!target || !mz_j_expect(p, MZ_JT_ASSIGN, "'='") || !(val = mz_j_parse_expr(p, true))) return false;
        target->next = val;
        *tail = target;
        tail = &val->next;
        n->n += 2;
    }
    struct mz_junknown *mark = p->unknown;
    return parse_statements_drop(p, END_WITH, &n->body) && check_unknown(p, mark);
}

static bool parse_generation(mz_jparse *p, mz_jnode *n)
{
    struct mz_junknown *mark = p->unknown;
    return parse_function_body(p, n, END_GENERATION) && check_unknown(p, mark);
}

static bool parse_loop_control(mz_jparse *p, mz_jnode *n)
{
    if (p->n_loop) return true;
    return mz_j_perr(p, MZ_EFORMAT, n->pos, "'%s' outside a loop", n->kind == MZ_JN_BREAK ? "break" : "continue");
}

static bool parse_print(mz_jparse *p, mz_jnode *n)
{
    mz_jnode **tail = &n->list;
    n->kind = MZ_JN_IF; /* an `if` without arms is just its else: the printed values */
    tail = &n->orelse;
    while (!mz_j_at(p, MZ_JT_BLOCK_END)) {
        if (n->orelse && !mz_j_expect(p, MZ_JT_COMMA, "','")) return false;
        mz_jnode *k = mz_j_node(p, MZ_JN_PRINT, mz_j_cur(p)->pos);
        if (!k || !(k->a = mz_j_parse_expr(p, true))) return false;
        *tail = k;
        tail = &k->next;
    }
    return true;
}

static mz_jnode *parse_statement(mz_jparse *p)
{
    static const struct {
        const char *name;
        uint8_t kind;
        bool (*parse)(mz_jparse *, mz_jnode *);
    } tags[] = {{"if", MZ_JN_IF, parse_if},
                {"for", MZ_JN_FOR, parse_for},
                {"set", MZ_JN_SET, parse_set},
                {"macro", MZ_JN_MACRO, parse_macro},
                {"call", MZ_JN_CALL_BLOCK, parse_call_block},
                {"filter", MZ_JN_FILTER_BLOCK, parse_filter_block},
                {"with", MZ_JN_WITH, parse_with},
                {"generation", MZ_JN_GENERATION, parse_generation},
                {"break", MZ_JN_BREAK, parse_loop_control},
                {"continue", MZ_JN_CONTINUE, parse_loop_control},
                {"print", MZ_JN_PRINT, parse_print}};
    const mz_jtoken *tok = mz_j_cur(p);
    const char *tag = p->tag;
    size_t n_tag = p->n_tag;
    if (tok->type != MZ_JT_NAME) {
        mz_j_perr(p, MZ_EFORMAT, tok->pos, "expected the name of a tag after {%%");
        return NULL;
    }
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        if (!mz_j_at_name(p, tags[i].name)) continue;
        mz_jnode *n = mz_j_node(p, (mz_jkind)tags[i].kind, tok->pos);
        if (!n) return NULL;
        p->tag = tok->p;
        p->n_tag = tok->n;
        p->i++;
        if (!tags[i].parse(p, n)) return NULL;
        p->tag = tag;
        p->n_tag = n_tag;
        return n;
    }
    int n = (int)(tok->n < 60 ? tok->n : 60), k = (int)(n_tag < 60 ? n_tag : 60);
    if (n_tag)
        mz_j_perr(p, MZ_ESUPPORT, tok->pos, "unknown tag '%.*s' (inside '%.*s')", n, tok->p, k, tag);
    else
        mz_j_perr(p, MZ_ESUPPORT, tok->pos, "unknown tag '%.*s'", n, tok->p);
    return NULL;
}

static bool parse_body(mz_jparse *p, const char *const *ends, mz_jnode **out)
{
    mz_jnode **tail = out;
    if (++p->depth > BLOCK_DEPTH) return mz_j_perr(p, MZ_ELIMIT, mz_j_cur(p)->pos, "blocks nest more than %d deep", BLOCK_DEPTH);
    for (;;) {
        const mz_jtoken *tok = mz_j_cur(p);
        mz_jnode *n;
        switch (tok->type) {
        case MZ_JT_DATA:
            if (!(n = mz_j_node(p, MZ_JN_DATA, tok->pos))) return false;
            n->value.type = MZ_J_STR;
            if (!(n->value.s = mz_arena_alloc(&p->t->arena, sizeof *n->value.s))) return mz_j_perr(p, MZ_ENOMEM, tok->pos, "out of memory");
            n->value.s->p = tok->p;
            n->value.s->n = tok->n;
            p->i++;
            break;
        case MZ_JT_VAR_BEGIN:
            if (!(n = mz_j_node(p, MZ_JN_PRINT, tok->pos))) return false;
            p->i++;
            if (!(n->a = mz_j_parse_tuple(p, true, MZ_J_END_NONE, false)) || !mz_j_expect(p, MZ_JT_VAR_END, "}}")) return false;
            break;
        case MZ_JT_BLOCK_BEGIN:
            p->i++;
            if (at_end_tag(p, ends)) {
                p->depth--;
                return true;
            }
            if (!(n = parse_statement(p)) || !mz_j_expect(p, MZ_JT_BLOCK_END, "%}")) return false;
            break;
        default:
            if (ends) return fail_unclosed(p, ends);
            p->depth--;
            return true;
        }
        *tail = n;
        tail = &n->next;
    }
}

bool mz_j_parse_template(mz_jparse *p)
{
    mz_template *t = p->t;
    return mz_j_atom(p, "loop", 4, &t->atom_loop) && mz_j_atom(p, "caller", 6, &t->atom_caller) &&
           mz_j_atom(p, "kwargs", 6, &t->atom_kwargs) && mz_j_atom(p, "varargs", 7, &t->atom_varargs) && parse_body(p, NULL, &t->body) &&
           check_unknown(p, NULL);
}
