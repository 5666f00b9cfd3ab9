/* SPDX-License-Identifier: Apache-2.0
 *
 * term.h: what there is to know about the terminal, from the environment and the system. One thread. */
#ifndef MZ_CLI_TERM_H
#define MZ_CLI_TERM_H

#include <stdbool.h>
#include <stddef.h>

typedef enum mz_bidi_mode { MZ_BIDI_OFF = 0, MZ_BIDI_TERMINAL, MZ_BIDI_VISUAL } mz_bidi_mode;

/* TERM says that escape sequences do not work (dumb, unknown or missing). */
bool mz_term_is_dumb(void);
/* Whether the descriptor gets colours; option is that of --color (NULL: auto). auto: a terminal that is not dumb, and no
 * NO_COLOR (https://no-color.org). */
bool mz_term_color(const char *option, int fd);
/* Who puts right-to-left text in order; option is that of --bidi (NULL: auto). auto: the terminal, where it is known to; we, where
 * it is known not to; else nobody. */
mz_bidi_mode mz_term_bidi(const char *option);
/* Columns of the terminal, 80 when unknown. */
size_t mz_term_width(int fd);
/* Lets the C library read and measure UTF-8, whatever the locale says. */
void mz_term_use_utf8(void);

#endif
