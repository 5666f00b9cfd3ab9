/* SPDX-License-Identifier: Apache-2.0
 * Opening and closing an engine. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/workers.h"
#include "rt/engine_int.h"
#include "prog/kv_name.h"
#include "text/text.h"

#define MAX_THREADS  1024
#define MAX_SESSIONS 4096

mz_engine_options mz_engine_options_default(void)
{
    return (mz_engine_options){.kv = "f16"};
}

static mz_status settle_options(mz_engine *e, mz_kv_type *kv, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_engine_options *o = &e->o;
    MZ_TRY(mz_kv_type_find(o->kv, kv, err));
    e->type = mz_exec_find(o->executor);
    if (!e->type) MZ_FAIL(MZ_EINVAL, err, "executor '%s' is not known; expected workers or reference", o->executor);
    if (o->n_thread < 0 || o->n_thread > MAX_THREADS)
        MZ_FAIL(MZ_EINVAL, err, "%d threads asked for, expected 1 to %d", o->n_thread, MAX_THREADS);
    if (o->n_thread == 0) o->n_thread = mz_cpu_count();
    if (o->n_session < 0 || o->n_session > MAX_SESSIONS)
        MZ_FAIL(MZ_EINVAL, err, "%d sessions asked for, expected 1 to %d", o->n_session, MAX_SESSIONS);
    if (o->n_session == 0) o->n_session = 1;
    if (o->chunk_tok < 0 || o->chunk_tok > 65536)
        MZ_FAIL(MZ_EINVAL, err, "chunk of %lld tokens asked for, expected 1 to 65536", (long long)o->chunk_tok);
    if (o->ctx_tok < 0 || o->ctx_tok > INT32_MAX)
        MZ_FAIL(MZ_EINVAL, err, "context of %lld tokens asked for, expected 1 to %d", (long long)o->ctx_tok, INT32_MAX);
    bool reference = mz_exec_is_reference(e->type);
    if (reference && o->isa && strcmp(o->isa, "ref") != 0)
        MZ_FAIL(MZ_EINVAL, err, "the reference executor runs reference kernels, so --isa %s cannot be used with it", o->isa);
    if (reference) o->n_thread = 1;
    MZ_TRY(mz_kern_get(reference ? "ref" : o->isa, &e->kern, err));
out:
    return st;
}

/* Total bytes with a context of ctx tokens; false when it does not fit a size_t. */
static bool total_bytes(const mz_engine *e, int64_t ctx, uint64_t *out)
{
    size_t pages = (size_t)((ctx + MZ_PAGE_TOK - 1) / MZ_PAGE_TOK) * (size_t)e->o.n_session, state, sum;
    if (!mz_mul_size(pages, e->layout.page_bytes, &state) || !mz_add_size(state, e->buffer_bytes, &sum) ||
        !mz_add_size(sum, (size_t)e->weights.resident_bytes, &sum))
        return false;
    *out = sum;
    return true;
}

/* Chooses the context. A stated one must fit the budget; the default shrinks to it. */
static mz_status settle_context(mz_engine *e, mz_err *err)
{
    mz_engine_options *o = &e->o;
    bool stated = o->ctx_tok > 0;
    uint64_t need = 0;
    if (!stated) o->ctx_tok = e->m->ctx_tok;
    if (o->memory_bytes == 0) return MZ_OK;
    bool fits = total_bytes(e, o->ctx_tok, &need) && need <= o->memory_bytes;
    if (fits) return MZ_OK;
    uint64_t fixed = e->weights.resident_bytes + e->buffer_bytes, per_page = e->layout.page_bytes * (uint64_t)o->n_session;
    int64_t most = o->memory_bytes > fixed ? (int64_t)((o->memory_bytes - fixed) / per_page) * MZ_PAGE_TOK : 0;
    if (most > o->ctx_tok) most = o->ctx_tok;
    if (!stated && most > 0) {
        o->ctx_tok = most;
        return MZ_OK;
    }
    if (most > 0)
        return mz_err_set(err, MZ_ENOMEM, "a context of %lld tokens needs %llu bytes, the limit is %llu; %lld tokens would fit (-c)",
                          (long long)o->ctx_tok, (unsigned long long)need, (unsigned long long)o->memory_bytes, (long long)most);
    return mz_err_set(err, MZ_ENOMEM, "weights (%llu bytes) and buffers (%zu bytes) leave no room for state within the limit of %llu bytes",
                      (unsigned long long)e->weights.resident_bytes, e->buffer_bytes, (unsigned long long)o->memory_bytes);
}

