/* SPDX-License-Identifier: Apache-2.0 */
#include "sp_load.h"

#include <float.h>
#include <string.h>

#include "sp_merge.h"
#include "sp_unigram.h"

static const char scores_key[] = "tokenizer.ggml.scores";
static const char types_key[] = "tokenizer.ggml.token_type";
static const char map_key[] = "tokenizer.ggml.precompiled_charsmap";

static bool is(mz_str s, const char *z)
{
    return s.n == strlen(z) && memcmp(s.s, z, s.n) == 0;
}

static int hex(char c)
{
    static const char digit[] = "0123456789ABCDEF";
    const char *p = c ? strchr(digit, c) : NULL;
    return p ? (int)(p - digit) : -1;
}

int mz_sp_byte_of(mz_str s)
{
    if (s.n != 6 || memcmp(s.s, "<0x", 3) != 0 || s.s[5] != '>') return -1;
    int hi = hex(s.s[3]), lo = hex(s.s[4]);
    return hi < 0 || lo < 0 ? -1 : hi * 16 + lo;
}

static mz_status read_scores(mz_sp *sp, const mz_gguf *g, int32_t n_vocab, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_gguf_kv *kv = mz_gguf_find(g, scores_key);
    if (!kv) MZ_FAIL(MZ_EFORMAT, err, "the file names a SentencePiece tokenizer but has no %s", scores_key);
    if (kv->type != MZ_GGUF_ARRAY || kv->elem_type != MZ_GGUF_F32)
        MZ_FAIL(MZ_EFORMAT, err, "%s is a %s; an array of f32 is needed", scores_key,
                mz_gguf_type_name(kv->type == MZ_GGUF_ARRAY ? kv->elem_type : kv->type));
    if (kv->n_elem != (uint64_t)n_vocab)
        MZ_FAIL(MZ_EFORMAT, err, "%s has %llu entries for %d tokens", scores_key, (unsigned long long)kv->n_elem, n_vocab);
    if (!(sp->score = mz_calloc((size_t)n_vocab, sizeof *sp->score))) MZ_FAIL(MZ_ENOMEM, err, "no memory for the vocabulary's scores");
    for (int32_t i = 0; i < n_vocab; i++) {
        double x = 0;
        (void)mz_gguf_elem_f64(kv, (uint64_t)i, &x);
        /* Also false for NaN. */
        if (!(x >= -(double)FLT_MAX && x <= (double)FLT_MAX)) MZ_FAIL(MZ_EFORMAT, err, "%s[%d] is no finite number", scores_key, i);
        sp->score[i] = (float)x;
    }
out:
    return st;
}

static mz_status check_kinds(const mz_gguf *g, const mz_str *written, uint8_t *kind, int32_t n_vocab, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_gguf_kv *kv = mz_gguf_find(g, types_key);
    if (!kv) { /* the oldest files: what the library itself would have said of Llama's pieces */
        for (int32_t i = 0; i < n_vocab; i++) {
            if (mz_sp_byte_of(written[i]) >= 0) kind[i] = MZ_TOKEN_BYTE;
            if (is(written[i], "<unk>")) kind[i] = MZ_TOKEN_UNKNOWN;
            if (is(written[i], "<s>") || is(written[i], "</s>") || is(written[i], "<pad>")) kind[i] = MZ_TOKEN_CONTROL;
        }
        return MZ_OK;
    }
    if (kv->n_elem != (uint64_t)n_vocab)
        MZ_FAIL(MZ_EFORMAT, err, "%s has %llu entries for %d tokens", types_key, (unsigned long long)kv->n_elem, n_vocab);
    for (int32_t i = 0; i < n_vocab; i++) {
        int64_t x = 0;
        (void)mz_gguf_elem_i64(kv, (uint64_t)i, &x);
        if (x < MZ_TOKEN_NORMAL || x > MZ_TOKEN_BYTE)
            MZ_FAIL(MZ_EFORMAT, err, "%s[%d] is %lld; the types are 1 to 6", types_key, i, (long long)x);
        /* Old conversions of Gemma keep its turn marks as user-defined; they must not be parsed out of user text. */
        if (x == MZ_TOKEN_USER && (is(written[i], "<start_of_turn>") || is(written[i], "<end_of_turn>") || is(written[i], "<eos>")))
            kind[i] = MZ_TOKEN_CONTROL;
    }
out:
    return st;
}

static mz_status read_bytes(mz_sp *sp, const mz_str *written, int32_t n_vocab, mz_err *err)
{
    mz_status st = MZ_OK;
    int n_known = 0;
    for (int b = 0; b < 256; b++) sp->byte_id[b] = -1;
    for (int32_t i = 0; i < n_vocab; i++) {
        if (sp->kind[i] != MZ_TOKEN_BYTE) continue;
        int b = mz_sp_byte_of(written[i]);
        if (b < 0) MZ_FAIL(MZ_EFORMAT, err, "token %d has the type of a byte piece but is not spelled <0x00> to <0xFF>", i);
        if (sp->byte_id[b] >= 0) MZ_FAIL(MZ_EFORMAT, err, "tokens %d and %d are both the byte piece <0x%02X>", sp->byte_id[b], i, b);
        sp->byte_id[b] = i;
        n_known++;
    }
    sp->has_bytes = n_known > 0;
    for (int b = 0; b < 256 && n_known > 0; b++) {
        if (sp->byte_id[b] < 0)
            MZ_FAIL(MZ_EFORMAT, err, "the vocabulary has %d byte pieces but no <0x%02X>; all 256 are needed", n_known, b);
    }
out:
    return st;
}

