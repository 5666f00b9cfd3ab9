/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Enough of the prompt's end to see whether its template opened the reasoning. */
#define PROMPT_END 64

int mz_cli_generator_init(mz_cli_generator *g, mz_engine *e, const mz_cli_args *a)
{
    mz_err err = {0};
    *g = (mz_cli_generator){.engine = e, .text = mz_engine_text(e), .args = a};
    g->bias = mz_cli_alloc(a->logit_bias.n, sizeof *g->bias);
    for (size_t i = 0; i < a->logit_bias.n; i++) {
        char message[MZ_CLI_MESSAGE_BYTES];
        if (!mz_cli_parse_bias(a->logit_bias.v[i], &g->bias[i].id, &g->bias[i].value, message)) return mz_cli_usage("%s", message);
    }
    mz_cli_generator_set(g);
    if (mz_session_create(e, &g->session, &err) != MZ_OK) return mz_cli_fail_err(&err);
    return MZ_EXIT_DONE;
}

void mz_cli_generator_set(mz_cli_generator *g)
{
    const mz_cli_args *a = g->args;
    mz_sample_options *s = &g->sample;
    *s = mz_sample_options_default();
    s->temp = (float)a->temp;
    s->top_k = (int32_t)a->top_k;
    s->top_p = (float)a->top_p;
    s->min_p = (float)a->min_p;
    s->repeat_penalty = (float)a->repeat_penalty;
    s->repeat_last_n = (int32_t)a->repeat_last_n;
    s->presence_penalty = (float)a->presence_penalty;
    s->frequency_penalty = (float)a->frequency_penalty;
    s->seed = a->seed;
    s->bias = g->bias;
    s->n_bias = a->logit_bias.n;
}

void mz_cli_generator_free(mz_cli_generator *g)
{
    mz_session_close(g->session);
    free(g->bias);
    *g = (mz_cli_generator){0};
}

/* A JSON number, or null for a token that cannot occur. */
static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static bool add_logprobs(json_t *list, const float *logits, int32_t n_vocab, int32_t id, int32_t k)
{
    double logprob, *top = mz_cli_alloc((size_t)k, sizeof *top);
    int32_t *top_ids = mz_cli_alloc((size_t)k, sizeof *top_ids);
    mz_logprobs(logits, n_vocab, id, &logprob, k, top_ids, top);
    json_t *tops = json_array();
    bool ok = tops != NULL;
    for (int32_t i = 0; ok && i < k && top_ids[i] >= 0; i++)
        ok = json_array_append_new(tops, json_pack("[i,o]", top_ids[i], number(top[i]))) == 0;
    ok = json_array_append_new(list, json_pack("{s:i,s:o,s:o}", "id", id, "logprob", number(logprob), "top", tops)) == 0 && ok;
    free(top);
    free(top_ids);
    return ok;
}

static void emit(const mz_cli_generator *g, const char *delta, size_t n)
{
    if (g->screen && n > 0) mz_screen_add(g->screen, delta, n);
}

static mz_status decode(mz_cli_generator *g, mz_sampler *sampler, mz_cli_answer *r, mz_err *err)
{
    const mz_engine_info info = mz_engine_get_info(g->engine);
    int64_t n_max = g->args->n_max;
    int32_t k = g->args->logprobs > info.n_vocab ? info.n_vocab : (int32_t)g->args->logprobs;
    const char *delta;
    size_t n;
    mz_status st = MZ_OK;
    if (n_max == 0) r->finish = MZ_FINISH_LENGTH;
    for (uint64_t i_out = 0; r->finish == MZ_FINISH_NONE; i_out++) {
        int32_t id = 0;
        if ((g->cancel && *g->cancel) || mz_cli_out_failed()) break;
        const float *logits = mz_session_logits(g->session);
        if ((st = mz_sampler_pick(sampler, logits, i_out, &id, err)) != MZ_OK) return st;
        if ((st = mz_answer_add(r->answer, id, &delta, &n, &r->finish, err)) != MZ_OK) return st;
        emit(g, delta, n);
        size_t n_ids;
        (void)mz_answer_ids(r->answer, &n_ids);
        if (r->logprobs && n_ids > r->n_generated && !add_logprobs(r->logprobs, logits, info.n_vocab, id, k)) {
            *err = (mz_err){.status = MZ_ENOMEM, .text = "out of memory"};
            return MZ_ENOMEM;
        }
        r->n_generated = n_ids;
        if (r->finish != MZ_FINISH_NONE) break;
        if ((int64_t)mz_session_len(g->session) >= info.ctx_tok) {
            r->finish = MZ_FINISH_LENGTH;
            break;
        }
        if ((st = mz_step(g->engine, &g->session, &id, 1, err)) != MZ_OK) return st;
    }
    if ((st = mz_answer_flush(r->answer, &delta, &n, err)) != MZ_OK) return st;
    emit(g, delta, n);
    return MZ_OK;
}