int64_t mz_chunk_choose(const mz_prog *p, const mz_kern *k)
{
    mz_exec_config c = {p, k, 1, 1, 1};
    size_t one = 0, all;
    int64_t chunk = MZ_DEFAULT_CHUNK_TOK;
    if (!mz_exec_bytes(&c, &one)) return MZ_LEAST_CHUNK_TOK; /* opening fails at its own buffers */
    for (; chunk > MZ_LEAST_CHUNK_TOK; chunk /= 2) {
        c.max_row = chunk;
        if (mz_exec_bytes(&c, &all) && all - one <= MZ_CHUNK_BYTES) break;
    }
    return chunk;
}

static mz_status make_executor(mz_engine *e, mz_exec_config *c, mz_err *err)
{
    mz_status st = MZ_OK;
    int64_t n_page;
    MZ_TRY(e->type->create(c, &e->exec, err));
    e->page_per_session = (e->o.ctx_tok + MZ_PAGE_TOK - 1) / MZ_PAGE_TOK;
    n_page = e->page_per_session * e->o.n_session;
    MZ_TRY(mz_pool_init(e->layout.page_bytes, n_page, &e->pool, err));
    e->token = mz_calloc((size_t)e->max_row, sizeof *e->token);
    e->row_run = mz_calloc((size_t)e->max_row, sizeof *e->row_run);
    e->run = mz_calloc((size_t)e->o.n_session, sizeof *e->run);
    e->logit_row = mz_calloc((size_t)e->max_logit, sizeof *e->logit_row);
    if (!e->token || !e->row_run || !e->run || !e->logit_row) MZ_FAIL(MZ_ENOMEM, err, "out of memory while opening the model");
    e->step = (mz_step_view){
        .token = e->token, .row_run = e->row_run, .run = e->run, .logit_row = e->logit_row, .pool = e->pool.data, .layout = &e->layout};
out:
    return st;
}

/* A large vocabulary takes as long to index as small weights to repack, so the two go on side by side. */
typedef struct text_job {
    mz_engine *e;
    pthread_t thread;
    bool is_apart; /* runs on its thread, to be joined */
    mz_status st;
    mz_err err;
} text_job;

static void *open_text(void *arg)
{
    text_job *j = arg;
    j->st = mz_text_from_gguf(j->e->g, &j->e->text, &j->err);
    return NULL;
}

