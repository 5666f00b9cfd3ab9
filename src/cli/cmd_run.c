/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/conversation.h"
#include "cli/generate.h"

#define PROMPT_LIMIT ((size_t)64 << 20)

static int check_usage(const mz_cli_args *a)
{
    int n_source = (a->prompt != NULL) + (a->file != NULL) + (a->ids != NULL);
    if (n_source > 1) return mz_cli_usage("run: -p, -f and --ids exclude each other");
    if (a->raw && n_source == 0) return mz_cli_usage("run: --raw needs -p or -f");
    if (a->system && (a->raw || a->ids)) return mz_cli_usage("run: --system needs the chat template and does not go with --raw or --ids");
    if (a->json && n_source == 0) return mz_cli_usage("run: --json needs -p, -f or --ids");
    if (a->session && !*a->session) return mz_cli_usage("run: --session: the name of the file is empty");
    if (a->logprobs >= 0 && !a->json) return mz_cli_usage("run: --logprobs needs --json");
    for (size_t i = 0; i < a->stop.n; i++)
        if (!*a->stop.v[i]) return mz_cli_usage("run: --stop: the text is empty");
    return MZ_EXIT_DONE;
}

/* The engine runs without a tokenizer; only a prompt needs one. Opening the text alone says what is wrong with it. */
static void say_why_no_text(const char *model)
{
    mz_text *t = NULL;
    mz_err err = {0};
    if (mz_text_open(model, &t, &err) != MZ_OK) (void)mz_cli_fail_err(&err);
    mz_text_close(t);
}

static json_t *json_ids(const int32_t *ids, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < n; i++) (void)json_array_append_new(list, json_integer(ids[i]));
    return list;
}

/* The parts of a text that are reasoning, joined. */
typedef struct reasoning_text {
    char *s;
    size_t n;
} reasoning_text;

static void add_reasoning(void *user, mz_part part, const char *s, size_t n)
{
    reasoning_text *t = user;
    if (part != MZ_PART_REASONING) return;
    memcpy(t->s + t->n, s, n);
    t->n += n;
}

static void put_reasoning(json_t *doc, const mz_text *t, const int32_t *prompt, size_t n_prompt, const char *text, size_t n)
{
    char end[64];
    mz_reasoning r;
    reasoning_text found = {mz_cli_alloc(n + 1, 1), 0};
    mz_reasoning_begin(&r, end, mz_cli_prompt_end(t, prompt, n_prompt, end, sizeof end));
    mz_reasoning_add(&r, text, n, add_reasoning, &found);
    mz_reasoning_end(&r, add_reasoning, &found);
    if (found.n > 0) (void)json_object_set_new(doc, "reasoning", mz_cli_json_bytes(found.s, found.n));
    free(found.s);
}

static int print_json(const mz_cli_generator *g, const int32_t *prompt, const mz_cli_answer *r, double load_ms, bool is_chat)
{
    size_t n_ids, n_text;
    const int32_t *ids = mz_answer_ids(r->answer, &n_ids);
    const char *text = mz_answer_text(r->answer, &n_text), *model = g->args->model;
    json_t *doc =
        json_pack("{s:o,s:o,s:o,s:o,s:s,s:{s:I,s:f,s:I,s:I,s:f,s:f}}", "model", mz_cli_json_bytes(model, strlen(model)), "prompt_ids",
                  json_ids(prompt, r->n_prompt), "ids", json_ids(ids, n_ids), "text", mz_cli_json_bytes(text ? text : "", n_text),
                  "finish_reason", r->finish == MZ_FINISH_STOP ? "stop" : "length", "timings", "prefill_tokens",
                  (json_int_t)(r->n_prompt - r->n_cached), "prefill_ms", r->prefill_ms, "cached_tokens", (json_int_t)r->n_cached,
                  "decode_tokens", (json_int_t)r->n_generated, "decode_ms", r->decode_ms, "load_ms", load_ms);
    if (doc && r->logprobs) (void)json_object_set(doc, "logprobs", r->logprobs);
    if (doc && is_chat && n_text > 0) put_reasoning(doc, g->text, prompt, r->n_prompt, text, n_text);
    return mz_cli_out_json(doc);
}

/* The result on standard output. */
static int show(mz_cli_generator *g, const int32_t *ids, const mz_cli_answer *r, double load_ms, bool is_chat)
{
    size_t n_ids;
    const int32_t *out_ids = mz_answer_ids(r->answer, &n_ids);
    if (g->args->json) return print_json(g, ids, r, load_ms, is_chat);
    if (g->text) {
        mz_screen_end(g->screen, true);
    } else { /* no text to stream: the ids are the result */
        for (size_t i = 0; i < n_ids; i++) mz_cli_outf("%s%d", i ? "," : "", out_ids[i]);
        mz_cli_out("\n", 1);
    }
    return mz_cli_out_end(MZ_EXIT_DONE);
}

/* What is continued: given ids, the text as it stands, or the conversation with the text as its next message. */
static mz_status encode(const mz_cli_generator *g, json_t *messages, const char *text, size_t n_text, int32_t **ids, size_t *n, mz_err *err)
{
    if (g->args->raw) {
        int32_t *encoded = NULL;
        mz_status st = mz_text_encode(g->text, text, n_text, MZ_TEXT_BOS, &encoded, n, err);
        if (st == MZ_OK && *n > 0) {
            *ids = mz_cli_alloc(*n, sizeof **ids);
            memcpy(*ids, encoded, *n * sizeof **ids);
        }
        mz_text_release(encoded);
        return st;
    }
    if (!mz_conversation_add(messages, "user", text, n_text)) {
        *err = (mz_err){.status = MZ_ENOMEM, .text = "out of memory"};
        return MZ_ENOMEM;
    }
    return mz_conversation_encode(g->text, g->session, messages, ids, n, err);
}

