/* SPDX-License-Identifier: Apache-2.0
 *
 * screen.h: where a model's text is shown. Into a pipe or a file its bytes go as they are. On a terminal they pass, in this order,
 * the filter of control characters (clean.h), the split into reasoning and answer, Markdown, and the ordering of right-to-left
 * text; colours only where they are wanted, and without them the text stays as the model wrote it.
 *
 * Threading: one thread; standard output is written through cli.h. Ownership: mz_screen_free. */
#ifndef MZ_CLI_SCREEN_H
#define MZ_CLI_SCREEN_H

#include "cli/bidi_line.h"
#include "cli/clean.h"
#include "cli/markdown.h"
#include "cli/options.h"
#include "cli/reasoning.h"
#include "cli/term.h"

typedef struct mz_screen {
    bool filter; /* a terminal, or colours were forced: nothing goes out raw */
    bool style;
    bool markdown;
    bool is_chat; /* answers of a chat model, not continued text */
    mz_bidi_mode bidi;
    mz_clean clean;
    mz_markdown md;
    mz_reasoning think;
    mz_bidi_line line;
    unsigned base, now; /* style under everything, style in force on the terminal */
    bool open, at_line_start, asked_bidi;
} mz_screen;

/* Decides what standard output is. chat: answers, in which Markdown and reasoning are looked for. */
void mz_screen_init(mz_screen *s, const mz_cli_args *a, bool chat);
void mz_screen_free(mz_screen *s);
/* Takes the settings anew (between texts). */
void mz_screen_set(mz_screen *s, const mz_cli_args *a);
/* A text begins; prompt_end [n]: the last bytes of the prompt, which may have opened the reasoning. */
void mz_screen_begin(mz_screen *s, const char *prompt_end, size_t n);
void mz_screen_add(mz_screen *s, const char *text, size_t n);
/* The text is at its end: what was held back is shown, then perhaps a newline, and the terminal is as it was. Flushes. */
void mz_screen_end(mz_screen *s, bool newline);

#endif
