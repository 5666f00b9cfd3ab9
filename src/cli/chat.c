/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli/chat_int.h"
#include "cli/message.h"
#include "cli/signals.h"

#define MESSAGE_LIMIT ((size_t)16 << 20)

/* Asks with the conversation as it stands, streams the answer and adds it to the conversation. */
static mz_status answer(mz_chat *c, mz_err *err)
{
    mz_cli_generator *g = c->g;
    mz_cli_answer r = {0};
    int32_t *ids = NULL;
    size_t n_ids = 0, n_text = 0;
    mz_status st = mz_conversation_encode(g->text, g->session, c->messages, &ids, &n_ids, err);
    if (st == MZ_OK) st = mz_cli_generate(g, ids, n_ids, &r, err);
    const char *text = r.answer ? mz_answer_text(r.answer, &n_text) : NULL;
    /* What was shown stays in the conversation, also when the answer broke off. */
    bool stays = n_text > 0 || st == MZ_OK;
    mz_screen_end(&c->screen, stays);
    if (stays) {
        if (!mz_conversation_add(c->messages, "assistant", text ? text : "", n_text) && st == MZ_OK) {
            *err = (mz_err){.status = MZ_ENOMEM, .text = "out of memory"};
            st = MZ_ENOMEM;
        }
        if (g->args->verbose) mz_cli_answer_report(&r);
        if (r.finish == MZ_FINISH_LENGTH && g->args->n_max < 0 && !g->args->quiet) (void)fprintf(stderr, "(the context is full)\n");
        c->last = r;
        c->answered = c->unsaved = true;
    }
    mz_cli_answer_free(&r);
    free(ids);
    return st;
}

/* True when the chat goes on. */
static bool ask(mz_chat *c, const char *text, size_t n, int *status)
{
    size_t n_before = json_array_size(c->messages);
    mz_err err = {0};
    if (!mz_conversation_add(c->messages, "user", text, n)) {
        *status = mz_cli_fail("out of memory");
        return false;
    }
    mz_signal_interrupt = mz_signal_end;
    mz_status st = answer(c, &err);
    if (mz_cli_out_failed()) {
        *status = MZ_EXIT_FAILED;
        return false;
    }
    if (st == MZ_OK) return true;
    if (st != MZ_ECANCEL) (void)mz_cli_fail_err(&err);
    if (!c->tty) {
        *status = MZ_EXIT_FAILED;
        return false;
    }
    while (json_array_size(c->messages) > n_before) /* the question is taken back, so that another may be asked */
        (void)json_array_remove(c->messages, n_before);
    return true;
}

/* Reads lines until they make a message. */
static mz_typed read_message(mz_chat *c, char **text, size_t *n, bool *had_text)
{
    char *all = NULL;
    size_t n_all = 0;
    for (;;) {
        char *line = NULL;
        size_t n_line = 0;
        mz_typed typed = mz_editor_read(c->editor, all ? "." : ">", &line, &n_line, had_text);
        if (typed != MZ_TYPED_LINE) {
            *had_text = *had_text || all;
            free(all);
            return typed;
        }
        if (!all) {
            all = line;
            n_all = n_line;
        } else {
            char *longer = n_all + n_line + 2 <= 2 * MESSAGE_LIMIT ? realloc(all, n_all + n_line + 2) : NULL;
            if (longer) {
                longer[n_all] = '\n';
                memcpy(longer + n_all + 1, line, n_line + 1);
                all = longer;
                n_all += n_line + 1;
            }
            free(line);
        }
        if (!c->tty || !mz_message_goes_on(all, &n_all)) break;
    }
    if (c->tty) {
        mz_editor_remember(c->editor, all, n_all);
        mz_message_unwrap(all, &n_all);
    }
    *text = all;
    *n = n_all;
    return MZ_TYPED_LINE;
}

static int talk(mz_chat *c)
{
    int status = MZ_EXIT_DONE, n_idle_interrupt = 0;
    while (!c->ends) {
        char *text = NULL;
        size_t n = 0;
        bool had_text = false;
        mz_typed typed = read_message(c, &text, &n, &had_text);
        if (typed == MZ_TYPED_END) {
            if (!c->tty && ferror(stdin)) status = mz_cli_fail("standard input cannot be read; the chat ends here");
            break;
        }
        if (typed == MZ_TYPED_INTERRUPT) {
            n_idle_interrupt = had_text ? 0 : n_idle_interrupt + 1;
            if (n_idle_interrupt >= 2) (void)fprintf(stderr, "(/exit or Ctrl-D ends the chat)\n");
            continue;
        }
        n_idle_interrupt = 0;
        if (n > MESSAGE_LIMIT) {
            status = mz_cli_fail("a message of more than %zu bytes", MESSAGE_LIMIT);
            c->ends = true;
        } else if (c->tty && text[0] == '/' && !memchr(text, '\n', n)) {
            mz_chat_command(c, text);
        } else if (n > 0) {
            c->ends = !ask(c, text, n, &status);
        }
        free(text);
    }
    return status;
}

int mz_cli_chat(mz_cli_generator *g, json_t *messages)
{
    mz_chat c = {.g = g, .args = *g->args, .messages = messages};
    mz_err err = {0};
    if (!messages) return mz_cli_fail("out of memory");
    const mz_cli_args *given = g->args;
    mz_cli_args settings = *given;
    c.editor = mz_editor_open(&settings);
    c.tty = mz_editor_is_terminal(c.editor);
    mz_screen_init(&c.screen, &settings, true);
    g->args = &c.args;
    g->screen = &c.screen;
    if (c.tty) {
        mz_signals_begin();
        g->cancel = &mz_signal_interrupt;
        mz_session_set_cancel(g->session, &mz_signal_interrupt);
        if (!settings.quiet) (void)fprintf(stderr, "Ctrl-C stops an answer, Ctrl-D ends the chat, /help tells the rest.\n");
        if (!settings.quiet && mz_session_len(g->session) > 0) mz_chat_say_size(&c, "resumed");
    }
    int status = talk(&c);
    mz_screen_free(&c.screen);
    mz_editor_close(c.editor);
    if (c.tty) mz_signals_end();
    mz_session_set_cancel(g->session, NULL);
    if (settings.session && c.unsaved && mz_conversation_save(g->session, c.messages, settings.session, &err) != MZ_OK)
        status = mz_cli_fail_err(&err);
    json_decref(c.messages);
    g->args = given;
    g->screen = NULL;
    return mz_cli_out_end(status);
}
