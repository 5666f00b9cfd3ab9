/* SPDX-License-Identifier: Apache-2.0
 * The commands of a chat. They speak on standard error: standard output belongs to the answers. */
#include <stdlib.h>
#include <string.h>

#include "cli/chat_int.h"

void mz_chat_say_size(const mz_chat *c, const char *what)
{
    size_t n = json_array_size(c->messages), n_tok = mz_session_len(c->g->session);
    (void)fprintf(stderr, "%s: %zu message%s, %zu token%s\n", what, n, n == 1 ? "" : "s", n_tok, n_tok == 1 ? "" : "s");
}

static void do_system(mz_chat *c, const char *arg)
{
    if (!*arg) {
        const char *system = mz_conversation_system(c->messages);
        size_t n = system ? strlen(system) : 0;
        char *shown = mz_cli_visible(system ? system : "", n, &n);
        if (n)
            (void)fprintf(stderr, "%.*s\n", (int)(n < 100000 ? n : 100000), shown);
        else
            (void)fprintf(stderr, "There is no system message; /system TEXT sets one.\n");
        free(shown);
        return;
    }
    if (!mz_conversation_set_system(c->messages, strcmp(arg, "\"\"") == 0 ? NULL : arg)) (void)mz_cli_fail("out of memory");
    c->unsaved = true;
}

static void do_reset(mz_chat *c, const char *arg)
{
    const char *system = mz_conversation_system(c->messages);
    json_t *fresh = mz_conversation_new(system);
    if (*arg) {
        json_decref(fresh);
        (void)mz_cli_fail("/reset takes nothing behind it");
        return;
    }
    if (!fresh) {
        (void)mz_cli_fail("out of memory");
        return;
    }
    json_decref(c->messages);
    c->messages = fresh;
    c->unsaved = true;
}

static void do_save(mz_chat *c, const char *arg)
{
    mz_err err = {0};
    const char *path = *arg ? arg : c->args.session;
    if (!path) {
        (void)mz_cli_fail("/save needs the name of a file");
        return;
    }
    if (mz_conversation_save(c->g->session, c->messages, path, &err) != MZ_OK) {
        (void)mz_cli_fail_err(&err);
        return;
    }
    c->unsaved = false;
    if (!c->args.quiet) mz_chat_say_size(c, "saved");
}

static void do_load(mz_chat *c, const char *arg)
{
    mz_err err = {0};
    const char *path = *arg ? arg : c->args.session;
    if (!path) {
        (void)mz_cli_fail("/load needs the name of a file");
        return;
    }
    if (mz_conversation_load(c->g->session, &c->messages, path, &err) != MZ_OK) {
        (void)mz_cli_fail_err(&err);
        return;
    }
    c->unsaved = false;
    c->answered = false;
    if (!c->args.quiet) mz_chat_say_size(c, "loaded");
}

static void list_settings(const mz_chat *c)
{
    char value[MZ_CLI_VALUE_BYTES];
    for (size_t i = 0; i < mz_cli_n_option; i++) {
        const mz_cli_option *o = &mz_cli_options[i];
        if (!mz_cli_may_set(o) || strcmp(o->name, "no-history") == 0) continue;
        mz_cli_value_text(o, &c->args, value);
        (void)fprintf(stderr, "  %-18s %-10s %s\n", o->name, value, o->choices ? o->choices : o->help);
    }
}

static void do_set(mz_chat *c, const char *arg)
{
    char name[64], message[MZ_CLI_MESSAGE_BYTES];
    size_t n = strcspn(arg, " \t=");
    const char *value = arg + n;
    if (!*arg) {
        list_settings(c);
        return;
    }
    while (*value == ' ' || *value == '\t' || *value == '=') value++;
    (void)snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : (int)sizeof name - 1, arg);
    if (!*value) {
        (void)mz_cli_fail("/set needs a name and a value; /set alone lists them");
        return;
    }
    if (!mz_cli_set(name, value, &c->args, message)) {
        (void)mz_cli_fail("/set: %s", message);
        return;
    }
    mz_cli_generator_set(c->g);
    mz_screen_set(&c->screen, &c->args);
}

static void do_stats(mz_chat *c, const char *arg)
{
    char weights[32], state[32];
    mz_engine_info i = mz_engine_get_info(c->g->engine);
    size_t n_tok = mz_session_len(c->g->session);
    (void)arg;
    (void)fprintf(stderr, "%zu messages, %zu of %lld tokens; weights %s, state %s as %s; %d threads, kernels %s\n",
                  json_array_size(c->messages), n_tok, (long long)i.ctx_tok, mz_cli_bytes_text((double)i.weight_bytes, weights),
                  mz_cli_bytes_text((double)(i.state_bytes_per_tok * n_tok), state), i.kv, i.n_thread, i.isa);
    if (c->answered) mz_cli_answer_report(&c->last);
}

static void do_exit(mz_chat *c, const char *arg)
{
    (void)arg;
    c->ends = true;
}

static void do_help(mz_chat *c, const char *arg);

static const struct command {
    const char *name, *arg, *help;
    void (*run)(mz_chat *c, const char *arg);
} commands[] = {
    {"/help", "", "this list", do_help},
    {"/system", "[TEXT]", "set the system message, or show it; \"\" removes it", do_system},
    {"/reset", "", "forget the conversation, but not the system message", do_reset},
    {"/save", "FILE", "save the conversation and the model's state", do_save},
    {"/load", "FILE", "go on with a saved conversation", do_load},
    {"/set", "[NAME VALUE]", "change a setting, such as temp 0, or list them", do_set},
    {"/stats", "", "sizes and speeds", do_stats},
    {"/exit", "", "end the chat, as Ctrl-D does", do_exit},
};
enum { N_COMMAND = sizeof commands / sizeof commands[0] };

static void do_help(mz_chat *c, const char *arg)
{
    (void)c;
    (void)arg;
    for (size_t i = 0; i < N_COMMAND; i++) (void)fprintf(stderr, "  %-8s %-14s %s\n", commands[i].name, commands[i].arg, commands[i].help);
    (void)fprintf(stderr, "Ctrl-C stops an answer. A line ending in \\ goes on in the next; so does a block between ``` and ```,\n"
                          "or \"\"\" and \"\"\". Pasted lines stay together. A blank in front of a slash makes it an ordinary message.\n");
}

void mz_chat_command(mz_chat *c, const char *line)
{
    size_t n = strcspn(line, " \t\n");
    const char *arg = line + n;
    char *copy;
    while (*arg == ' ' || *arg == '\t') arg++;
    size_t n_arg = strlen(arg);
    while (n_arg > 0 && (arg[n_arg - 1] == ' ' || arg[n_arg - 1] == '\t' || arg[n_arg - 1] == '\n')) n_arg--;
    for (size_t i = 0; i < N_COMMAND; i++) {
        if (strlen(commands[i].name) != n || strncmp(commands[i].name, line, n) != 0) continue;
        copy = mz_cli_alloc(n_arg + 1, 1);
        memcpy(copy, arg, n_arg);
        commands[i].run(c, copy);
        free(copy);
        return;
    }
    (void)mz_cli_fail("unknown command '%.*s'; /help lists them", n < 60 ? (int)n : 60, line);
}
