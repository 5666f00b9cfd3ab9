/* SPDX-License-Identifier: Apache-2.0
 *
 * clean.h: text of a model, a file or a user made safe for a terminal. What goes in may be cut anywhere; what comes out is UTF-8
 * in which only newline and tabulator steer anything:
 *
 *   C0 controls and DEL    ^[ ^G ^?          (a carriage return before a newline is dropped)
 *   C1 controls            \u009b            (some terminals obey them in their UTF-8 form)
 *   bidi controls          \u202e            (U+202A to U+202E, U+2066 to U+2069: they reorder their neighbours)
 *   not UTF-8              U+FFFD, one a byte
 *
 * Threading: one stream, one thread. Ownership: plain memory, zero-initialise. */
#ifndef MZ_CLI_CLEAN_H
#define MZ_CLI_CLEAN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mz_clean {
    char held[4]; /* a character begun */
    size_t n_held;
    bool has_cr; /* a carriage return waits for what follows */
} mz_clean;

/* Room that out needs for n bytes in. */
#define MZ_CLEAN_ROOM(n) (3 * ((n) + 4) + 2)

/* The bytes written to out. */
size_t mz_clean_add(mz_clean *c, const char *s, size_t n, char *out);
/* What was held back at the end of the text. */
size_t mz_clean_end(mz_clean *c, char *out);

#endif
