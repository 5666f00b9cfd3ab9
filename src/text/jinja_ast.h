/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_ast.h: the tree of a parsed template, its tokens, and the parser's own state.
 *
 * Immutable after parsing; owned by the mz_template's arena. */
#ifndef MZ_TEXT_JINJA_AST_H
#define MZ_TEXT_JINJA_AST_H

#include "text/jinja_value.h"

/* Nesting and chaining in one expression. */
enum { MZ_J_PARSE_DEPTH = 100 };

/* Brackets inside one tag. The parser and the evaluator have their own depth limits. */
enum { MZ_J_NEST = 128 };

typedef enum mz_jtok {
    MZ_JT_EOF,
    MZ_JT_DATA,
    MZ_JT_VAR_BEGIN,
    MZ_JT_VAR_END,
    MZ_JT_BLOCK_BEGIN,
    MZ_JT_BLOCK_END,
    MZ_JT_NAME,
    MZ_JT_STRING,
    MZ_JT_INT,
    MZ_JT_FLOAT,
    MZ_JT_ADD,
    MZ_JT_SUB,
    MZ_JT_MUL,
    MZ_JT_DIV,
    MZ_JT_FLOORDIV,
    MZ_JT_MOD,
    MZ_JT_POW,
    MZ_JT_TILDE,
    MZ_JT_LBRACKET,
    MZ_JT_RBRACKET,
    MZ_JT_LPAREN,
    MZ_JT_RPAREN,
    MZ_JT_LBRACE,
    MZ_JT_RBRACE,
    MZ_JT_EQ,
    MZ_JT_NE,
    MZ_JT_GT,
    MZ_JT_GE,
    MZ_JT_LT,
    MZ_JT_LE,
    MZ_JT_ASSIGN,
    MZ_JT_DOT,
    MZ_JT_COLON,
    MZ_JT_PIPE,
    MZ_JT_COMMA,
    MZ_JT_SEMICOLON,
    MZ_JT_IN, /* only as an operator of a comparison */
    MZ_JT_NOTIN
} mz_jtok;

typedef struct mz_jtoken {
    uint8_t type;
    uint32_t pos;  /* byte offset in the (newline-normalised) source */
    const char *p; /* DATA, NAME: source text; STRING: the unescaped value */
    size_t n;
    union {
        int64_t i;
        double f;
    };
} mz_jtoken;

typedef enum mz_jkind {
    /* expressions */
    MZ_JN_CONST,   /* value */
    MZ_JN_NAME,    /* atom, str */
    MZ_JN_TUPLE,   /* list: items (also an assignment target) */
    MZ_JN_LIST,    /* list */
    MZ_JN_DICT,    /* list: key, value, key, value … */
    MZ_JN_ATTR,    /* a, str */
    MZ_JN_ITEM,    /* a, b */
    MZ_JN_SLICE,   /* a, b lower or NULL, c upper or NULL, d step or NULL */
    MZ_JN_CALL,    /* a, call */
    MZ_JN_FILTER,  /* a (NULL: a block's text), id, str, call */
    MZ_JN_TEST,    /* a, id, str, call */
    MZ_JN_BINARY,  /* a, list: operands, each with the operator before it in op */
    MZ_JN_CONCAT,  /* list */
    MZ_JN_COMPARE, /* a, list: operands with op */
    MZ_JN_AND,     /* list */
    MZ_JN_OR,      /* list */
    MZ_JN_NOT,     /* a */
    MZ_JN_UNARY,   /* a, op */
    MZ_JN_COND,    /* a test, b, c or NULL */
    MZ_JN_NSREF,   /* target only: atom, str (attribute), a: NAME */
    /* statements */
    MZ_JN_DATA,         /* str */
    MZ_JN_PRINT,        /* a */
    MZ_JN_FOR,          /* a target, b iterable, c condition or NULL, body, orelse, flag: recursive */
    MZ_JN_IF,           /* list: IF_ARM …, orelse */
    MZ_JN_IF_ARM,       /* a test, body */
    MZ_JN_SET,          /* a target, b value */
    MZ_JN_SET_BLOCK,    /* a target, b filter or NULL, body */
    MZ_JN_MACRO,        /* atom, str, list: parameters (PARAM), body, uses */
    MZ_JN_PARAM,        /* atom, str, a default or NULL */
    MZ_JN_CALL_BLOCK,   /* a CALL, list: parameters, body, uses */
    MZ_JN_FILTER_BLOCK, /* a filter, body */
    MZ_JN_WITH,         /* list: target, value, target, value …; body */
    MZ_JN_GENERATION,   /* body */
    MZ_JN_BREAK,
    MZ_JN_CONTINUE
} mz_jkind;

enum { MZ_J_USES_CALLER = 1, MZ_J_USES_KWARGS = 2, MZ_J_USES_VARARGS = 4 };

typedef struct mz_jcall { /* arguments of a call, filter or test */
    mz_jnode *pos;        /* linked */
    mz_jnode *kw;         /* linked PARAM nodes: str, a */
    mz_jnode *star, *star2;
    uint32_t n_pos, n_kw;
} mz_jcall;

