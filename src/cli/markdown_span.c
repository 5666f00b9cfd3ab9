/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/markdown_span.h"

#include <stdint.h>
#include <string.h>

enum verdict { LITERAL, SPAN, UNDECIDED };

/* A span found: its inner text, and where it ends. */
typedef struct span {
    size_t inner, n_inner, len;
    size_t url, n_url; /* of a link */
} span;

static void put(mz_markdown *m, unsigned style, const char *s, size_t n)
{
    if (n == 0) return;
    m->put(m->user, style, s, n);
    m->last = s[n - 1];
}

static size_t count(const char *s, size_t n, char c)
{
    size_t i = 0;
    while (i < n && s[i] == c) i++;
    return i;
}

/* ASCII only: between ideographs, or Arabic letters, emphasis stands without spaces. */
static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static enum verdict find_code(const char *s, size_t n, bool final, span *out)
{
    size_t run = count(s, n, '`');
    if (run == n) return final ? LITERAL : UNDECIDED;
    for (size_t i = run; i < n;) {
        if (s[i] != '`') {
            i++;
            continue;
        }
        size_t close = count(s + i, n - i, '`');
        if (i + close == n && !final) return UNDECIDED;
        if (close == run) {
            *out = (span){.inner = run, .n_inner = i - run, .len = i + close};
            /* One blank on each side is there to set off a backquote. */
            if (out->n_inner > 2 && is_blank(s[run]) && is_blank(s[i - 1])) {
                out->inner++;
                out->n_inner -= 2;
            }
            return SPAN;
        }
        i += close;
    }
    return final ? LITERAL : UNDECIDED;
}

/* Behind a code span, an escaped character or one ordinary byte; 0 when it takes more text. */
static size_t skip_one(const char *s, size_t n, bool final)
{
    span code;
    if (s[0] == '\\') return n > 1 ? 2 : final ? 1 : 0;
    if (s[0] != '`') return 1;
    switch (find_code(s, n, final, &code)) {
    case SPAN: return code.len;
    case UNDECIDED: return 0;
    default: return count(s, n, '`');
    }
}

static enum verdict find_emphasis(const char *s, size_t n, char before, bool final, span *out)
{
    char c = s[0];
    size_t run = count(s, n, c);
    if (run == n) return final ? LITERAL : UNDECIDED;
    if (run > 3 || (c == '~' && run != 2) || is_blank(s[run]) || is_word(before)) return LITERAL;
    for (size_t i = run; i < n;) {
        if (s[i] != c) {
            size_t skip = skip_one(s + i, n - i, final);
            if (skip == 0) return UNDECIDED;
            i += skip;
            continue;
        }
        size_t close = count(s + i, n - i, c);
        if (i + close == n && !final) return UNDECIDED;
        if (close == run && !is_blank(s[i - 1]) && (i + close == n || !is_word(s[i + close]))) {
            *out = (span){.inner = run, .n_inner = i - run, .len = i + close};
            return SPAN;
        }
        i += close;
    }
    return final ? LITERAL : UNDECIDED;
}

static enum verdict find_link(const char *s, size_t n, bool final, span *out)
{
    size_t i = 1, depth = 1;
    while (i < n && depth > 0) {
        size_t skip = skip_one(s + i, n - i, final);
        if (skip == 0) return UNDECIDED;
        if (s[i] == '[') depth++;
        if (s[i] == ']') depth--;
        i += skip;
    }
    if (depth > 0 || i >= n) return final ? LITERAL : UNDECIDED;
    if (s[i] != '(' || i == 2) return LITERAL;
    size_t url = i + 1;
    for (i = url, depth = 1; i < n; i++) {
        if (s[i] == '(') depth++;
        if (s[i] == ')' && --depth == 0) break;
    }
    if (i >= n) return final ? LITERAL : UNDECIDED;
    *out = (span){.inner = 1, .n_inner = url - 3, .len = i + 1, .url = url, .n_url = i - url};
    return SPAN;
}

static void put_link(mz_markdown *m, unsigned style, const char *s, const span *found)
{
    const char *text = s + found->inner, *url = s + found->url;
    m->last = '[';
    (void)mz_markdown_spans(m, style | MZ_STYLE_UNDERLINE, text, found->n_inner, true);
    /* The address is always in sight: a text must not stand in for another place. */
    if (found->n_url == found->n_inner && memcmp(text, url, found->n_url) == 0) return;
    put(m, style | MZ_STYLE_DIM, " (", 2);
    put(m, style | MZ_STYLE_DIM, url, found->n_url);
    put(m, style | MZ_STYLE_DIM, ")", 1);
}

static const unsigned emphasis[] = {0, MZ_STYLE_ITALIC, MZ_STYLE_BOLD, MZ_STYLE_BOLD | MZ_STYLE_ITALIC};

/* At the special byte s[0]; the bytes used up, 0 when it takes more text. */
static size_t put_special(mz_markdown *m, unsigned style, const char *s, size_t n, bool final)
{
    span found;
    enum verdict v = LITERAL;
    size_t run = 1;
    if (n >= MZ_MARKDOWN_SPAN) { /* what is not at its end by then is no span; the text must go on */
        n = MZ_MARKDOWN_SPAN;
        final = true;
    }
    switch (s[0]) {
    case '\\': /* of the escapes only those of our own markers: formulas are full of the others */
        if (n == 1 && !final) return 0;
        if (n > 1 && strchr("*_`", s[1])) {
            put(m, style, s + 1, 1);
            return 2;
        }
        break;
    case '|': put(m, m->in_table ? style | MZ_STYLE_DIM : style, s, 1); return 1;
    case '`':
        run = count(s, n, '`');
        v = find_code(s, n, final, &found);
        if (v == SPAN) put(m, style | MZ_STYLE_CODE, s + found.inner, found.n_inner);
        break;
    case '[':
        v = find_link(s, n, final, &found);
        if (v == SPAN) put_link(m, style, s, &found);
        break;
    default:
        run = count(s, n, s[0]);
        v = find_emphasis(s, n, m->last, final, &found);
        if (v == SPAN) {
            m->last = s[0];
            (void)mz_markdown_spans(m, style | (s[0] == '~' ? MZ_STYLE_STRIKE : emphasis[run]), s + found.inner, found.n_inner, true);
        }
        break;
    }
    if (v == SPAN) {
        m->last = s[found.len - 1];
        return found.len;
    }
    if (v == UNDECIDED) return 0;
    put(m, style, s, run);
    return run;
}

size_t mz_markdown_spans(mz_markdown *m, unsigned style, const char *s, size_t n, bool final)
{
    size_t i = 0;
    while (i < n) {
        size_t plain = i;
        while (plain < n && !memchr("*_`~[\\|", s[plain], 7)) plain++;
        put(m, style, s + i, plain - i);
        i = plain;
        if (i == n) break;
        size_t used = put_special(m, style, s + i, n - i, final);
        if (used == 0) break;
        i += used;
    }
    return i;
}