static void start_text(text_job *j, mz_engine *e)
{
    sigset_t all, old;
    *j = (text_job){.e = e};
    if (e->o.n_thread > 1) {
        sigfillset(&all); /* signals belong to the program's own threads */
        (void)pthread_sigmask(SIG_SETMASK, &all, &old);
        j->is_apart = pthread_create(&j->thread, NULL, open_text, j) == 0;
        (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
        if (!j->is_apart) j->st = mz_err_set(&j->err, MZ_ENOMEM, "cannot start a thread for the tokenizer; use --threads 1");
        return;
    }
    (void)open_text(j);
}

/* A tokenizer that mizan does not know leaves a model that still runs on ids; mz_text_open says what is wrong. */
static mz_status end_text(text_job *j, mz_err *err)
{
    if (j->is_apart) (void)pthread_join(j->thread, NULL);
    j->is_apart = false;
    if (j->st == MZ_OK || j->st == MZ_ESUPPORT) return MZ_OK;
    if (err) *err = j->err;
    return j->st;
}

static mz_status open_parts(mz_engine *e, mz_kv_type kv, mz_err *err)
{
    mz_status st = MZ_OK;
    text_job text = {0};
    MZ_TRY(mz_model_build(e->g, e->o.taps, &e->m, err));
    start_text(&text, e);
    if (!text.is_apart) MZ_TRY(end_text(&text, err));
    MZ_TRY(mz_state_layout_make(e->m->prog, kv, &e->layout, err));
    if (e->o.chunk_tok == 0) e->o.chunk_tok = mz_chunk_choose(e->m->prog, e->kern);
    e->max_row = e->o.chunk_tok > e->o.n_session ? e->o.chunk_tok : e->o.n_session;
    e->max_logit = e->max_row < MZ_LOGIT_ROWS ? e->max_row : MZ_LOGIT_ROWS;
    if (e->max_logit < e->o.n_session) e->max_logit = e->o.n_session;
    mz_exec_config c = {e->m->prog, e->kern, e->o.n_thread, e->max_row, e->max_logit};
    if (!mz_exec_bytes(&c, &e->buffer_bytes)) MZ_FAIL(MZ_ENOMEM, err, "the buffers do not fit the address space; use a smaller --chunk");
    MZ_TRY(mz_weights_measure(e->g, e->m->prog, e->kern, &e->weights, err));
    MZ_TRY(settle_context(e, err));
    MZ_TRY(mz_weights_load(e->g, e->m->prog, e->kern, e->o.n_thread, &e->weights, e->o.progress, e->o.progress_user, err));
    MZ_TRY(end_text(&text, err));
    MZ_TRY(make_executor(e, &c, err));
out:
    if (text.is_apart) (void)pthread_join(text.thread, NULL);
    return st;
}

mz_status mz_engine_open(const char *model_path, const mz_engine_options *options, mz_engine **out, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_kv_type kv;
    *out = NULL;
    mz_engine *e = mz_calloc(1, sizeof *e);
    if (!e) MZ_FAIL(MZ_ENOMEM, err, "out of memory while opening %s", model_path);
    e->o = options ? *options : mz_engine_options_default();
    MZ_TRY(settle_options(e, &kv, err));
    MZ_TRY(mz_gguf_open(model_path, &e->g, err));
    st = open_parts(e, kv, err);
    if (st != MZ_OK) {
        mz_err_prefix(err, model_path);
        goto out;
    }
    *out = e;
    e = NULL;
out:
    mz_engine_close(e);
    return st;
}

void mz_engine_close(mz_engine *e)
{
    if (!e) return;
    if (e->type) e->type->destroy(e->exec);
    mz_free(e->token);
    mz_free(e->row_run);
    mz_free(e->run);
    mz_free(e->logit_row);
    mz_pool_free(&e->pool);
    mz_weights_free(&e->weights);
    mz_state_layout_free(&e->layout);
    mz_text_close(e->text);
    mz_model_free(e->m);
    mz_gguf_close(e->g);
    mz_free(e);
}

mz_engine_info mz_engine_get_info(const mz_engine *e)
{
    return (mz_engine_info){.family = e->m->family,
                            .isa = e->kern->name,
                            .executor = e->type->name,
                            .kv = mz_kv_type_name(e->layout.kv),
                            .n_thread = e->o.n_thread,
                            .n_vocab = (int32_t)e->m->n_vocab,
                            .ctx_tok = e->o.ctx_tok,
                            .model_ctx_tok = e->m->ctx_tok,
                            .chunk_tok = e->o.chunk_tok,
                            .weight_bytes = e->weights.resident_bytes,
                            .weight_step_bytes = e->weights.step_bytes,
                            .state_bytes_per_tok = e->layout.bytes_per_tok,
                            .state_pool_bytes = e->pool.bytes,
                            .buffer_bytes = e->buffer_bytes,
                            .flop_per_tok = e->weights.flop_per_tok};
}

const mz_text *mz_engine_text(const mz_engine *e)
{
    return e->text;
}
