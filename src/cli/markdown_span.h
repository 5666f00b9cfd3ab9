/* SPDX-License-Identifier: Apache-2.0
 *
 * markdown_span.h: emphasis, code and links inside one line; internal to markdown.c. */
#ifndef MZ_CLI_MARKDOWN_SPAN_H
#define MZ_CLI_MARKDOWN_SPAN_H

#include "cli/markdown.h"

/* Writes what is decided of s [n], which holds no newline; the bytes used up. `final`: the line ends behind n, and all is used. */
size_t mz_markdown_spans(mz_markdown *m, unsigned style, const char *s, size_t n, bool final);

#endif
