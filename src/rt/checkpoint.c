/* SPDX-License-Identifier: Apache-2.0
 * What `inspect` shows: everything here reads the mapped file and loads nothing. */
#include <mizan/checkpoint.h>

#include <jansson.h>
#include <string.h>

#include "base/json_text.h"
#include "fmt/npy.h"
#include "model/model.h"
#include "rt/engine_int.h"
#include "prog/kv_name.h"
#include "text/text.h"

struct mz_checkpoint {
    mz_gguf *g;
    mz_model *m; /* NULL: cannot be run */
    mz_err why_not;
    char *path;
};

mz_status mz_checkpoint_open(const char *model_path, mz_checkpoint **out, mz_err *err)
{
    mz_status st = MZ_OK;
    *out = NULL;
    mz_checkpoint *c = mz_calloc(1, sizeof *c);
    if (!c || !(c->path = mz_strndup(model_path, strlen(model_path))))
        MZ_FAIL(MZ_ENOMEM, err, "out of memory while opening %s", model_path);
    MZ_TRY(mz_gguf_open(model_path, &c->g, err));
    if (mz_model_build(c->g, false, &c->m, &c->why_not) == MZ_ENOMEM) MZ_FAIL(MZ_ENOMEM, err, "out of memory while reading %s", model_path);
    *out = c;
    c = NULL;
out:
    mz_checkpoint_close(c);
    return st;
}

void mz_checkpoint_close(mz_checkpoint *c)
{
    if (!c) return;
    mz_model_free(c->m);
    mz_gguf_close(c->g);
    mz_free(c->path);
    mz_free(c);
}

size_t mz_checkpoint_n_tensor(const mz_checkpoint *c)
{
    return (size_t)c->g->n_tensor;
}

mz_tensor_info mz_checkpoint_tensor(const mz_checkpoint *c, size_t i)
{
    const mz_gguf_tensor *t = &c->g->tensor[i];
    mz_tensor_info info = {.name = t->name, .type = mz_dtype_get(t->type)->name, .n_dim = t->n_dim, .n_bytes = t->n_bytes};
    memcpy(info.dim, t->dim, sizeof info.dim);
    return info;
}

/* jansson refuses ill-formed UTF-8; such bytes of a file are shown as '?'. */
static json_t *json_bytes(mz_str s)
{
    json_t *j = json_stringn(s.s, s.n);
    if (j) return j;
    char *copy = mz_strndup(s.s, s.n);
    if (!copy) return NULL;
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)copy[i] >= 0x80) copy[i] = '?';
    j = json_stringn(copy, s.n);
    mz_free(copy);
    return j;
}

static int put_formats(json_t *root, const mz_gguf *g)
{
    uint64_t bytes[MZ_DTYPE_COUNT] = {0};
    json_t *formats = json_object();
    int bad = 0;
    for (uint64_t i = 0; i < g->n_tensor; i++) bytes[g->tensor[i].type] += g->tensor[i].n_bytes;
    for (uint32_t t = 0; t < MZ_DTYPE_COUNT; t++)
        if (bytes[t]) bad |= json_object_set_new(formats, mz_dtype_get(t)->name, json_integer((json_int_t)bytes[t]));
    return bad | json_object_set_new(root, "formats", formats);
}

static int put_text(json_t *root, const mz_gguf *g)
{
    mz_text *text = NULL;
    mz_err why = {0};
    mz_status st = mz_text_from_gguf(g, &text, &why);
    int bad = st == MZ_ENOMEM ? -1 : 0; /* a shortage now says nothing about the file */
    bad |= json_object_set_new(root, "tokenizer", text ? json_string(mz_text_tokenizer_name(text)) : json_null());
    if (st != MZ_OK) bad |= json_object_set_new(root, "tokenizer_error", json_string(why.text));
    bad |= json_object_set_new(root, "template", json_boolean(mz_gguf_find(g, "tokenizer.chat_template") != NULL));
    mz_text_close(text);
    return bad;
}