mz_status mz_cli_generate(mz_cli_generator *g, const int32_t *ids, size_t n, mz_cli_answer *out, mz_err *err)
{
    const mz_cli_args *a = g->args;
    mz_sampler *sampler = NULL;
    *out = (mz_cli_answer){.n_prompt = n};
    mz_answer_options o = {.n_max = a->n_max, .stop = a->stop.v, .n_stop = a->stop.n, .ignore_eos = a->ignore_eos};
    mz_status st = mz_answer_create(g->text, &o, &out->answer, err);
    if (st == MZ_OK) st = mz_sampler_create(&g->sample, mz_engine_get_info(g->engine).n_vocab, &sampler, err);
    if (st == MZ_OK && a->logprobs >= 0) {
        out->logprobs = json_array();
        if (!out->logprobs) {
            *err = (mz_err){.status = MZ_ENOMEM, .text = "out of memory"};
            st = MZ_ENOMEM;
        }
    }
    if (st == MZ_OK && g->screen) {
        char end[PROMPT_END];
        mz_screen_begin(g->screen, end, mz_cli_prompt_end(g->text, ids, n, end, sizeof end));
    }
    double t0 = mz_cli_now_ms();
    if (st == MZ_OK) st = mz_session_sync(g->session, ids, n, &out->n_cached, err);
    if (st == MZ_OK) st = mz_sampler_prime(sampler, ids, n, err);
    double t1 = mz_cli_now_ms();
    out->prefill_ms = t1 - t0;
    if (st == MZ_OK) st = decode(g, sampler, out, err);
    out->decode_ms = mz_cli_now_ms() - t1;
    mz_sampler_free(sampler);
    return st;
}

void mz_cli_answer_free(mz_cli_answer *r)
{
    mz_answer_free(r->answer);
    json_decref(r->logprobs);
    *r = (mz_cli_answer){0};
}

void mz_cli_answer_report(const mz_cli_answer *r)
{
    size_t n = r->n_prompt - r->n_cached;
    (void)fprintf(stderr, "prompt %zu tokens (%zu cached) in %.0f ms, %.1f tokens/s; answer %zu tokens in %.0f ms, %.1f tokens/s\n",
                  r->n_prompt, r->n_cached, r->prefill_ms, r->prefill_ms > 0 ? (double)n / r->prefill_ms * 1e3 : 0, r->n_generated,
                  r->decode_ms, r->decode_ms > 0 ? (double)r->n_generated / r->decode_ms * 1e3 : 0);
}

size_t mz_cli_prompt_end(const mz_text *t, const int32_t *ids, size_t n, char *out, size_t room)
{
    size_t used = 0, first = n;
    if (!t) return 0;
    while (first > 0) {
        size_t len = 0;
        const char *piece = mz_text_piece(t, ids[first - 1], true, &len);
        if (piece && len > room - used) break;
        if (piece) used += len;
        first--;
    }
    for (size_t at = 0; first < n; first++) {
        size_t len = 0;
        const char *piece = mz_text_piece(t, ids[first], true, &len);
        if (piece) memcpy(out + at, piece, len);
        at += piece ? len : 0;
    }
    return used;
}
