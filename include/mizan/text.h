/* SPDX-License-Identifier: Apache-2.0
 *
 * text.h: a model's tokenizer and chat template, without its weights.
 *
 * Ownership: an mz_text belongs to whoever opened it (mz_engine_text's to the engine). Buffers given
 * back are released with mz_text_release. Threading: immutable after opening. */
#ifndef MIZAN_TEXT_H
#define MIZAN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mizan/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mz_text mz_text;

enum {
    MZ_TEXT_BOS = 1,          /* add the BOS/EOS the model's file asks for */
    MZ_TEXT_SPECIAL = 2,      /* let control tokens written in the text be parsed */
    MZ_TEXT_NO_GENERATION = 4 /* render_chat: leave out the generation prompt */
};

/* Opens only the text part of a model file. Fails when it carries no tokenizer. */
MZ_API mz_status mz_text_open(const char *model_path, mz_text **out, mz_err *err);
MZ_API void mz_text_close(mz_text *t);

/* text [n bytes, any content] to *ids [*n_ids]. */
MZ_API mz_status mz_text_encode(const mz_text *t, const char *text, size_t n, unsigned flags, int32_t **ids, size_t *n_ids, mz_err *err);
/* ids to *bytes [*n]; special tokens are written out when with_special. An id outside the vocabulary is MZ_EINVAL. */
MZ_API mz_status mz_text_decode(const mz_text *t, const int32_t *ids, size_t n_ids, bool with_special, char **bytes, size_t *n,
                                mz_err *err);
/* Renders {"messages":[…],"tools":[…],"chat_template_kwargs":{…}} (JSON text) with the model's template.
 * MZ_EINVAL when the model has none. */
MZ_API mz_status mz_text_render_chat(const mz_text *t, const char *json, size_t n, unsigned flags, char **out, size_t *n_out, mz_err *err);
/* Renders likewise and encodes the result: special tokens that the template writes are parsed, text of the request that merely looks
 * like one stays text. MZ_TEXT_BOS: a BOS in front if the file asks for one and the template wrote none. This, not
 * render_chat followed by encode, is the way from a conversation to ids. */
MZ_API mz_status mz_text_encode_chat(const mz_text *t, const char *json, size_t n, unsigned flags, int32_t **ids, size_t *n_ids,
                                     mz_err *err);
MZ_API bool mz_text_has_template(const mz_text *t);
/* The template's source, NULL when there is none; *n bytes. */
MZ_API const char *mz_text_template_source(const mz_text *t, size_t *n);

MZ_API int32_t mz_text_n_vocab(const mz_text *t);
MZ_API bool mz_text_is_stop(const mz_text *t, int32_t id);
/* Bytes of one token (not zero-terminated), owned by t; NULL when id is out of range. */
MZ_API const char *mz_text_piece(const mz_text *t, int32_t id, bool with_special, size_t *n);
MZ_API const char *mz_text_tokenizer_name(const mz_text *t);
MZ_API void mz_text_release(void *p);

/* Streaming detokenisation: never splits a character. Zero-initialise. */
typedef struct mz_text_stream {
    char held[4];
    size_t n_held;
} mz_text_stream;
/* out has room for n + 4 bytes; returns the bytes written. */
MZ_API size_t mz_text_stream_add(mz_text_stream *s, const char *bytes, size_t n, char *out);
MZ_API size_t mz_text_stream_flush(mz_text_stream *s, char *out);

#ifdef __cplusplus
}
#endif
#endif
