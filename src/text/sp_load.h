/* SPDX-License-Identifier: Apache-2.0
 *
 * sp_load.h: a SentencePiece vocabulary out of GGUF metadata. Only tokenizer.c includes this. */
#ifndef MZ_TEXT_SP_LOAD_H
#define MZ_TEXT_SP_LOAD_H

#include "sp.h"

/* written [n_vocab] as the file spells the pieces, kind [n_vocab] their types (corrected here: a file without types, turn marks typed
 * as user-defined). Both outlive *sp. *unk is the file's unknown token or -1, and becomes the one in use.
 * A failure leaves *sp fit for mz_sp_done. */
mz_status mz_sp_load(mz_sp *sp, const mz_gguf *g, bool unigram, const mz_str *written, uint8_t *kind, int32_t n_vocab, int32_t *unk,
                     mz_err *err) MZ_MUST_USE;
void mz_sp_done(mz_sp *sp);
/* The byte that a piece spelled <0xNN> stands for; -1 when it is not spelled so. */
int mz_sp_byte_of(mz_str piece);

#endif
