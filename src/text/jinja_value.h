/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_value.h: the values a template computes with, and the state of one render.
 *
 * Values behave as Python's: that is what published templates are written against. Not here: the tree (jinja_ast.h).
 * Ownership: everything lives in the render's arena and dies with it; there are no reference counts, and a list,
 * dict or string never changes once built (the sandbox forbids mutation), so values are shared freely.
 * Threading: a state belongs to one render. Functions that can fail return false (or NULL) after recording one sentence
 * in st->err; callers only forward. */
#ifndef MZ_TEXT_JINJA_VALUE_H
#define MZ_TEXT_JINJA_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/template.h"

typedef enum mz_jtype {
    MZ_J_MISSING = 0, /* no value at all: an argument not given; never visible to a template */
    MZ_J_UNDEF,
    MZ_J_NONE,
    MZ_J_BOOL,
    MZ_J_INT,
    MZ_J_FLOAT,
    MZ_J_STR, /* sub 1: Markup (safe for HTML, as |e and |safe give) */
    MZ_J_LIST,
    MZ_J_TUPLE, /* sub 1: a group of |groupby, with .grouper and .list */
    MZ_J_DICT,
    MZ_J_VIEW, /* a dict's view; sub: MZ_J_KEYS … */
    MZ_J_RANGE,
    MZ_J_ITER, /* a generator: true, without length, consumed once */
    MZ_J_NS,   /* namespace(): the one thing that can be changed */
    MZ_J_MACRO,
    MZ_J_LOOP,
    MZ_J_METHOD,
    MZ_J_FUNC,
    MZ_J_CYCLER,
    MZ_J_JOINER
} mz_jtype;

enum { MZ_J_KEYS, MZ_J_VALUES, MZ_J_ITEMS };

typedef struct mz_jsbuf { /* backing store which its last string may still extend (amortised appending) */
    size_t used, cap;
    char data[];
} mz_jsbuf;

typedef struct mz_jstr {
    const char *p; /* UTF-8, not zero-terminated */
    size_t n;      /* bytes */
    size_t n_cp;   /* code points; SIZE_MAX: not counted yet */
    mz_jsbuf *buf; /* NULL: borrowed bytes */
} mz_jstr;

typedef struct mz_jv mz_jv;
typedef struct mz_jlist mz_jlist;
typedef struct mz_jdict mz_jdict;
typedef struct mz_jundef mz_jundef;
typedef struct mz_jrange mz_jrange;
typedef struct mz_jiter mz_jiter;
typedef struct mz_jmacro mz_jmacro;
typedef struct mz_jloop mz_jloop;
typedef struct mz_jmethod mz_jmethod;
typedef struct mz_jcycler mz_jcycler;
typedef struct mz_jnode mz_jnode;
typedef struct mz_jst mz_jst;

struct mz_jv {
    uint8_t type, sub;
    union {
        bool b;
        int64_t i;
        double f;
        mz_jstr *s;
        mz_jlist *l;
        mz_jdict *d; /* dict, view, namespace */
        mz_jundef *u;
        mz_jrange *r;
        mz_jiter *it;
        mz_jmacro *m;
        mz_jloop *loop;
        mz_jmethod *meth;
        mz_jcycler *cy; /* cycler, joiner */
        const void *id; /* any pointer, for identity */
    };
};

struct mz_jlist {
    mz_jv *v;
    size_t n, cap;
};

typedef struct mz_jentry {
    mz_jv key, val;
    uint64_t hash;
} mz_jentry;

struct mz_jdict { /* insertion order */
    mz_jentry *e;
    size_t n, cap;
    uint32_t *index; /* open addressing, entry number + 1; NULL while small */
    size_t n_index;
};

struct mz_jundef {    /* jinja2.Undefined: prints empty, fails on use with the message below */
    const char *hint; /* non-NULL: the whole message */
    mz_jv obj;        /* MISSING: a name that is not defined; else what lacks `name` */
    mz_jv name;
};

struct mz_jrange {
    int64_t start, stop, step;
    size_t n;
};

typedef struct mz_jscope { /* variables set in one block */
    struct mz_jscope *parent;
    struct mz_jvar {
        uint32_t atom;
        mz_jv val;
    } * v;
    uint32_t n, cap;
} mz_jscope;

struct mz_jmacro {
    const mz_jnode *node; /* MACRO or CALL_BLOCK */
    mz_jscope *scope;
};

struct mz_jloop {
    const mz_jnode *node; /* FOR */
    mz_jscope *outer;
    mz_jv iterable;
    mz_jiter *it;
    int64_t index0, length; /* length -1: unknown */
    mz_jv after, cur, before, changed;
    uint32_t depth0;
};

