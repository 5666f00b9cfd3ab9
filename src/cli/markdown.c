/* SPDX-License-Identifier: Apache-2.0
 *
 * markdown.c: lines. The spans inside a line are in markdown_span.c. */
#include "cli/markdown.h"

#include <stdint.h>
#include <string.h>

#include "cli/markdown_span.h"

static void emit(mz_markdown *m, unsigned style, const char *s, size_t n)
{
    if (n == 0) return;
    m->put(m->user, style, s, n);
    m->last = s[n - 1];
}

static void drop(mz_markdown *m, size_t n)
{
    memmove(m->held, m->held + n, m->n_held - n);
    m->n_held -= n;
}

static void end_line(mz_markdown *m)
{
    m->put(m->user, 0, "\n", 1);
    m->last = 0;
    m->style = 0;
    m->in_table = false;
}

/* What may be looked at, and whether it is all that will ever be. */
static size_t in_sight(const mz_markdown *m, bool *full)
{
    *full = m->n_held >= MZ_MARKDOWN_SPAN;
    return *full ? MZ_MARKDOWN_SPAN : m->n_held;
}

static size_t run_of(const char *s, size_t n, char c)
{
    size_t i = 0;
    while (i < n && s[i] == c) i++;
    return i;
}

static size_t count_blank(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && (s[i] == ' ' || s[i] == '\t')) i++;
    return i;
}

/* What a line begins with: bytes used up, or one of these. `final`: no more text comes, or there is no room for it. */
#define NEEDS_MORE (SIZE_MAX - 1) /* it takes more text */
#define IS_TEXT    SIZE_MAX       /* nothing special, the line is text */

static size_t open_fence(mz_markdown *m, size_t indent, bool final)
{
    const char *s = m->held + indent;
    bool full;
    size_t n = in_sight(m, &full) - indent, run = run_of(s, n, s[0]);
    const char *end = memchr(s, '\n', n);
    if (run == n && !final && !full) return NEEDS_MORE;
    if (run < 3) return IS_TEXT;
    if (!end && (full || !final)) return full ? IS_TEXT : NEEDS_MORE;
    size_t len = end ? (size_t)(end - s) : n;
    if (s[0] == '`' && memchr(s + run, '`', len - run)) return IS_TEXT; /* a code span */
    emit(m, MZ_STYLE_DIM, m->held, indent + len);
    if (end) end_line(m);
    m->fence = s[0];
    m->n_fence = run;
    m->state = MZ_MD_CODE_LINE;
    return indent + len + (end != NULL);
}

static bool is_rule(const char *s, size_t n, bool final, bool full, bool *undecided)
{
    size_t run = run_of(s, n, s[0]), blank = run + count_blank(s + run, n - run);
    *undecided = blank == n && !final && !full;
    return run >= 3 && (blank == n ? final && !full : s[blank] == '\n');
}

static size_t line_begin(mz_markdown *m, size_t indent, bool final)
{
    const char *s = m->held + indent;
    bool undecided = false, full;
    size_t n = in_sight(m, &full) - indent, i = 0;
    switch (s[0]) {
    case '`':
    case '~': return open_fence(m, indent, final);
    case '#':
        i = run_of(s, n, '#');
        if (i == n && i <= 6 && !final && !full) return NEEDS_MORE;
        if (i > 6 || i == n || s[i] != ' ') return IS_TEXT;
        emit(m, 0, m->held, indent);
        emit(m, MZ_STYLE_DIM, s, i + 1);
        m->style = MZ_STYLE_HEADING;
        m->state = MZ_MD_TEXT;
        return indent + i + 1;
    case '-':
    case '*':
    case '_':
        if (is_rule(s, n, final, full, &undecided)) {
            i = run_of(s, n, s[0]);
            emit(m, MZ_STYLE_DIM, m->held, indent + i);
            m->state = MZ_MD_TEXT;
            return indent + i;
        }
        if (undecided) return NEEDS_MORE;
        if (s[0] == '_') return IS_TEXT;
        /* fall through */
    case '+':
        if (n == 1 && !final && !full) return NEEDS_MORE;
        if (n == 1 || s[1] != ' ') return IS_TEXT;
        emit(m, 0, m->held, indent);
        emit(m, MZ_STYLE_MARK, s[0] == '+' ? "+" : "\xE2\x80\xA2", s[0] == '+' ? 1 : 3); /* a plus may be meant: a list of changes */
        emit(m, 0, " ", 1);
        m->state = MZ_MD_TEXT;
        return indent + 2;
    case '>': emit(m, MZ_STYLE_DIM, m->held, indent + 1); return indent + 1; /* what follows may be a list again */
    case '|': m->in_table = true; return IS_TEXT;
    default:
        for (i = 0; i < n && s[i] >= '0' && s[i] <= '9'; i++) {
        }
        if (i == 0 || i > 9) return IS_TEXT;
        if (i + 1 >= n && !final && !full) return NEEDS_MORE;
        if (i + 1 >= n || (s[i] != '.' && s[i] != ')') || s[i + 1] != ' ') return IS_TEXT;
        emit(m, 0, m->held, indent);
        emit(m, MZ_STYLE_MARK, s, i + 1);
        m->state = MZ_MD_TEXT;
        return indent + i + 1;
    }
}

