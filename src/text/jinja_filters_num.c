/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_filters_num.c: filters on numbers, and min, max, sum. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/jinja_ast.h"
#include "text/jinja_filters.h"

bool mz_jf_abs(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    (void)a;
    if (v.type == MZ_J_UNDEF) return mz_j_undef_fail(st, v);
    if (!mz_j_is_num(v)) return mz_j_fail(st, MZ_EINVAL, "bad operand type for abs(): '%s'", mz_j_type_name(v));
    if (v.type == MZ_J_FLOAT) {
        *out = mz_j_float(fabs(v.f));
        return true;
    }
    return mz_j_unary(st, mz_j_as_int(v) < 0 ? MZ_JT_SUB : MZ_JT_ADD, v, out);
}

/* To the nearest, ties to even on the exact decimal expansion, as Python rounds. */
static bool round_float(mz_jst *st, double f, int64_t digits, mz_jv *out)
{
    char t[700];
    bool ok;
    if (f - f != 0 || digits > 300) {
        *out = mz_j_float(f);
        return true;
    }
    if (digits < 0) {
        if (digits < -308) {
            *out = mz_j_float(copysign(0.0, f));
            return true;
        }
        double p = pow(10.0, (double)-digits), q = nearbyint(f / p);
        *out = mz_j_float(q * p);
        return true;
    }
    int n = snprintf(t, sizeof t, "%.*f", (int)digits, f);
    for (int i = 0; i < n; i++)
        if (t[i] == ',') t[i] = '.';
    *out = mz_j_float(mz_j_strtod(t, (size_t)n, &ok));
    return ok || mz_j_fail(st, MZ_EINVAL, "round: cannot round this number");
}

bool mz_jf_round(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    int64_t digits;
    bool common = a[1].type == MZ_J_MISSING || MZ_J_IS(a[1], "common"), up = MZ_J_IS(a[1], "ceil");
    if (!common && !up && !MZ_J_IS(a[1], "floor")) return mz_j_fail(st, MZ_EINVAL, "round: method must be common, ceil or floor");
    if (!mz_jf_int_arg(st, a[0].type == MZ_J_NONE ? (mz_jv){0} : a[0], "round", 0, &digits)) return false;
    if (v.type == MZ_J_UNDEF) return mz_j_undef_fail(st, v);
    if (!mz_j_is_num(v)) return mz_j_fail(st, MZ_EINVAL, "round: type %s cannot be rounded", mz_j_type_name(v));
    if (common && v.type != MZ_J_FLOAT) {
        if (digits < 0) return mz_j_fail(st, MZ_ESUPPORT, "round: a negative precision for integers is not supported");
        *out = mz_j_int(mz_j_as_int(v));
        return true;
    }
    if (common) {
        if (a[0].type == MZ_J_NONE) { /* round(x, None) gives an integer */
            if (!(v.f > -9.2e18 && v.f < 9.2e18)) return mz_j_fail(st, MZ_ESUPPORT, "round: the result does not fit in 64 bits");
            *out = mz_j_int((int64_t)nearbyint(v.f));
            return true;
        }
        return round_float(st, v.f, digits, out);
    }
    double p = pow(10.0, (double)digits), f = mz_j_as_float(v) * p;
    if (f - f != 0) return mz_j_fail(st, MZ_EINVAL, "round: cannot convert this float to an integer");
    *out = mz_j_float((up ? ceil(f) : floor(f)) / p);
    if (out->f == 0) out->f = 0.0; /* an integer has no negative zero */
    return true;
}

static bool float_to_int(mz_jst *st, double f, mz_jv fallback, mz_jv *out)
{
    if (f - f != 0) {
        *out = fallback;
        return true;
    }
    if (!(f > -9223372036854775809.0 && f < 9223372036854775808.0))
        return mz_j_fail(st, MZ_ESUPPORT, "int: the result does not fit in 64 bits");
    *out = mz_j_int((int64_t)f);
    return true;
}

bool mz_jf_int(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_jv fallback = a[0].type == MZ_J_MISSING ? mz_j_int(0) : a[0];
    int64_t base, i;
    bool large = false;
    double f;
    if (!mz_jf_int_arg(st, a[1], "int", 10, &base)) return false;
    switch (v.type) {
    case MZ_J_UNDEF: return mz_j_undef_fail(st, v);
    case MZ_J_BOOL:
    case MZ_J_INT: *out = mz_j_int(mz_j_as_int(v)); return true;
    case MZ_J_FLOAT: return float_to_int(st, v.f, fallback, out);
    case MZ_J_STR:
        if (base >= 0 && base <= 36 && base != 1 && mz_j_parse_int(v.s, (int)base, &i, &large)) {
            *out = mz_j_int(i);
            return true;
        }
        if (large) return mz_j_fail(st, MZ_ESUPPORT, "int: the number does not fit in 64 bits");
        if (mz_j_parse_float(v.s, &f)) return float_to_int(st, f, fallback, out);
        break;
    default: break;
    }
    *out = fallback;
    return true;
}

bool mz_jf_float(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    double f;
    if (v.type == MZ_J_UNDEF) return mz_j_undef_fail(st, v);
    if (mz_j_is_num(v))
        *out = mz_j_float(mz_j_as_float(v));
    else if (v.type == MZ_J_STR && mz_j_parse_float(v.s, &f))
        *out = mz_j_float(f);
    else
        *out = a[0].type == MZ_J_MISSING ? mz_j_float(0) : a[0];
    return true;
}

bool mz_jf_sum(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    mz_jiter *it;
    mz_jv acc = a[1].type == MZ_J_MISSING ? mz_j_int(0) : a[1], item;
    int r;
    if (acc.type == MZ_J_STR) return mz_j_fail(st, MZ_EINVAL, "sum() can't sum strings [use ''.join(seq) instead]");
    if (!mz_j_iter(st, v, &it)) return false;
    while ((r = mz_j_next(st, it, &item)) == 1) {
        if (a[0].type != MZ_J_MISSING && a[0].type != MZ_J_NONE && !mz_j_pick(st, item, a[0], (mz_jv){0}, false, &item)) return false;
        if (!mz_j_binary(st, MZ_JT_ADD, acc, item, &acc)) return false;
    }
    *out = acc;
    return r == 0;
}

static bool extreme(mz_jst *st, mz_jv v, const mz_jv *a, bool max, mz_jv *out)
{
    mz_jiter *it;
    mz_jv item, key, best_key = {0};
    bool fold = !mz_j_truth(a[0]), better;
    int r;
    if (!mz_j_iter(st, v, &it)) return false;
    while ((r = mz_j_next(st, it, &item)) == 1) {
        if (!mz_j_pick(st, item, a[1], (mz_jv){0}, fold, &key)) return false;
        if (best_key.type != MZ_J_MISSING) {
            if (max ? !mz_j_lt(st, best_key, key, &better) : !mz_j_lt(st, key, best_key, &better)) return false;
            if (!better) continue;
        }
        best_key = key;
        *out = item;
    }
    if (r < 0) return false;
    return best_key.type != MZ_J_MISSING || mz_j_undef_hint(st, "No aggregated item, sequence was empty.", out);
}

bool mz_jf_min(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    return extreme(st, v, a, false, out);
}

bool mz_jf_max(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out)
{
    return extreme(st, v, a, true, out);
}