struct mz_jcycler {
    mz_jv *items; /* joiner: items[0] is the separator */
    size_t n, pos;
};

typedef struct mz_jkw {
    mz_jv name; /* STR */
    mz_jv val;
} mz_jkw;

typedef struct mz_jargs {
    mz_jv *v;
    size_t n;
    mz_jkw *kw;
    size_t n_kw;
} mz_jargs;

struct mz_jst {
    const mz_template *t;
    mz_err *err;
    mz_status status;
    mz_arena arena;
    uint64_t fuel;
    uint32_t depth, depth_max;
    size_t out_limit;
    int64_t now_s;
    uint32_t pos; /* where in the source evaluation is, for messages */
    mz_jdict *globals;
    mz_jscope *scope;
    mz_buf *out;
    size_t out_base;
};

/* --- failing, charging, allocating (jinja_value.c) --- */
bool mz_j_fail(mz_jst *st, mz_status code, const char *fmt, ...) MZ_PRINTF(3, 4); /* adds line:column; false */
bool mz_j_charge(mz_jst *st, uint64_t n_step);
bool mz_j_enter(mz_jst *st); /* one level deeper; pair with mz_j_leave when true */
void mz_j_leave(mz_jst *st);
void *mz_j_alloc(mz_jst *st, size_t n, size_t size);

/* --- making values --- */
mz_jv mz_j_none(void);
mz_jv mz_j_bool(bool b);
mz_jv mz_j_int(int64_t i);
mz_jv mz_j_float(double f);
bool mz_j_str(mz_jst *st, const char *p, size_t n, mz_jv *out);        /* copies */
bool mz_j_str_borrow(mz_jst *st, const char *p, size_t n, mz_jv *out); /* bytes outlive the render */
bool mz_j_cstr(mz_jst *st, const char *literal, mz_jv *out);           /* a C string literal */
bool mz_j_str_cat(mz_jst *st, const mz_jstr *a, const mz_jstr *b, mz_jv *out);
bool mz_j_str_take(mz_jst *st, mz_buf *b, mz_jv *out); /* copies b's bytes and frees b in every case */
/* The end of building a string: takes b when all went well, else frees it; sub marks the result as its source was marked. */
bool mz_j_str_end(mz_jst *st, bool ok, mz_buf *b, uint8_t sub, mz_jv *out);
bool mz_j_list(mz_jst *st, size_t cap, mz_jv *out);
bool mz_j_list_push(mz_jst *st, mz_jlist *l, mz_jv v); /* only while building */
bool mz_j_tuple2(mz_jst *st, mz_jv a, mz_jv b, mz_jv *out);
bool mz_j_undef_name(mz_jst *st, mz_jv name, mz_jv *out);
bool mz_j_undef_attr(mz_jst *st, mz_jv obj, mz_jv name, mz_jv *out);
bool mz_j_undef_hint(mz_jst *st, const char *hint, mz_jv *out);
bool mz_j_undef_fail(mz_jst *st, mz_jv undef); /* records jinja2's message; false */

/* Adds to b, whose growth is bounded by the output limit. */
bool mz_j_buf_add(mz_jst *st, mz_buf *b, const void *p, size_t n);
static inline bool mz_j_buf_str(mz_jst *st, mz_buf *b, const mz_jstr *s)
{
    return mz_j_buf_add(st, b, s->p, s->n);
}

/* --- asking --- */
bool mz_j_truth(mz_jv v);
const char *mz_j_type_name(mz_jv v); /* Python's: "str", "NoneType" … */
bool mz_j_len(mz_jv v, size_t *n);   /* false: has no length (nothing recorded) */
bool mz_j_is_num(mz_jv v);           /* int, float or bool */
int64_t mz_j_as_int(mz_jv v);        /* of int or bool */
double mz_j_as_float(mz_jv v);       /* of a number */
static inline bool mz_j_is_int(mz_jv v)
{
    return v.type == MZ_J_INT || v.type == MZ_J_BOOL;
}
static inline bool mz_j_is_str(mz_jv v, const char *lit, size_t n)
{
    return v.type == MZ_J_STR && v.s->n == n && __builtin_memcmp(v.s->p, lit, n) == 0;
}
#define MZ_J_IS(v, lit) mz_j_is_str((v), "" lit, sizeof(lit) - 1)

