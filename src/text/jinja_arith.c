/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_arith.c: + - * / // % ** and signs on values, with Python's results. Integers have 64 bits; what would not fit is an
 * error, never a wrong number. */
#include <math.h>
#include <string.h>

#include "text/jinja_ast.h"

static const char *op_text(int op)
{
    switch (op) {
    case MZ_JT_ADD: return "+";
    case MZ_JT_SUB: return "-";
    case MZ_JT_MUL: return "*";
    case MZ_JT_DIV: return "/";
    case MZ_JT_FLOORDIV: return "//";
    case MZ_JT_MOD: return "%";
    default: return "** or pow()";
    }
}

static bool no_fit(mz_jst *st)
{
    return mz_j_fail(st, MZ_ESUPPORT, "the result is an integer that does not fit in 64 bits");
}

static bool int_pow(mz_jst *st, int64_t a, int64_t b, mz_jv *out)
{
    int64_t r = 1;
    if (b < 0) {
        if (a == 0) return mz_j_fail(st, MZ_EINVAL, "0.0 cannot be raised to a negative power");
        *out = mz_j_float(pow((double)a, (double)b));
        return true;
    }
    while (b) {
        if ((b & 1) && __builtin_mul_overflow(r, a, &r)) return no_fit(st);
        b >>= 1;
        if (b && __builtin_mul_overflow(a, a, &a)) return no_fit(st);
    }
    *out = mz_j_int(r);
    return true;
}

static bool int_op(mz_jst *st, int op, int64_t a, int64_t b, mz_jv *out)
{
    int64_t r;
    bool over;
    switch (op) {
    case MZ_JT_ADD: over = __builtin_add_overflow(a, b, &r); break;
    case MZ_JT_SUB: over = __builtin_sub_overflow(a, b, &r); break;
    case MZ_JT_MUL: over = __builtin_mul_overflow(a, b, &r); break;
    case MZ_JT_DIV:
        if (b == 0) return mz_j_fail(st, MZ_EINVAL, "division by zero");
        *out = mz_j_float((double)a / (double)b);
        return true;
    case MZ_JT_FLOORDIV:
    case MZ_JT_MOD:
        if (b == 0) return mz_j_fail(st, MZ_EINVAL, "integer division or modulo by zero");
        over = b == -1 && a == INT64_MIN && op == MZ_JT_FLOORDIV;
        if (over) break;
        if (b == -1) {
            r = op == MZ_JT_MOD ? 0 : -a;
            break;
        }
        r = op == MZ_JT_MOD ? a % b : a / b;
        if (a % b != 0 && (a < 0) != (b < 0)) r += op == MZ_JT_MOD ? b : -1;
        break;
    default: return int_pow(st, a, b, out);
    }
    if (over) return no_fit(st);
    *out = mz_j_int(r);
    return true;
}

static bool float_op(mz_jst *st, int op, double a, double b, mz_jv *out)
{
    double r, m;
    switch (op) {
    case MZ_JT_ADD: r = a + b; break;
    case MZ_JT_SUB: r = a - b; break;
    case MZ_JT_MUL: r = a * b; break;
    case MZ_JT_DIV:
        if (b == 0) return mz_j_fail(st, MZ_EINVAL, "float division by zero");
        r = a / b;
        break;
    case MZ_JT_FLOORDIV:
    case MZ_JT_MOD: /* as CPython's float_divmod */
        if (b == 0) return mz_j_fail(st, MZ_EINVAL, "float modulo");
        m = fmod(a, b);
        r = (a - m) / b;
        if (m != 0) {
            if ((b < 0) != (m < 0)) {
                m += b;
                r -= 1.0;
            }
        } else {
            m = copysign(0.0, b);
        }
        if (r != 0) {
            double f = floor(r);
            r = r - f > 0.5 ? f + 1.0 : f;
        } else {
            r = copysign(0.0, a / b);
        }
        if (op == MZ_JT_MOD) r = m;
        break;
    default:
        if (a == 0 && b < 0) return mz_j_fail(st, MZ_EINVAL, "0.0 cannot be raised to a negative power");
        if (a < 0 && isfinite(a) && isfinite(b) && floor(b) != b) return mz_j_fail(st, MZ_ESUPPORT, "complex numbers are not supported");
        r = pow(a, b);
        if (isinf(r) && isfinite(a) && isfinite(b)) return mz_j_fail(st, MZ_EINVAL, "the result of ** is too large");
        break;
    }
    *out = mz_j_float(r);
    return true;
}

