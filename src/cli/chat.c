/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/generate.h"

static volatile int interrupted;

static void on_interrupt(int sig)
{
    (void)sig;
    interrupted = 1;
}

#define LINE_LIMIT ((size_t)16 << 20)

/* Waits for a line on the terminal; false when interrupted. The signal is let in only inside ppoll, so that none is
 * lost between looking at the flag and beginning to wait. */
static bool wait_for_line(void)
{
    sigset_t block, before;
    struct pollfd in = {.fd = 0, .events = POLLIN};
    int n = -1;
    (void)sigemptyset(&block);
    (void)sigaddset(&block, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &block, &before);
    while (!interrupted && n < 0)
        if ((n = ppoll(&in, 1, NULL, &before)) < 0 && errno != EINTR) break;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return !interrupted;
}

/* One line without its end; NULL at the end of input. An interrupt at the prompt empties the line. */
static char *read_line(bool tty, size_t *n)
{
    for (;;) {
        char *line = NULL;
        size_t cap = 0;
        interrupted = 0;
        if (tty) {
            (void)fputs("> ", stderr);
            (void)fflush(stderr);
        }
        ssize_t len = -1;
        if (!tty || wait_for_line()) len = getline(&line, &cap, stdin);
        if (len >= 0) {
            if (len > 0 && line[len - 1] == '\n') line[--len] = '\0';
            if (len > 0 && line[len - 1] == '\r') line[--len] = '\0';
            *n = (size_t)len;
            return line;
        }
        free(line);
        if (!interrupted || feof(stdin)) return NULL;
        clearerr(stdin);
        (void)fputc('\n', stderr);
    }
}

static json_t *new_history(const mz_cli_args *a)
{
    json_t *messages = json_array();
    if (messages && a->system && !mz_cli_add_message(messages, "system", a->system, strlen(a->system))) {
        json_decref(messages);
        messages = NULL;
    }
    return messages;
}

/* Asks with the history as it stands, streams the answer and adds it to the history. */
static mz_status answer(mz_cli_generator *g, json_t *messages, mz_err *err)
{
    mz_cli_answer r = {0};
    int32_t *ids = NULL;
    size_t n_ids = 0, n_text = 0;
    json_t *doc = json_pack("{s:O}", "messages", messages);
    char *json = doc ? json_dumps(doc, 0) : NULL;
    json_decref(doc);
    if (!json) {
        *err = (mz_err){.status = MZ_ENOMEM, .text = "out of memory"};
        return MZ_ENOMEM;
    }
    mz_status st = mz_text_encode_chat(g->text, json, strlen(json), MZ_TEXT_BOS, &ids, &n_ids, err);
    free(json);
    if (st == MZ_OK) st = mz_cli_generate(g, ids, n_ids, &r, err);
    const char *text = r.answer ? mz_answer_text(r.answer, &n_text) : NULL;
    if (n_text || st == MZ_OK) mz_cli_out("\n", 1);
    mz_cli_out_flush();
    /* What was shown stays in the history, also when the answer broke off. */
    if (n_text || st == MZ_OK) {
        if (!mz_cli_add_message(messages, "assistant", text ? text : "", n_text) && st == MZ_OK) {
            *err = (mz_err){.status = MZ_ENOMEM, .text = "out of memory"};
            st = MZ_ENOMEM;
        }
        if (g->args->verbose) mz_cli_answer_report(&r);
        if (r.finish == MZ_FINISH_LENGTH && g->args->n_max < 0 && !g->args->quiet) (void)fprintf(stderr, "(the context is full)\n");
    }
    mz_cli_answer_free(&r);
    mz_text_release(ids);
    return st;
}

int mz_cli_chat(mz_cli_generator *g)
{
    bool tty = isatty(0) == 1;
    int status = MZ_EXIT_DONE;
    struct sigaction act = {.sa_handler = on_interrupt}, old;
    json_t *messages = new_history(g->args);
    if (!messages) return mz_cli_fail("out of memory");
    if (tty) {
        (void)sigemptyset(&act.sa_mask);
        (void)sigaction(SIGINT, &act, &old); /* without SA_RESTART: a read at the prompt must return */
        if (!g->args->quiet) (void)fprintf(stderr, "Ctrl-C stops an answer, Ctrl-D ends the chat, /reset forgets it.\n");
    }
    g->cancel = &interrupted;
    g->stream = true;
    mz_session_set_cancel(g->session, &interrupted);
    for (;;) {
        size_t n = 0;
        mz_err err = {0};
        char *line = read_line(tty, &n);
        if (!line) break;
        if (n > LINE_LIMIT) {
            free(line);
            status = mz_cli_fail("a message of more than %zu bytes", LINE_LIMIT);
            break;
        }
        if (n == 0 || (tty && strcmp(line, "/reset") == 0)) {
            if (n) {
                json_decref(messages);
                messages = new_history(g->args);
            }
            free(line);
            if (messages) continue;
            status = mz_cli_fail("out of memory");
            break;
        }
        size_t n_before = json_array_size(messages);
        bool ok = mz_cli_add_message(messages, "user", line, n);
        free(line);
        if (!ok) {
            status = mz_cli_fail("out of memory");
            break;
        }
        interrupted = 0;
        mz_status st = answer(g, messages, &err);
        if (mz_cli_out_failed()) {
            status = MZ_EXIT_FAILED;
            break;
        }
        if (st == MZ_OK) continue;
        if (st != MZ_ECANCEL) (void)mz_cli_fail_err(&err);
        if (!tty) {
            status = MZ_EXIT_FAILED;
            break;
        }
        while (json_array_size(messages) > n_before) /* the question is taken back, so that another may be asked */
            (void)json_array_remove(messages, n_before);
    }
    if (tty) {
        (void)fputc('\n', stderr);
        (void)sigaction(SIGINT, &old, NULL);
    }
    mz_session_set_cancel(g->session, NULL);
    json_decref(messages);
    return mz_cli_out_end(status);
}
