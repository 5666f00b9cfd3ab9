/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_parse_util.c: what the parser's parts share: tokens, nodes, names of variables. */
#include <stdio.h>
#include <string.h>

#include "text/jinja_ast.h"
#include "text/utf8.h"

const char *mz_j_describe(const mz_jtoken *tok, char out[48])
{
    static const char *const fixed[] = {[MZ_JT_EOF] = "the end of the template",
                                        [MZ_JT_DATA] = "text",
                                        [MZ_JT_VAR_BEGIN] = "{{",
                                        [MZ_JT_VAR_END] = "}}",
                                        [MZ_JT_BLOCK_BEGIN] = "{%",
                                        [MZ_JT_BLOCK_END] = "%}"};
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

bool mz_j_unexpected(mz_jparse *p, const char *expected)
{
    char buf[48];
    return mz_j_perr(p, MZ_EFORMAT, mz_j_cur(p)->pos, "found %s, expected %s", mz_j_describe(mz_j_cur(p), buf), expected);
}

bool mz_j_expect(mz_jparse *p, mz_jtok type, const char *what)
{
    return mz_j_skip(p, type) || mz_j_unexpected(p, what);
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

bool mz_j_set_str(mz_jparse *p, mz_jnode *node, const char *s, size_t n)
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
    return mz_j_set_str(p, node, tok->p, tok->n) && mz_j_atom(p, tok->p, tok->n, &node->atom);
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

void mz_j_note_load(mz_jparse *p, uint32_t atom)
{
    for (mz_jmacro_scan *m = p->macro; m; m = m->up) m->used |= (uint8_t)(special_of(p, atom) & ~m->stored);
}

/* Appends to a linked list whose last link is *tail. */
void mz_j_append(mz_jnode *owner, mz_jnode ***tail, mz_jnode *item)
{
    **tail = item;
    *tail = &item->next;
    owner->n++;
}

bool mz_j_named_const(const mz_jtoken *tok, mz_jv *out)
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
