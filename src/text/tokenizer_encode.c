/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "sp_encode.h"
#include "tokenizer_impl.h"
#include "utf8.h"

/* Stands for an ill-formed byte while patterns are matched: one byte long, so that offsets stay, and neither letter, digit nor space. */
#define STAND_IN '\x1A'

typedef struct encoder {
    const mz_tokenizer *t;
    mz_buf *out;
    mz_pretok_scratch *pretok;
    mz_bpe_scratch bpe;
    mz_buf shown;     /* the text as the patterns see it, when that differs */
    const char *text; /* of the segment being cut */
} encoder;

static mz_status push(mz_buf *out, int32_t id, mz_err *err)
{
    mz_status st = MZ_OK;
    if (!mz_buf_add(out, &id, sizeof id)) MZ_FAIL(MZ_ENOMEM, err, "no memory for the token ids");
out:
    return st;
}

/* Bytes that no entry of the vocabulary joins: one by one. */
static mz_status push_bytes(encoder *e, mz_str s, mz_err *err)
{
    mz_status st = MZ_OK;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.s[i];
        int32_t id = e->t->bpe.byte_sym[c];
        if (id >= e->t->n_vocab) id = e->t->unk;
        if (id < 0) MZ_FAIL(MZ_EINVAL, err, "the vocabulary has no token for byte 0x%02X and no unknown token", c);
        MZ_TRY(push(e->out, id, err));
    }
out:
    return st;
}

static mz_status encode_piece(void *user, size_t at, size_t n, mz_err *err)
{
    mz_status st = MZ_OK;
    encoder *e = user;
    const mz_tokenizer *t = e->t;
    const char *s = e->text + at;
    size_t n_word;
    if (t->ignore_merges) {
        int32_t id = mz_bpe_find(&t->bpe, s, n);
        if (id >= 0 && id < t->n_vocab) return push(e->out, id, err);
    }
    MZ_TRY(mz_bpe_merge(&t->bpe, &e->bpe, s, n, &n_word, err));
    const int32_t *word = e->bpe.word;
    size_t known = 0;
    while (known < n_word && word[known] < t->n_vocab) known++;
    if (known == n_word) {
        if (!mz_buf_add(e->out, word, n_word * sizeof *word)) MZ_FAIL(MZ_ENOMEM, err, "no memory for the token ids");
        return MZ_OK;
    }
    for (size_t i = 0; i < n_word; i++) {
        if (word[i] < t->n_vocab) {
            MZ_TRY(push(e->out, word[i], err));
        } else {
            MZ_TRY(push_bytes(e, t->bpe.sym[word[i]], err));
        }
    }
out:
    return st;
}

static bool is_ascii(const char *s, size_t n)
{
    unsigned char any = 0;
    for (size_t i = 0; i < n; i++) any |= (unsigned char)s[i];
    return any < 0x80;
}

static mz_status encode_plain(encoder *e, const char *s, size_t n, mz_err *err)
{
    mz_status st = MZ_OK;
    utf8proc_uint8_t *normal = NULL;
    if (n == 0) return MZ_OK;
    if (!e->pretok) MZ_TRY(mz_pretok_scratch_create(e->t->pretok, &e->pretok, err));
    const char *shown = s;
    if (is_ascii(s, n)) {
        /* well-formed and in any normal form */
    } else if (!mz_utf8_is_valid(s, n)) {
        e->shown.len = 0;
        if (!mz_buf_add(&e->shown, s, n)) MZ_FAIL(MZ_ENOMEM, err, "no memory for a copy of the text (%zu bytes)", n);
        for (size_t i = 0; i < n;) {
            int32_t cp;
            size_t len = mz_utf8_decode(s + i, n - i, &cp);
            if (cp < 0) memset(e->shown.data + i, STAND_IN, len);
            i += len;
        }
        shown = e->shown.data;
    } else if (e->t->nfc) {
        utf8proc_ssize_t len = utf8proc_map((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)n, &normal, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
        if (len < 0) MZ_FAIL(MZ_ENOMEM, err, "the text could not be normalised: %s", utf8proc_errmsg(len));
        shown = s = (const char *)normal;
        n = (size_t)len;
    }
    e->text = s;
    MZ_TRY(mz_pretok_split(e->t->pretok, e->pretok, shown, n, encode_piece, e, err));
out:
    free(normal);
    return st;
}

mz_status mz_tokenizer_encode_guarded(const mz_tokenizer *t, const char *text, size_t n, unsigned flags, const size_t *guard,
                                      size_t n_guard, mz_buf *out, mz_err *err)
{
    mz_status st = MZ_OK;
    encoder e = {.t = t, .out = out};
    const mz_special *sp = flags & MZ_ENCODE_SPECIAL ? &t->all : &t->user;
    size_t from = 0, i = 0, i_guard = 0;
    if (flags & MZ_ENCODE_BOS && t->adds_bos) MZ_TRY(push(out, t->bos, err));
    if (t->sp.on) {
        MZ_TRY(mz_sp_encode(&t->sp, flags & MZ_ENCODE_SPECIAL ? &t->control : NULL, text, n, guard, n_guard, out, err));
        i = from = n;
    }
    while (i < n) {
        unsigned char c = (unsigned char)text[i];
        if (sp->first[c] == sp->first[c + 1]) {
            i++;
            continue;
        }
        while (i_guard < n_guard && guard[i_guard] < i) i_guard++;
        size_t len;
        int32_t form = i_guard < n_guard && guard[i_guard] == i ? -1 : mz_special_match(sp, text + i, n - i, &len);
        if (form < 0) {
            i++;
            continue;
        }
        MZ_TRY(encode_plain(&e, text + from, i - from, err));
        MZ_TRY(push(out, sp->form[form].id, err));
        i += len;
        from = i;
    }
    if (from < n) MZ_TRY(encode_plain(&e, text + from, n - from, err));
    if (flags & MZ_ENCODE_BOS && t->adds_eos) MZ_TRY(push(out, t->eos, err));
out:
    mz_pretok_scratch_free(e.pretok);
    mz_bpe_scratch_done(&e.bpe);
    mz_buf_free(&e.shown);
    return st;
}

mz_status mz_tokenizer_encode(const mz_tokenizer *t, const char *text, size_t n, unsigned flags, mz_buf *out, mz_err *err)
{
    return mz_tokenizer_encode_guarded(t, text, n, flags, NULL, 0, out, err);
}

bool mz_tokenizer_looks_special(const mz_tokenizer *t, const char *s, size_t n, size_t *len, int32_t *id)
{
    int32_t form = mz_special_match(&t->turn, s, n, len);
    if (form >= 0) *id = t->turn.form[form].id;
    return form >= 0;
}

bool mz_tokenizer_begins_special(const mz_tokenizer *t, const char *s, size_t n)
{
    return mz_special_is_beginning(&t->turn, s, n);
}

bool mz_tokenizer_is_paired(const mz_tokenizer *t, int32_t id)
{
    mz_str s = t->written[id];
    char other[64];
    size_t n = s.n, len;
    if (n < 3 || n + 1 > sizeof other) return false;
    if (s.s[1] == '/') {
        other[0] = s.s[0];
        memcpy(other + 1, s.s + 2, n - 2);
        n--;
    } else {
        other[0] = s.s[0];
        other[1] = '/';
        memcpy(other + 2, s.s + 1, n - 1);
        n++;
    }
    return mz_special_match(&t->all, other, n, &len) >= 0 && len == n;
}
