/* SPDX-License-Identifier: Apache-2.0
 *
 * editor.h: lines typed or piped in. On a terminal they can be edited (libedit, which reads ~/.editrc), with history and pasting of
 * several lines; on a dumb one the system's own line editing is all; from a pipe a line is a line.
 *
 * Threading: one thread, one editor a process. Ownership: lines are freed with free(). */
#ifndef MZ_CLI_EDITOR_H
#define MZ_CLI_EDITOR_H

#include "cli/options.h"

typedef struct mz_editor mz_editor;

typedef enum mz_typed { MZ_TYPED_LINE = 0, MZ_TYPED_END, MZ_TYPED_INTERRUPT } mz_typed;

/* Decides by what standard input, standard error and TERM are. Ends the program when memory is out. */
mz_editor *mz_editor_open(const mz_cli_args *a);
/* Writes the history; the terminal is as it was before. */
void mz_editor_close(mz_editor *e);
bool mz_editor_is_terminal(const mz_editor *e);

/* prompt: without its last blank. One line (a pasted one may hold newlines) without its end, zero-terminated, *n bytes. An interrupt empties what was typed;
 * *had_text says whether there was anything. */
mz_typed mz_editor_read(mz_editor *e, const char *prompt, char **line, size_t *n, bool *had_text);
/* A whole message, for the history. */
void mz_editor_remember(mz_editor *e, const char *text, size_t n);

#endif
