/* SPDX-License-Identifier: Apache-2.0
 *
 * history.h: the file of lines typed in earlier chats, one entry a line with \n and \\ for newline and backslash. It lies in
 * $XDG_STATE_HOME/mizan/history, else ~/.local/state/mizan/history, readable for its owner only. Writing adds to what is there by
 * then (other chats may have ended meanwhile), beside the file, and renames.
 *
 * Threading: one thread. Ownership: mz_history_free. */
#ifndef MZ_CLI_HISTORY_H
#define MZ_CLI_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mz_history {
    char **entry; /* [n], oldest first */
    size_t n;
} mz_history;

#define MZ_HISTORY_LIMIT 1000 /* entries kept */

/* Path of the file in a new string, NULL when there is no place for it. */
char *mz_history_path(void);
/* What is in the file: valid UTF-8 without control characters; anything else in it is passed over. Empty when there is none. */
void mz_history_read(const char *path, mz_history *out);
/* Copies text [n]; nothing is added when memory is out. */
void mz_history_add(mz_history *h, const char *text, size_t n);
/* Adds the entries to the file. False: *why is a word of the system's. */
bool mz_history_append(const char *path, const mz_history *more, const char **why);
void mz_history_free(mz_history *h);

#endif
