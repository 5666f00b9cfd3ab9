/* SPDX-License-Identifier: Apache-2.0
 *
 * tokenizer_impl.h: what the tokenizer's files share. Nobody else includes it. */
#ifndef MZ_TEXT_TOKENIZER_IMPL_H
#define MZ_TEXT_TOKENIZER_IMPL_H

#include "bpe.h"
#include "pretok.h"
#include "sp.h"
#include "special.h"
#include "tokenizer.h"

struct mz_tokenizer {
    int32_t n_vocab;
    mz_str *written;  /* [n_vocab] as the file spells it */
    mz_str *bytes;    /* [n_vocab] what it stands for; of special tokens the written form */
    uint8_t *kind;    /* [n_vocab] mz_token_kind */
    uint8_t *stop;    /* [n_vocab] 1: ends an answer */
    char *blob;       /* the strings' memory, */
    mz_arena strings; /* and that of merge parts outside the vocabulary */
    int32_t bos, eos, unk;
    bool adds_bos, adds_eos, ignore_merges, nfc;
    mz_bpe bpe;
    mz_pretok *pretok;
    mz_special user;    /* user-defined tokens: matched in any text */
    mz_special all;     /* and control and unknown ones: matched on request */
    mz_special control; /* SentencePiece: control and unknown ones only; its user-defined pieces are matched while normalising */
    mz_special turn;    /* control tokens and role marks: what chat content must not become */
    mz_sp sp;
    char name[96];
};

#endif