static int put_state(json_t *root, const mz_state_layout *l)
{
    json_t *by_kind = json_pack("{s:I}", "kv", (json_int_t)l->bytes_per_tok);
    json_t *state = json_pack("{s:I, s:I, s:o, s:s, s:i}", "bytes_per_token", (json_int_t)l->bytes_per_tok, "fixed_bytes", (json_int_t)0,
                              "by_kind", by_kind, "kv", mz_kv_type_name(l->kv), "page_tokens", MZ_PAGE_TOK);
    return json_object_set_new(root, "state", state);
}

/* What a session of `tokens` needs with this machine's kernels and one prefill chunk of the default size. */
static mz_status put_memory(json_t *root, const mz_checkpoint *c, const mz_state_layout *l, int64_t tokens, int *bad, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_weights w;
    const mz_kern *kern;
    size_t buffers, state;
    MZ_TRY(mz_kern_get(NULL, &kern, err));
    MZ_TRY(mz_weights_measure(c->g, c->m->prog, kern, &w, err));
    mz_exec_config config = {c->m->prog, kern, 1, mz_chunk_choose(c->m->prog, kern), MZ_LOGIT_ROWS};
    if (!mz_exec_bytes(&config, &buffers) || !mz_mul_size((size_t)((tokens + MZ_PAGE_TOK - 1) / MZ_PAGE_TOK), l->page_bytes, &state))
        MZ_FAIL(MZ_ERANGE, err, "a context of %lld tokens does not fit the address space", (long long)tokens);
    *bad |= json_object_set_new(root, "memory",
                                json_pack("{s:I, s:I, s:I, s:I, s:I}", "tokens", (json_int_t)tokens, "weight_bytes",
                                          (json_int_t)w.resident_bytes, "state_bytes", (json_int_t)state, "buffer_bytes",
                                          (json_int_t)buffers, "total_bytes", (json_int_t)(w.resident_bytes + state + buffers)));
out:
    return st;
}

static mz_status put_model(json_t *root, const mz_checkpoint *c, const char *kv, int64_t memory_tok, int *bad, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_kv_type type;
    mz_state_layout l = {0};
    MZ_TRY(mz_kv_type_find(kv, &type, err));
    *bad |= json_object_set_new(root, "runnable", json_boolean(c->m != NULL));
    if (!c->m) {
        *bad |= json_object_set_new(root, "reason", json_string(c->why_not.text));
        if (memory_tok > 0) MZ_FAIL(MZ_ESUPPORT, err, "%s", c->why_not.text);
        goto out;
    }
    MZ_TRY(mz_state_layout_make(c->m->prog, type, &l, err));
    *bad |= json_object_set_new(root, "layers", json_integer(c->m->n_layer));
    *bad |= json_object_set_new(root, "embedding_length", json_integer(c->m->d_model));
    *bad |= put_state(root, &l);
    if (memory_tok > 0) MZ_TRY(put_memory(root, c, &l, memory_tok, bad, err));
out:
    mz_state_layout_free(&l);
    return st;
}

static uint64_t count_elems(const mz_gguf *g)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < g->n_tensor; i++) n += g->tensor[i].n_elem;
    return n;
}

