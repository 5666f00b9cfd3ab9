/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <string.h>

#include "chat_prompt.h"
#include "template.h"
#include "utf8.h"

struct mz_text {
    mz_tokenizer *tok;
    char *source; /* of the template; NULL: none */
    size_t n_source;
    mz_template *tmpl; /* NULL: none, or it does not parse */
    mz_err tmpl_err;   /* why not: a broken template must not keep a model from continuing plain text */
};

mz_status mz_text_from_gguf(const mz_gguf *g, mz_text **out, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_text *t = mz_calloc(1, sizeof *t);
    mz_str source = {NULL, 0};
    *out = NULL;
    if (!t) MZ_FAIL(MZ_ENOMEM, err, "no memory for a tokenizer");
    MZ_TRY(mz_tokenizer_from_gguf(g, &t->tok, err));
    if (!t->tok) goto out;
    MZ_TRY(mz_gguf_get_str(g, "tokenizer.chat_template", false, &source, err));
    if (source.n) {
        t->source = mz_strndup(source.s, source.n);
        if (!t->source) MZ_FAIL(MZ_ENOMEM, err, "no memory for the chat template");
        t->n_source = source.n;
        mz_status parsed = mz_template_parse(t->source, t->n_source, &t->tmpl, &t->tmpl_err);
        if (parsed == MZ_ENOMEM) MZ_FAIL(MZ_ENOMEM, err, "no memory for the chat template");
    }
    *out = t;
    t = NULL;
out:
    mz_text_close(t);
    return st;
}

mz_status mz_text_open(const char *model_path, mz_text **out, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_gguf *g = NULL;
    *out = NULL;
    MZ_TRY(mz_gguf_open(model_path, &g, err));
    st = mz_text_from_gguf(g, out, err);
    if (st == MZ_OK && !*out) st = mz_err_set(err, MZ_EINVAL, "the file carries no tokenizer; give token ids ('--ids') instead of text");
    if (st != MZ_OK) mz_err_prefix(err, model_path);
out:
    mz_gguf_close(g);
    return st;
}

void mz_text_close(mz_text *t)
{
    if (!t) return;
    mz_template_free(t->tmpl);
    mz_tokenizer_free(t->tok);
    mz_free(t->source);
    mz_free(t);
}

const mz_tokenizer *mz_text_tokenizer(const mz_text *t)
{
    return t->tok;
}

static unsigned encode_flags(unsigned flags)
{
    return (flags & MZ_TEXT_BOS ? MZ_ENCODE_BOS : 0u) | (flags & MZ_TEXT_SPECIAL ? MZ_ENCODE_SPECIAL : 0u);
}

/* Hands the buffer over as an array; an empty one becomes a valid pointer to nothing. */
static mz_status give_ids(mz_buf *b, int32_t **ids, size_t *n_ids, mz_err *err)
{
    mz_status st = MZ_OK;
    if (!b->data && !(b->data = mz_calloc(1, 1))) MZ_FAIL(MZ_ENOMEM, err, "no memory for the token ids");
    *ids = (int32_t *)(void *)b->data;
    *n_ids = b->len / sizeof **ids;
    *b = (mz_buf){0};
out:
    return st;
}

static mz_status give_bytes(mz_buf *b, char **bytes, size_t *n, mz_err *err)
{
    mz_status st = MZ_OK;
    if (!b->data && !(b->data = mz_calloc(1, 1))) MZ_FAIL(MZ_ENOMEM, err, "no memory for the text");
    *bytes = b->data;
    *n = b->len;
    *b = (mz_buf){0};
out:
    return st;
}

mz_status mz_text_encode(const mz_text *t, const char *text, size_t n, unsigned flags, int32_t **ids, size_t *n_ids, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_buf b = {0};
    *ids = NULL;
    *n_ids = 0;
    MZ_TRY(mz_tokenizer_encode(t->tok, text, n, encode_flags(flags), &b, err));
    MZ_TRY(give_ids(&b, ids, n_ids, err));
out:
    mz_buf_free(&b);
    return st;
}

mz_status mz_text_decode(const mz_text *t, const int32_t *ids, size_t n_ids, bool with_special, char **bytes, size_t *n, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_buf b = {0};
    *bytes = NULL;
    *n = 0;
    MZ_TRY(mz_tokenizer_decode(t->tok, ids, n_ids, with_special, &b, err));
    MZ_TRY(give_bytes(&b, bytes, n, err));
out:
    mz_buf_free(&b);
    return st;
}