static bool repeat(mz_jst *st, mz_jv seq, int64_t times, mz_jv *out)
{
    size_t n = times > 0 ? (size_t)times : 0, total;
    if (seq.type == MZ_J_STR) {
        if (!mz_mul_size(seq.s->n, n, &total) || total > st->out_limit)
            return mz_j_fail(st, MZ_ELIMIT, "a repeated string would pass the limit of %zu bytes", st->out_limit);
        char *p = mz_j_alloc(st, total + 1, 1);
        if (!p) return false;
        if (total) memcpy(p, seq.s->p, seq.s->n);
        for (size_t done = seq.s->n; done < total;) { /* each copy doubles what is there */
            size_t k = done < total - done ? done : total - done;
            memcpy(p + done, p, k);
            done += k;
        }
        if (!mz_j_str_borrow(st, p, total, out)) return false;
        out->sub = seq.sub;
        return true;
    }
    if (!mz_mul_size(seq.l->n, n, &total)) return mz_j_fail(st, MZ_ELIMIT, "a repeated list would be too long");
    if (!mz_j_list(st, total, out)) return false;
    for (size_t i = 0; i < total; i++) out->l->v[i] = seq.l->v[i % seq.l->n];
    out->l->n = total;
    out->type = seq.type;
    return mz_j_charge(st, total / 8);
}

static bool join_lists(mz_jst *st, mz_jv a, mz_jv b, mz_jv *out)
{
    mz_jv l;
    if (!mz_j_list(st, a.l->n + b.l->n, &l) || !mz_j_charge(st, (a.l->n + b.l->n) / 8)) return false;
    if (a.l->n) memcpy(l.l->v, a.l->v, a.l->n * sizeof *a.l->v);
    if (b.l->n) memcpy(l.l->v + a.l->n, b.l->v, b.l->n * sizeof *b.l->v);
    l.l->n = a.l->n + b.l->n;
    l.type = a.type;
    *out = l;
    return true;
}

static bool is_seq(mz_jv v)
{
    return v.type == MZ_J_STR || v.type == MZ_J_LIST || v.type == MZ_J_TUPLE;
}

bool mz_j_binary(mz_jst *st, int op, mz_jv a, mz_jv b, mz_jv *out)
{
    if (mz_j_is_int(a) && mz_j_is_int(b)) return int_op(st, op, mz_j_as_int(a), mz_j_as_int(b), out);
    if (mz_j_is_num(a) && mz_j_is_num(b)) return float_op(st, op, mz_j_as_float(a), mz_j_as_float(b), out);
    if (op == MZ_JT_MOD && a.type == MZ_J_STR) return mz_j_percent(st, a, b, out);
    if (op == MZ_JT_ADD && a.type == MZ_J_STR && b.type == MZ_J_STR) {
        uint8_t markup = a.sub | b.sub; /* Markup escapes what is added to it */
        if (markup && !(a.sub && b.sub) && !mz_j_escape(st, a.sub ? b : a, a.sub ? &b : &a)) return false;
        if (!mz_j_str_cat(st, a.s, b.s, out)) return false;
        out->sub = markup;
        return true;
    }
    if (op == MZ_JT_ADD && a.type == b.type && (a.type == MZ_J_LIST || a.type == MZ_J_TUPLE)) return join_lists(st, a, b, out);
    if (op == MZ_JT_MUL && is_seq(a) && mz_j_is_int(b)) return repeat(st, a, mz_j_as_int(b), out);
    if (op == MZ_JT_MUL && mz_j_is_int(a) && is_seq(b)) return repeat(st, b, mz_j_as_int(a), out);
    if (a.type == MZ_J_UNDEF) return mz_j_undef_fail(st, a);
    if (b.type == MZ_J_UNDEF) return mz_j_undef_fail(st, b);
    if (op == MZ_JT_ADD && a.type == MZ_J_STR)
        return mz_j_fail(st, MZ_EINVAL, "can only concatenate str (not \"%s\") to str", mz_j_type_name(b));
    return mz_j_fail(st, MZ_EINVAL, "unsupported operand type(s) for %s: '%s' and '%s'", op_text(op), mz_j_type_name(a), mz_j_type_name(b));
}

bool mz_j_unary(mz_jst *st, int op, mz_jv a, mz_jv *out)
{
    if (a.type == MZ_J_UNDEF) return mz_j_undef_fail(st, a);
    if (!mz_j_is_num(a))
        return mz_j_fail(st, MZ_EINVAL, "bad operand type for unary %s: '%s'", op == MZ_JT_SUB ? "-" : "+", mz_j_type_name(a));
    if (a.type == MZ_J_FLOAT) {
        *out = mz_j_float(op == MZ_JT_SUB ? -a.f : a.f);
        return true;
    }
    if (op == MZ_JT_SUB) return int_op(st, MZ_JT_SUB, 0, mz_j_as_int(a), out);
    *out = mz_j_int(mz_j_as_int(a));
    return true;
}
