/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_lex.c: source text to tokens, with jinja2's rules for white space around tags
 * (trim_blocks, lstrip_blocks, the signs - and +) and its string and number literals. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text/jinja_ast.h"
#include "text/utf8.h"

void mz_j_where(const mz_template *t, uint32_t pos, unsigned *line, unsigned *col)
{
    size_t start = 0, end = pos < t->n_src ? pos : t->n_src;
    *line = 1;
    for (size_t i = 0; i < end; i++)
        if (t->src[i] == '\n') {
            ++*line;
            start = i + 1;
        }
    *col = 1 + (unsigned)mz_j_cp_count(t->src + start, end - start);
}

bool mz_j_perr(mz_jparse *p, mz_status code, uint32_t pos, const char *fmt, ...)
{
    char text[400];
    unsigned line, col;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    mz_j_where(p->t, pos, &line, &col);
    p->status = mz_err_set(p->err, code, "chat template, line %u, column %u: %s", line, col, text);
    return false;
}

static bool push(mz_jparse *p, mz_jtok type, size_t pos, const char *s, size_t n)
{
    mz_template *t = p->t;
    if (t->n_tok == t->cap_tok) {
        size_t cap = t->cap_tok ? t->cap_tok * 2 : 256;
        mz_jtoken *grown = mz_realloc(t->tok, cap, sizeof *grown);
        if (!grown) return mz_j_perr(p, MZ_ENOMEM, (uint32_t)pos, "out of memory");
        t->tok = grown;
        t->cap_tok = cap;
    }
    t->tok[t->n_tok++] = (mz_jtoken){.type = (uint8_t)type, .pos = (uint32_t)pos, .p = s, .n = n};
    return true;
}

static size_t skip_space(const mz_template *t, size_t i)
{
    int32_t cp;
    while (i < t->n_src) {
        size_t k = mz_utf8_decode(t->src + i, t->n_src - i, &cp);
        if (!mz_j_is_space(cp)) break;
        i += k;
    }
    return i;
}

static size_t rstrip(const char *s, size_t n)
{
    size_t end = 0;
    int32_t cp;
    for (size_t i = 0; i < n;) {
        i += mz_utf8_decode(s + i, n - i, &cp);
        if (!mz_j_is_space(cp)) end = i;
    }
    return end;
}

static bool at(const mz_template *t, size_t i, const char *lit)
{
    size_t n = strlen(lit);
    return t->n_src - i >= n && memcmp(t->src + i, lit, n) == 0;
}

/* Length of the text before a tag after stripping (jinja2's OptionalLStrip). */
static size_t data_end(const mz_template *t, size_t from, size_t to, char sign, bool is_variable, bool line_starting)
{
    if (sign == '-') return from + rstrip(t->src + from, to - from);
    if (sign == '+' || is_variable) return to;
    size_t line = to;
    while (line > from && t->src[line - 1] != '\n') line--;
    if (line == from && !line_starting) return to;
    return rstrip(t->src + line, to - line) == 0 ? line : to;
}

/* After a tag's end delimiter at i: where text goes on. Returns SIZE_MAX when there is no end here. */
static size_t block_end(const mz_template *t, size_t i, const char *close, bool trim)
{
    if (trim && at(t, i, "+") && at(t, i + 1, close)) return i + 3;
    if (at(t, i, "-") && at(t, i + 1, close)) return skip_space(t, i + 3);
    if (!at(t, i, close)) return SIZE_MAX;
    i += 2;
    return trim && i < t->n_src && t->src[i] == '\n' ? i + 1 : i;
}

static bool add_cp(mz_jparse *p, mz_buf *b, int32_t cp, size_t pos)
{
    char u[4];
    if (cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF))
        return mz_j_perr(p, MZ_EFORMAT, (uint32_t)pos, "the escape in this string names no character (U+%04X)", (unsigned)cp);
    if (!mz_buf_add(b, u, mz_utf8_encode(cp, u))) return mz_j_perr(p, MZ_ENOMEM, (uint32_t)pos, "out of memory");
    return true;
}

