/* SPDX-License-Identifier: Apache-2.0
 *
 * session_header.h: the first bytes of a session file (docs/sessions.md has the diagram). Reads and writes bytes in
 * memory; opens nothing and allocates nothing. Pure functions. */
#ifndef MZ_RT_SESSION_HEADER_H
#define MZ_RT_SESSION_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { MZ_SESSION_HEADER_BYTES = 128, MZ_SESSION_VERSION = 1 };

typedef struct mz_session_header {
    uint64_t model;       /* hash of the model file's metadata, tensor table and sizes */
    uint64_t layout;      /* hash of how a page of state is laid out */
    uint32_t kv;          /* mz_kv_type */
    uint32_t n_vocab;     /* length of the logits, when there are any */
    bool has_logits;      /* of the last token */
    uint64_t n_tok;       /* tokens held */
    uint64_t note_bytes;  /* of the caller's note */
    uint64_t state_bytes; /* pages, whole ones */
    uint64_t body_hash;   /* XXH64 of all that follows the header */
} mz_session_header;

/* Where the parts lie in the file; each begins at a multiple of 8. */
typedef struct mz_session_places {
    uint64_t note, ids, logits, state, end;
} mz_session_places;

/* False when the sizes do not fit a file. */
bool mz_session_place(const mz_session_header *h, mz_session_places *out);
/* Whether a file of these first bytes (8 are enough) is a session file at all. */
bool mz_session_is_begun(const uint8_t *data, size_t n);
void mz_session_header_write(const mz_session_header *h, uint8_t out[MZ_SESSION_HEADER_BYTES]);
/* The first n bytes of a file of file_bytes; everything the header says has been compared with file_bytes. Sentences
 * name no file. */
mz_status mz_session_header_read(const uint8_t *data, size_t n, uint64_t file_bytes, mz_session_header *out, mz_session_places *places,
                                 mz_err *err) MZ_MUST_USE;

#endif
