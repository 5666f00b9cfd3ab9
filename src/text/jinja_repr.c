/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_repr.c: values as text, the way Python's str() and repr() write them, and numbers read from text. */
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/jinja_ast.h"
#include "text/utf8.h"

double mz_j_strtod(const char *s, size_t n, bool *ok)
{
    char buf[600];
    const char *point = localeconv()->decimal_point;
    size_t k = 0, np = strlen(point);
    *ok = false;
    for (size_t i = 0; i < n; i++) {
        if (k + np + 1 >= sizeof buf) return 0;
        if (s[i] == '.') {
            memcpy(buf + k, point, np);
            k += np;
        } else {
            buf[k++] = s[i];
        }
    }
    buf[k] = '\0';
    char *end;
    double f = strtod(buf, &end);
    *ok = k > 0 && end == buf + k;
    return f;
}

size_t mz_j_float_repr(double f, char out[32])
{
    char e[40], digits[20];
    int n_digit = 0, exp10 = 0;
    size_t k = 0;
    if (f != f) return (size_t)snprintf(out, 32, "nan");
    if (isinf(f)) return (size_t)snprintf(out, 32, f < 0 ? "-inf" : "inf");
    /* The fewest digits that read back as the same number; written as d.ddde±xx whose point may be the locale's. */
    for (int prec = 0; prec < 17; prec++) {
        (void)snprintf(e, sizeof e, "%.*e", prec, f);
        if (prec == 16 || strtod(e, NULL) == f) break;
    }
    for (const char *p = e; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9') digits[n_digit++] = *p;
    exp10 = atoi(strchr(e, 'e') + 1);
    while (n_digit > 1 && digits[n_digit - 1] == '0') n_digit--;
    if (e[0] == '-') out[k++] = '-';
    if (exp10 < -4 || exp10 >= 16) {
        out[k++] = digits[0];
        if (n_digit > 1) out[k++] = '.';
        for (int i = 1; i < n_digit; i++) out[k++] = digits[i];
        return k + (size_t)snprintf(out + k, 32 - k, "e%c%02d", exp10 < 0 ? '-' : '+', abs(exp10));
    }
    if (exp10 < 0) {
        out[k++] = '0';
        out[k++] = '.';
        for (int i = -1; i > exp10; i--) out[k++] = '0';
        for (int i = 0; i < n_digit; i++) out[k++] = digits[i];
        return k;
    }
    for (int i = 0; i <= exp10; i++) out[k++] = i < n_digit ? digits[i] : '0';
    out[k++] = '.';
    if (n_digit <= exp10 + 1) out[k++] = '0';
    for (int i = exp10 + 1; i < n_digit; i++) out[k++] = digits[i];
    return k;
}

/* What int() and float() read: without white space around it, decimal digits of any script as ASCII. False: other characters
 * that are not ASCII, or too long. */
static bool ascii_number(const mz_jstr *s, char buf[512], size_t *n)
{
    size_t lo = 0, k = 0, end = 0;
    int32_t cp;
    while (lo < s->n) {
        size_t at = mz_utf8_decode(s->p + lo, s->n - lo, &cp);
        if (!mz_j_is_space(cp)) break;
        lo += at;
    }
    for (size_t i = lo; i < s->n;) {
        i += mz_utf8_decode(s->p + i, s->n - i, &cp);
        int digit = cp >= 0x80 ? mz_j_digit_value(cp) : -1;
        if (k == 512) return false;
        buf[k++] = digit >= 0 ? (char)('0' + digit) : mz_j_is_space(cp) ? ' ' : cp >= 0 && cp < 0x80 ? (char)cp : '?';
        if (buf[k - 1] != ' ') end = k;
    }
    *n = end;
    return true;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'z') return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
    return 99;
}

