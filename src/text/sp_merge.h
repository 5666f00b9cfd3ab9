/* SPDX-License-Identifier: Apache-2.0
 *
 * sp_merge.h: SentencePiece's BPE: of all neighbours whose joint text is a piece, those with the highest score merge first,
 * the leftmost of equals; user-defined pieces stand apart.
 *
 * The library merges over the whole text at once. Here the text is cut first wherever two characters meet that are neighbours in
 * no piece: nothing can merge across, so each part gives the same ids by itself, and words repeat.
 * Threading: a mz_sp_merger belongs to one thread. */
#ifndef MZ_TEXT_SP_MERGE_H
#define MZ_TEXT_SP_MERGE_H

#include "sp.h"

/* Fills sp->joint and sp->resegments from sp->piece. */
mz_status mz_sp_merge_prepare(mz_sp *sp, mz_err *err) MZ_MUST_USE;

/* Zero-initialise; mz_sp_merger_done releases. */
typedef struct mz_sp_merger {
    struct mz_sp_symbol *sym;
    struct mz_sp_offer *heap;
    size_t cap_sym, cap_heap;
    int32_t *split;          /* [n_vocab] of an unused piece: the bytes of its left part when it was last seen; only when sp->resegments */
    struct mz_sp_word *memo; /* words met before; only in longer texts */
    bool use_memo;
} mz_sp_merger;

void mz_sp_merger_done(mz_sp_merger *m);

/* Receives pieces in order: id, or -1 for a character (s) that is no piece. */
typedef mz_status (*mz_sp_emit)(void *user, int32_t id, mz_str s, mz_err *err);

/* Merges text [n], normalised. guard [n_guard], ascending: places in text where no user-defined piece may begin. */
mz_status mz_sp_merge(const mz_sp *sp, mz_sp_merger *m, const char *text, size_t n, const size_t *guard, size_t n_guard, mz_sp_emit emit,
                      void *user, mz_err *err) MZ_MUST_USE;

#endif
