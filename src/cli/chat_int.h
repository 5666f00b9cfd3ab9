/* SPDX-License-Identifier: Apache-2.0
 *
 * chat_int.h: what chat.c (talking) and chat_cmd.c (commands) share. One thread. */
#ifndef MZ_CLI_CHAT_INT_H
#define MZ_CLI_CHAT_INT_H

#include "cli/conversation.h"
#include "cli/editor.h"
#include "cli/generate.h"

typedef struct mz_chat {
    mz_cli_generator *g;
    mz_cli_args args; /* a copy whose settings may change; points into the command line's */
    mz_editor *editor;
    mz_screen screen;
    json_t *messages;
    bool unsaved; /* since the conversation was saved or loaded */
    bool tty, ends;
    bool answered;      /* the figures below mean something */
    mz_cli_answer last; /* figures of the last answer; its objects are gone */
} mz_chat;

/* A line that begins with a slash. What is wrong with it is one sentence on standard error. */
void mz_chat_command(mz_chat *c, const char *line);
/* "5 messages, 812 tokens" on standard error, after what. */
void mz_chat_say_size(const mz_chat *c, const char *what);

#endif
