/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static void put_sgr(unsigned style)
{
    char text[64];
    int n = snprintf(text, sizeof text, "\033[0");
    static const struct {
        unsigned bit;
        const char *code;
    } codes[] = {{MZ_STYLE_BOLD, ";1"},   {MZ_STYLE_DIM, ";2"},   {MZ_STYLE_ITALIC, ";3"},     {MZ_STYLE_UNDERLINE, ";4"},
                 {MZ_STYLE_STRIKE, ";9"}, {MZ_STYLE_CODE, ";36"}, {MZ_STYLE_HEADING, ";1;35"}, {MZ_STYLE_MARK, ";33"}};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (style & codes[i].bit) n += snprintf(text + n, sizeof text - (size_t)n, "%s", codes[i].code);
    mz_cli_out(text, (size_t)n);
    mz_cli_out("m", 1);
}

static void set_style(mz_screen *s, unsigned style)
{
    if (!s->style || style == s->now) return;
    put_sgr(style);
    s->now = style;
}

/* The end of the pipeline: text in the order of the screen. */
static void write_text(void *user, unsigned style, const char *text, size_t n)
{
    mz_screen *s = user;
    bool newline = text[n - 1] == '\n';
    set_style(s, newline && n == 1 ? 0 : style); /* no colour spills over the end of a line */
    mz_cli_out(text, n);
    s->at_line_start = newline;
}

static void write_raw(void *user, unsigned style, const char *text, size_t n)
{
    (void)style;
    set_style(user, 0);
    mz_cli_out(text, n);
}

static void put(void *user, unsigned style, const char *text, size_t n)
{
    mz_screen *s = user;
    if (n == 0) return;
    if (s->bidi == MZ_BIDI_VISUAL)
        mz_bidi_line_add(&s->line, style | s->base, text, n);
    else
        write_text(s, style | s->base, text, n);
}

static void put_part(void *user, mz_part part, const char *text, size_t n)
{
    mz_screen *s = user;
    switch (part) {
    case MZ_PART_MARKER:
        if (s->style) return; /* the dimmed text says it */
        put(s, 0, text, n);
        break;
    case MZ_PART_REASONING:
        s->base = MZ_STYLE_DIM;
        put(s, 0, text, n);
        s->base = 0;
        break;
    case MZ_PART_ANSWER:
        if (s->markdown && s->style)
            mz_markdown_add(&s->md, text, n);
        else
            put(s, 0, text, n);
        break;
    }
}

static void add_clean(mz_screen *s, const char *text, size_t n)
{
    if (n == 0) return;
    if (s->is_chat)
        mz_reasoning_add(&s->think, text, n, put_part, s);
    else
        put_part(s, MZ_PART_ANSWER, text, n);
}

void mz_screen_set(mz_screen *s, const mz_cli_args *a)
{
    bool tty = isatty(1) == 1;
    s->style = mz_term_color(a->color, 1);
    s->filter = tty || s->style;
    s->markdown = s->is_chat && !(a->markdown && strcmp(a->markdown, "off") == 0);
    s->bidi = tty ? mz_term_bidi(a->bidi) : MZ_BIDI_OFF;
}

void mz_screen_init(mz_screen *s, const mz_cli_args *a, bool chat)
{
    *s = (mz_screen){.is_chat = chat, .at_line_start = true};
    mz_markdown_init(&s->md, put, s);
    mz_bidi_line_init(&s->line, write_text, write_raw, s);
    mz_screen_set(s, a);
}

void mz_screen_free(mz_screen *s)
{
    if (s->open) mz_screen_end(s, false);
    mz_bidi_line_free(&s->line);
}

void mz_screen_begin(mz_screen *s, const char *prompt_end, size_t n)
{
    s->open = true;
    s->clean = (mz_clean){0};
    s->base = 0;
    s->at_line_start = true;
    mz_reasoning_begin(&s->think, prompt_end, n);
    s->asked_bidi = false;
}

static void show(mz_screen *s)
{
    if (s->bidi == MZ_BIDI_VISUAL) {
        s->line.width = mz_term_width(1) - 1; /* a full line would wrap by itself */
        mz_bidi_line_show(&s->line);
    }
    mz_cli_out_flush();
}

void mz_screen_add(mz_screen *s, const char *text, size_t n)
{
    if (n == 0) return;
    /* Paragraphs take their direction from their first letter: DECSET 2501 of the terminal working group's bidi
     * recommendation (https://terminal-wg.pages.freedesktop.org/bidi/). Terminals without it ignore it. */
    if (s->bidi == MZ_BIDI_TERMINAL && !s->asked_bidi) {
        mz_cli_out("\033[?2501h", 8);
        s->asked_bidi = true;
    }
    if (!s->filter) {
        mz_cli_out(text, n);
    } else {
        char *clean = mz_cli_alloc(MZ_CLEAN_ROOM(n), 1);
        add_clean(s, clean, mz_clean_add(&s->clean, text, n, clean));
        free(clean);
    }
    show(s);
}

void mz_screen_end(mz_screen *s, bool newline)
{
    char rest[MZ_CLEAN_ROOM(0)];
    if (s->filter) {
        add_clean(s, rest, mz_clean_end(&s->clean, rest));
        if (s->is_chat) mz_reasoning_end(&s->think, put_part, s);
        mz_markdown_end(&s->md);
    }
    show(s);
    set_style(s, 0);
    if (newline) put(s, 0, "\n", 1);
    if (s->asked_bidi) mz_cli_out("\033[?2501l", 8);
    s->asked_bidi = false;
    s->open = false;
    mz_cli_out_flush();
}
