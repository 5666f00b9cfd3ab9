/* SPDX-License-Identifier: Apache-2.0
 *
 * sp.h: what a SentencePiece vocabulary holds (BPE by scores, or a unigram model), read from GGUF metadata.
 *
 * What it is not: no ModelProto is read or written; byte-level BPE lives in bpe.h. Only the tokenizer's own files include this.
 * The rules follow Kudo and Richardson, "SentencePiece" (2018), and the ids are those of the sentencepiece library: text is
 * normalised (sp_normal.h), user-defined pieces are cut out greedily, the rest is merged (sp_merge.h) or segmented by the best
 * path (sp_unigram.h), and characters that no piece covers become byte pieces or the unknown piece.
 * Ownership: strings and tables belong to the mz_sp. Threading: immutable once loaded. */
#ifndef MZ_TEXT_SP_H
#define MZ_TEXT_SP_H

#include "bpe.h"
#include "sp_charsmap.h"
#include "sp_trie.h"
#include "special.h"
#include "tokenizer.h" /* mz_token_kind */

#define MZ_SP_SPACE     "\xE2\x96\x81" /* U+2581: how pieces spell a space */
#define MZ_SP_SPACE_LEN ((size_t)3)
/* The longest text that is one word of a BPE model, or one text of a unigram model. */
#define MZ_SP_MAX_BYTES ((size_t)1 << 26)

enum { MZ_SP_JOINT_BITS = 20 };

typedef struct mz_sp {
    bool on;         /* false: the tokenizer is byte-level, nothing here is set */
    bool unigram;    /* "t5": best path; otherwise "llama": merges by score */
    bool add_prefix; /* a space is put before the text (add_dummy_prefix) */
    bool trim;       /* runs of spaces shrink to one, none at either end (remove_extra_whitespaces) */
    bool has_bytes;  /* 256 byte pieces */
    bool resegments; /* some piece is unused, yet merges may reach it: what they joined comes apart again */
    int32_t unk;     /* -1: none */
    int32_t byte_id[256];
    float *score; /* [n_vocab], finite */
    const uint8_t *kind;
    mz_special user; /* user-defined pieces, spaces spelled as in pieces */
    char *user_blob;
    mz_sp_charsmap map;
    mz_bpe piece;    /* BPE: normal and unused pieces by their bytes */
    uint64_t *joint; /* BPE: a set of neighbouring characters inside pieces, some others too (sp_merge.h) */
    mz_sp_trie trie; /* unigram: normal and user-defined pieces */
    float min_score; /* of normal pieces */
} mz_sp;

/* Bytes of the character that begins with c, judged by c alone, as the library does. */
static inline size_t mz_sp_char_len(char c)
{
    static const uint8_t len[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4};
    return len[(unsigned char)c >> 4];
}

#endif
