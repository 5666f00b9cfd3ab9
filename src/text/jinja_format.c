/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_format.c: "…".format(…) and printf-style formatting with %, |format included. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/jinja_value.h"
#include "text/utf8.h"

typedef struct spec { /* both languages end up here */
    char fill[5];
    char align; /* < > = ^ or 0 */
    char sign;  /* + space or 0 */
    bool alt, zero;
    char group;      /* , _ or 0 */
    int width, prec; /* -1: none */
    char type;       /* 0: none */
} spec;

enum { WIDTH_MAX = 100000 };

static bool add_padded(mz_jst *st, mz_buf *b, const spec *f, const char *s, size_t n, size_t prefix, char align)
{
    size_t cp = mz_j_cp_count(s, n), pad = f->width > 0 && (size_t)f->width > cp ? (size_t)f->width - cp : 0;
    size_t left = align == '>' ? pad : align == '^' ? pad / 2 : 0, inner = align == '=' ? pad : 0;
    size_t right = pad - left - inner;
    for (size_t i = 0; i < left; i++)
        if (!mz_j_buf_add(st, b, f->fill, strlen(f->fill))) return false;
    if (!mz_j_buf_add(st, b, s, prefix)) return false;
    for (size_t i = 0; i < inner; i++)
        if (!mz_j_buf_add(st, b, f->fill, strlen(f->fill))) return false;
    if (!mz_j_buf_add(st, b, s + prefix, n - prefix)) return false;
    for (size_t i = 0; i < right; i++)
        if (!mz_j_buf_add(st, b, f->fill, strlen(f->fill))) return false;
    return true;
}

/* Puts a separator every 3 (decimal) or 4 digits into the digits d[n]; returns the new length. */
static size_t group_digits(char *d, size_t n, char sep, size_t every)
{
    size_t extra = n ? (n - 1) / every : 0;
    for (size_t i = n, o = n + extra, k = 0; i-- > 0; k++) {
        if (k && k % every == 0) d[--o] = sep;
        d[--o] = d[i];
    }
    return n + extra;
}

static bool add_int(mz_jst *st, mz_buf *b, const spec *f, int64_t v)
{
    char t[200], digits[160];
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    unsigned base = f->type == 'x' || f->type == 'X' ? 16 : f->type == 'o' ? 8 : f->type == 'b' ? 2 : 10;
    size_t k = 0, n = 0, prefix;
    char rev[70];
    do {
        unsigned d = (unsigned)(u % base);
        rev[n++] = (char)(d < 10 ? '0' + (int)d : (f->type == 'X' ? 'A' : 'a') + (int)d - 10);
        u /= base;
    } while (u);
    while ((int)n < f->prec && n < 60) rev[n++] = '0';
    for (size_t i = 0; i < n; i++) digits[i] = rev[n - 1 - i];
    if (f->group) n = group_digits(digits, n, f->group, base == 10 ? 3 : 4);
    if (v < 0)
        t[k++] = '-';
    else if (f->sign)
        t[k++] = f->sign;
    if (f->alt && base != 10) {
        t[k++] = '0';
        t[k++] = f->type;
    }
    prefix = k;
    memcpy(t + k, digits, n);
    return add_padded(st, b, f, t, k + n, prefix, f->align ? f->align : '>');
}

static bool add_float(mz_jst *st, mz_buf *b, const spec *f, double v)
{
    char t[1024], fmt[16], num[700];
    size_t k = 0, n;
    int prec = f->prec < 0 ? 6 : f->prec > 300 ? 300 : f->prec;
    char type = f->type == 0 || f->type == 'n' ? 'g' : f->type == '%' ? 'f' : f->type;
    double a = fabs(f->type == '%' ? v * 100.0 : v);
    if (a != a || isinf(a)) {
        n = (size_t)snprintf(num, sizeof num, type < 'a' ? (a != a ? "NAN" : "INF") : (a != a ? "nan" : "inf"));
    } else if (f->type == 0 && f->prec < 0) {
        n = mz_j_float_repr(a, num);
    } else {
        (void)snprintf(fmt, sizeof fmt, "%%%s.*%c", f->alt ? "#" : "", type);
        n = (size_t)snprintf(num, sizeof num, fmt, f->type == 0 && prec == 0 ? 1 : prec, a);
        if (f->type == 0 && !memchr(num, '.', n) && !memchr(num, 'e', n)) n += (size_t)snprintf(num + n, sizeof num - n, ".0");
    }
    for (size_t i = 0; i < n; i++)
        if (num[i] == ',') num[i] = '.'; /* a host locale's decimal comma */
    if (signbit(v) && v == v)
        t[k++] = '-';
    else if (f->sign)
        t[k++] = f->sign;
    size_t prefix = k, whole = 0;
    while (whole < n && num[whole] >= '0' && num[whole] <= '9') whole++;
    memcpy(t + k, num, whole);
    k += f->group ? group_digits(t + k, whole, f->group, 3) : whole;
    memcpy(t + k, num + whole, n - whole);
    k += n - whole;
    if (f->type == '%') t[k++] = '%';
    return add_padded(st, b, f, t, k, prefix, f->align ? f->align : '>');
}