/* --- dicts and comparison (jinja_dict.c) --- */
bool mz_j_dict(mz_jst *st, mz_jv *out);
bool mz_j_dict_set(mz_jst *st, mz_jdict *d, mz_jv key, mz_jv val); /* replaces; fails on an unhashable key */
/* *out MISSING when absent. An unhashable key fails only when strict. */
bool mz_j_dict_get(mz_jst *st, const mz_jdict *d, mz_jv key, bool strict, mz_jv *out);
bool mz_j_dict_get_str(mz_jst *st, const mz_jdict *d, const char *name, mz_jv *out);
bool mz_j_dict_merge(mz_jst *st, mz_jdict *d, mz_jv from); /* what dict(from) takes */
bool mz_j_view_item(mz_jst *st, mz_jv view, size_t i, mz_jv *out);
bool mz_j_eq(mz_jst *st, mz_jv a, mz_jv b, bool *out);
bool mz_j_same(mz_jv a, mz_jv b); /* Python's `is` */
bool mz_j_lt(mz_jst *st, mz_jv a, mz_jv b, bool *out);
bool mz_j_order(mz_jst *st, mz_jv a, mz_jv b, const char *op, int *out); /* <0, 0, >0; 2: unordered (NaN) */
bool mz_j_in(mz_jst *st, mz_jv item, mz_jv seq, bool *out);

/* --- text of values (jinja_repr.c) --- */
bool mz_j_to_str(mz_jst *st, mz_jv v, mz_jv *out);   /* Python's str(); a Markup loses its mark */
bool mz_j_soft_str(mz_jst *st, mz_jv v, mz_jv *out); /* keeps it */
bool mz_j_add_str(mz_jst *st, mz_buf *b, mz_jv v);
bool mz_j_add_repr(mz_jst *st, mz_buf *b, mz_jv v);
size_t mz_j_float_repr(double f, char out[32]);
double mz_j_strtod(const char *s, size_t n, bool *ok); /* locale-independent; the whole of s */
bool mz_j_parse_int(const mz_jstr *s, int base, int64_t *out, bool *too_large);
bool mz_j_parse_float(const mz_jstr *s, double *out);

/* --- characters (jinja_unicode.c) --- */
bool mz_j_is_space(int32_t cp);
int mz_j_digit_value(int32_t cp); /* of a decimal digit of any script; else -1 */
size_t mz_j_cp_count(const char *p, size_t n);
size_t mz_j_str_len(mz_jstr *s);
size_t mz_j_cp_offset(const mz_jstr *s, size_t i_cp); /* byte offset of a code point */
typedef enum { MZ_J_LOWER, MZ_J_UPPER, MZ_J_CAPITALIZE, MZ_J_TITLE, MZ_J_SWAPCASE, MZ_J_CASEFOLD } mz_jcase;
bool mz_j_case(mz_jst *st, mz_jv s, mz_jcase how, mz_jv *out);
typedef enum {
    MZ_J_ALPHA,
    MZ_J_DIGIT,
    MZ_J_DECIMAL,
    MZ_J_NUMERIC,
    MZ_J_ALNUM,
    MZ_J_SPACE,
    MZ_J_ISLOWER,
    MZ_J_ISUPPER,
    MZ_J_ASCII
} mz_jclass;
bool mz_j_is_class(const mz_jstr *s, mz_jclass c);
bool mz_j_is_printable(int32_t cp);
bool mz_j_is_ident(int32_t cp, bool first);
/* Python's strip: sides 1 left, 2 right; chars NULL: whitespace. */
bool mz_j_strip(mz_jst *st, mz_jv s, const mz_jstr *chars, unsigned sides, mz_jv *out);
bool mz_j_escape(mz_jst *st, mz_jv v, mz_jv *out); /* HTML; a Markup stays as it is */
const char *mz_j_find(const char *p, size_t n, const char *needle, size_t k);
bool mz_j_replace(mz_jst *st, const mz_jstr *s, const mz_jstr *old, const mz_jstr *new_s, int64_t count, mz_jv *out);

/* --- iterating (jinja_iter.c) --- */
bool mz_j_iter(mz_jst *st, mz_jv v, mz_jiter **out); /* fails: not iterable */
int mz_j_next(mz_jst *st, mz_jiter *it, mz_jv *out); /* 1 an item, 0 the end, -1 failed */
bool mz_j_to_list(mz_jst *st, mz_jv v, mz_jv *out);  /* always a fresh list */
bool mz_j_iter_of_list(mz_jst *st, mz_jlist *l, mz_jv *out);
bool mz_j_reversed(mz_jst *st, mz_jv v, mz_jv *out);
bool mz_j_iter_map(mz_jst *st, mz_jv src, const mz_jargs *a, mz_jv *out);
/* select, reject, selectattr, rejectattr */
bool mz_j_iter_select(mz_jst *st, mz_jv src, const mz_jargs *a, bool negate, bool by_attr, mz_jv *out);
bool mz_j_iter_unique(mz_jst *st, mz_jv src, bool case_sensitive, mz_jv attr, mz_jv *out);
bool mz_j_iter_batch(mz_jst *st, mz_jv src, int64_t n, mz_jv fill, mz_jv *out);
bool mz_j_iter_for(mz_jst *st, mz_jv src, const mz_jnode *for_node, mz_jscope *scope, mz_jiter **out);
bool mz_j_pick(mz_jst *st, mz_jv v, mz_jv attr, mz_jv fallback, bool fold, mz_jv *out); /* jinja2's make_attrgetter */

