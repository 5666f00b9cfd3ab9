/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_unicode.c: code points, letter case, character classes, stripping and replacing, as Python's str does them.
 * Case mappings to several characters are those of ASCII-expanding letters (ß, ligatures, …), İ and the final sigma. */
#include <string.h>

#include <utf8proc.h>

#include "text/jinja_value.h"
#include "text/utf8.h"

bool mz_j_is_space(int32_t cp)
{
    if (cp < 0x80) return cp == ' ' || (cp >= 9 && cp <= 13) || (cp >= 0x1c && cp <= 0x1f);
    return cp == 0x85 || cp == 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 || cp == 0x2029 || cp == 0x202f ||
           cp == 0x205f || cp == 0x3000;
}

size_t mz_j_cp_count(const char *p, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) k += ((unsigned char)p[i] & 0xC0) != 0x80;
    return k;
}

size_t mz_j_str_len(mz_jstr *s)
{
    if (s->n_cp == SIZE_MAX) s->n_cp = mz_j_cp_count(s->p, s->n);
    return s->n_cp;
}

size_t mz_j_cp_offset(const mz_jstr *s, size_t i_cp)
{
    size_t i = 0;
    if (s->n_cp == s->n) return i_cp < s->n ? i_cp : s->n;
    /* The i_cp-th byte that is no continuation; ill-formed input stays within bounds. */
    for (size_t k = 0; i < s->n; i++) {
        if (((unsigned char)s->p[i] & 0xC0) == 0x80) continue;
        if (k++ == i_cp) return i;
    }
    return s->n;
}

const char *mz_j_find(const char *p, size_t n, const char *needle, size_t k)
{
    if (k == 0) return p;
    return n < k ? NULL : memmem(p, n, needle, k);
}

static int category(int32_t cp)
{
    return cp < 0 ? UTF8PROC_CATEGORY_CN : (int)utf8proc_category(cp);
}

int mz_j_digit_value(int32_t cp)
{
    if (category(cp) != UTF8PROC_CATEGORY_ND) return -1;
    if (cp >= 0x1d7ce && cp <= 0x1d7ff) return (cp - 0x1d7ce) % 10;
    /* All other scripts' ten digits begin at a code point that ends in 0 or 6. */
    int low = cp & 15;
    if (low < 6) return low;
    return category(cp - low) == UTF8PROC_CATEGORY_ND ? low : low - 6;
}