static bool add_text(mz_jst *st, mz_buf *b, const spec *f, mz_jv s, char align)
{
    size_t n = s.s->n;
    if (f->prec >= 0 && (size_t)f->prec < mz_j_str_len(s.s)) n = mz_j_cp_offset(s.s, (size_t)f->prec);
    return add_padded(st, b, f, s.s->p, n, 0, align);
}

static bool repr_value(mz_jst *st, mz_jv v, mz_jv *out)
{
    mz_buf b = {0};
    if (!mz_j_add_repr(st, &b, v)) {
        mz_buf_free(&b);
        return false;
    }
    return mz_j_str_take(st, &b, out);
}

static bool is_align(char c)
{
    return c == '<' || c == '>' || c == '=' || c == '^';
}

static bool read_number(mz_jst *st, const char **p, const char *end, int *out)
{
    if (*p == end || **p < '0' || **p > '9') return true;
    for (*out = 0; *p < end && **p >= '0' && **p <= '9'; ++*p) {
        *out = *out * 10 + (**p - '0');
        if (*out > WIDTH_MAX) return mz_j_fail(st, MZ_ELIMIT, "a width or precision of more than %d in a format", WIDTH_MAX);
    }
    return true;
}

/* [[fill]align][sign][#][0][width][,][.precision][type] */
static bool parse_spec(mz_jst *st, const char *p, size_t n, spec *f)
{
    const char *end = p + n;
    int32_t cp;
    *f = (spec){.fill = " ", .width = -1, .prec = -1};
    size_t k = n ? mz_utf8_decode(p, n, &cp) : 0;
    if (k && k < n && is_align(p[k])) {
        memset(f->fill, 0, sizeof f->fill);
        memcpy(f->fill, p, k);
        f->align = p[k];
        p += k + 1;
    } else if (n && is_align(*p)) {
        f->align = *p++;
    }
    if (p < end && (*p == '+' || *p == '-' || *p == ' ')) {
        f->sign = *p == '-' ? 0 : *p;
        p++;
    }
    if (p < end && *p == '#') {
        f->alt = true;
        p++;
    }
    if (p < end && *p == '0') {
        f->zero = true;
        p++;
    }
    if (!read_number(st, &p, end, &f->width)) return false;
    if (p < end && (*p == ',' || *p == '_')) f->group = *p++;
    if (p < end && *p == '.') {
        const char *before = ++p;
        if (!read_number(st, &p, end, &f->prec)) return false;
        if (p == before) return mz_j_fail(st, MZ_EINVAL, "a format specifier misses its precision");
    }
    if (p < end) f->type = *p++;
    if (p < end) return mz_j_fail(st, MZ_EINVAL, "invalid format specifier");
    if (f->zero && !f->align) {
        memcpy(f->fill, "0", 2);
        f->align = '=';
    }
    return true;
}

static bool add_spec(mz_jst *st, mz_buf *b, mz_jv v, const char *p, size_t n)
{
    spec f;
    mz_jv s;
    if (n == 0) return mz_j_add_str(st, b, v);
    if (v.type == MZ_J_UNDEF) return mz_j_undef_fail(st, v);
    if (!parse_spec(st, p, n, &f)) return false;
    char t[2] = {f.type, 0};
    if (v.type == MZ_J_STR || (v.type == MZ_J_BOOL && f.type == 's')) {
        if (f.align == '=' && f.zero) f.align = '<';
        if ((f.type && f.type != 's') || f.sign || f.alt || f.group || f.align == '=')
            return mz_j_fail(st, MZ_EINVAL, "this format specifier is not allowed for a str");
        return mz_j_to_str(st, v, &s) && add_text(st, b, &f, s, f.align ? f.align : '<');
    }
    if (mz_j_is_int(v) && (f.type == 0 || strstr("dxXobn", t))) {
        if (f.prec >= 0) return mz_j_fail(st, MZ_EINVAL, "precision not allowed in an integer's format specifier");
        return add_int(st, b, &f, mz_j_as_int(v));
    }
    if (mz_j_is_num(v) && (f.type == 0 || strstr("eEfFgGn%", t))) return add_float(st, b, &f, mz_j_as_float(v));
    return mz_j_fail(st, MZ_EINVAL, "unsupported format specifier for '%s' object", mz_j_type_name(v));
}

