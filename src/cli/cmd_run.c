/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli/generate.h"

#define PROMPT_LIMIT ((size_t)64 << 20)

static int check_usage(const mz_cli_args *a)
{
    int n_source = (a->prompt != NULL) + (a->file != NULL) + (a->ids != NULL);
    if (n_source > 1) return mz_cli_usage("run: -p, -f and --ids exclude each other");
    if (a->raw && n_source == 0) return mz_cli_usage("run: --raw needs -p or -f");
    if (a->system && (a->raw || a->ids)) return mz_cli_usage("run: --system needs the chat template and does not go with --raw or --ids");
    if (a->json && n_source == 0) return mz_cli_usage("run: --json needs -p, -f or --ids");
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

/* The prompt's ids; says what is wrong. */
static bool encode_prompt(const mz_cli_args *a, const mz_text *t, const char *text, size_t n, int32_t **ids, size_t *n_ids)
{
    mz_err err = {0};
    mz_status st;
    if (a->raw) {
        st = mz_text_encode(t, text, n, MZ_TEXT_BOS, ids, n_ids, &err);
    } else {
        json_t *messages = json_array();
        bool ok = messages && (!a->system || mz_cli_add_message(messages, "system", a->system, strlen(a->system))) &&
                  mz_cli_add_message(messages, "user", text, n);
        json_t *doc = ok ? json_pack("{s:O}", "messages", messages) : NULL;
        char *json = doc ? json_dumps(doc, 0) : NULL;
        json_decref(messages);
        json_decref(doc);
        if (!json) {
            (void)mz_cli_fail("out of memory");
            return false;
        }
        st = mz_text_encode_chat(t, json, strlen(json), MZ_TEXT_BOS, ids, n_ids, &err);
        free(json);
    }
    if (st != MZ_OK) {
        (void)mz_cli_fail_err(&err);
        return false;
    }
    return true;
}

static json_t *json_ids(const int32_t *ids, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < n; i++) (void)json_array_append_new(list, json_integer(ids[i]));
    return list;
}

static int print_json(const mz_cli_args *a, const int32_t *prompt, const mz_cli_answer *r, double load_ms)
{
    size_t n_ids, n_text;
    const int32_t *ids = mz_answer_ids(r->answer, &n_ids);
    const char *text = mz_answer_text(r->answer, &n_text);
    json_t *doc =
        json_pack("{s:o,s:o,s:o,s:o,s:s,s:{s:I,s:f,s:I,s:I,s:f,s:f}}", "model", mz_cli_json_bytes(a->model, strlen(a->model)), "prompt_ids",
                  json_ids(prompt, r->n_prompt), "ids", json_ids(ids, n_ids), "text", mz_cli_json_bytes(text ? text : "", n_text),
                  "finish_reason", r->finish == MZ_FINISH_STOP ? "stop" : "length", "timings", "prefill_tokens",
                  (json_int_t)(r->n_prompt - r->n_cached), "prefill_ms", r->prefill_ms, "cached_tokens", (json_int_t)r->n_cached,
                  "decode_tokens", (json_int_t)r->n_generated, "decode_ms", r->decode_ms, "load_ms", load_ms);
    if (doc && r->logprobs) (void)json_object_set(doc, "logprobs", r->logprobs);
    return mz_cli_out_json(doc);
}

static int answer_once(mz_cli_generator *g, const char *text, size_t n_text, int32_t *given, size_t n_given, double load_ms)
{
    const mz_cli_args *a = g->args;
    mz_err err = {0};
    mz_cli_answer r = {0};
    int32_t *encoded = NULL;
    size_t n_encoded = 0;
    int status = MZ_EXIT_FAILED;
    if (!given && !encode_prompt(a, g->text, text, n_text, &encoded, &n_encoded)) return MZ_EXIT_FAILED;
    const int32_t *ids = given ? given : encoded;
    size_t n = given ? n_given : n_encoded;
    if (n == 0) {
        (void)mz_cli_fail("the prompt is empty and the model adds no BOS token, so there is nothing to continue");
        goto out;
    }
    g->stream = !a->json;
    if (mz_cli_generate(g, ids, n, &r, &err) != MZ_OK) {
        size_t n_shown = 0;
        if (r.answer) (void)mz_answer_text(r.answer, &n_shown);
        if (g->stream && n_shown) mz_cli_out("\n", 1);
        (void)mz_cli_fail_err(&err);
        goto out;
    }
    if (a->json) {
        status = print_json(a, ids, &r, load_ms);
    } else if (!g->text) { /* no text to stream: the ids are the result */
        size_t n_ids;
        const int32_t *out_ids = mz_answer_ids(r.answer, &n_ids);
        for (size_t i = 0; i < n_ids; i++) mz_cli_outf("%s%d", i ? "," : "", out_ids[i]);
        mz_cli_out("\n", 1);
        status = MZ_EXIT_DONE;
    } else {
        mz_cli_out("\n", 1);
        status = MZ_EXIT_DONE;
    }
    status = mz_cli_out_end(status);
    if (a->verbose) mz_cli_answer_report(&r);
out:
    mz_cli_answer_free(&r);
    mz_text_release(encoded);
    return status;
}

int mz_cli_run(const mz_cli_args *a)
{
    mz_engine *e = NULL;
    mz_cli_generator g = {0};
    char *file = NULL;
    int32_t *ids = NULL;
    size_t n_ids = 0, n_text = a->prompt ? strlen(a->prompt) : 0;
    double load_ms;
    int status = check_usage(a);
    if (status != MZ_EXIT_DONE) return status;
    if (a->ids && !mz_cli_get_ids(a->ids, &ids, &n_ids, &status)) return status;
    status = MZ_EXIT_FAILED;
    if (a->file && !mz_cli_read_file(a->file, PROMPT_LIMIT, &file, &n_text)) goto out;

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
    status = ids || a->prompt || a->file ? answer_once(&g, a->file ? file : a->prompt, n_text, ids, n_ids, load_ms) : mz_cli_chat(&g);
out:
    mz_cli_generator_free(&g);
    mz_engine_close(e);
    free(file);
    free(ids);
    return status;
}
