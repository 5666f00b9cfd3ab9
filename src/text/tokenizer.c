/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer.h"

#include <stdio.h>
#include <string.h>

#include "sp_load.h"
#include "tokenizer_impl.h"

#define MAX_VOCAB ((uint64_t)1 << 24)

/* Roles that files do not always state: a token with one of these written forms ends an answer. */
static const char *const stop_form[] = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    ("<\xEF\xBD\x9C"
     "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>"),
    "[e~[",
    "<|END_OF_TURN_TOKEN|>",
    "<|eot|>",
    "<|end_of_msg|>",
};

static bool is(mz_str s, const char *z)
{
    return s.n == strlen(z) && memcmp(s.s, z, s.n) == 0;
}

static bool is_stop_form(mz_str s)
{
    for (size_t i = 0; i < sizeof stop_form / sizeof stop_form[0]; i++) {
        if (is(s, stop_form[i])) return true;
    }
    return false;
}

static mz_status string_array(const mz_gguf *g, const char *key, bool required, const mz_gguf_kv **out, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_gguf_kv *kv = mz_gguf_find(g, key);
    *out = NULL;
    if (!kv) {
        if (required) MZ_FAIL(MZ_EFORMAT, err, "the file names a tokenizer but has no %s", key);
        return MZ_OK;
    }
    if (kv->type != MZ_GGUF_ARRAY || kv->elem_type != MZ_GGUF_STRING)
        MZ_FAIL(MZ_EFORMAT, err, "%s is a %s; an array of strings is needed", key,
                mz_gguf_type_name(kv->type == MZ_GGUF_ARRAY ? kv->elem_type : kv->type));
    *out = kv;
out:
    return st;
}

static mz_status read_kinds(mz_tokenizer *t, const mz_gguf *g, mz_err *err)
{
    mz_status st = MZ_OK;
    static const char key[] = "tokenizer.ggml.token_type";
    const mz_gguf_kv *kv = mz_gguf_find(g, key);
    memset(t->kind, MZ_TOKEN_NORMAL, (size_t)t->n_vocab);
    if (!kv) return MZ_OK;
    if (kv->type != MZ_GGUF_ARRAY) MZ_FAIL(MZ_EFORMAT, err, "%s is a %s; an array of integers is needed", key, mz_gguf_type_name(kv->type));
    if (kv->n_elem < (uint64_t)t->n_vocab)
        MZ_FAIL(MZ_EFORMAT, err, "%s has %llu entries for %d tokens", key, (unsigned long long)kv->n_elem, t->n_vocab);
    for (int32_t i = 0; i < t->n_vocab; i++) {
        int64_t kind;
        if (!mz_gguf_elem_i64(kv, (uint64_t)i, &kind)) MZ_FAIL(MZ_EFORMAT, err, "%s holds no integers", key);
        if (kind >= MZ_TOKEN_NORMAL && kind <= MZ_TOKEN_BYTE) t->kind[i] = (uint8_t)kind;
    }
out:
    return st;
}

/* Room for the vocabulary's strings twice over. */
static mz_status make_blob(mz_tokenizer *t, const mz_gguf_kv *tokens, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t cursor = 0, total = 0;
    mz_str s;
    while (mz_gguf_next_str(tokens, &cursor, &s)) {
        if (!mz_add_size(total, s.n, &total)) MZ_FAIL(MZ_EFORMAT, err, "the vocabulary's strings do not fit in memory");
    }
    if (!mz_mul_size(total, 2, &total) || !(t->blob = mz_calloc(total, 1)))
        MZ_FAIL(MZ_ENOMEM, err, "no memory for the vocabulary's strings (%zu bytes)", total);
out:
    return st;
}

/* Strings are kept twice, spelled and raw; raw is never longer. */
static mz_status read_tokens(mz_tokenizer *t, const mz_gguf_kv *tokens, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t cursor = 0;
    mz_str s;
    MZ_TRY(make_blob(t, tokens, err));
    char *p = t->blob;
    for (int32_t i = 0; i < t->n_vocab && mz_gguf_next_str(tokens, &cursor, &s); i++) {
        t->written[i] = t->bytes[i] = (mz_str){p, s.n};
        if (s.n == 0) continue;
        memcpy(p, s.s, s.n);
        p += s.n;
        /* Old conversions mark turn ends as user-defined; they must not be parsed out of user text. */
        if (t->kind[i] == MZ_TOKEN_USER && is_stop_form(s)) t->kind[i] = MZ_TOKEN_CONTROL;
        if (t->kind[i] == MZ_TOKEN_CONTROL || t->kind[i] == MZ_TOKEN_UNKNOWN) continue;
        size_t n_raw;
        if (!mz_bpe_unspell(s.s, s.n, p, &n_raw)) continue; /* an added token: stands for its own letters */
        mz_str raw = {p, n_raw};
        p += n_raw;
        (void)mz_bpe_put(&t->bpe, i, raw);
        if (t->kind[i] != MZ_TOKEN_USER) t->bytes[i] = raw;
    }
out:
    return st;
}