typedef struct fmt_state {
    const mz_jargs *a;
    size_t next;   /* automatic numbering */
    int numbering; /* 0 undecided, 1 automatic, 2 explicit */
} fmt_state;

static bool first_value(mz_jst *st, fmt_state *f, const char *p, size_t n, mz_jv *out)
{
    mz_jstr name = {.p = p, .n = n, .n_cp = SIZE_MAX};
    int64_t i = 0;
    bool large, is_number = n > 0;
    for (size_t k = 0; k < n; k++) is_number = is_number && p[k] >= '0' && p[k] <= '9';
    if (n == 0 || is_number) {
        int kind = n == 0 ? 1 : 2;
        if (f->numbering && f->numbering != kind) return mz_j_fail(st, MZ_EINVAL, "format mixes {} with {0}");
        f->numbering = kind;
        if (n == 0)
            i = (int64_t)f->next++;
        else if (!mz_j_parse_int(&name, 10, &i, &large))
            i = INT64_MAX;
        if ((uint64_t)i >= f->a->n) return mz_j_fail(st, MZ_EINVAL, "format: replacement index %lld is out of range", (long long)i);
        *out = f->a->v[i];
        return true;
    }
    for (size_t k = 0; k < f->a->n_kw; k++)
        if (mz_j_is_str(f->a->kw[k].name, p, n)) {
            *out = f->a->kw[k].val;
            return true;
        }
    return mz_j_fail(st, MZ_EINVAL, "format: no argument named '%.*s'", (int)(n < 80 ? n : 80), p);
}

/* name(.attr | [item])* */
static bool field_value(mz_jst *st, fmt_state *f, const char *p, size_t n, mz_jv *out)
{
    size_t i = 0;
    while (i < n && p[i] != '.' && p[i] != '[') i++;
    if (!first_value(st, f, p, i, out)) return false;
    while (i < n) {
        bool attr = p[i++] == '.', is_number = true, large;
        size_t from = i;
        mz_jv key;
        int64_t k;
        while (i < n && (attr ? p[i] != '.' && p[i] != '[' : p[i] != ']')) {
            is_number = is_number && p[i] >= '0' && p[i] <= '9';
            i++;
        }
        if (i == from || (!attr && i == n)) return mz_j_fail(st, MZ_EINVAL, "format: empty or unfinished attribute in a field");
        mz_jstr s = {.p = p + from, .n = i - from, .n_cp = SIZE_MAX};
        if (!mz_j_str_borrow(st, s.p, s.n, &key)) return false;
        if (!attr && is_number && mz_j_parse_int(&s, 10, &k, &large)) key = mz_j_int(k);
        if (!(attr ? mz_j_getattr(st, *out, key, out) : mz_j_getitem(st, *out, key, out))) return false;
        if (!attr) i++;
        if (i < n && p[i] != '.' && p[i] != '[') return mz_j_fail(st, MZ_EINVAL, "format: only '.' or '[' may follow ']' in a field");
    }
    return true;
}

static bool add_field(mz_jst *st, mz_buf *b, fmt_state *f, const char *p, size_t n)
{
    size_t name = 0;
    char conv = 0;
    mz_jv v;
    while (name < n && p[name] != '!' && p[name] != ':')
        name +=
            p[name] == '[' && memchr(p + name, ']', n - name) ? (size_t)((const char *)memchr(p + name, ']', n - name) - (p + name)) : 1;
    if (!field_value(st, f, p, name, &v)) return false;
    if (name < n && p[name] == '!') {
        conv = name + 1 < n ? p[name + 1] : 0;
        name += 2;
        if ((conv != 's' && conv != 'r') || (name < n && p[name] != ':'))
            return mz_j_fail(st, MZ_EINVAL, "format: unknown conversion in a field");
        if (!(conv == 'r' ? repr_value(st, v, &v) : mz_j_to_str(st, v, &v))) return false;
    }
    if (name >= n) return add_spec(st, b, v, "", 0);
    const char *spec_p = p + name + 1;
    size_t spec_n = n - name - 1;
    if (!memchr(spec_p, '{', spec_n)) return add_spec(st, b, v, spec_p, spec_n);
    return mz_j_fail(st, MZ_ESUPPORT, "format: fields inside a format specifier are not supported");
}

