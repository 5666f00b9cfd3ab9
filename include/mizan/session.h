/* SPDX-License-Identifier: Apache-2.0
 *
 * session.h: sessions that outlive the program. A session file holds what a session holds, token ids, their keys and
 * values and the last logits, and a note of the caller's (the command line keeps the conversation there). After loading,
 * mz_session_sync finds all of it in place and computes nothing; what follows is bit-identical to never having stopped.
 *
 * A file fits one model file and one KV format; anything else is refused with a sentence. The format is described in
 * docs/sessions.md. It holds the conversation in the clear: files are made readable for their owner only.
 *
 * Threading: as the session (engine.h). Ownership: notes are released with mz_text_release. */
#ifndef MIZAN_SESSION_H
#define MIZAN_SESSION_H

#include <stddef.h>

#include <mizan/engine.h>
#include <mizan/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Longest note, in bytes. */
#define MZ_SESSION_NOTE_LIMIT ((size_t)64 << 20)

/* Writes the session and note [n_note bytes, any content] beside path and renames: an older file stays whole until then. */
MZ_API mz_status mz_session_save(const mz_session *s, const char *path, const char *note, size_t n_note, mz_err *err);

/* Makes the session hold what the file holds; *note [*n_note] (note may be NULL) gets the note, zero-terminated. A file that
 * is damaged (MZ_EFORMAT), of a newer format or another model or KV format (MZ_ESUPPORT), or too long for the engine's
 * context (MZ_ERANGE) leaves the session as it was; only what is found while reading into place
 * (the file changed meanwhile, ids outside the vocabulary) leaves it empty. */
MZ_API mz_status mz_session_load(mz_session *s, const char *path, char **note, size_t *n_note, mz_err *err);

#ifdef __cplusplus
}
#endif
#endif
