/* SPDX-License-Identifier: Apache-2.0
 * Sessions: one token sequence and its state; the caller always names the whole sequence it wants. */
#include <string.h>

#include "rt/engine_int.h"

mz_status mz_session_create(mz_engine *e, mz_session **out, mz_err *err)
{
    mz_status st = MZ_OK;
    *out = NULL;
    mz_session *s = NULL;
    if (e->n_open >= e->o.n_session) MZ_FAIL(MZ_ENOMEM, err, "all %d sessions of the engine exist already", e->o.n_session);
    s = mz_calloc(1, sizeof *s);
    if (!s) MZ_FAIL(MZ_ENOMEM, err, "out of memory for a session");
    s->e = e;
    e->n_open++;
    s->ids = mz_reserve((size_t)e->o.ctx_tok * sizeof *s->ids);
    s->page = mz_calloc((size_t)e->page_per_session, sizeof *s->page);
    s->logits = mz_calloc_aligned((size_t)e->m->n_vocab * sizeof *s->logits);
    if (!s->ids || !s->page || !s->logits) MZ_FAIL(MZ_ENOMEM, err, "out of memory for a session");
    *out = s;
    s = NULL;
out:
    mz_session_close(s);
    return st;
}

/* Gives back the pages past the first n_tok tokens. */
static void trim_pages(mz_session *s, int64_t n_tok)
{
    int64_t keep = (n_tok + MZ_PAGE_TOK - 1) / MZ_PAGE_TOK;
    while (s->n_page > keep) s->e->pool.free_page[s->e->pool.n_free++] = s->page[--s->n_page];
}

/* Takes pages until n_tok tokens fit. The pool holds ctx_tok tokens for every session, so it cannot run out. */
static void take_pages(mz_session *s, int64_t n_tok)
{
    int64_t need = (n_tok + MZ_PAGE_TOK - 1) / MZ_PAGE_TOK;
    while (s->n_page < need) s->page[s->n_page++] = s->e->pool.free_page[--s->e->pool.n_free];
}

static void cut(mz_session *s, int64_t n_tok)
{
    s->len = n_tok;
    s->has_logits = false;
    trim_pages(s, n_tok);
}

void mz_session_close(mz_session *s)
{
    if (!s) return;
    trim_pages(s, 0);
    s->e->n_open--;
    mz_unreserve(s->ids, (size_t)s->e->o.ctx_tok * sizeof *s->ids);
    mz_free(s->page);
    mz_free(s->logits);
    mz_free(s);
}

static mz_status check_ids(const mz_engine *e, const int32_t *ids, size_t n, mz_err *err)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= e->m->n_vocab)
            return mz_err_set(err, MZ_EINVAL, "token id %d at position %zu is outside the vocabulary of %lld", ids[i], i,
                              (long long)e->m->n_vocab);
    return MZ_OK;
}

static mz_status check_fits(const mz_engine *e, size_t n, mz_err *err)
{
    if (n > (size_t)e->o.ctx_tok)
        return mz_err_set(err, MZ_ERANGE, "%zu tokens do not fit the context of %lld; use a larger one (-c)", n, (long long)e->o.ctx_tok);
    return MZ_OK;
}

/* Adds n rows of session s, which continue its sequence, to the step under assembly. */
static void add_run(mz_session *s, const int32_t *ids, int32_t n)
{
    mz_step_view *v = &s->e->step;
    take_pages(s, s->len + n);
    s->e->run[v->n_run] = (mz_run){.row0 = v->n_row, .n_row = n, .pos0 = s->len, .page = s->page};
    memcpy(s->e->token + v->n_row, ids, (size_t)n * sizeof *ids);
    for (int32_t i = 0; i < n; i++) s->e->row_run[v->n_row + i] = v->n_run;
    v->n_row += n;
    v->n_run++;
}

static void begin_step(mz_engine *e)
{
    e->step.n_row = e->step.n_run = e->step.n_logit = 0;
    e->step.tap = NULL;
}

/* After a step that went well: the session now holds n tokens more. */
static void advance(mz_session *s, const int32_t *ids, int32_t n)
{
    memcpy(s->ids + s->len, ids, (size_t)n * sizeof *ids);
    s->len += n;
}

static void keep_logits(mz_session *s, int64_t i)
{
    memcpy(s->logits, s->e->type->logits(s->e->exec, i), (size_t)s->e->m->n_vocab * sizeof *s->logits);
    s->has_logits = true;
}

/* Runs n rows of one session and asks for logits of the last n_logit of them; on failure the session stays as it was. */
static mz_status run_rows(mz_session *s, const int32_t *ids, int32_t n, int32_t n_logit, mz_tap_view_fn *tap, void *tap_user, mz_err *err)
{
    mz_engine *e = s->e;
    begin_step(e);
    e->step.tap = tap;
    e->step.tap_user = tap_user;
    add_run(s, ids, n);
    for (int32_t i = n - n_logit; i < n; i++) e->logit_row[e->step.n_logit++] = i;
    s->has_logits = false;
    mz_status st = e->type->run(e->exec, &e->step, err);
    if (st != MZ_OK) {
        trim_pages(s, s->len);
        return st;
    }
    advance(s, ids, n);
    if (n_logit > 0) keep_logits(s, n_logit - 1);
    return MZ_OK;
}