static mz_status read_merges(mz_tokenizer *t, const mz_gguf_kv *merges, mz_arena *strings, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t cursor = 0;
    mz_str s;
    char small[256], *raw = small;
    for (int32_t rank = 0; mz_gguf_next_str(merges, &cursor, &s); rank++) {
        const char *gap = s.n > 1 ? memchr(s.s + 1, ' ', s.n - 1) : NULL;
        size_t n_left, n_right;
        int32_t left, right, to;
        if (!gap) MZ_FAIL(MZ_EFORMAT, err, "tokenizer.ggml.merges[%d] has no space between its two parts", rank);
        raw = small;
        if (s.n > sizeof small && !(raw = mz_calloc(s.n, 1))) MZ_FAIL(MZ_ENOMEM, err, "no memory for the tokenizer's merges");
        if (!mz_bpe_unspell(s.s, (size_t)(gap - s.s), raw, &n_left) ||
            !mz_bpe_unspell(gap + 1, (size_t)(s.s + s.n - gap - 1), raw + n_left, &n_right) || n_left == 0 || n_right == 0)
            MZ_FAIL(MZ_EFORMAT, err, "tokenizer.ggml.merges[%d] is not spelled in the byte alphabet of GPT-2", rank);
        left = mz_bpe_find(&t->bpe, raw, n_left);
        right = mz_bpe_find(&t->bpe, raw + n_left, n_right);
        to = mz_bpe_find(&t->bpe, raw, n_left + n_right);
        if (left < 0 || right < 0 || to < 0) { /* rare: parts that are no tokens themselves */
            char *kept = mz_arena_strndup(strings, raw, n_left + n_right);
            if (!kept) MZ_FAIL(MZ_ENOMEM, err, "no memory for the tokenizer's merges");
            MZ_TRY(mz_bpe_intern(&t->bpe, (mz_str){kept, n_left}, &left, err));
            MZ_TRY(mz_bpe_intern(&t->bpe, (mz_str){kept + n_left, n_right}, &right, err));
            MZ_TRY(mz_bpe_intern(&t->bpe, (mz_str){kept, n_left + n_right}, &to, err));
        }
        mz_bpe_add_merge(&t->bpe, left, right, to, rank);
        if (raw != small) mz_free(raw);
        raw = small;
    }
out:
    if (raw != small) mz_free(raw);
    return st;
}

static mz_status read_id(const mz_tokenizer *t, const mz_gguf *g, const char *key, int32_t *out, mz_err *err)
{
    mz_status st = MZ_OK;
    int64_t id = -1;
    MZ_TRY(mz_gguf_get_i64(g, key, false, INT64_MIN, INT64_MAX, &id, err));
    /* Converters write 2^32-1 or an id past the end for "none". */
    *out = id >= 0 && id < t->n_vocab ? (int32_t)id : -1;
out:
    return st;
}

static bool is_role_mark(mz_str s)
{
    static const char wide[] = "\xEF\xBD\x9C";
    return s.n > 4 && s.s[0] == '<' && s.s[s.n - 1] == '>' &&
           ((s.s[1] == '|' && s.s[s.n - 2] == '|') || (s.n > 8 && memcmp(s.s + 1, wide, 3) == 0 && memcmp(s.s + s.n - 4, wide, 3) == 0));
}

typedef enum which_forms { FORMS_USER, FORMS_ALL, FORMS_CONTROL, FORMS_TURN } which_forms;

static bool wanted_form(const mz_tokenizer *t, int32_t id, which_forms which)
{
    mz_token_kind k = t->kind[id];
    if (t->written[id].n == 0) return false;
    switch (which) {
    case FORMS_USER: return k == MZ_TOKEN_USER;
    case FORMS_ALL: return k == MZ_TOKEN_USER || k == MZ_TOKEN_CONTROL || k == MZ_TOKEN_UNKNOWN;
    case FORMS_CONTROL: return t->sp.on && (k == MZ_TOKEN_CONTROL || k == MZ_TOKEN_UNKNOWN);
    default: return k == MZ_TOKEN_CONTROL || k == MZ_TOKEN_UNKNOWN || (k == MZ_TOKEN_USER && is_role_mark(t->written[id]));
    }
}

