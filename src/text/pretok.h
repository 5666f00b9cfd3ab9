/* SPDX-License-Identifier: Apache-2.0
 *
 * pretok.h: cutting text into the pieces that byte pair merges may not cross.
 *
 * A pre-tokeniser is a list of regular expressions applied one after the other: each cuts every piece
 * that the one before left, and what lies between its matches stays a piece of its own. The patterns are those of the
 * published tokenizer.json files, under the names that tokenizer.ggml.pre gives them.
 * Threading: a pretok is immutable; each thread brings its own scratch. */
#ifndef MZ_TEXT_PRETOK_H
#define MZ_TEXT_PRETOK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

typedef struct mz_pretok mz_pretok;
typedef struct mz_pretok_scratch mz_pretok_scratch;

typedef struct mz_pretok_traits { /* what a family's tokenizer does besides cutting; a file's own keys win */
    bool ignore_merges;           /* a piece that is a whole vocabulary entry is taken as it is */
    bool adds_bos;
    bool rank_by_id; /* without a merge list, the lower id merges first */
    bool nfc;        /* text is brought to normal form C first */
} mz_pretok_traits;

/* MZ_ESUPPORT names a pre-tokeniser that is not in the table. */
mz_status mz_pretok_create(const char *name, size_t n, mz_pretok **out, mz_pretok_traits *traits, mz_err *err) MZ_MUST_USE;
void mz_pretok_free(mz_pretok *p);

mz_status mz_pretok_scratch_create(const mz_pretok *p, mz_pretok_scratch **out, mz_err *err) MZ_MUST_USE;
void mz_pretok_scratch_free(mz_pretok_scratch *s);

/* Gets pieces [at, at + n) in order, without gaps. A failure ends the walk and is forwarded. */
typedef mz_status (*mz_pretok_piece)(void *user, size_t at, size_t n, mz_err *err);

/* text [n] must be well-formed UTF-8. MZ_ELIMIT when a pattern needs too much work or memory. */
mz_status mz_pretok_split(const mz_pretok *p, mz_pretok_scratch *s, const char *text, size_t n, mz_pretok_piece piece, void *user,
                          mz_err *err) MZ_MUST_USE;

#endif
