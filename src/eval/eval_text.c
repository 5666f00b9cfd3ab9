/* SPDX-License-Identifier: Apache-2.0
 *
 * eval_text.c: perplexity of a text and KL divergence from a reference, window by window. The reference's logits of
 * one window are held in memory, or read from a mapped file; nothing else grows with the text but one number a position. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <mizan/eval.h>

#include "base/err.h"
#include "base/fmath.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "eval/divergence.h"
#include "eval/npy_map.h"
#include "text/text.h"

typedef struct windows { /* the text's ids and how they are cut */
    int32_t *ids;        /* of the whole text, without BOS */
    size_t n_ids;
    int32_t bos; /* -1: none is put in front */
    int64_t ctx;
    int64_t n_window, n_pos, n_scored; /* over all windows */
} windows;

typedef struct scorer {
    int32_t n_vocab;
    const int32_t *ids; /* of this window */
    int64_t len;
    double nll_sum;
    double *kl; /* [n_scored]; NULL: no reference */
    int64_t n_scored, n_same_top;
    double *e_model, *e_ref; /* [n_vocab] */
    /* the reference: either rows in memory or a file */
    float *ref_rows; /* [ctx, n_vocab] */
    float *ref_row;  /* [n_vocab] of the file */
    const mz_npy_map *file;
    int64_t file_row0; /* of this window's first position */
} scorer;

static mz_status keep_row(void *user, int64_t row0, int64_t n_row, int64_t width, const float *rows, mz_err *err)
{
    scorer *s = user;
    (void)err;
    memcpy(s->ref_rows + row0 * width, rows, (size_t)(n_row * width) * sizeof *rows);
    return MZ_OK;
}

static const float *reference_row(scorer *s, int64_t pos)
{
    if (!s->file) return s->ref_rows + pos * s->n_vocab;
    mz_npy_map_row(s->file, s->file_row0 + pos, s->ref_row);
    return s->ref_row;
}

static mz_status score_row(scorer *s, int64_t pos, const float *x, mz_err *err)
{
    mz_status st = MZ_OK;
    double max_x, max_r;
    int32_t top_x, top_r;
    double sum_x = mz_exp_row(x, s->n_vocab, s->e_model, &max_x, &top_x);
    if (!isfinite(sum_x)) MZ_FAIL(MZ_ERANGE, err, "the model's logits at position %lld of a window are not finite", (long long)pos);
    s->nll_sum += mz_row_nll(x, s->ids[pos + 1], sum_x, max_x);
    if (s->kl) {
        const float *r = reference_row(s, pos);
        double sum_r = mz_exp_row(r, s->n_vocab, s->e_ref, &max_r, &top_r);
        if (!isfinite(sum_r)) MZ_FAIL(MZ_ERANGE, err, "the reference's logits at position %lld of a window are not finite", (long long)pos);
        s->kl[s->n_scored] = mz_row_kl(r, s->e_ref, sum_r, max_r, x, sum_x, max_x, s->n_vocab);
        s->n_same_top += top_x == top_r;
    }
    s->n_scored++;
out:
    return st;
}

static mz_status score_rows(void *user, int64_t row0, int64_t n_row, int64_t width, const float *rows, mz_err *err)
{
    scorer *s = user;
    mz_status st = MZ_OK;
    for (int64_t i = 0; i < n_row && row0 + i + 1 < s->len; i++) MZ_TRY(score_row(s, row0 + i, rows + i * width, err));
out:
    return st;
}

static int64_t window_len(const windows *w, int64_t i)
{
    int64_t has_bos = w->bos >= 0, body = w->ctx - has_bos, left = (int64_t)w->n_ids - i * body;
    return (left < body ? left : body) + has_bos;
}

