/* SPDX-License-Identifier: Apache-2.0
 *
 * style.h: how a piece of text is meant to look; what a terminal makes of it is decided in screen.c. */
#ifndef MZ_CLI_STYLE_H
#define MZ_CLI_STYLE_H

#include <stddef.h>

enum { /* may be combined */
       MZ_STYLE_BOLD = 1,
       MZ_STYLE_ITALIC = 2,
       MZ_STYLE_UNDERLINE = 4,
       MZ_STYLE_STRIKE = 8,
       MZ_STYLE_DIM = 16,
       MZ_STYLE_CODE = 32,
       MZ_STYLE_HEADING = 64,
       MZ_STYLE_MARK = 128 /* bullets and numbers of lists */
};

/* Takes s [n], UTF-8 in whole characters, of one style. */
typedef void mz_styled_fn(void *user, unsigned style, const char *s, size_t n);

#endif