mz_status mz_session_sync(mz_session *s, const int32_t *ids, size_t n, size_t *n_cached, mz_err *err)
{
    mz_status st = MZ_OK;
    int64_t same = 0, want = (int64_t)n;
    if (n == 0) MZ_FAIL(MZ_EINVAL, err, "no tokens given, expected at least one");
    MZ_TRY(check_fits(s->e, n, err));
    MZ_TRY(check_ids(s->e, ids, n, err));
    while (same < s->len && same < want && s->ids[same] == ids[same]) same++;
    if (same == want && s->len == want && s->has_logits) {
        if (n_cached) *n_cached = n;
        goto out;
    }
    if (same == want) same--; /* the last token's logits are wanted and not at hand */
    cut(s, same);
    if (n_cached) *n_cached = (size_t)same;
    while (s->len < want) {
        if (s->cancel && *s->cancel) MZ_FAIL(MZ_ECANCEL, err, "cancelled after %lld of %lld tokens", (long long)s->len, (long long)want);
        int64_t left = want - s->len, rows = left < s->e->o.chunk_tok ? left : s->e->o.chunk_tok;
        MZ_TRY(run_rows(s, ids + s->len, (int32_t)rows, rows == left, NULL, NULL, err));
    }
out:
    return st;
}

mz_status mz_step(mz_engine *e, mz_session *const *sessions, const int32_t *ids, int n, mz_err *err)
{
    mz_status st = MZ_OK;
    bool assembled = false;
    if (n < 1 || n > e->o.n_session) MZ_FAIL(MZ_EINVAL, err, "a step of %d sessions asked for, expected 1 to %d", n, e->o.n_session);
    for (int i = 0; i < n; i++) {
        if (sessions[i]->e != e) MZ_FAIL(MZ_EINVAL, err, "session %d of the step belongs to another engine", i);
        for (int j = 0; j < i; j++)
            if (sessions[i] == sessions[j]) MZ_FAIL(MZ_EINVAL, err, "session %d appears twice in the step", i);
        MZ_TRY(check_fits(e, (size_t)sessions[i]->len + 1, err));
    }
    MZ_TRY(check_ids(e, ids, (size_t)n, err));
    begin_step(e);
    assembled = true;
    for (int i = 0; i < n; i++) {
        e->logit_row[e->step.n_logit++] = e->step.n_row;
        add_run(sessions[i], &ids[i], 1);
        sessions[i]->has_logits = false;
    }
    MZ_TRY(e->type->run(e->exec, &e->step, err));
    for (int i = 0; i < n; i++) {
        advance(sessions[i], &ids[i], 1);
        keep_logits(sessions[i], i);
    }
out:
    if (st != MZ_OK && assembled)
        for (int i = 0; i < n; i++) trim_pages(sessions[i], sessions[i]->len);
    return st;
}

mz_status mz_session_rewind(mz_session *s, size_t n_tok, mz_err *err)
{
    if (n_tok > (size_t)s->len)
        return mz_err_set(err, MZ_EINVAL, "cannot rewind to %zu tokens: the session holds %lld", n_tok, (long long)s->len);
    if ((int64_t)n_tok < s->len) cut(s, (int64_t)n_tok);
    return MZ_OK;
}

const float *mz_session_logits(const mz_session *s)
{
    return s->has_logits ? s->logits : NULL;
}

size_t mz_session_len(const mz_session *s)
{
    return (size_t)s->len;
}

const int32_t *mz_session_ids(const mz_session *s)
{
    return s->ids;
}

void mz_session_set_cancel(mz_session *s, const volatile int *flag)
{
    s->cancel = flag;
}

typedef struct score_tap {
    mz_tap_fn *fn;
    void *user;
    int64_t row0;
} score_tap;

static mz_status on_tap(void *user, int layer, const char *name, int64_t n_row, int64_t width, const float *rows, mz_err *err)
{
    const score_tap *t = user;
    return t->fn(t->user, layer, name, t->row0, n_row, width, rows, err);
}

mz_status mz_session_score(mz_session *s, const int32_t *ids, size_t n, mz_rows_fn *on_logits, void *logits_user, mz_tap_fn *on_tap_rows,
                           void *tap_user, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_engine *e = s->e;
    score_tap tap = {on_tap_rows, tap_user, 0};
    if (n == 0) MZ_FAIL(MZ_EINVAL, err, "no tokens given, expected at least one");
    if (on_tap_rows && !e->o.taps) MZ_FAIL(MZ_EINVAL, err, "the engine was opened without taps");
    MZ_TRY(check_fits(e, n, err));
    MZ_TRY(check_ids(e, ids, n, err));
    cut(s, 0);
    while (s->len < (int64_t)n) {
        int64_t left = (int64_t)n - s->len, rows = left < e->max_logit ? left : e->max_logit;
        if (rows > e->o.chunk_tok) rows = e->o.chunk_tok;
        if (s->cancel && *s->cancel) MZ_FAIL(MZ_ECANCEL, err, "cancelled after %lld of %zu tokens", (long long)s->len, n);
        tap.row0 = s->len;
        MZ_TRY(run_rows(s, ids + s->len, (int32_t)rows, (int32_t)rows, on_tap_rows ? on_tap : NULL, &tap, err));
        /* One by one: rows may be padded in the executor's buffer. */
        for (int64_t i = 0; i < rows && on_logits; i++)
            MZ_TRY(on_logits(logits_user, tap.row0 + i, 1, e->m->n_vocab, e->type->logits(e->exec, i), err));
    }
out:
    return st;
}