struct mz_jnode {
    uint8_t kind;
    uint8_t op;   /* mz_jtok; an operand: the operator before it */
    uint8_t uses; /* of a macro: MZ_J_USES_… its body reads */
    bool flag;
    uint32_t pos;
    uint32_t n;    /* length of list */
    uint32_t atom; /* number of a variable's name */
    int32_t id;    /* filter or test; -1: unknown, an error only when reached */
    mz_jnode *next;
    mz_jnode *list;
    mz_jnode *a, *b, *c, *d;
    mz_jnode *body, *orelse;
    mz_jcall *call;
    mz_jv value; /* CONST; str of NAME, ATTR, FILTER …: value.s */
};

struct mz_template {
    mz_arena arena;
    char *src; /* newlines normalised */
    size_t n_src;
    mz_jtoken *tok; /* dropped after parsing */
    size_t n_tok, cap_tok;
    mz_jnode *body;
    uint32_t n_atom;
    uint32_t atom_loop, atom_caller, atom_kwargs, atom_varargs;
};

typedef struct mz_jparse {
    mz_template *t;
    mz_err *err;
    mz_status status;
    size_t i; /* current token */
    uint32_t depth;
    uint32_t n_for;  /* enclosing for statements: there `loop` cannot be assigned */
    uint32_t n_loop; /* enclosing loops a break would leave */
    struct mz_jatom {
        const char *p;
        size_t n;
    } * atom;
    uint32_t cap_atom;
    /* An unknown filter or test inside an `if` is an error only when reached, elsewhere at once (as in jinja2):
     * those met so far in the frame being parsed. */
    struct mz_junknown {
        struct mz_junknown *up;
        const char *what;
        const mz_jnode *node;
    } * unknown;
    struct mz_jmacro_scan *macro; /* innermost macro being parsed */
    const char *tag;              /* innermost open tag, for messages */
    size_t n_tag;
} mz_jparse;

/* Where a byte of the source is: 1-based line and column (in code points). */
void mz_j_where(const mz_template *t, uint32_t pos, unsigned *line, unsigned *col);
bool mz_j_perr(mz_jparse *p, mz_status code, uint32_t pos, const char *fmt, ...) MZ_PRINTF(4, 5); /* false */

bool mz_j_lex(mz_jparse *p);            /* jinja_lex.c: src to tok */
bool mz_j_parse_template(mz_jparse *p); /* jinja_parse.c */

/* --- between the parser's files; NULL or false after recording --- */
typedef enum { MZ_J_END_NONE, MZ_J_END_IN, MZ_J_END_RECURSIVE } mz_jend;
mz_jnode *mz_j_node(mz_jparse *p, mz_jkind kind, uint32_t pos);
mz_jnode *mz_j_parse_expr(mz_jparse *p, bool with_cond);
mz_jnode *mz_j_parse_tuple(mz_jparse *p, bool with_cond, mz_jend end, bool parens);
mz_jnode *mz_j_parse_target(mz_jparse *p, mz_jend end, bool with_ns, bool is_param);
mz_jnode *mz_j_parse_filter(mz_jparse *p, mz_jnode *a, bool start_inline);
mz_jnode *mz_j_parse_primary(mz_jparse *p);
mz_jnode *mz_j_parse_postfix(mz_jparse *p, mz_jnode *n);
mz_jnode *mz_j_parse_filter_expr(mz_jparse *p, mz_jnode *n);
bool mz_j_set_str(mz_jparse *p, mz_jnode *node, const char *s, size_t n);
bool mz_j_named_const(const mz_jtoken *tok, mz_jv *out); /* true, False, none … */
void mz_j_append(mz_jnode *owner, mz_jnode ***tail, mz_jnode *item);
bool mz_j_unexpected(mz_jparse *p, const char *expected);
void mz_j_note_load(mz_jparse *p, uint32_t atom);
bool mz_j_name_str(mz_jparse *p, const mz_jtoken *tok, mz_jnode *node);
bool mz_j_atom(mz_jparse *p, const char *name, size_t n, uint32_t *out);
void mz_j_note_store(mz_jparse *p, uint32_t atom);

typedef struct mz_jmacro_scan { /* which special names a macro's body reads before it stores them */
    struct mz_jmacro_scan *up;
    uint8_t used, stored;
} mz_jmacro_scan;

static inline const mz_jtoken *mz_j_cur(const mz_jparse *p)
{
    return &p->t->tok[p->i];
}
static inline bool mz_j_at(const mz_jparse *p, mz_jtok type)
{
    return mz_j_cur(p)->type == type;
}
bool mz_j_at_name(const mz_jparse *p, const char *name);
bool mz_j_skip(mz_jparse *p, mz_jtok type);
bool mz_j_skip_name(mz_jparse *p, const char *name);
bool mz_j_expect(mz_jparse *p, mz_jtok type, const char *what);
const char *mz_j_describe(const mz_jtoken *tok, char out[48]);

/* jinja_eval.c, jinja_stmt.c */
bool mz_j_eval(mz_jst *st, const mz_jnode *n, mz_jv *out);
bool mz_j_eval_args(mz_jst *st, const mz_jcall *c, mz_jargs *out);
bool mz_j_eval_filter(mz_jst *st, const mz_jnode *n, mz_jv in, mz_jv *out);
bool mz_j_assign(mz_jst *st, const mz_jnode *target, mz_jv v);
bool mz_j_scope_set(mz_jst *st, uint32_t atom, mz_jv v);
typedef enum { MZ_J_DONE, MZ_J_FAILED, MZ_J_BREAK, MZ_J_CONTINUE } mz_jflow;
mz_jflow mz_j_exec(mz_jst *st, const mz_jnode *list);

#endif