static bool format_into(mz_jst *st, mz_buf *b, const mz_jstr *s, const mz_jargs *a)
{
    fmt_state f = {.a = a};
    for (size_t i = 0; i < s->n;) {
        size_t from = i;
        while (i < s->n && s->p[i] != '{' && s->p[i] != '}') i++;
        if (!mz_j_charge(st, 1) || !mz_j_buf_add(st, b, s->p + from, i - from)) return false;
        if (i == s->n) break;
        char c = s->p[i];
        if (i + 1 < s->n && s->p[i + 1] == c) {
            if (!mz_j_buf_add(st, b, &c, 1)) return false;
            i += 2;
            continue;
        }
        if (c == '}') return mz_j_fail(st, MZ_EINVAL, "Single '}' encountered in format string");
        size_t depth = 1, end = i + 1;
        for (; end < s->n; end++) {
            if (s->p[end] == '{')
                depth++;
            else if (s->p[end] == '}' && --depth == 0)
                break;
        }
        if (end >= s->n) return mz_j_fail(st, MZ_EINVAL, "a '{' in the format string is not closed");
        if (!add_field(st, b, &f, s->p + i + 1, end - i - 1)) return false;
        i = end + 1;
    }
    return true;
}

bool mz_j_format(mz_jst *st, mz_jv fmt, const mz_jargs *a, mz_jv *out)
{
    mz_buf b = {0};
    if (!format_into(st, &b, fmt.s, a)) {
        mz_buf_free(&b);
        return false;
    }
    if (!mz_j_str_take(st, &b, out)) return false;
    out->sub = fmt.sub;
    return true;
}

typedef struct pct_state {
    mz_jv args;
    size_t next, n;
    bool used_map;
} pct_state;

static bool next_arg(mz_jst *st, pct_state *s, mz_jv *out)
{
    if (s->next >= s->n) return mz_j_fail(st, MZ_EINVAL, "not enough arguments for format string");
    *out = s->args.type == MZ_J_TUPLE ? s->args.l->v[s->next] : s->args;
    s->next++;
    return true;
}

static bool star_or_number(mz_jst *st, pct_state *s, const char **p, const char *end, int *out)
{
    mz_jv v;
    if (*p == end || **p != '*') return read_number(st, p, end, out);
    ++*p;
    if (!next_arg(st, s, &v)) return false;
    if (!mz_j_is_int(v)) return mz_j_fail(st, MZ_EINVAL, "* wants int");
    int64_t w = mz_j_as_int(v);
    if (w > WIDTH_MAX || w < -WIDTH_MAX) return mz_j_fail(st, MZ_ELIMIT, "a width or precision of more than %d in a format", WIDTH_MAX);
    *out = (int)w;
    return true;
}

static bool add_conversion(mz_jst *st, mz_buf *b, spec *f, char conv, mz_jv v, bool left)
{
    mz_jv s;
    if (left) {
        f->align = '<';
        memcpy(f->fill, " ", 2);
    }
    switch (conv) {
    case 's':
    case 'r':
    case 'a':
        memcpy(f->fill, " ", 2);
        if (conv == 'a') return mz_j_fail(st, MZ_ESUPPORT, "the conversion %%a is not supported");
        return (conv == 'r' ? repr_value(st, v, &s) : mz_j_to_str(st, v, &s)) && add_text(st, b, f, s, left ? '<' : '>');
    case 'c':
        memcpy(f->fill, " ", 2);
        if (v.type == MZ_J_STR && mz_j_str_len(v.s) == 1) return add_text(st, b, f, v, left ? '<' : '>');
        if (mz_j_is_int(v) && mz_j_as_int(v) >= 0 && mz_j_as_int(v) <= 0x10ffff && (mz_j_as_int(v) < 0xd800 || mz_j_as_int(v) > 0xdfff)) {
            char u[4];
            return add_padded(st, b, f, u, mz_utf8_encode((int32_t)mz_j_as_int(v), u), 0, left ? '<' : '>');
        }
        return mz_j_fail(st, MZ_EINVAL, "%%c requires int or char");
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        if (v.type == MZ_J_UNDEF) return mz_j_undef_fail(st, v);
        if (v.type == MZ_J_FLOAT && strchr("diu", conv) && v.f > -9.2e18 && v.f < 9.2e18) v = mz_j_int((int64_t)v.f);
        if (!mz_j_is_int(v)) return mz_j_fail(st, MZ_EINVAL, "%%%c format: a real number is required, not %s", conv, mz_j_type_name(v));
        f->type = strchr("diu", conv) ? 'd' : conv;
        return add_int(st, b, f, mz_j_as_int(v));
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
        if (v.type == MZ_J_UNDEF) return mz_j_undef_fail(st, v);
        if (!mz_j_is_num(v)) return mz_j_fail(st, MZ_EINVAL, "must be real number, not %s", mz_j_type_name(v));
        f->type = conv;
        return add_float(st, b, f, mz_j_as_float(v));
    default: return mz_j_fail(st, MZ_EINVAL, "unsupported format character '%c'", conv >= ' ' && conv < 0x7f ? conv : '?');
    }
}