/* Python's int(text, base); base 0 reads the prefixes 0x 0o 0b. */
bool mz_j_parse_int(const mz_jstr *s, int base, int64_t *out, bool *too_large)
{
    char p[512];
    size_t n, i = 0;
    bool neg = false, any = false, under = false;
    uint64_t v = 0;
    *too_large = false;
    if (!ascii_number(s, p, &n)) return false;
    if (i < n && (p[i] == '-' || p[i] == '+')) neg = p[i++] == '-';
    if (i + 1 < n && p[i] == '0') {
        int b = (p[i + 1] | 0x20) == 'x' ? 16 : (p[i + 1] | 0x20) == 'o' ? 8 : (p[i + 1] | 0x20) == 'b' ? 2 : 0;
        if (b && (base == 0 || base == b)) {
            base = b;
            i += 2;
            if (i < n && p[i] == '_') i++;
        }
    }
    bool any_base = base == 0, nonzero = false;
    size_t first = i;
    if (any_base) base = 10;
    for (; i < n; i++) {
        if (p[i] == '_' && any && !under) {
            under = true;
            continue;
        }
        int d = digit_of(p[i]);
        if (d >= base) return false;
        under = false;
        any = true;
        nonzero = nonzero || d;
        if (__builtin_mul_overflow(v, (uint64_t)base, &v) || __builtin_add_overflow(v, (uint64_t)d, &v)) *too_large = true;
    }
    if (!any || under || (any_base && nonzero && p[first] == '0')) return false;
    if (v > (uint64_t)INT64_MAX + neg) *too_large = true;
    if (*too_large) return false;
    *out = neg ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

bool mz_j_parse_float(const mz_jstr *s, double *out)
{
    char p[512], buf[512];
    size_t n, k = 0;
    bool ok;
    if (!ascii_number(s, p, &n)) return false;
    size_t sign = n && (p[0] == '-' || p[0] == '+');
    static const char *const words[] = {"inf", "infinity", "nan"};
    for (size_t i = 0; i < 3; i++)
        if (n - sign == strlen(words[i]) && strncasecmp(p + sign, words[i], n - sign) == 0) {
            *out = i == 2 ? (double)NAN : p[0] == '-' ? -(double)INFINITY : (double)INFINITY;
            return true;
        }
    for (size_t i = 0; i < n; i++) {
        char c = p[i];
        if (c == '_' && i && i + 1 < n && digit_of(p[i - 1]) < 10 && digit_of(p[i + 1]) < 10) continue;
        if (!((c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-') || k + 1 >= sizeof buf) return false;
        buf[k++] = c;
    }
    *out = mz_j_strtod(buf, k, &ok);
    return ok;
}

static bool add(mz_jst *st, mz_buf *b, const char *s)
{
    return mz_j_buf_add(st, b, s, strlen(s));
}

static bool add_str_repr(mz_jst *st, mz_buf *b, mz_jv v)
{
    const mz_jstr *s = v.s;
    char quote = memchr(s->p, '\'', s->n) && !memchr(s->p, '"', s->n) ? '"' : '\'';
    if (v.sub && !add(st, b, "Markup(")) return false;
    if (!mz_j_buf_add(st, b, &quote, 1)) return false;
    for (size_t i = 0; i < s->n;) {
        int32_t cp;
        char u[16];
        size_t k = mz_utf8_decode(s->p + i, s->n - i, &cp), n;
        if (cp == quote || cp == '\\')
            n = (size_t)snprintf(u, sizeof u, "\\%c", (char)cp);
        else if (cp == '\n' || cp == '\r' || cp == '\t')
            n = (size_t)snprintf(u, sizeof u, "\\%c", cp == '\n' ? 'n' : cp == '\r' ? 'r' : 't');
        else if (mz_j_is_printable(cp))
            n = 0;
        else
            n = (size_t)snprintf(u, sizeof u, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)cp);
        if (!mz_j_charge(st, i % 16 == 0) || !(n ? mz_j_buf_add(st, b, u, n) : mz_j_buf_add(st, b, s->p + i, k))) return false;
        i += k;
    }
    return mz_j_buf_add(st, b, &quote, 1) && (!v.sub || add(st, b, ")"));
}

static bool add_items(mz_jst *st, mz_buf *b, const mz_jlist *l, const char *open, const char *close)
{
    if (!add(st, b, open)) return false;
    for (size_t i = 0; i < l->n; i++)
        if ((i && !add(st, b, ", ")) || !mz_j_add_repr(st, b, l->v[i])) return false;
    return add(st, b, close);
}

static bool add_dict(mz_jst *st, mz_buf *b, const mz_jdict *d)
{
    if (!add(st, b, "{")) return false;
    for (size_t i = 0; i < d->n; i++)
        if ((i && !add(st, b, ", ")) || !mz_j_add_repr(st, b, d->e[i].key) || !add(st, b, ": ") || !mz_j_add_repr(st, b, d->e[i].val))
            return false;
    return add(st, b, "}");
}

static bool add_view(mz_jst *st, mz_buf *b, mz_jv v)
{
    mz_jv item;
    if (!add(st, b, mz_j_type_name(v)) || !add(st, b, "([")) return false;
    for (size_t i = 0; i < v.d->n; i++)
        if ((i && !add(st, b, ", ")) || !mz_j_view_item(st, v, i, &item) || !mz_j_add_repr(st, b, item)) return false;
    return add(st, b, "])");
}

static bool add_range(mz_jst *st, mz_buf *b, const mz_jrange *r)
{
    char t[96];
    (void)snprintf(t, sizeof t, r->step == 1 ? "range(%" PRId64 ", %" PRId64 ")" : "range(%" PRId64 ", %" PRId64 ", %" PRId64 ")", r->start,
                   r->stop, r->step);
    return add(st, b, t);
}

static bool add_other(mz_jst *st, mz_buf *b, mz_jv v)
{
    char t[96];
    switch (v.type) {
    case MZ_J_NS: return add(st, b, "<Namespace ") && add_dict(st, b, v.d) && add(st, b, ">");
    case MZ_J_MACRO:
        if (v.m->node->kind != MZ_JN_MACRO) return add(st, b, "<Macro 'caller'>");
        return add(st, b, "<Macro '") && mz_j_buf_str(st, b, v.m->node->value.s) && add(st, b, "'>");
    case MZ_J_LOOP: {
        mz_jstr name = {.p = "length", .n = 6, .n_cp = 6};
        mz_jv n;
        if (!mz_j_loop_attr(st, v.loop, &name, &n)) return false;
        (void)snprintf(t, sizeof t, "<LoopContext %" PRId64 "/%" PRId64 ">", v.loop->index0 + 1, n.i);
        return add(st, b, t);
    }
    case MZ_J_METHOD:
        (void)snprintf(t, sizeof t, "<built-in method %s of %s object>", mz_j_method_name(v.meth), mz_j_type_name(v.meth->self));
        return add(st, b, t);
    default: (void)snprintf(t, sizeof t, "<%s object>", mz_j_type_name(v)); return add(st, b, t);
    }
}

static bool add_repr_inner(mz_jst *st, mz_buf *b, mz_jv v)
{
    char t[40];
    switch (v.type) {
    case MZ_J_UNDEF: return add(st, b, "Undefined");
    case MZ_J_NONE: return add(st, b, "None");
    case MZ_J_BOOL: return add(st, b, v.b ? "True" : "False");
    case MZ_J_INT: (void)snprintf(t, sizeof t, "%" PRId64, v.i); return add(st, b, t);
    case MZ_J_FLOAT: return mz_j_buf_add(st, b, t, mz_j_float_repr(v.f, t));
    case MZ_J_STR: return add_str_repr(st, b, v);
    case MZ_J_LIST: return add_items(st, b, v.l, "[", "]");
    case MZ_J_TUPLE: return add_items(st, b, v.l, "(", v.l->n == 1 ? ",)" : ")");
    case MZ_J_DICT: return add_dict(st, b, v.d);
    case MZ_J_VIEW: return add_view(st, b, v);
    case MZ_J_RANGE: return add_range(st, b, v.r);
    default: return add_other(st, b, v);
    }
}

bool mz_j_add_repr(mz_jst *st, mz_buf *b, mz_jv v)
{
    if (!mz_j_charge(st, 1) || !mz_j_enter(st)) return false;
    bool ok = add_repr_inner(st, b, v);
    mz_j_leave(st);
    return ok;
}

bool mz_j_add_str(mz_jst *st, mz_buf *b, mz_jv v)
{
    if (v.type == MZ_J_STR) return mz_j_buf_str(st, b, v.s);
    return v.type == MZ_J_UNDEF || mz_j_add_repr(st, b, v);
}

bool mz_j_to_str(mz_jst *st, mz_jv v, mz_jv *out)
{
    if (v.type == MZ_J_STR) {
        *out = v;
        out->sub = 0;
        return true;
    }
    mz_buf b = {0};
    if (!mz_j_add_str(st, &b, v)) {
        mz_buf_free(&b);
        return false;
    }
    return mz_j_str_take(st, &b, out);
}

bool mz_j_soft_str(mz_jst *st, mz_jv v, mz_jv *out)
{
    if (v.type != MZ_J_STR) return mz_j_to_str(st, v, out);
    *out = v;
    return true;
}
