/* SPDX-License-Identifier: Apache-2.0
 *
 * bidi_line.h: right-to-left text for terminals that print characters in the order they come. Lines are broken here, reordered by
 * the Unicode bidirectional algorithm and, where a line holds right-to-left letters, set flush right; Arabic letters are joined
 * by their presentation forms (FriBidi does both). While a line grows it is written again from its beginning; a line that is
 * finished stays.
 *
 * Not for terminals that do this themselves: there it would be done twice.
 * Threading: one stream, one thread. Ownership: mz_bidi_line_free releases what the struct holds. */
#ifndef MZ_CLI_BIDI_LINE_H
#define MZ_CLI_BIDI_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/style.h"

typedef struct mz_bidi_line {
    mz_styled_fn *put; /* gets the text in visual order, and newlines */
    mz_styled_fn *raw; /* gets what moves the cursor: carriage return, erase to the end of the line */
    void *user;
    size_t width; /* columns; set it before each mz_bidi_line_show */
    uint32_t *cp; /* [n] the paragraph so far, in logical order */
    unsigned *style;
    size_t n, cap;
    size_t line0;   /* where the current line begins */
    size_t n_shown; /* characters of the current line on the screen */
    bool has_rtl;   /* in the paragraph */
} mz_bidi_line;

void mz_bidi_line_init(mz_bidi_line *b, mz_styled_fn *put, mz_styled_fn *raw, void *user);
void mz_bidi_line_free(mz_bidi_line *b);
/* An mz_styled_fn: user is the mz_bidi_line. Text is UTF-8 in whole characters without controls but newline and tabulator. */
void mz_bidi_line_add(void *user, unsigned style, const char *s, size_t n);
/* Brings the screen up to date. */
void mz_bidi_line_show(mz_bidi_line *b);

#endif