static int hex_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One escape at s[i] (after the backslash); Python's unicode-escape codec. Returns the bytes used, 0 on failure. */
static size_t unescape_one(mz_jparse *p, mz_buf *b, const char *s, size_t n, size_t pos)
{
    static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
    if (s[0] == '\n') return 1;
    const char *hit = memchr(from, s[0], sizeof from - 1);
    if (hit) return add_cp(p, b, to[hit - from], pos) ? 1 : 0;
    size_t digits = s[0] == 'x' ? 2 : s[0] == 'u' ? 4 : s[0] == 'U' ? 8 : 0;
    if (digits) {
        uint64_t v = 0;
        for (size_t i = 1; i <= digits; i++) {
            int h = i < n ? hex_of(s[i]) : -1;
            if (h < 0) {
                mz_j_perr(p, MZ_EFORMAT, (uint32_t)pos, "the escape \\%c in this string needs %zu hexadecimal digits", s[0], digits);
                return 0;
            }
            v = v * 16 + (unsigned)h;
        }
        return add_cp(p, b, v > 0x10FFFF ? 0x110000 : (int32_t)v, pos) ? 1 + digits : 0;
    }
    if (s[0] >= '0' && s[0] <= '7') {
        int32_t v = 0;
        size_t i = 0;
        while (i < n && i < 3 && s[i] >= '0' && s[i] <= '7') v = v * 8 + (s[i++] - '0');
        return add_cp(p, b, v, pos) ? i : 0;
    }
    if (s[0] == 'N') {
        mz_j_perr(p, MZ_ESUPPORT, (uint32_t)pos, "\\N{…} escapes are not supported; write the character itself");
        return 0;
    }
    /* Unknown escapes keep their backslash. jinja2 turns a non-ASCII character into an escape of its own first, which the
     * backslash before it then disarms. */
    int32_t cp;
    size_t k = mz_utf8_decode(s, n, &cp);
    bool ok = k == 1 ? mz_buf_addf(b, "\\%c", s[0])
                     : mz_buf_addf(b,
                                   cp < 0x100     ? "\\x%02x"
                                   : cp < 0x10000 ? "\\u%04x"
                                                  : "\\U%08x",
                                   (unsigned)cp);
    if (!ok) {
        mz_j_perr(p, MZ_ENOMEM, (uint32_t)pos, "out of memory");
        return 0;
    }
    return k;
}

