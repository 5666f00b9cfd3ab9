/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bidi_line.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <fribidi.h>

#include "cli/chars.h"

/* A paragraph is reordered as a whole; beyond this it counts as two. */
#define PARAGRAPH_LIMIT ((size_t)16384)

void mz_bidi_line_init(mz_bidi_line *b, mz_styled_fn *put, mz_styled_fn *raw, void *user)
{
    *b = (mz_bidi_line){.put = put, .raw = raw, .user = user, .width = 80};
}

void mz_bidi_line_free(mz_bidi_line *b)
{
    free(b->cp);
    free(b->style);
    *b = (mz_bidi_line){0};
}

static size_t columns(uint32_t c)
{
    int w = wcwidth((wchar_t)c);
    return w < 0 ? 1 : (size_t)w;
}

/* Characters that only steer joining and direction have done their work; a ligature leaves U+FEFF in the second place. */
static bool is_spent(uint32_t c)
{
    return (c >= 0x200B && c <= 0x200F) || c == 0x061C || c == 0xFEFF;
}

/* Writes cp [n] with the styles of their logical places, in runs. */
static void write_run(const mz_bidi_line *b, const uint32_t *cp, const int *place, size_t n)
{
    char text[256];
    size_t len = 0;
    unsigned style = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_spent(cp[i])) continue;
        unsigned s = b->style[place ? (size_t)place[i] : (size_t)(cp - b->cp) + i];
        if (len > 0 && (s != style || len + 4 > sizeof text)) {
            b->put(b->user, style, text, len);
            len = 0;
        }
        style = s;
        len += mz_char_put(cp[i], text + len);
    }
    if (len > 0) b->put(b->user, style, text, len);
}

typedef struct scratch { /* of one reordering, [n] each */
    FriBidiCharType *type;
    FriBidiBracketType *bracket;
    FriBidiLevel *level;
    FriBidiJoiningType *joining;
    FriBidiChar *text;
    FriBidiStrIndex *map;
} scratch;

static void scratch_free(scratch *s)
{
    free(s->type);
    free(s->bracket);
    free(s->level);
    free(s->joining);
    free(s->text);
    free(s->map);
}

static bool scratch_make(scratch *s, size_t n)
{
    *s = (scratch){.type = calloc(n, sizeof *s->type),
                   .bracket = calloc(n, sizeof *s->bracket),
                   .level = calloc(n, sizeof *s->level),
                   .joining = calloc(n, sizeof *s->joining),
                   .text = calloc(n, sizeof *s->text),
                   .map = calloc(n, sizeof *s->map)};
    return s->type && s->bracket && s->level && s->joining && s->text && s->map;
}

/* Writes the characters [from, to) of the paragraph in visual order. False when memory is out: then nothing was written. */
static bool write_visual(const mz_bidi_line *b, size_t from, size_t to)
{
    scratch s;
    FriBidiParType base = FRIBIDI_PAR_ON;
    FriBidiStrIndex n = (FriBidiStrIndex)b->n;
    bool ok = scratch_make(&s, b->n);
    if (ok) {
        fribidi_get_bidi_types(b->cp, n, s.type);
        fribidi_get_bracket_types(b->cp, n, s.type, s.bracket);
        ok = fribidi_get_par_embedding_levels_ex(s.type, s.bracket, n, &base, s.level) != 0;
    }
    if (ok) {
        memcpy(s.text, b->cp, b->n * sizeof *s.text);
        fribidi_get_joining_types(b->cp, n, s.joining);
        fribidi_join_arabic(s.type, n, s.level, s.joining);
        fribidi_shape(FRIBIDI_FLAGS_DEFAULT | FRIBIDI_FLAGS_ARABIC, s.level, n, s.joining, s.text);
        for (FriBidiStrIndex i = 0; i < n; i++) s.map[i] = i;
        ok = fribidi_reorder_line(FRIBIDI_FLAGS_DEFAULT, s.type, (FriBidiStrIndex)(to - from), (FriBidiStrIndex)from, base, s.level, s.text,
                                  s.map) != 0;
    }
    if (ok) {
        size_t used = 0;
        for (size_t i = from; i < to; i++) used += is_spent(s.text[i]) ? 0 : columns(s.text[i]);
        if (FRIBIDI_IS_RTL(base))
            for (; used < b->width; used++) b->put(b->user, 0, " ", 1);
        write_run(b, s.text + from, s.map + from, to - from);
    }
    scratch_free(&s);
    return ok;
}