/* Copies s with spaces spelled as in pieces; gives the bytes written. */
static size_t spell(mz_str s, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.s[i] == ' ') {
            memcpy(out + n, MZ_SP_SPACE, MZ_SP_SPACE_LEN);
            n += MZ_SP_SPACE_LEN;
        } else {
            out[n++] = s.s[i];
        }
    }
    return n;
}

static mz_status read_user(mz_sp *sp, const mz_str *written, int32_t n_vocab, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t n = 0, n_bytes = 0;
    for (int32_t i = 0; i < n_vocab; i++) {
        if (sp->kind[i] != MZ_TOKEN_USER) continue;
        n++;
        n_bytes += MZ_SP_SPACE_LEN * written[i].n;
    }
    mz_special_form *form = mz_calloc(n, sizeof *form);
    char *p = sp->user_blob = mz_calloc(n_bytes, 1);
    if (!form || !p) {
        mz_free(form);
        MZ_FAIL(MZ_ENOMEM, err, "no memory for the user-defined pieces");
    }
    n = 0;
    for (int32_t i = 0; i < n_vocab; i++) {
        if (sp->kind[i] != MZ_TOKEN_USER) continue;
        form[n] = (mz_special_form){{p, spell(written[i], p)}, i};
        p += form[n++].s.n;
    }
    mz_special_build(&sp->user, form, n);
out:
    return st;
}

#define AHEAD 12 /* pieces; more than memory needs to answer */

/* Normal and unused pieces by their bytes. Those of a unigram model are looked up too, to find equal ones. */
static mz_status index_pieces(mz_sp *sp, const mz_str *written, int32_t n_vocab, mz_err *err)
{
    mz_status st = MZ_OK;
    MZ_TRY(mz_bpe_init(&sp->piece, n_vocab, 0, err));
    for (int32_t i = 0; i < n_vocab; i++) {
        bool looked_up = sp->kind[i] == MZ_TOKEN_NORMAL || sp->kind[i] == MZ_TOKEN_UNUSED;
        if (n_vocab - i > AHEAD) mz_bpe_expect(&sp->piece, written[i + AHEAD]);
        if (written[i].n == 0 && (sp->kind[i] == MZ_TOKEN_NORMAL || sp->kind[i] == MZ_TOKEN_USER))
            MZ_FAIL(MZ_EFORMAT, err, "token %d is an empty piece", i);
        if (!looked_up || written[i].n == 0 || mz_bpe_put(&sp->piece, i, written[i])) continue;
        MZ_FAIL(MZ_EFORMAT, err, "tokens %d and %d are the same piece '%.*s'", mz_bpe_find(&sp->piece, written[i].s, written[i].n), i,
                written[i].n > 64 ? 64 : (int)written[i].n, written[i].s);
    }
out:
    return st;
}

static mz_status read_map(mz_sp *sp, const mz_gguf *g, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_gguf_kv *kv = mz_gguf_find(g, map_key);
    if (!kv) return MZ_OK;
    if (kv->type != MZ_GGUF_ARRAY || (kv->elem_type != MZ_GGUF_U8 && kv->elem_type != MZ_GGUF_I8))
        MZ_FAIL(MZ_EFORMAT, err, "%s is a %s; an array of bytes is needed", map_key,
                mz_gguf_type_name(kv->type == MZ_GGUF_ARRAY ? kv->elem_type : kv->type));
    MZ_TRY(mz_sp_charsmap_read(&sp->map, kv->value, (size_t)kv->n_elem, err));
out:
    return st;
}

mz_status mz_sp_load(mz_sp *sp, const mz_gguf *g, bool unigram, const mz_str *written, uint8_t *kind, int32_t n_vocab, int32_t *unk,
                     mz_err *err)
{
    mz_status st = MZ_OK;
    *sp = (mz_sp){.on = true, .unigram = unigram, .unk = *unk, .kind = kind};
    /* What Llama's and T5's own models say, where a file leaves it out. */
    sp->add_prefix = true;
    sp->trim = unigram;
    MZ_TRY(mz_gguf_get_bool(g, "tokenizer.ggml.add_space_prefix", false, &sp->add_prefix, err));
    MZ_TRY(mz_gguf_get_bool(g, "tokenizer.ggml.remove_extra_whitespaces", false, &sp->trim, err));
    MZ_TRY(read_scores(sp, g, n_vocab, err));
    MZ_TRY(check_kinds(g, written, kind, n_vocab, err));
    for (int32_t i = 0; i < n_vocab && sp->unk < 0; i++) {
        if (kind[i] == MZ_TOKEN_UNKNOWN) sp->unk = i;
    }
    if (sp->unk >= 0 && kind[sp->unk] == MZ_TOKEN_CONTROL) kind[sp->unk] = MZ_TOKEN_UNKNOWN;
    *unk = sp->unk;
    MZ_TRY(read_bytes(sp, written, n_vocab, err));
    if (!sp->has_bytes && sp->unk < 0) MZ_FAIL(MZ_EFORMAT, err, "the vocabulary has neither byte pieces nor an unknown token");
    MZ_TRY(read_user(sp, written, n_vocab, err));
    MZ_TRY(index_pieces(sp, written, n_vocab, err));
    MZ_TRY(read_map(sp, g, err));
    if (unigram) {
        mz_bpe_done(&sp->piece);
        MZ_TRY(mz_sp_unigram_prepare(sp, written, n_vocab, err));
    } else {
        MZ_TRY(mz_sp_merge_prepare(sp, err));
    }
out:
    return st;
}

void mz_sp_done(mz_sp *sp)
{
    mz_free(sp->score);
    mz_free(sp->user_blob);
    mz_free(sp->joint);
    mz_special_done(&sp->user);
    mz_sp_charsmap_done(&sp->map);
    mz_bpe_done(&sp->piece);
    mz_sp_trie_done(&sp->trie);
    *sp = (mz_sp){0};
}