static mz_status cut_windows(const mz_text *t, const char *text, size_t n, int64_t ctx, windows *w, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_tokenizer *tok = mz_text_tokenizer(t);
    w->ctx = ctx;
    w->bos = mz_tokenizer_adds_bos(tok) ? mz_tokenizer_bos(tok) : -1;
    if (ctx < 2 + (w->bos >= 0)) MZ_FAIL(MZ_EINVAL, err, "a window of %lld tokens is too short to score anything", (long long)ctx);
    MZ_TRY(mz_text_encode(t, text, n, 0, &w->ids, &w->n_ids, err));
    int64_t body = ctx - (w->bos >= 0);
    w->n_window = ((int64_t)w->n_ids + body - 1) / body;
    for (int64_t i = 0; i < w->n_window; i++) {
        w->n_pos += window_len(w, i);
        w->n_scored += window_len(w, i) - 1;
    }
    if (w->n_scored < 1) MZ_FAIL(MZ_EINVAL, err, "the text has %zu tokens, at least 2 are needed to score one", w->n_ids);
out:
    return st;
}

/* A file of reference logits holds a row for every position of every window, or only for those that are scored. */
static mz_status open_reference(const char *path, const windows *w, int32_t n_vocab, mz_npy_map *file, bool *all_rows, mz_err *err)
{
    mz_status st = MZ_OK;
    MZ_TRY(mz_npy_map_open(path, file, err));
    if (file->n_col != n_vocab)
        MZ_FAIL(MZ_EINVAL, err, "%s: has %lld logits a row, the model's vocabulary has %d", path, (long long)file->n_col, n_vocab);
    *all_rows = file->n_row == w->n_pos;
    if (!*all_rows && file->n_row != w->n_scored)
        MZ_FAIL(MZ_EINVAL, err, "%s: has %lld rows, the text in windows of %lld has %lld positions, %lld of them scored", path,
                (long long)file->n_row, (long long)w->ctx, (long long)w->n_pos, (long long)w->n_scored);
out:
    return st;
}

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static json_t *real_or_null(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *kl_json(double *kl, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += kl[i];
    qsort(kl, n, sizeof *kl, compare_double);
    return json_pack("{s:o,s:o,s:o,s:o,s:o}", "mean", real_or_null(sum / (double)n), "median", real_or_null(mz_quantile(kl, n, 0.5)), "p99",
                     real_or_null(mz_quantile(kl, n, 0.99)), "p999", real_or_null(mz_quantile(kl, n, 0.999)), "max",
                     real_or_null(kl[n - 1]));
}

static mz_status make_json(const windows *w, scorer *s, char **json, mz_err *err)
{
    double nll = s->nll_sum / (double)s->n_scored;
    json_t *doc = json_pack("{s:I,s:o,s:o,s:I,s:I}", "tokens", (json_int_t)s->n_scored, "perplexity", real_or_null(mz_exp(nll)), "nll",
                            real_or_null(nll), "windows", (json_int_t)w->n_window, "ctx", (json_int_t)w->ctx);
    if (doc && s->kl) {
        (void)json_object_set_new(doc, "kl", kl_json(s->kl, (size_t)s->n_scored));
        (void)json_object_set_new(doc, "top1_agreement", json_real((double)s->n_same_top / (double)s->n_scored));
    }
    *json = mz_json_text(doc, JSON_REAL_PRECISION(12));
    json_decref(doc);
    return *json ? MZ_OK : mz_err_set(err, MZ_ENOMEM, "out of memory for the result");
}

static mz_status allocate(scorer *s, const mz_eval_text_options *o, const windows *w, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t v = (size_t)s->n_vocab, n_ref;
    s->e_model = mz_calloc(v, sizeof *s->e_model);
    if (!s->e_model) MZ_FAIL(MZ_ENOMEM, err, "out of memory for the scores");
    if (!o->against && !o->against_logits) goto out;
    s->e_ref = mz_calloc(v, sizeof *s->e_ref);
    s->ref_row = mz_calloc(v, sizeof *s->ref_row);
    s->kl = mz_calloc((size_t)w->n_scored, sizeof *s->kl);
    if (!s->e_ref || !s->ref_row || !s->kl) MZ_FAIL(MZ_ENOMEM, err, "out of memory for the scores");
    if (!o->against) goto out;
    if (mz_mul_size((size_t)w->ctx, v, &n_ref)) s->ref_rows = mz_calloc(n_ref, sizeof *s->ref_rows);
    if (!s->ref_rows)
        MZ_FAIL(MZ_ENOMEM, err, "out of memory for the reference logits of a window of %lld tokens; use a smaller one (-c)",
                (long long)w->ctx);
out:
    return st;
}

static mz_status score_windows(mz_session *model, mz_session *ref, const windows *w, scorer *s, bool all_rows,
                               const mz_eval_text_options *o, mz_err *err)
{
    mz_status st = MZ_OK;
    int64_t has_bos = w->bos >= 0, body = w->ctx - has_bos;
    int32_t *ids = mz_calloc((size_t)w->ctx, sizeof *ids);
    if (!ids) MZ_FAIL(MZ_ENOMEM, err, "out of memory for a window");
    for (int64_t i = 0; i < w->n_window; i++) {
        s->ids = ids;
        s->len = window_len(w, i);
        if (has_bos) ids[0] = w->bos;
        memcpy(ids + has_bos, w->ids + i * body, (size_t)(s->len - has_bos) * sizeof *ids);
        if (s->len > 1) {
            if (ref) MZ_TRY(mz_session_score(ref, ids, (size_t)s->len, keep_row, s, NULL, NULL, err));
            MZ_TRY(mz_session_score(model, ids, (size_t)s->len, score_rows, s, NULL, NULL, err));
        }
        s->file_row0 += all_rows ? s->len : s->len - 1;
        if (o->progress) o->progress(o->progress_user, (uint64_t)s->n_scored, (uint64_t)w->n_scored);
    }
out:
    mz_free(ids);
    return st;
}

mz_status mz_eval_text(mz_engine *e, const char *text, size_t n, const mz_eval_text_options *o, char **json, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_session *model = NULL, *ref = NULL;
    windows w = {0};
    mz_npy_map file = {0};
    bool all_rows = false;
    mz_engine_info info = mz_engine_get_info(e);
    scorer s = {.n_vocab = info.n_vocab};
    int64_t ctx = o->ctx_tok > 0 ? o->ctx_tok : 512;
    const mz_text *t = mz_engine_text(e);
    *json = NULL;
    if (!t) MZ_FAIL(MZ_EINVAL, err, "the model has no tokenizer, so a text cannot be scored");
    if (o->against && o->against_logits) MZ_FAIL(MZ_EINVAL, err, "two references given, expected at most one");
    if (ctx > info.ctx_tok)
        MZ_FAIL(MZ_EINVAL, err, "a window of %lld tokens passes the context of %lld", (long long)ctx, (long long)info.ctx_tok);
    if (o->against) {
        mz_engine_info r = mz_engine_get_info(o->against);
        if (r.n_vocab != info.n_vocab)
            MZ_FAIL(MZ_EINVAL, err, "the reference has a vocabulary of %d tokens, the model of %d", r.n_vocab, info.n_vocab);
        if (ctx > r.ctx_tok)
            MZ_FAIL(MZ_EINVAL, err, "a window of %lld tokens passes the reference's context of %lld", (long long)ctx, (long long)r.ctx_tok);
    }
    MZ_TRY(cut_windows(t, text, n, ctx, &w, err));
    for (size_t i = 0; i < w.n_ids; i++)
        if (w.ids[i] >= info.n_vocab)
            MZ_FAIL(MZ_EFORMAT, err, "the tokenizer gives token %d, the model has only %d", w.ids[i], info.n_vocab);
    if (o->against_logits) {
        MZ_TRY(open_reference(o->against_logits, &w, info.n_vocab, &file, &all_rows, err));
        s.file = &file;
    }
    MZ_TRY(allocate(&s, o, &w, err));
    MZ_TRY(mz_session_create(e, &model, err));
    if (o->against) MZ_TRY(mz_session_create(o->against, &ref, err));
    MZ_TRY(score_windows(model, ref, &w, &s, all_rows, o, err));
    MZ_TRY(make_json(&w, &s, json, err));
out:
    mz_session_close(ref);
    mz_session_close(model);
    mz_npy_map_close(&file);
    mz_text_release(w.ids);
    mz_free(s.e_model);
    mz_free(s.e_ref);
    mz_free(s.ref_row);
    mz_free(s.ref_rows);
    mz_free(s.kl);
    return st;
}