static mz_status chat(const mz_text *t, const char *json, size_t n, unsigned flags, bool guarded, mz_chat *c, mz_err *err)
{
    mz_status st = MZ_OK;
    if (!t->source) MZ_FAIL(MZ_EINVAL, err, "the model has no chat template; continue plain text instead ('--raw')");
    if (!t->tmpl) MZ_FAIL(t->tmpl_err.status, err, "the model's chat template: %s", t->tmpl_err.text);
    MZ_TRY(mz_chat_render(t->tmpl, (mz_str){t->source, t->n_source}, t->tok, json, n, !(flags & MZ_TEXT_NO_GENERATION), guarded, c, err));
out:
    return st;
}

mz_status mz_text_render_chat(const mz_text *t, const char *json, size_t n, unsigned flags, char **out, size_t *n_out, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_chat c = {0};
    *out = NULL;
    *n_out = 0;
    MZ_TRY(chat(t, json, n, flags, false, &c, err));
    MZ_TRY(give_bytes(&c.text, out, n_out, err));
out:
    mz_chat_done(&c);
    return st;
}

static bool starts_with_bos(const mz_text *t, const mz_chat *c)
{
    mz_str bos = mz_tokenizer_written(t->tok, mz_tokenizer_bos(t->tok));
    if (c->n_guard && c->guard[0] == 0) return false;
    return c->text.len >= bos.n && bos.n > 0 && memcmp(c->text.data, bos.s, bos.n) == 0;
}

mz_status mz_text_encode_chat(const mz_text *t, const char *json, size_t n, unsigned flags, int32_t **ids, size_t *n_ids, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_chat c = {0};
    mz_buf b = {0};
    *ids = NULL;
    *n_ids = 0;
    MZ_TRY(chat(t, json, n, flags, true, &c, err));
    if (flags & MZ_TEXT_BOS && mz_tokenizer_adds_bos(t->tok) && !starts_with_bos(t, &c)) {
        int32_t bos = mz_tokenizer_bos(t->tok);
        if (!mz_buf_add(&b, &bos, sizeof bos)) MZ_FAIL(MZ_ENOMEM, err, "no memory for the token ids");
    }
    MZ_TRY(mz_tokenizer_encode_guarded(t->tok, c.text.data ? c.text.data : "", c.text.len, MZ_ENCODE_SPECIAL, c.guard, c.n_guard, &b, err));
    MZ_TRY(give_ids(&b, ids, n_ids, err));
out:
    mz_buf_free(&b);
    mz_chat_done(&c);
    return st;
}

bool mz_text_has_template(const mz_text *t)
{
    return t->source != NULL;
}

const char *mz_text_template_source(const mz_text *t, size_t *n)
{
    *n = t->n_source;
    return t->source;
}

int32_t mz_text_n_vocab(const mz_text *t)
{
    return mz_tokenizer_n_vocab(t->tok);
}

bool mz_text_is_stop(const mz_text *t, int32_t id)
{
    return mz_tokenizer_is_stop(t->tok, id);
}

const char *mz_text_piece(const mz_text *t, int32_t id, bool with_special, size_t *n)
{
    *n = 0;
    if (id < 0 || id >= mz_tokenizer_n_vocab(t->tok)) return NULL;
    mz_str s = mz_tokenizer_piece(t->tok, id, with_special);
    *n = s.n;
    return s.s;
}

const char *mz_text_tokenizer_name(const mz_text *t)
{
    return mz_tokenizer_model_name(t->tok);
}

void mz_text_release(void *p)
{
    mz_free(p);
}

_Static_assert(sizeof(mz_text_stream) == sizeof(mz_utf8_stream), "the public stream is the internal one");

size_t mz_text_stream_add(mz_text_stream *s, const char *bytes, size_t n, char *out)
{
    mz_utf8_stream u = {.n_held = s->n_held};
    memcpy(u.held, s->held, sizeof u.held);
    size_t written = mz_utf8_stream_add(&u, bytes, n, out);
    memcpy(s->held, u.held, sizeof s->held);
    s->n_held = u.n_held;
    return written;
}

size_t mz_text_stream_flush(mz_text_stream *s, char *out)
{
    size_t n = s->n_held;
    memcpy(out, s->held, n);
    s->n_held = 0;
    return n;
}
