/* SPDX-License-Identifier: Apache-2.0
 *
 * tokenizer.h: text to token ids and back, for the vocabulary a checkpoint carries.
 *
 * What it is not: it knows nothing of chat; special tokens inside user text stay plain text unless
 * the caller asks for them. The file chooses the kind: byte-level BPE ("gpt2"), SentencePiece BPE ("llama") or unigram ("t5").
 * Bytes are bytes: any input, valid UTF-8 or not, survives encode followed by decode unless the
 * vocabulary cannot spell it or normalises it (SentencePiece takes U+2581 for a space).
 * Ownership: a tokenizer copies what it needs; the mz_gguf may be closed afterwards.
 * Threading: a tokenizer is immutable after creation; encode may be called from any thread. */
#ifndef MZ_TEXT_TOKENIZER_H
#define MZ_TEXT_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "fmt/gguf.h"

typedef struct mz_tokenizer mz_tokenizer;

enum {                       /* flags of mz_tokenizer_encode */
       MZ_ENCODE_BOS = 1,    /* add what the file says is added (BOS in front, EOS behind) */
       MZ_ENCODE_SPECIAL = 2 /* parse control tokens in the text; without it only user-defined ones */
};

typedef enum mz_token_kind { /* numbers as in tokenizer.ggml.token_type */
                             MZ_TOKEN_NORMAL = 1,
                             MZ_TOKEN_UNKNOWN,
                             MZ_TOKEN_CONTROL,
                             MZ_TOKEN_USER,
                             MZ_TOKEN_UNUSED,
                             MZ_TOKEN_BYTE
} mz_token_kind;

/* MZ_ESUPPORT names the tokenizer model or pre-tokeniser that mizan does not know. A file without
 * a tokenizer gives *out = NULL and MZ_OK. */
mz_status mz_tokenizer_from_gguf(const mz_gguf *g, mz_tokenizer **out, mz_err *err) MZ_MUST_USE;
void mz_tokenizer_free(mz_tokenizer *t);

/* Appends ids (int32_t) of text [n bytes] to out (a byte buffer holding int32_t, in host order). */
mz_status mz_tokenizer_encode(const mz_tokenizer *t, const char *text, size_t n, unsigned flags, mz_buf *out, mz_err *err) MZ_MUST_USE;

/* The same, but no special token (control or user-defined) may begin at one of the byte positions guard [n_guard], ascending: what
 * stands there is plain text although it looks like a token. */
mz_status mz_tokenizer_encode_guarded(const mz_tokenizer *t, const char *text, size_t n, unsigned flags, const size_t *guard,
                                      size_t n_guard, mz_buf *out, mz_err *err) MZ_MUST_USE;
/* True when a control token's written form, or a role mark's, stands at the beginning of s [n]; *len its bytes. Role marks are
 * user-defined tokens of the shape "<|name|>" (or with U+FF5C bars). */
bool mz_tokenizer_looks_special(const mz_tokenizer *t, const char *s, size_t n, size_t *len, int32_t *id);
/* True when s [n >= 1] could be continued to such a form. */
bool mz_tokenizer_begins_special(const mz_tokenizer *t, const char *s, size_t n);
/* True for tokens that come in pairs like <think> and </think>: they mark content, not turns. */
bool mz_tokenizer_is_paired(const mz_tokenizer *t, int32_t id);

/* The bytes a token stands for; control tokens give their written form ("<|im_end|>") when with_special,
 * nothing otherwise. Valid as long as the tokenizer. id must be in range. */
mz_str mz_tokenizer_piece(const mz_tokenizer *t, int32_t id, bool with_special);

/* Appends the bytes of ids [n_ids] to out: the pieces one after another, without the space that a SentencePiece vocabulary puts
 * before a text (with_special: before each text between control tokens). Continuing a text, take the pieces as they are instead.
 * MZ_EINVAL for an id outside the vocabulary. */
mz_status mz_tokenizer_decode(const mz_tokenizer *t, const int32_t *ids, size_t n_ids, bool with_special, mz_buf *out,
                              mz_err *err) MZ_MUST_USE;

int32_t mz_tokenizer_n_vocab(const mz_tokenizer *t);
mz_token_kind mz_tokenizer_kind(const mz_tokenizer *t, int32_t id);
const char *mz_tokenizer_model_name(const mz_tokenizer *t); /* "gpt2/smollm" */
/* -1 where the file names none. */
int32_t mz_tokenizer_bos(const mz_tokenizer *t);
int32_t mz_tokenizer_eos(const mz_tokenizer *t);
/* True for every id that ends an answer: EOS, EOT, EOM and control tokens known under such a role
 * (<|im_end|>, <|eot_id|>, <|end_of_text|>, <|endoftext|>, <end_of_turn>, …). */
bool mz_tokenizer_is_stop(const mz_tokenizer *t, int32_t id);
/* True when encoding with MZ_ENCODE_BOS puts a BOS in front. */
bool mz_tokenizer_adds_bos(const mz_tokenizer *t);
/* The written form of a token as the vocabulary file spells it (for templates: bos_token, eos_token). */
mz_str mz_tokenizer_written(const mz_tokenizer *t, int32_t id);

#endif
