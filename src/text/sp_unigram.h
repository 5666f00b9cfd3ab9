/* SPDX-License-Identifier: Apache-2.0
 *
 * sp_unigram.h: the segmentation with the highest sum of scores (Kudo, "Subword regularization", 2018, section 3.2; Viterbi).
 *
 * Sums are floats added left to right as the sentencepiece library (0.2.3) adds them, so that near-ties fall the same way.
 * Threading: pure over its own memory. */
#ifndef MZ_TEXT_SP_UNIGRAM_H
#define MZ_TEXT_SP_UNIGRAM_H

#include "sp.h"
#include "sp_merge.h" /* mz_sp_emit */

/* Fills sp->trie and min_score from bytes [n_vocab] (spaces spelled as in pieces). */
mz_status mz_sp_unigram_prepare(mz_sp *sp, const mz_str *bytes, int32_t n_vocab, mz_err *err) MZ_MUST_USE;
/* Segments text [n], normalised; guard as in mz_sp_merge. */
mz_status mz_sp_unigram(const mz_sp *sp, const char *text, size_t n, const size_t *guard, size_t n_guard, mz_sp_emit emit, void *user,
                        mz_err *err) MZ_MUST_USE;

#endif
