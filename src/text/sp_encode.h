/* SPDX-License-Identifier: Apache-2.0
 *
 * sp_encode.h: text to ids with a SentencePiece vocabulary.
 *
 * Threading: pure over its own memory. */
#ifndef MZ_TEXT_SP_ENCODE_H
#define MZ_TEXT_SP_ENCODE_H

#include "sp.h"

/* Appends ids (int32_t) of text [n] to out. control: tokens whose written form is parsed (NULL: none); what stands between two of
 * them is a text of its own, with its own space in front where the vocabulary adds one. At the places guard [n_guard], ascending,
 * neither a control token nor a user-defined piece begins. */
mz_status mz_sp_encode(const mz_sp *sp, const mz_special *control, const char *text, size_t n, const size_t *guard, size_t n_guard,
                       mz_buf *out, mz_err *err) MZ_MUST_USE;

#endif