static bool one_percent(mz_jst *st, mz_buf *b, pct_state *s, const char **pp, const char *end)
{
    const char *p = *pp;
    spec f = {.fill = " ", .width = -1, .prec = -1};
    bool left = false, keyed = false;
    mz_jv v = {0};
    if (p < end && *p == '(') {
        const char *close = memchr(p, ')', (size_t)(end - p));
        mz_jv key;
        if (!close) return mz_j_fail(st, MZ_EINVAL, "incomplete format key");
        if (s->args.type != MZ_J_DICT) return mz_j_fail(st, MZ_EINVAL, "format requires a mapping");
        if (!mz_j_str_borrow(st, p + 1, (size_t)(close - p - 1), &key) || !mz_j_dict_get(st, s->args.d, key, true, &v)) return false;
        if (v.type == MZ_J_MISSING)
            return mz_j_fail(st, MZ_EINVAL, "format: no key '%.*s'", (int)(close - p - 1 < 80 ? close - p - 1 : 80), p + 1);
        keyed = s->used_map = true;
        p = close + 1;
    }
    for (; p < end && strchr("-+ #0", *p) && *p; p++) {
        if (*p == '-')
            left = true;
        else if (*p == '+')
            f.sign = '+';
        else if (*p == ' ')
            f.sign = f.sign ? f.sign : ' ';
        else if (*p == '#')
            f.alt = true;
        else
            f.zero = true;
    }
    if (!star_or_number(st, s, &p, end, &f.width)) return false;
    if (f.width < -1) {
        left = true;
        f.width = -f.width;
    }
    if (p < end && *p == '.') {
        p++;
        f.prec = 0;
        if (!star_or_number(st, s, &p, end, &f.prec)) return false;
        if (f.prec < 0) f.prec = 0;
    }
    while (p < end && (*p == 'l' || *p == 'h' || *p == 'L')) p++;
    if (p == end) return mz_j_fail(st, MZ_EINVAL, "incomplete format");
    char conv = *p++;
    *pp = p;
    if (conv == '%') return mz_j_buf_add(st, b, "%", 1);
    if (f.zero) {
        memcpy(f.fill, "0", 2);
        f.align = '=';
    }
    return (keyed || next_arg(st, s, &v)) && add_conversion(st, b, &f, conv, v, left);
}

bool mz_j_percent(mz_jst *st, mz_jv fmt, mz_jv args, mz_jv *out)
{
    pct_state s = {.args = args, .n = args.type == MZ_J_TUPLE ? args.l->n : 1};
    const char *p = fmt.s->p, *end = p + fmt.s->n;
    mz_buf b = {0};
    bool ok = true;
    while (ok && p < end) {
        const char *hit = memchr(p, '%', (size_t)(end - p));
        if (!hit) hit = end;
        ok = mz_j_charge(st, 1) && mz_j_buf_add(st, &b, p, (size_t)(hit - p));
        p = hit;
        if (!ok || p == end) break;
        p++;
        ok = one_percent(st, &b, &s, &p, end);
    }
    if (ok && s.next < s.n && args.type != MZ_J_DICT && args.type != MZ_J_LIST && args.type != MZ_J_UNDEF)
        ok = mz_j_fail(st, MZ_EINVAL, "not all arguments converted during string formatting");
    return mz_j_str_end(st, ok, &b, fmt.sub, out);
}
