/* SPDX-License-Identifier: Apache-2.0
 *
 * markdown.h: Markdown made readable while it streams. Text goes in as it comes, cut anywhere; styled text comes out, and what
 * came out is never taken back.
 *
 * What is held back: the first bytes of a line until its kind is clear, and an emphasis, code span or link until its end is there;
 * never across the end of a line, and never more than MZ_MARKDOWN_SPAN bytes. Markers are left out only when their span is
 * complete, so a lone asterisk, a multiplication or a formula stays as the model wrote it. Fences, heading signs and table bars
 * stay, dimmed: what is copied from the screen is still Markdown. Not a CommonMark implementation: no references, no HTML, no
 * indented code, no emphasis over several lines.
 *
 * Threading: one stream, one thread. Ownership: plain memory. */
#ifndef MZ_CLI_MARKDOWN_H
#define MZ_CLI_MARKDOWN_H

#include <stdbool.h>

#include "cli/style.h"

/* Longest span (or undecided beginning of a line). What is decided depends on this many bytes at most, so that the same text
 * always looks the same, however it was cut. */
#define MZ_MARKDOWN_SPAN 400
#define MZ_MARKDOWN_HELD 512

typedef struct mz_markdown {
    mz_styled_fn *put;
    void *user;
    enum { MZ_MD_LINE, MZ_MD_TEXT, MZ_MD_CODE_LINE, MZ_MD_CODE_TEXT } state; /* deciding what a line is, or inside one */
    unsigned style;                                                          /* of the whole line */
    bool in_table;
    char fence; /* of the open code block: '`' or '~' */
    size_t n_fence;
    char last; /* byte written last; 0 at the start of a line */
    char held[MZ_MARKDOWN_HELD];
    size_t n_held;
} mz_markdown;

void mz_markdown_init(mz_markdown *m, mz_styled_fn *put, void *user);
/* s [n] is UTF-8 in whole characters, without control characters but newline and tabulator. */
void mz_markdown_add(mz_markdown *m, const char *s, size_t n);
/* The end of the text: what is held back comes out as it is. Ready for the next text. */
void mz_markdown_end(mz_markdown *m);

#endif