static void show_line(mz_bidi_line *b, size_t to)
{
    size_t from = b->line0;
    if (b->has_rtl) {
        b->raw(b->user, 0, "\r", 1);
        if (to > from && !write_visual(b, from, to)) write_run(b, b->cp + from, NULL, to - from);
        b->raw(b->user, 0, "\033[K", 3);
    } else {
        if (from + b->n_shown > to) { /* a word that was begun goes to the next line */
            b->raw(b->user, 0, "\r\033[K", 4);
            b->n_shown = 0;
        }
        write_run(b, b->cp + from + b->n_shown, NULL, to - from - b->n_shown);
    }
    b->n_shown = to - from;
}

/* Shows finished lines until the rest fits. */
static void wrap(mz_bidi_line *b)
{
    size_t used = 0, last_space = 0;
    bool has_space = false;
    for (size_t i = b->line0; i < b->n; i++) {
        used += columns(b->cp[i]);
        if (used > b->width && i > b->line0) {
            size_t end = has_space ? last_space : i;
            if (b->cp[i] == ' ') end = i;
            show_line(b, end);
            b->put(b->user, 0, "\n", 1);
            b->line0 = end;
            while (b->line0 < b->n && b->cp[b->line0] == ' ') b->line0++;
            b->n_shown = used = 0;
            has_space = false;
            i = b->line0 - 1;
            continue;
        }
        if (b->cp[i] == ' ' && i > b->line0) {
            last_space = i;
            has_space = true;
        }
    }
}

void mz_bidi_line_show(mz_bidi_line *b)
{
    if (b->width < 8) b->width = 8;
    wrap(b);
    if (b->line0 + b->n_shown < b->n) show_line(b, b->n);
}

static void end_paragraph(mz_bidi_line *b)
{
    mz_bidi_line_show(b);
    b->put(b->user, 0, "\n", 1);
    b->n = b->line0 = b->n_shown = 0;
    b->has_rtl = false;
}

static bool grow(mz_bidi_line *b)
{
    size_t cap = b->cap ? b->cap * 2 : 256;
    uint32_t *cp = realloc(b->cp, cap * sizeof *cp);
    if (cp) b->cp = cp;
    unsigned *style = realloc(b->style, cap * sizeof *style);
    if (style) b->style = style;
    if (!cp || !style) return false;
    b->cap = cap;
    return true;
}

static void push(mz_bidi_line *b, unsigned style, uint32_t c)
{
    if (b->n >= PARAGRAPH_LIMIT) end_paragraph(b);
    if (b->n == b->cap && !grow(b)) {
        if (b->n == 0) return;
        end_paragraph(b); /* memory is out: what is there is shown, and its room used again */
    }
    b->cp[b->n] = c;
    b->style[b->n++] = style;
    if (!b->has_rtl && FRIBIDI_IS_RTL(fribidi_get_bidi_type(c)) && FRIBIDI_IS_STRONG(fribidi_get_bidi_type(c))) b->has_rtl = true;
}

void mz_bidi_line_add(void *user, unsigned style, const char *s, size_t n)
{
    mz_bidi_line *b = user;
    for (size_t i = 0; i < n;) {
        size_t len = mz_char_len(s + i, n - i);
        uint32_t c = len ? mz_char_value(s + i, len) : 0xFFFD;
        i += len ? len : 1;
        if (c == '\n') {
            end_paragraph(b);
        } else if (c == '\t') {
            do push(b, style, ' ');
            while ((b->n - b->line0) % 8 != 0);
        } else {
            push(b, style, c);
        }
    }
}
