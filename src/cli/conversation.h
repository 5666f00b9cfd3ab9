/* SPDX-License-Identifier: Apache-2.0
 *
 * conversation.h: the messages of a chat, a JSON array of {"role","content"}, and their way to token ids and session files.
 * Ownership: arrays are references of their holder. One thread. */
#ifndef MZ_CLI_CONVERSATION_H
#define MZ_CLI_CONVERSATION_H

#include "cli/cli.h"

/* With a system message unless system is NULL or empty; NULL when memory is out. */
json_t *mz_conversation_new(const char *system);
/* Replaces or (NULL, "") removes the system message. False when memory is out. */
bool mz_conversation_set_system(json_t *messages, const char *system);
/* NULL: there is none. */
const char *mz_conversation_system(const json_t *messages);
bool mz_conversation_add(json_t *messages, const char *role, const char *content, size_t n);
/* The prompt that invites an answer; *ids with free(). Where s (may be NULL) holds the same text in other tokens, those are
 * kept: a model may have written a word in pieces that the tokenizer would not choose, and what it wrote need not be computed
 * again. */
mz_status mz_conversation_encode(const mz_text *t, const mz_session *s, json_t *messages, int32_t **ids, size_t *n, mz_err *err);

mz_status mz_conversation_save(const mz_session *s, const json_t *messages, const char *path, mz_err *err);
/* On failure *messages stays as it is; the session is then empty or as it was. */
mz_status mz_conversation_load(mz_session *s, json_t **messages, const char *path, mz_err *err);

#endif