/* A string literal whose opening quote is at i. Returns the offset after it; 0 on failure. */
static size_t lex_string(mz_jparse *p, size_t i)
{
    mz_template *t = p->t;
    char quote = t->src[i];
    size_t end = i + 1;
    bool escaped = false;
    while (end < t->n_src && t->src[end] != quote) {
        if (t->src[end] == '\\') {
            escaped = true;
            end++;
        }
        end++;
    }
    if (end >= t->n_src) {
        mz_j_perr(p, MZ_EFORMAT, (uint32_t)i, "this string has no closing %c", quote);
        return 0;
    }
    const char *s = t->src + i + 1;
    size_t n = end - i - 1;
    if (!escaped) return push(p, MZ_JT_STRING, i, s, n) ? end + 1 : 0;
    mz_buf b = {0};
    size_t k = 0, r = 0;
    bool ok = true;
    while (k < n && ok) {
        if (s[k] != '\\') {
            ok = mz_buf_add(&b, s + k, 1);
            k++;
            if (!ok) mz_j_perr(p, MZ_ENOMEM, (uint32_t)i, "out of memory");
            continue;
        }
        size_t used = unescape_one(p, &b, s + k + 1, n - k - 1, i);
        ok = used > 0;
        k += 1 + used;
    }
    if (ok) {
        char *copy = mz_arena_strndup(&t->arena, b.len ? b.data : "", b.len);
        if (!copy)
            mz_j_perr(p, MZ_ENOMEM, (uint32_t)i, "out of memory");
        else if (push(p, MZ_JT_STRING, i, copy, b.len))
            r = end + 1;
    }
    mz_buf_free(&b);
    return r;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* (\d+_)*\d+ at i: the offset after it, i when there is none. */
static size_t digits_end(const mz_template *t, size_t i)
{
    size_t j = i;
    while (j < t->n_src && (is_digit(t->src[j]) || (t->src[j] == '_' && j > i && t->src[j - 1] != '_'))) j++;
    while (j > i && t->src[j - 1] == '_') j--;
    return j;
}

static size_t exponent_end(const mz_template *t, size_t i)
{
    if (i >= t->n_src || (t->src[i] | 0x20) != 'e') return i;
    size_t j = i + 1;
    if (j < t->n_src && (t->src[j] == '+' || t->src[j] == '-')) j++;
    size_t end = digits_end(t, j);
    return end > j ? end : i;
}

static size_t float_end(const mz_template *t, size_t i)
{
    if (i > 0 && t->src[i - 1] == '.') return i;
    size_t whole = digits_end(t, i), j = whole;
    if (j == i) return i;
    if (j < t->n_src && t->src[j] == '.') {
        size_t frac = digits_end(t, j + 1);
        if (frac > j + 1) j = exponent_end(t, frac);
    }
    if (j == whole) j = exponent_end(t, whole);
    return j == whole ? i : j;
}

static size_t lex_number(mz_jparse *p, size_t i)
{
    mz_template *t = p->t;
    size_t end = float_end(t, i), k = 0;
    char digits[512];
    bool is_float = end > i, ok = true, large = false;
    if (!is_float) {
        char c = t->src[i], x = i + 1 < t->n_src ? (char)(t->src[i + 1] | 0x20) : 0;
        end = i + 1;
        if (c == '0' && (x == 'x' || x == 'o' || x == 'b')) {
            int base = x == 'x' ? 16 : x == 'o' ? 8 : 2;
            size_t j = i + 2;
            while (j < t->n_src) {
                size_t d = t->src[j] == '_' ? j + 1 : j;
                int h = d < t->n_src ? hex_of(t->src[d]) : -1;
                if (h < 0 || h >= base) break;
                j = d + 1;
            }
            if (j > i + 2) end = j;
        } else {
            while (end < t->n_src) {
                size_t d = t->src[end] == '_' ? end + 1 : end;
                if (d >= t->n_src || !(c == '0' ? t->src[d] == '0' : is_digit(t->src[d]))) break;
                end = d + 1;
            }
        }
    }
    for (size_t j = i; j < end && k < sizeof digits; j++)
        if (t->src[j] != '_') digits[k++] = t->src[j];
    if (k == sizeof digits) return mz_j_perr(p, MZ_EFORMAT, (uint32_t)i, "this number has too many digits");
    if (!push(p, is_float ? MZ_JT_FLOAT : MZ_JT_INT, i, t->src + i, end - i)) return 0;
    mz_jtoken *tok = &t->tok[t->n_tok - 1];
    mz_jstr s = {.p = digits, .n = k, .n_cp = k};
    if (is_float)
        tok->f = mz_j_strtod(digits, k, &ok);
    else
        ok = mz_j_parse_int(&s, 0, &tok->i, &large);
    if (!ok) {
        mz_j_perr(p, MZ_ESUPPORT, (uint32_t)i, "this number does not fit in 64 bits");
        return 0;
    }
    return end;
}

static size_t lex_name(mz_jparse *p, size_t i)
{
    mz_template *t = p->t;
    size_t end = i;
    int32_t cp;
    while (end < t->n_src) {
        size_t k = mz_utf8_decode(t->src + end, t->n_src - end, &cp);
        if (!mz_j_is_ident(cp, end == i)) break;
        end += k;
    }
    if (end == i) {
        (void)mz_utf8_decode(t->src + i, t->n_src - i, &cp);
        if (cp > ' ' && cp < 0x7f)
            mz_j_perr(p, MZ_EFORMAT, (uint32_t)i, "unexpected character '%c'", (char)cp);
        else
            mz_j_perr(p, MZ_EFORMAT, (uint32_t)i, "unexpected character U+%04X", (unsigned)cp);
        return 0;
    }
    return push(p, MZ_JT_NAME, i, t->src + i, end - i) ? end : 0;
}

static mz_jtok operator_at(const mz_template *t, size_t i, size_t *len)
{
    static const struct {
        char s[3];
        uint8_t type;
    } ops[] = {{"**", MZ_JT_POW},     {"//", MZ_JT_FLOORDIV}, {"==", MZ_JT_EQ},      {"!=", MZ_JT_NE},      {">=", MZ_JT_GE},
               {"<=", MZ_JT_LE},      {"+", MZ_JT_ADD},       {"-", MZ_JT_SUB},      {"*", MZ_JT_MUL},      {"/", MZ_JT_DIV},
               {"%", MZ_JT_MOD},      {"~", MZ_JT_TILDE},     {"[", MZ_JT_LBRACKET}, {"]", MZ_JT_RBRACKET}, {"(", MZ_JT_LPAREN},
               {")", MZ_JT_RPAREN},   {"{", MZ_JT_LBRACE},    {"}", MZ_JT_RBRACE},   {">", MZ_JT_GT},       {"<", MZ_JT_LT},
               {"=", MZ_JT_ASSIGN},   {".", MZ_JT_DOT},       {":", MZ_JT_COLON},    {"|", MZ_JT_PIPE},     {",", MZ_JT_COMMA},
               {";", MZ_JT_SEMICOLON}};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        if (at(t, i, ops[k].s)) {
            *len = strlen(ops[k].s);
            return (mz_jtok)ops[k].type;
        }
    return MZ_JT_EOF;
}

/* Everything between a tag's delimiters. Returns the offset after the closing one, 0 on failure. */
static size_t lex_tag(mz_jparse *p, size_t i, size_t open_pos, bool is_variable)
{
    mz_template *t = p->t;
    char nest[MZ_J_NEST];
    size_t n_nest = 0;
    while (i < t->n_src) {
        if (n_nest == 0) {
            size_t end = is_variable ? block_end(t, i, "}}", false) : block_end(t, i, "%}", true);
            if (end != SIZE_MAX) return push(p, is_variable ? MZ_JT_VAR_END : MZ_JT_BLOCK_END, i, t->src + i, 2) ? end : 0;
        }
        size_t next = skip_space(t, i), len;
        if (next > i) {
            i = next;
            continue;
        }
        char c = t->src[i];
        if (is_digit(c)) {
            next = lex_number(p, i);
        } else if (c == '\'' || c == '"') {
            next = lex_string(p, i);
        } else {
            mz_jtok op = operator_at(t, i, &len);
            if (op == MZ_JT_EOF) {
                next = lex_name(p, i);
            } else {
                if (c == '(' || c == '[' || c == '{') {
                    if (n_nest == sizeof nest) return mz_j_perr(p, MZ_ELIMIT, (uint32_t)i, "brackets nest more than %d deep", MZ_J_NEST);
                    nest[n_nest++] = c == '(' ? ')' : c == '[' ? ']' : '}';
                } else if (c == ')' || c == ']' || c == '}') {
                    if (n_nest == 0) return mz_j_perr(p, MZ_EFORMAT, (uint32_t)i, "unexpected '%c'", c);
                    if (nest[--n_nest] != c)
                        return mz_j_perr(p, MZ_EFORMAT, (uint32_t)i, "unexpected '%c', expected '%c'", c, nest[n_nest]);
                }
                next = push(p, op, i, t->src + i, len) ? i + len : 0;
            }
        }
        if (next == 0) return 0;
        i = next;
    }
    return mz_j_perr(p, MZ_EFORMAT, (uint32_t)open_pos, "this tag is not closed; expected %s", is_variable ? "}}" : "%}");
}

/* `{%- raw -%}` at i? Returns the offset after it, or 0. */
static size_t raw_begin(const mz_template *t, size_t i)
{
    size_t j = i + 2;
    if (j < t->n_src && (t->src[j] == '-' || t->src[j] == '+')) j++;
    j = skip_space(t, j);
    if (!at(t, j, "raw")) return 0;
    j = skip_space(t, j + 3);
    size_t end = block_end(t, j, "%}", false);
    return end == SIZE_MAX ? 0 : end;
}

static size_t lex_raw(mz_jparse *p, size_t i, size_t open_pos, bool line_starting)
{
    mz_template *t = p->t;
    for (size_t k = i; k + 1 < t->n_src; k++) {
        if (!at(t, k, "{%")) continue;
        size_t j = k + 2;
        char sign = j < t->n_src && (t->src[j] == '-' || t->src[j] == '+') ? t->src[j] : 0;
        if (sign) j++;
        j = skip_space(t, j);
        if (!at(t, j, "endraw")) continue;
        size_t end = block_end(t, skip_space(t, j + 6), "%}", true);
        if (end == SIZE_MAX) continue;
        size_t stop = data_end(t, i, k, sign, false, line_starting);
        if (stop > i && !push(p, MZ_JT_DATA, i, t->src + i, stop - i)) return 0;
        return end;
    }
    return mz_j_perr(p, MZ_EFORMAT, (uint32_t)open_pos, "this raw block is not closed; expected {%% endraw %%}");
}

static size_t lex_comment(mz_jparse *p, size_t i, size_t open_pos)
{
    for (; i < p->t->n_src; i++) {
        size_t end = block_end(p->t, i, "#}", true);
        if (end != SIZE_MAX) return end;
    }
    return mz_j_perr(p, MZ_EFORMAT, (uint32_t)open_pos, "this comment is not closed; expected #}");
}

bool mz_j_lex(mz_jparse *p)
{
    mz_template *t = p->t;
    size_t i = 0;
    bool line_starting = true;
    while (i < t->n_src) {
        size_t open = i;
        while (open < t->n_src && !(t->src[open] == '{' && open + 1 < t->n_src && strchr("{%#", t->src[open + 1]) && t->src[open + 1]))
            open++;
        if (open >= t->n_src) {
            if (!push(p, MZ_JT_DATA, i, t->src + i, t->n_src - i)) return false;
            break;
        }
        char kind = t->src[open + 1];
        size_t j = open + 2, raw = kind == '%' ? raw_begin(t, open) : 0;
        char sign = j < t->n_src && (t->src[j] == '-' || t->src[j] == '+') ? t->src[j] : 0;
        if (sign) j++;
        size_t stop = data_end(t, i, open, sign, kind == '{', line_starting);
        if (stop > i && !push(p, MZ_JT_DATA, i, t->src + i, stop - i)) return false;
        if (raw) {
            i = lex_raw(p, raw, open, t->src[raw - 1] == '\n');
        } else if (kind == '#') {
            i = lex_comment(p, j, open);
        } else {
            if (!push(p, kind == '{' ? MZ_JT_VAR_BEGIN : MZ_JT_BLOCK_BEGIN, open, t->src + open, 2)) return false;
            i = lex_tag(p, j, open, kind == '{');
        }
        if (i == 0) return false;
        line_starting = t->src[i - 1] == '\n';
    }
    return push(p, MZ_JT_EOF, t->n_src, t->src + t->n_src, 0);
}