static mz_status build_forms(mz_tokenizer *t, mz_special *sp, which_forms which, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t n = 0, i = 0;
    for (int32_t id = 0; id < t->n_vocab; id++) n += wanted_form(t, id, which);
    mz_special_form *form = mz_calloc(n, sizeof *form);
    if (!form) MZ_FAIL(MZ_ENOMEM, err, "no memory for the special tokens");
    for (int32_t id = 0; id < t->n_vocab; id++) {
        if (wanted_form(t, id, which)) form[i++] = (mz_special_form){t->written[id], id};
    }
    mz_special_build(sp, form, n);
out:
    return st;
}

static mz_status read_stops(mz_tokenizer *t, const mz_gguf *g, mz_err *err)
{
    mz_status st = MZ_OK;
    static const char *const key[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"};
    int32_t end = -1, call = -1, ret = -1, flush = -1;
    for (size_t i = 0; i < sizeof key / sizeof key[0]; i++) {
        int32_t id;
        MZ_TRY(read_id(t, g, key[i], &id, err));
        if (id >= 0) t->stop[id] = 1;
    }
    for (size_t i = 0; i < t->all.n; i++) {
        int32_t id = t->all.form[i].id;
        mz_str s = t->written[id];
        if (t->kind[id] != MZ_TOKEN_CONTROL) continue;
        if (is_stop_form(s)) t->stop[id] = 1;
        if (is(s, "<|end|>")) end = id;
        if (is(s, "<|call|>") || is(s, "<|calls|>")) call = id;
        if (is(s, "<|return|>")) ret = id;
        if (is(s, "<|flush|>")) flush = id;
    }
    /* Harmony and Solar end a message with <|end|>, an answer with the others. */
    if (end >= 0 && call >= 0 && (ret >= 0 || flush >= 0) && end != t->eos) t->stop[end] = 0;
out:
    return st;
}

static mz_status begin(mz_tokenizer *t, const mz_gguf *g, const mz_gguf_kv **tokens, mz_err *err)
{
    mz_status st = MZ_OK;
    MZ_TRY(string_array(g, "tokenizer.ggml.tokens", true, tokens, err));
    if ((*tokens)->n_elem == 0 || (*tokens)->n_elem > MAX_VOCAB)
        MZ_FAIL(MZ_EFORMAT, err, "tokenizer.ggml.tokens has %llu entries; 1 to %llu are possible", (unsigned long long)(*tokens)->n_elem,
                (unsigned long long)MAX_VOCAB);
    t->n_vocab = (int32_t)(*tokens)->n_elem;
    size_t n = (size_t)t->n_vocab;
    t->written = mz_calloc(n, sizeof *t->written);
    t->bytes = mz_calloc(n, sizeof *t->bytes);
    t->kind = mz_calloc(n, 1);
    t->stop = mz_calloc(n, 1);
    if (!t->written || !t->bytes || !t->kind || !t->stop) MZ_FAIL(MZ_ENOMEM, err, "no memory for a vocabulary of %zu entries", n);
    MZ_TRY(read_kinds(t, g, err));
out:
    return st;
}

static mz_status finish(mz_tokenizer *t, const mz_gguf *g, mz_err *err)
{
    mz_status st = MZ_OK;
    MZ_TRY(mz_gguf_get_bool(g, "tokenizer.ggml.add_bos_token", false, &t->adds_bos, err));
    MZ_TRY(mz_gguf_get_bool(g, "tokenizer.ggml.add_eos_token", false, &t->adds_eos, err));
    if (t->bos < 0) t->adds_bos = false;
    if (t->eos < 0) t->adds_eos = false;
    MZ_TRY(build_forms(t, &t->user, FORMS_USER, err));
    MZ_TRY(build_forms(t, &t->all, FORMS_ALL, err));
    MZ_TRY(build_forms(t, &t->control, FORMS_CONTROL, err));
    MZ_TRY(build_forms(t, &t->turn, FORMS_TURN, err));
    MZ_TRY(read_stops(t, g, err));
out:
    return st;
}

static mz_status load_bytes(mz_tokenizer *t, const mz_gguf *g, mz_str model, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_str pre = {"default", 7};
    mz_pretok_traits traits;
    const mz_gguf_kv *tokens, *merges;
    MZ_TRY(mz_gguf_get_str(g, "tokenizer.ggml.pre", false, &pre, err));
    if (pre.n == 0) pre = (mz_str){"default", 7};
    MZ_TRY(mz_pretok_create(pre.s, pre.n, &t->pretok, &traits, err));
    t->ignore_merges = traits.ignore_merges;
    t->adds_bos = traits.adds_bos;
    t->nfc = traits.nfc;
    (void)snprintf(t->name, sizeof t->name, "%.*s/%.*s", (int)model.n, model.s, (int)pre.n, pre.s);

    MZ_TRY(begin(t, g, &tokens, err));
    MZ_TRY(string_array(g, "tokenizer.ggml.merges", !traits.rank_by_id, &merges, err));
    if (merges && merges->n_elem > MAX_VOCAB)
        MZ_FAIL(MZ_EFORMAT, err, "tokenizer.ggml.merges has %llu entries; %llu are possible", (unsigned long long)merges->n_elem,
                (unsigned long long)MAX_VOCAB);
    MZ_TRY(mz_bpe_init(&t->bpe, t->n_vocab, merges ? (size_t)merges->n_elem : 0, err));
    t->bpe.rank_by_id = !merges;
    MZ_TRY(read_tokens(t, tokens, err));
    if (merges) MZ_TRY(read_merges(t, merges, &t->strings, err));
    MZ_TRY(mz_bpe_close(&t->bpe, err));
    MZ_TRY(read_id(t, g, "tokenizer.ggml.bos_token_id", &t->bos, err));
    MZ_TRY(read_id(t, g, "tokenizer.ggml.eos_token_id", &t->eos, err));
    MZ_TRY(read_id(t, g, "tokenizer.ggml.unknown_token_id", &t->unk, err));
    MZ_TRY(finish(t, g, err));
out:
    return st;
}

/* Pieces twice, spelled and as what they stand for, which is never longer. Unknown text is shown as the library shows it. */
static mz_status read_pieces(mz_tokenizer *t, const mz_gguf_kv *tokens, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t cursor = 0;
    mz_str s;
    MZ_TRY(make_blob(t, tokens, err));
    char *p = t->blob;
    for (int32_t i = 0; i < t->n_vocab && mz_gguf_next_str(tokens, &cursor, &s); i++) {
        t->written[i] = (mz_str){p, s.n};
        if (s.n) memcpy(p, s.s, s.n);
        p += s.n;
        t->bytes[i] = (mz_str){p, 0};
        for (size_t k = 0; k < s.n; t->bytes[i].n++) {
            bool space = s.n - k >= MZ_SP_SPACE_LEN && memcmp(s.s + k, MZ_SP_SPACE, MZ_SP_SPACE_LEN) == 0;
            *p++ = space ? ' ' : s.s[k];
            k += space ? MZ_SP_SPACE_LEN : 1;
        }
    }
out:
    return st;
}

static mz_status load_pieces(mz_tokenizer *t, const mz_gguf *g, mz_str model, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_gguf_kv *tokens;
    bool unigram = is(model, "t5");
    (void)snprintf(t->name, sizeof t->name, "%.*s", (int)model.n, model.s);
    MZ_TRY(begin(t, g, &tokens, err));
    MZ_TRY(read_pieces(t, tokens, err));
    /* What Llama's and T5's own models say, where a file leaves it out. */
    t->bos = unigram || t->n_vocab < 2 ? -1 : 1;
    t->eos = unigram ? 1 : 2;
    if (t->eos >= t->n_vocab) t->eos = -1;
    t->adds_bos = !unigram;
    t->adds_eos = unigram;
    if (mz_gguf_find(g, "tokenizer.ggml.bos_token_id")) MZ_TRY(read_id(t, g, "tokenizer.ggml.bos_token_id", &t->bos, err));
    if (mz_gguf_find(g, "tokenizer.ggml.eos_token_id")) MZ_TRY(read_id(t, g, "tokenizer.ggml.eos_token_id", &t->eos, err));
    MZ_TRY(read_id(t, g, "tokenizer.ggml.unknown_token_id", &t->unk, err));
    MZ_TRY(mz_sp_load(&t->sp, g, unigram, t->written, t->kind, t->n_vocab, &t->unk, err));
    for (int32_t i = 0; i < t->n_vocab; i++) {
        char *p = t->blob + (t->bytes[i].s - t->blob);
        if (t->kind[i] != MZ_TOKEN_BYTE) continue;
        *p = (char)mz_sp_byte_of(t->written[i]);
        t->bytes[i].n = 1;
    }
    MZ_TRY(finish(t, g, err));
    if (t->eos >= 0) t->stop[t->eos] = 1;
out:
    return st;
}

mz_status mz_tokenizer_from_gguf(const mz_gguf *g, mz_tokenizer **out, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_tokenizer *t = NULL;
    mz_str model = {"none", 4};
    *out = NULL;
    MZ_TRY(mz_gguf_get_str(g, "tokenizer.ggml.model", false, &model, err));
    if (is(model, "none") || is(model, "no_vocab")) return MZ_OK;
    bool pieces = is(model, "llama") || is(model, "t5");
    if (!pieces && !is(model, "gpt2")) {
        MZ_FAIL(MZ_ESUPPORT, err,
                "tokenizer model '%.*s' is not supported ('gpt2', 'llama' and 't5' are); '--ids' works without a tokenizer",
                model.n > 64 ? 64 : (int)model.n, model.s);
    }
    t = mz_calloc(1, sizeof *t);
    if (!t) MZ_FAIL(MZ_ENOMEM, err, "no memory for a tokenizer");
    t->bos = t->eos = t->unk = -1;
    if (pieces) {
        MZ_TRY(load_pieces(t, g, model, err));
    } else {
        MZ_TRY(load_bytes(t, g, model, err));
    }
    *out = t;
    t = NULL;
out:
    mz_tokenizer_free(t);
    return st;
}

void mz_tokenizer_free(mz_tokenizer *t)
{
    if (!t) return;
    mz_special_done(&t->user);
    mz_special_done(&t->all);
    mz_special_done(&t->control);
    mz_special_done(&t->turn);
    mz_sp_done(&t->sp);
    mz_pretok_free(t->pretok);
    mz_bpe_done(&t->bpe);
    mz_arena_free(&t->strings);
    mz_free(t->written);
    mz_free(t->bytes);
    mz_free(t->kind);
    mz_free(t->stop);
    mz_free(t->blob);
    mz_free(t);
}

mz_str mz_tokenizer_piece(const mz_tokenizer *t, int32_t id, bool with_special)
{
    mz_token_kind k = t->kind[id];
    if (!with_special && t->sp.on && id == t->unk) return (mz_str){" \xE2\x81\x87 ", 5}; /* as the library shows it */
    if (!with_special && (k == MZ_TOKEN_CONTROL || k == MZ_TOKEN_UNKNOWN || k == MZ_TOKEN_UNUSED)) return (mz_str){"", 0};
    return t->bytes[id];
}

mz_status mz_tokenizer_decode(const mz_tokenizer *t, const int32_t *ids, size_t n_ids, bool with_special, mz_buf *out, mz_err *err)
{
    mz_status st = MZ_OK;
    /* The space that was put in front comes off again; trimming vocabularies lose all spaces in front. */
    bool strip = t->sp.on && (t->sp.add_prefix || t->sp.trim);
    for (size_t i = 0; i < n_ids; i++) {
        int32_t id = ids[i];
        if (id < 0 || id >= t->n_vocab)
            MZ_FAIL(MZ_EINVAL, err, "token id %d (the %zu. one) is outside the vocabulary of %d tokens", id, i + 1, t->n_vocab);
        mz_str s = mz_tokenizer_piece(t, id, with_special);
        bool control = t->kind[id] == MZ_TOKEN_CONTROL;
        if (strip && s.n && *s.s == ' ' && t->kind[id] != MZ_TOKEN_BYTE && id != t->unk) {
            s.s++;
            s.n--;
            if (!t->sp.trim) strip = false;
        }
        if (s.n && !control) strip = false;
        if (control && with_special) strip = t->sp.on && (t->sp.add_prefix || t->sp.trim);
        if (!mz_buf_add(out, s.s, s.n)) MZ_FAIL(MZ_ENOMEM, err, "no memory for the text");
    }
out:
    return st;
}

int32_t mz_tokenizer_n_vocab(const mz_tokenizer *t)
{
    return t->n_vocab;
}

mz_token_kind mz_tokenizer_kind(const mz_tokenizer *t, int32_t id)
{
    return (mz_token_kind)t->kind[id];
}

const char *mz_tokenizer_model_name(const mz_tokenizer *t)
{
    return t->name;
}

int32_t mz_tokenizer_bos(const mz_tokenizer *t)
{
    return t->bos;
}

int32_t mz_tokenizer_eos(const mz_tokenizer *t)
{
    return t->eos;
}

bool mz_tokenizer_is_stop(const mz_tokenizer *t, int32_t id)
{
    return id >= 0 && id < t->n_vocab && t->stop[id];
}

bool mz_tokenizer_adds_bos(const mz_tokenizer *t)
{
    return t->adds_bos;
}

mz_str mz_tokenizer_written(const mz_tokenizer *t, int32_t id)
{
    return t->written[id];
}
