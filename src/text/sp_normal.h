/* SPDX-License-Identifier: Apache-2.0
 *
 * sp_normal.h: SentencePiece's normaliser: character map, spaces spelled as U+2581, spaces in front and in excess.
 *
 * Threading: pure functions over caller-owned memory. */
#ifndef MZ_TEXT_SP_NORMAL_H
#define MZ_TEXT_SP_NORMAL_H

#include "sp.h"

typedef struct mz_sp_normal {
    mz_buf text;  /* normalised */
    mz_buf guard; /* size_t, ascending: places in text where no user-defined piece may begin */
    mz_buf raw;   /* size_t, ascending: places in text of ill-formed bytes kept as they are (only with byte pieces) */
} mz_sp_normal;

/* Normalises s [n]; guard [n_guard], ascending, are places in s. Clears *out first; mz_sp_normal_done releases.
 * Ill-formed UTF-8: with byte pieces the bytes are kept (the library would lose them), otherwise each becomes U+FFFD. */
mz_status mz_sp_normalise(const mz_sp *sp, const char *s, size_t n, const size_t *guard, size_t n_guard, mz_sp_normal *out,
                          mz_err *err) MZ_MUST_USE;
void mz_sp_normal_done(mz_sp_normal *x);

#endif