static int put_head(json_t *root, const mz_checkpoint *c)
{
    mz_str arch = {"", 0}, name = {"", 0};
    mz_err ignored;
    char key[160];
    int64_t ctx = 0;
    int bad = 0;
    uint64_t n_param = c->m ? c->m->n_param : count_elems(c->g);
    (void)!mz_gguf_get_str(c->g, "general.architecture", false, &arch, &ignored);
    bad |= json_object_set_new(root, "family", json_bytes(arch));
    if (mz_gguf_get_str(c->g, "general.name", false, &name, &ignored) == MZ_OK && name.n)
        bad |= json_object_set_new(root, "name", json_bytes(name));
    bad |= json_object_set_new(root, "parameters", json_integer((json_int_t)n_param));
    bad |= json_object_set_new(root, "active_parameters", json_integer((json_int_t)(c->m ? c->m->n_param_active : n_param)));
    bad |= json_object_set_new(root, "file_bytes", json_integer((json_int_t)c->g->file_bytes));
    bad |= json_object_set_new(root, "container",
                               json_sprintf("GGUF v%u, %d file%s", c->g->version, c->g->n_part, c->g->n_part == 1 ? "" : "s"));
    bad |= json_object_set_new(root, "tensors", json_integer((json_int_t)c->g->n_tensor));
    bad |= put_formats(root, c->g);
    (void)snprintf(key, sizeof key, "%.*s.context_length", (int)(arch.n < 100 ? arch.n : 100), arch.s);
    (void)!mz_gguf_get_i64(c->g, key, false, 0, INT64_MAX, &ctx, &ignored);
    bad |= json_object_set_new(root, "context_length", ctx ? json_integer(ctx) : json_null());
    const mz_gguf_tensor *embed = mz_gguf_find_tensor(c->g, "token_embd.weight");
    bad |= json_object_set_new(root, "vocab_size", embed ? json_integer(embed->dim[1]) : json_null());
    return bad;
}

mz_status mz_checkpoint_describe(const mz_checkpoint *c, const char *kv, int64_t memory_tok, char **json, mz_err *err)
{
    mz_status st = MZ_OK;
    *json = NULL;
    json_t *root = json_object();
    int bad = root ? 0 : -1;
    if (!bad) {
        bad |= put_head(root, c);
        MZ_TRY(put_model(root, c, kv, memory_tok, &bad, err));
        bad |= put_text(root, c->g);
    }
    if (!bad) *json = mz_json_text(root, JSON_INDENT(2));
    if (!*json) MZ_FAIL(MZ_ENOMEM, err, "out of memory while describing %s", c->path);
out:
    json_decref(root);
    return st;
}

mz_status mz_checkpoint_program(const mz_checkpoint *c, char **text, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_buf out = {0};
    *text = NULL;
    if (!c->m) MZ_FAIL(c->why_not.status, err, "%s: %s", c->path, c->why_not.text);
    MZ_TRY(mz_prog_print(c->m->prog, &out, err));
    *text = out.data;
    out = (mz_buf){0};
out:
    mz_buf_free(&out);
    return st;
}

mz_status mz_checkpoint_write_npy(const mz_checkpoint *c, const char *tensor, const char *path, mz_err *err)
{
    enum { STRIP_BLOCKS = 64 };
    mz_status st = MZ_OK;
    mz_npy npy = {0};
    float *strip = NULL;
    int64_t shape[4];
    const mz_gguf_tensor *t = mz_gguf_find_tensor(c->g, tensor);
    if (!t) MZ_FAIL(MZ_EINVAL, err, "%s has no tensor '%s'; --tensors lists them", c->path, tensor);
    const mz_dtype_info *info = mz_dtype_get(t->type);
    if (!info->decode) MZ_FAIL(MZ_ESUPPORT, err, "tensor %s is stored as %s, which mizan cannot decode", tensor, info->name);
    for (uint32_t i = 0; i < t->n_dim; i++) shape[i] = t->dim[t->n_dim - 1 - i];
    MZ_TRY(mz_npy_open(path, shape, (int)t->n_dim, false, &npy, err));
    uint64_t n_strip = (uint64_t)STRIP_BLOCKS * (info->block_elems == 1 ? 256 : info->block_elems);
    strip = mz_calloc(n_strip, sizeof *strip);
    if (!strip) MZ_FAIL(MZ_ENOMEM, err, "out of memory while decoding %s", tensor);
    for (uint64_t at = 0; at < t->n_elem; at += n_strip) {
        uint64_t n = t->n_elem - at < n_strip ? t->n_elem - at : n_strip;
        info->decode(t->data + at / info->block_elems * info->block_bytes, strip, (int64_t)n);
        MZ_TRY(mz_npy_write(&npy, strip, n, err));
    }
    MZ_TRY(mz_npy_commit(&npy, err));
out:
    if (st != MZ_OK) mz_npy_abort(&npy);
    mz_free(strip);
    return st;
}