/* --- operators, attributes (jinja_arith.c, jinja_attr.c) --- */
bool mz_j_binary(mz_jst *st, int op, mz_jv a, mz_jv b, mz_jv *out);
bool mz_j_unary(mz_jst *st, int op, mz_jv a, mz_jv *out);
bool mz_j_getattr(mz_jst *st, mz_jv obj, mz_jv name, mz_jv *out);
bool mz_j_getitem(mz_jst *st, mz_jv obj, mz_jv key, mz_jv *out);
bool mz_j_slice(mz_jst *st, mz_jv obj, mz_jv lo, mz_jv hi, mz_jv step, mz_jv *out);

/* --- calling (jinja_call.c) --- */
bool mz_j_call(mz_jst *st, mz_jv f, const mz_jargs *a, mz_jv *out);
/* Puts arguments into slots[n_param] by the names in params (NULL-terminated); slots not given stay MISSING. */
bool mz_j_bind(mz_jst *st, const char *who, const mz_jargs *a, const char *const *params, size_t n_required, mz_jv *slots);
enum {
    MZ_J_FN_RANGE = 1,
    MZ_J_FN_DICT,
    MZ_J_FN_NAMESPACE,
    MZ_J_FN_CYCLER,
    MZ_J_FN_JOINER,
    MZ_J_FN_RAISE,
    MZ_J_FN_STRFTIME,
    MZ_J_FN_LIPSUM
};
bool mz_j_globals(mz_jst *st, mz_jdict *d);                                          /* adds the functions above */
bool mz_j_call_macro(mz_jst *st, const mz_jmacro *m, const mz_jargs *a, mz_jv *out); /* jinja_stmt.c */
bool mz_j_call_loop(mz_jst *st, const mz_jloop *l, mz_jv iterable, mz_jv *out);      /* jinja_stmt.c */
bool mz_j_loop_attr(mz_jst *st, mz_jloop *l, const mz_jstr *name, mz_jv *out);       /* MISSING: no such attribute */
int mz_j_loop_next(mz_jst *st, mz_jloop *l, mz_jv *out);                             /* as mz_j_next */

/* --- tables: the index of a name, or -1 --- */
int mz_j_filter_find(const char *name, size_t n);
bool mz_j_filter_call(mz_jst *st, int id, mz_jv v, const mz_jargs *a, mz_jv *out);
int mz_j_test_find(const char *name, size_t n);
bool mz_j_test_call(mz_jst *st, int id, mz_jv v, const mz_jargs *a, bool *out);

/* Methods of str, dict, list, tuple … (jinja_methods.c). */
struct mz_jmethod {
    mz_jv self;
    const struct mz_jmethod_def *def;
};
typedef enum { MZ_J_ATTR_NONE, MZ_J_ATTR_METHOD, MZ_J_ATTR_UNSAFE, MZ_J_ATTR_UNSUPPORTED } mz_jattr;
mz_jattr mz_j_method_find(mz_jv self, const mz_jstr *name, const struct mz_jmethod_def **def);
bool mz_j_method_call(mz_jst *st, const mz_jmethod *m, const mz_jargs *a, mz_jv *out);
const char *mz_j_method_name(const mz_jmethod *m);

/* str.format and printf-style % (jinja_format.c) */
bool mz_j_format(mz_jst *st, mz_jv fmt, const mz_jargs *a, mz_jv *out);
bool mz_j_percent(mz_jst *st, mz_jv fmt, mz_jv args, mz_jv *out);

/* JSON (jinja_json.c) */
typedef struct mz_jdump {
    bool ascii, sort_keys;
    const mz_jstr *indent; /* NULL: one line */
    mz_jstr item_sep, key_sep;
} mz_jdump;
bool mz_j_tojson(mz_jst *st, mz_jv v, const mz_jargs *a, mz_jv *out);
bool mz_j_from_json(mz_jst *st, const json_t *j, mz_jv *out);

#endif
