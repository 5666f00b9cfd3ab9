/* SPDX-License-Identifier: Apache-2.0
 *
 * chat_prompt.h: from a chat request (JSON) to the text of a prompt, keeping apart what the template wrote and
 * what the request's authors wrote.
 *
 * What it is not: it knows no family; the template does. Threading: pure over its arguments. */
#ifndef MZ_TEXT_CHAT_PROMPT_H
#define MZ_TEXT_CHAT_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "template.h"
#include "tokenizer.h"

typedef struct mz_chat {
    mz_buf text;
    size_t *guard; /* [n_guard] ascending byte positions in text where input looks like a special token but is none */
    size_t n_guard;
} mz_chat;

void mz_chat_done(mz_chat *c);

/* Renders json [n] with the template. guarded: fills guard, for mz_tokenizer_encode_guarded.
 *
 * How: a noncharacter that the request does not use goes in front of everything in the request's strings that reads like a control
 * token (or could become one together with what is printed behind it); after rendering, these marks come out
 * again and their places are the guards. Requests without such text are rendered as they are. A template that measures or
 * cuts a string right at a mark (split at a control token, then strip) may leave a blank more than without; the text stays safe. */
mz_status mz_chat_render(const mz_template *tmpl, mz_str source, const mz_tokenizer *t, const char *json, size_t n, bool generation,
                         bool guarded, mz_chat *out, mz_err *err) MZ_MUST_USE;

#endif
