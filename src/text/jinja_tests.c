/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_tests.c: what may stand after `is`. */
#include <string.h>

#include "text/jinja_ast.h"

typedef bool (*test_fn)(mz_jst *st, mz_jv v, mz_jv arg, bool *out);

static bool is_mod(mz_jst *st, mz_jv v, int64_t n, int64_t rest, bool *out)
{
    mz_jv r;
    if (!mz_j_binary(st, MZ_JT_MOD, v, mz_j_int(n), &r)) return false;
    return mz_j_eq(st, r, mz_j_int(rest), out);
}

static bool t_odd(mz_jst *st, mz_jv v, mz_jv arg, bool *out)
{
    (void)arg;
    return is_mod(st, v, 2, 1, out);
}
static bool t_even(mz_jst *st, mz_jv v, mz_jv arg, bool *out)
{
    (void)arg;
    return is_mod(st, v, 2, 0, out);
}
static bool t_divisibleby(mz_jst *st, mz_jv v, mz_jv arg, bool *out)
{
    mz_jv r;
    return mz_j_binary(st, MZ_JT_MOD, v, arg, &r) && mz_j_eq(st, r, mz_j_int(0), out);
}

/* Tests of the type alone. */
#define TYPE_TEST(name, expr)                                       \
    static bool t_##name(mz_jst *st, mz_jv v, mz_jv arg, bool *out) \
    {                                                               \
        (void)st;                                                   \
        (void)arg;                                                  \
        *out = (expr);                                              \
        return true;                                                \
    }
TYPE_TEST(defined, v.type != MZ_J_UNDEF)
TYPE_TEST(undefined, v.type == MZ_J_UNDEF)
TYPE_TEST(none, v.type == MZ_J_NONE)
TYPE_TEST(boolean, v.type == MZ_J_BOOL)
TYPE_TEST(false, v.type == MZ_J_BOOL && !v.b)
TYPE_TEST(true, v.type == MZ_J_BOOL && v.b)
TYPE_TEST(integer, v.type == MZ_J_INT)
TYPE_TEST(float, v.type == MZ_J_FLOAT)
TYPE_TEST(string, v.type == MZ_J_STR)
TYPE_TEST(mapping, v.type == MZ_J_DICT)
TYPE_TEST(number, mz_j_is_num(v))
TYPE_TEST(sequence, v.type == MZ_J_UNDEF || v.type == MZ_J_STR || v.type == MZ_J_LIST || v.type == MZ_J_TUPLE || v.type == MZ_J_DICT ||
                        v.type == MZ_J_RANGE)
TYPE_TEST(iterable, (v.type >= MZ_J_STR && v.type <= MZ_J_ITER) || v.type == MZ_J_UNDEF || v.type == MZ_J_LOOP)
TYPE_TEST(callable, v.type >= MZ_J_MACRO && v.type != MZ_J_CYCLER ? true : v.type == MZ_J_UNDEF)
TYPE_TEST(escaped, v.type == MZ_J_STR && v.sub)
TYPE_TEST(sameas, mz_j_same(v, arg))
TYPE_TEST(filter, v.type == MZ_J_STR && mz_j_filter_find(v.s->p, v.s->n) >= 0)
TYPE_TEST(test, v.type == MZ_J_STR && mz_j_test_find(v.s->p, v.s->n) >= 0)

static bool t_lower(mz_jst *st, mz_jv v, mz_jv arg, bool *out)
{
    mz_jv s;
    (void)arg;
    if (!mz_j_to_str(st, v, &s)) return false;
    *out = mz_j_is_class(s.s, MZ_J_ISLOWER);
    return mz_j_charge(st, s.s->n / 2);
}
static bool t_upper(mz_jst *st, mz_jv v, mz_jv arg, bool *out)
{
    mz_jv s;
    (void)arg;
    if (!mz_j_to_str(st, v, &s)) return false;
    *out = mz_j_is_class(s.s, MZ_J_ISUPPER);
    return mz_j_charge(st, s.s->n / 2);
}
static bool t_in(mz_jst *st, mz_jv v, mz_jv arg, bool *out)
{
    return mz_j_in(st, v, arg, out);
}
static bool t_eq(mz_jst *st, mz_jv v, mz_jv arg, bool *out)
{
    return mz_j_eq(st, v, arg, out);
}
static bool t_ne(mz_jst *st, mz_jv v, mz_jv arg, bool *out)
{
    if (!mz_j_eq(st, v, arg, out)) return false;
    *out = !*out;
    return true;
}
static bool t_lt(mz_jst *st, mz_jv v, mz_jv arg, bool *out)
{
    return mz_j_lt(st, v, arg, out);
}
static bool t_gt(mz_jst *st, mz_jv v, mz_jv arg, bool *out)
{
    int c;
    if (!mz_j_order(st, v, arg, ">", &c)) return false;
    *out = c == 1;
    return true;
}
static bool t_le(mz_jst *st, mz_jv v, mz_jv arg, bool *out)
{
    int c;
    if (!mz_j_order(st, v, arg, "<=", &c)) return false;
    *out = c == -1 || c == 0;
    return true;
}
static bool t_ge(mz_jst *st, mz_jv v, mz_jv arg, bool *out)
{
    int c;
    if (!mz_j_order(st, v, arg, ">=", &c)) return false;
    *out = c == 0 || c == 1;
    return true;
}

static const struct {
    const char *name;
    test_fn fn;
    const char *param; /* NULL: takes none */
} tests[] = {{"odd", t_odd, NULL},
             {"even", t_even, NULL},
             {"divisibleby", t_divisibleby, "num"},
             {"defined", t_defined, NULL},
             {"undefined", t_undefined, NULL},
             {"filter", t_filter, NULL},
             {"test", t_test, NULL},
             {"none", t_none, NULL},
             {"boolean", t_boolean, NULL},
             {"false", t_false, NULL},
             {"true", t_true, NULL},
             {"integer", t_integer, NULL},
             {"float", t_float, NULL},
             {"lower", t_lower, NULL},
             {"upper", t_upper, NULL},
             {"string", t_string, NULL},
             {"mapping", t_mapping, NULL},
             {"number", t_number, NULL},
             {"sequence", t_sequence, NULL},
             {"iterable", t_iterable, NULL},
             {"callable", t_callable, NULL},
             {"sameas", t_sameas, "other"},
             {"escaped", t_escaped, NULL},
             {"in", t_in, "seq"},
             {"==", t_eq, "other"},
             {"eq", t_eq, "other"},
             {"equalto", t_eq, "other"},
             {"!=", t_ne, "other"},
             {"ne", t_ne, "other"},
             {">", t_gt, "other"},
             {"gt", t_gt, "other"},
             {"greaterthan", t_gt, "other"},
             {">=", t_ge, "other"},
             {"ge", t_ge, "other"},
             {"<", t_lt, "other"},
             {"lt", t_lt, "other"},
             {"lessthan", t_lt, "other"},
             {"<=", t_le, "other"},
             {"le", t_le, "other"}};

int mz_j_test_find(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (strlen(tests[i].name) == n && memcmp(tests[i].name, name, n) == 0) return (int)i;
    return -1;
}

bool mz_j_test_call(mz_jst *st, int id, mz_jv v, const mz_jargs *a, bool *out)
{
    const char *const params[] = {tests[id].param, NULL};
    mz_jv arg = {0};
    if (!mz_j_bind(st, tests[id].name, a, params, tests[id].param != NULL, &arg)) return false;
    return tests[id].fn(st, v, arg, out);
}