static int answer_once(mz_cli_generator *g, json_t *messages, const char *text, size_t n_text, int32_t *given, size_t n_given,
                       double load_ms)
{
    const mz_cli_args *a = g->args;
    bool is_chat = !a->raw && !given;
    mz_err err = {0};
    mz_cli_answer r = {0};
    mz_screen screen;
    int32_t *encoded = NULL;
    size_t n_encoded = 0, n_answer = 0;
    int status = MZ_EXIT_FAILED;
    mz_screen_init(&screen, a, is_chat);
    g->screen = a->json ? NULL : &screen;
    if (!given && encode(g, messages, text, n_text, &encoded, &n_encoded, &err) != MZ_OK) {
        (void)mz_cli_fail_err(&err);
        goto out;
    }
    const int32_t *ids = given ? given : encoded;
    size_t n = given ? n_given : n_encoded;
    if (n == 0) {
        (void)mz_cli_fail("the prompt is empty and the model adds no BOS token, so there is nothing to continue");
        goto out;
    }
    mz_status st = mz_cli_generate(g, ids, n, &r, &err);
    const char *answer = r.answer ? mz_answer_text(r.answer, &n_answer) : NULL;
    if (st != MZ_OK) {
        if (g->screen) mz_screen_end(g->screen, n_answer > 0);
        (void)mz_cli_fail_err(&err);
        goto out;
    }
    status = show(g, ids, &r, load_ms, is_chat);
    if (a->verbose) mz_cli_answer_report(&r);
    if (!a->session) goto out;
    if (is_chat && !mz_conversation_add(messages, "assistant", answer ? answer : "", n_answer)) status = mz_cli_fail("out of memory");
    if (mz_conversation_save(g->session, messages, a->session, &err) != MZ_OK) status = mz_cli_fail_err(&err);
out:
    mz_screen_free(&screen);
    g->screen = NULL;
    mz_cli_answer_free(&r);
    free(encoded);
    return status;
}

/* The conversation to go on with: that of the session file, if there is one, else a new one. NULL: said. */
/* Whether a new file can be made beside path: found out before a conversation, not at its end. */
static bool can_save(const char *path)
{
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash) slash[slash == folder] = '\0';
    bool can = folder && access(slash ? folder : ".", W_OK | X_OK) == 0;
    if (!can) (void)mz_cli_fail("%s: the session could not be saved there: %s; choose another place", path, strerror(errno));
    free(folder);
    return can;
}

static json_t *begin_conversation(const mz_cli_generator *g)
{
    const mz_cli_args *a = g->args;
    mz_err err = {0};
    if (a->session && !can_save(a->session)) return NULL;
    json_t *messages = mz_conversation_new(a->system);
    bool exists = a->session && access(a->session, F_OK) == 0;
    if (messages && exists && mz_conversation_load(g->session, &messages, a->session, &err) != MZ_OK) {
        (void)mz_cli_fail_err(&err);
        json_decref(messages);
        return NULL;
    }
    if (!messages || (exists && a->system && !mz_conversation_set_system(messages, a->system))) {
        (void)mz_cli_fail("out of memory");
        json_decref(messages);
        return NULL;
    }
    return messages;
}

int mz_cli_run(const mz_cli_args *a)
{
    mz_engine *e = NULL;
    mz_cli_generator g = {0};
    json_t *messages = NULL;
    char *file = NULL;
    int32_t *ids = NULL;
    size_t n_ids = 0, n_text = a->prompt ? strlen(a->prompt) : 0;
    double load_ms;
    int status = check_usage(a);
    if (status != MZ_EXIT_DONE) return status;
    if (a->ids && !mz_cli_get_ids(a->ids, &ids, &n_ids, &status)) return status;
    status = MZ_EXIT_FAILED;
    if (a->file && !mz_cli_read_file(a->file, PROMPT_LIMIT, &file, &n_text)) goto out;
    mz_term_use_utf8();

    mz_engine_options o = mz_engine_options_default();
    o.ctx_tok = a->ctx;
    if (!mz_cli_open_engine(a, a->model, o, &e, &load_ms)) goto out;
    const mz_text *t = mz_engine_text(e);
    if (!ids && !t) {
        say_why_no_text(a->model);
        goto out;
    }
    if (!ids && !a->raw && !mz_text_has_template(t)) {
        (void)mz_cli_fail("%s: has no chat template; use --raw to continue a text as it stands", a->model);
        goto out;
    }
    if (!t && a->stop.n) {
        (void)mz_cli_fail("%s: has no tokenizer, so --stop cannot be used", a->model);
        goto out;
    }
    status = mz_cli_generator_init(&g, e, a);
    if (status != MZ_EXIT_DONE) goto out;
    status = MZ_EXIT_FAILED;
    messages = begin_conversation(&g);
    if (!messages) goto out;
    if (ids || a->prompt || a->file)
        status = answer_once(&g, messages, a->file ? file : a->prompt, n_text, ids, n_ids, load_ms);
    else
        status = mz_cli_chat(&g, json_incref(messages));
out:
    json_decref(messages);
    mz_cli_generator_free(&g);
    mz_engine_close(e);
    free(file);
    free(ids);
    return status;
}