static bool is_letter(int32_t cp)
{
    int c = category(cp);
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

bool mz_j_is_printable(int32_t cp)
{
    if (cp == ' ') return true;
    int c = category(cp);
    return !(c == UTF8PROC_CATEGORY_CC || c == UTF8PROC_CATEGORY_CF || c == UTF8PROC_CATEGORY_CS || c == UTF8PROC_CATEGORY_CO ||
             c == UTF8PROC_CATEGORY_CN || c == UTF8PROC_CATEGORY_ZL || c == UTF8PROC_CATEGORY_ZP || c == UTF8PROC_CATEGORY_ZS);
}

bool mz_j_is_ident(int32_t cp, bool first)
{
    if (cp < 0x80) return cp == '_' || (cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z') || (!first && cp >= '0' && cp <= '9');
    int c = category(cp);
    if (is_letter(cp) || c == UTF8PROC_CATEGORY_NL) return true;
    return !first && (c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_MC || c == UTF8PROC_CATEGORY_ND || c == UTF8PROC_CATEGORY_PC);
}

static bool is_cased(int32_t cp)
{
    int c = category(cp);
    return c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LL || c == UTF8PROC_CATEGORY_LT;
}

static bool is_digit(int32_t cp)
{
    return category(cp) == UTF8PROC_CATEGORY_ND || cp == 0xb2 || cp == 0xb3 || cp == 0xb9 || cp == 0x2070 ||
           (cp >= 0x2074 && cp <= 0x2079) || (cp >= 0x2080 && cp <= 0x2089) || (cp >= 0x2460 && cp <= 0x2468);
}

static bool is_numeric(int32_t cp)
{
    int c = category(cp);
    return is_digit(cp) || c == UTF8PROC_CATEGORY_NL || c == UTF8PROC_CATEGORY_NO;
}

bool mz_j_is_class(const mz_jstr *s, mz_jclass want)
{
    bool any = false;
    int32_t cp;
    if (want == MZ_J_ASCII) {
        for (size_t i = 0; i < s->n; i++)
            if ((unsigned char)s->p[i] >= 0x80) return false;
        return true;
    }
    for (size_t i = 0; i < s->n;) {
        i += mz_utf8_decode(s->p + i, s->n - i, &cp);
        int c = category(cp);
        switch (want) {
        case MZ_J_ALPHA:
            if (!is_letter(cp)) return false;
            break;
        case MZ_J_DIGIT:
            if (!is_digit(cp)) return false;
            break;
        case MZ_J_DECIMAL:
            if (c != UTF8PROC_CATEGORY_ND) return false;
            break;
        case MZ_J_NUMERIC:
            if (!is_numeric(cp)) return false;
            break;
        case MZ_J_ALNUM:
            if (!is_letter(cp) && !is_numeric(cp)) return false;
            break;
        case MZ_J_SPACE:
            if (!mz_j_is_space(cp)) return false;
            break;
        case MZ_J_ISLOWER:
            if (c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LT) return false;
            any = any || c == UTF8PROC_CATEGORY_LL;
            break;
        case MZ_J_ISUPPER:
            if (c == UTF8PROC_CATEGORY_LL || c == UTF8PROC_CATEGORY_LT) return false;
            any = any || c == UTF8PROC_CATEGORY_LU;
            break;
        case MZ_J_ASCII: break;
        }
    }
    if (want == MZ_J_ISLOWER || want == MZ_J_ISUPPER) return any;
    return s->n > 0;
}

static const char *upper_special(int32_t cp, bool title)
{
    switch (cp) {
    case 0xdf: return title ? "Ss" : "SS";
    case 0x149: return "\xca\xbcN";
    case 0x587: return title ? "\xd4\xb5\xd6\x82" : "\xd4\xb5\xd5\x92";
    case 0xfb00: return title ? "Ff" : "FF";
    case 0xfb01: return title ? "Fi" : "FI";
    case 0xfb02: return title ? "Fl" : "FL";
    case 0xfb03: return title ? "Ffi" : "FFI";
    case 0xfb04: return title ? "Ffl" : "FFL";
    case 0xfb05:
    case 0xfb06: return title ? "St" : "ST";
    default: return NULL;
    }
}

static const char *fold_special(int32_t cp)
{
    switch (cp) {
    case 0xdf:
    case 0x1e9e: return "ss";
    case 0x130: return "i\xcc\x87";
    case 0x3c2: return "\xcf\x83";
    case 0xfb00: return "ff";
    case 0xfb01: return "fi";
    case 0xfb02: return "fl";
    case 0xfb03: return "ffi";
    case 0xfb04: return "ffl";
    case 0xfb05:
    case 0xfb06: return "st";
    default: return NULL;
    }
}

static bool next_is_cased(const mz_jstr *s, size_t i)
{
    int32_t cp;
    if (i >= s->n) return false;
    (void)mz_utf8_decode(s->p + i, s->n - i, &cp);
    return is_cased(cp);
}

static bool ascii_case(mz_jst *st, mz_jv v, bool upper, mz_jv *out)
{
    const mz_jstr *s = v.s;
    char *p = mz_j_alloc(st, s->n + 1, 1);
    if (!p) return false;
    for (size_t i = 0; i < s->n; i++) {
        char c = s->p[i];
        p[i] = (char)((upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z') ? c ^ 0x20 : c);
    }
    if (!mz_j_str_borrow(st, p, s->n, out)) return false;
    out->sub = v.sub;
    return true;
}

bool mz_j_case(mz_jst *st, mz_jv v, mz_jcase how, mz_jv *out)
{
    const mz_jstr *s = v.s;
    mz_buf b = {0};
    if ((how == MZ_J_LOWER || how == MZ_J_UPPER) && mz_j_is_class(s, MZ_J_ASCII))
        return mz_j_charge(st, s->n / 16) && ascii_case(st, v, how == MZ_J_UPPER, out);
    bool ok = mz_j_charge(st, s->n / 2), prev_cased = false;
    for (size_t i = 0; i < s->n && ok;) {
        int32_t cp;
        char u[4];
        size_t at = i, k = mz_utf8_decode(s->p + i, s->n - i, &cp);
        i += k;
        mz_jcase c = how;
        if (how == MZ_J_CAPITALIZE)
            c = at == 0 ? MZ_J_TITLE : MZ_J_LOWER;
        else if (how == MZ_J_TITLE)
            c = prev_cased ? MZ_J_LOWER : MZ_J_TITLE;
        else if (how == MZ_J_SWAPCASE)
            c = category(cp) == UTF8PROC_CATEGORY_LU ? MZ_J_LOWER : category(cp) == UTF8PROC_CATEGORY_LL ? MZ_J_UPPER : MZ_J_SWAPCASE;
        const char *special = cp < 0x80                                                              ? NULL
                              : c == MZ_J_UPPER || c == MZ_J_TITLE                                   ? upper_special(cp, c == MZ_J_TITLE)
                              : c == MZ_J_CASEFOLD                                                   ? fold_special(cp)
                              : c == MZ_J_LOWER && cp == 0x130                                       ? "i\xcc\x87"
                              : c == MZ_J_LOWER && cp == 0x3a3 && prev_cased && !next_is_cased(s, i) ? "\xcf\x82"
                                                                                                     : NULL;
        if (special) {
            ok = mz_j_buf_add(st, &b, special, strlen(special));
        } else {
            int32_t to = cp;
            if (cp >= 0 && c == MZ_J_UPPER)
                to = utf8proc_toupper(cp);
            else if (cp >= 0 && (c == MZ_J_LOWER || c == MZ_J_CASEFOLD))
                to = utf8proc_tolower(cp);
            else if (cp >= 0 && c == MZ_J_TITLE)
                to = utf8proc_totitle(cp);
            ok = to == cp ? mz_j_buf_add(st, &b, s->p + at, k) : mz_j_buf_add(st, &b, u, mz_utf8_encode(to, u));
        }
        prev_cased = is_cased(cp);
    }
    return mz_j_str_end(st, ok, &b, v.sub, out);
}

static bool in_set(int32_t cp, const char *p, size_t k, const mz_jstr *chars)
{
    return chars ? mz_j_find(chars->p, chars->n, p, k) != NULL : mz_j_is_space(cp);
}

bool mz_j_strip(mz_jst *st, mz_jv v, const mz_jstr *chars, unsigned sides, mz_jv *out)
{
    const mz_jstr *s = v.s;
    size_t lo = 0, hi = s->n;
    int32_t cp;
    if (!mz_j_charge(st, s->n / 64 + (chars ? chars->n / 16 * (s->n / 16) : 0))) return false;
    while ((sides & 1) && lo < hi) {
        size_t k = mz_utf8_decode(s->p + lo, hi - lo, &cp);
        if (!in_set(cp, s->p + lo, k, chars)) break;
        lo += k;
    }
    while ((sides & 2) && hi > lo) {
        size_t at = hi - 1;
        while (at > lo && hi - at < 4 && ((unsigned char)s->p[at] & 0xC0) == 0x80) at--;
        size_t k = mz_utf8_decode(s->p + at, hi - at, &cp);
        if (at + k != hi || !in_set(cp, s->p + at, k, chars)) break;
        hi = at;
    }
    if (!mz_j_str_borrow(st, s->p + lo, hi - lo, out)) return false;
    out->sub = v.sub;
    return true;
}

bool mz_j_escape(mz_jst *st, mz_jv v, mz_jv *out)
{
    mz_jv s;
    if (v.type == MZ_J_STR && v.sub) {
        *out = v;
        return true;
    }
    if (!mz_j_to_str(st, v, &s)) return false;
    mz_buf b = {0};
    bool ok = true;
    for (size_t i = 0; i < s.s->n && ok; i++) {
        char c = s.s->p[i];
        const char *to = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&#34;" : c == '\'' ? "&#39;" : NULL;
        ok = mz_j_charge(st, i % 16 == 0) && (to ? mz_j_buf_add(st, &b, to, strlen(to)) : mz_j_buf_add(st, &b, &c, 1));
    }
    if (!ok) {
        mz_buf_free(&b);
        return false;
    }
    if (!mz_j_str_take(st, &b, out)) return false;
    out->sub = 1;
    return true;
}

bool mz_j_replace(mz_jst *st, const mz_jstr *s, const mz_jstr *old, const mz_jstr *new_s, int64_t count, mz_jv *out)
{
    mz_buf b = {0};
    const char *p = s->p, *end = s->p + s->n;
    bool ok = mz_j_charge(st, s->n / 64 + 1);
    while (ok && count != 0) {
        if (old->n == 0) { /* between all characters */
            int32_t cp;
            ok = mz_j_charge(st, 1) && mz_j_buf_str(st, &b, new_s);
            count--;
            if (p == end) break;
            size_t k = mz_utf8_decode(p, (size_t)(end - p), &cp);
            ok = ok && mz_j_buf_add(st, &b, p, k);
            p += k;
            continue;
        }
        const char *hit = mz_j_find(p, (size_t)(end - p), old->p, old->n);
        if (!hit) break;
        ok = mz_j_charge(st, 1) && mz_j_buf_add(st, &b, p, (size_t)(hit - p)) && mz_j_buf_str(st, &b, new_s);
        p = hit + old->n;
        count--;
    }
    ok = ok && mz_j_buf_add(st, &b, p, (size_t)(end - p));
    if (!ok) {
        mz_buf_free(&b);
        return false;
    }
    return mz_j_str_take(st, &b, out);
}