/* Each step: false when it takes more text. */

static bool step_line(mz_markdown *m, bool final)
{
    bool full;
    size_t n = in_sight(m, &full), indent = count_blank(m->held, n);
    if (indent == n && !final && !full) return false;
    if (indent < n && m->held[indent] == '\n') {
        end_line(m);
        drop(m, indent + 1);
        return true;
    }
    size_t used = indent < n ? line_begin(m, indent, final) : IS_TEXT;
    if (used == NEEDS_MORE) return false;
    if (used == IS_TEXT) {
        emit(m, 0, m->held, indent);
        m->last = 0;
        m->state = MZ_MD_TEXT;
        used = indent;
    }
    drop(m, used);
    return true;
}

static bool step_text(mz_markdown *m, bool final)
{
    const char *end = memchr(m->held, '\n', m->n_held);
    size_t n = end ? (size_t)(end - m->held) : m->n_held;
    size_t used = mz_markdown_spans(m, m->style, m->held, n, end || final);
    if (end) {
        end_line(m);
        m->state = MZ_MD_LINE;
        used++;
    }
    drop(m, used);
    return used > 0;
}

static bool step_code_line(mz_markdown *m, bool final)
{
    bool full;
    size_t n = in_sight(m, &full), indent = count_blank(m->held, n), fence = run_of(m->held + indent, n - indent, m->fence);
    size_t end = indent + fence + count_blank(m->held + indent + fence, n - indent - fence);
    bool ends = end < n && m->held[end] == '\n';
    if (end == n && !final && !full) return false;
    if (fence >= m->n_fence && (ends || (end == n && final && !full))) {
        emit(m, MZ_STYLE_DIM, m->held, end);
        if (ends) end_line(m);
        m->state = MZ_MD_LINE;
        drop(m, end + ends);
        return true;
    }
    m->state = MZ_MD_CODE_TEXT;
    return true;
}

static bool step_code_text(mz_markdown *m)
{
    const char *end = memchr(m->held, '\n', m->n_held);
    size_t n = end ? (size_t)(end - m->held) : m->n_held;
    emit(m, MZ_STYLE_CODE, m->held, n);
    if (end) {
        end_line(m);
        m->state = MZ_MD_CODE_LINE;
    }
    drop(m, n + (end != NULL));
    return true;
}

static void run(mz_markdown *m, bool final)
{
    bool more = true;
    while (m->n_held > 0 && more) {
        switch (m->state) {
        case MZ_MD_LINE: more = step_line(m, final); break;
        case MZ_MD_TEXT: more = step_text(m, final); break;
        case MZ_MD_CODE_LINE: more = step_code_line(m, final); break;
        case MZ_MD_CODE_TEXT: more = step_code_text(m); break;
        }
    }
}

void mz_markdown_init(mz_markdown *m, mz_styled_fn *fn, void *user)
{
    *m = (mz_markdown){.put = fn, .user = user};
}

void mz_markdown_add(mz_markdown *m, const char *s, size_t n)
{
    while (n > 0) {
        size_t room = sizeof m->held - m->n_held, take = n < room ? n : room;
        while (take < n && take > 0 && ((unsigned char)s[take] & 0xC0) == 0x80) take--; /* whole characters */
        if (take > 0) {
            memcpy(m->held + m->n_held, s, take);
            m->n_held += take;
            s += take;
            n -= take;
        }
        run(m, false);
        if (n > 0 && sizeof m->held - m->n_held < 4) run(m, true); /* held as long as may be */
    }
}

void mz_markdown_end(mz_markdown *m)
{
    run(m, true);
    *m = (mz_markdown){.put = m->put, .user = m->user};
}
