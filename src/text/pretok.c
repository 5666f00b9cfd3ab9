/* SPDX-License-Identifier: Apache-2.0 */
#include "pretok.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <assert.h>
#include <pcre2.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "pretok_names.h"

/* PCRE2's \s also takes U+180E, which left White_Space in Unicode 6.3; the engines that the published
 * patterns were written for do not. So \s and \S are spelled out. */
#define SPACES "\\x{9}-\\x{D}\\x{20}\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}"

#define MATCH_LIMIT     50000000u
#define HEAP_LIMIT_KIB  65536u
#define JIT_STACK_BYTES (1u << 20)

struct mz_pretok {
    size_t n_stage;
    pcre2_code *stage[MZ_PRETOK_MAX_STAGE];
    bool jit[MZ_PRETOK_MAX_STAGE];
    pcre2_match_context *limits;
};

struct mz_pretok_scratch {
    pcre2_match_data *match[MZ_PRETOK_MAX_STAGE];
    pcre2_match_context *jit_context;
    pcre2_jit_stack *jit_stack;
};

static bool spell_out(const char *pattern, mz_buf *out)
{
    bool in_class = false, ok = true;
    for (const char *p = pattern; *p && ok; p++) {
        if (*p == '\\') {
            if (p[1] == 's') {
                ok = mz_buf_addf(out, in_class ? "%s" : "[%s]", SPACES);
            } else if (p[1] == 'S' && !in_class) {
                ok = mz_buf_addf(out, "[^%s]", SPACES);
            } else {
                ok = mz_buf_add(out, p, 2);
            }
            p++;
            continue;
        }
        if (*p == '[') in_class = true;
        if (*p == ']') in_class = false;
        ok = mz_buf_add(out, p, 1);
    }
    return ok;
}

static mz_status compile(const char *pattern, pcre2_code **out, bool *jit, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_buf text = {0};
    int code;
    PCRE2_SIZE at;
    if (!spell_out(pattern, &text)) MZ_FAIL(MZ_ENOMEM, err, "no memory for a pre-tokeniser pattern");
    *out = pcre2_compile((PCRE2_SPTR)text.data, text.len, PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK, &code, &at, NULL);
    if (!*out) {
        PCRE2_UCHAR message[128] = "";
        (void)pcre2_get_error_message(code, message, sizeof message);
        MZ_FAIL(code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAP_FAILED ? MZ_ENOMEM : MZ_ESUPPORT, err,
                "PCRE2 rejects a pre-tokeniser pattern at offset %zu: %s", (size_t)at, (char *)message);
    }
    *jit = pcre2_jit_compile(*out, PCRE2_JIT_COMPLETE) == 0;
out:
    mz_buf_free(&text);
    return st;
}

mz_status mz_pretok_create(const char *name, size_t n, mz_pretok **out, mz_pretok_traits *traits, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_pretok *p = NULL;
    *out = NULL;
    const mz_pretok_entry *e = mz_pretok_find(name, n);
    if (!e) {
        MZ_FAIL(MZ_ESUPPORT, err,
                "pre-tokeniser '%.*s' (tokenizer.ggml.pre) is not known to this version; '--ids' still works without a tokenizer",
                n > 64 ? 64 : (int)n, name);
    }
    p = mz_calloc(1, sizeof *p);
    if (!p) MZ_FAIL(MZ_ENOMEM, err, "no memory for a pre-tokeniser");
    p->limits = pcre2_match_context_create(NULL);
    if (!p->limits) MZ_FAIL(MZ_ENOMEM, err, "no memory for a pre-tokeniser");
    (void)pcre2_set_match_limit(p->limits, MATCH_LIMIT);
    (void)pcre2_set_heap_limit(p->limits, HEAP_LIMIT_KIB);
    const char *const *stage = mz_pretok_stages(e->recipe);
    for (; p->n_stage < MZ_PRETOK_MAX_STAGE && stage[p->n_stage]; p->n_stage++) {
        MZ_TRY(compile(stage[p->n_stage], &p->stage[p->n_stage], &p->jit[p->n_stage], err));
    }
    *traits = e->traits;
    *out = p;
    p = NULL;
out:
    mz_pretok_free(p);
    return st;
}

void mz_pretok_free(mz_pretok *p)
{
    if (!p) return;
    for (size_t i = 0; i < MZ_PRETOK_MAX_STAGE; i++) pcre2_code_free(p->stage[i]);
    pcre2_match_context_free(p->limits);
    mz_free(p);
}

mz_status mz_pretok_scratch_create(const mz_pretok *p, mz_pretok_scratch **out, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_pretok_scratch *s = mz_calloc(1, sizeof *s);
    *out = NULL;
    if (!s) MZ_FAIL(MZ_ENOMEM, err, "no memory for a pre-tokeniser's scratch");
    for (size_t i = 0; i < p->n_stage; i++) {
        s->match[i] = pcre2_match_data_create(1, NULL);
        if (!s->match[i]) MZ_FAIL(MZ_ENOMEM, err, "no memory for a pre-tokeniser's scratch");
    }
    s->jit_context = pcre2_match_context_copy(p->limits);
    if (!s->jit_context) MZ_FAIL(MZ_ENOMEM, err, "no memory for a pre-tokeniser's scratch");
    *out = s;
    s = NULL;
out:
    mz_pretok_scratch_free(s);
    return st;
}

void mz_pretok_scratch_free(mz_pretok_scratch *s)
{
    if (!s) return;
    for (size_t i = 0; i < MZ_PRETOK_MAX_STAGE; i++) pcre2_match_data_free(s->match[i]);
    pcre2_match_context_free(s->jit_context);
    pcre2_jit_stack_free(s->jit_stack);
    mz_free(s);
}

/* The default machine stack of JIT code (32 KiB) is enough but for odd text; then a larger one, then the interpreter. */
static int match_once(const mz_pretok *p, mz_pretok_scratch *s, size_t i, PCRE2_SPTR text, size_t n, size_t at)
{
    if (p->jit[i]) {
        int rc = pcre2_jit_match(p->stage[i], text, n, at, 0, s->match[i], s->jit_context);
        if (rc == PCRE2_ERROR_JIT_STACKLIMIT && !s->jit_stack) {
            s->jit_stack = pcre2_jit_stack_create(32768, JIT_STACK_BYTES, NULL);
            if (s->jit_stack) {
                pcre2_jit_stack_assign(s->jit_context, NULL, s->jit_stack);
                rc = pcre2_jit_match(p->stage[i], text, n, at, 0, s->match[i], s->jit_context);
            }
        }
        if (rc != PCRE2_ERROR_JIT_STACKLIMIT) return rc;
    }
    return pcre2_match(p->stage[i], text, n, at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, s->match[i], p->limits);
}

typedef struct walk {
    const mz_pretok *p;
    mz_pretok_scratch *s;
    const char *text;
    mz_pretok_piece piece;
    void *user;
} walk;

/* Depth is bounded by the number of stages. */
static mz_status split_stage(const walk *w, size_t i, size_t from, size_t n, mz_err *err)
{
    mz_status st = MZ_OK;
    if (n == 0) return MZ_OK;
    if (i == w->p->n_stage) return w->piece(w->user, from, n, err);
    PCRE2_SPTR subject = (PCRE2_SPTR)w->text + from;
    size_t done = 0, at = 0;
    while (at < n) {
        int rc = match_once(w->p, w->s, i, subject, n, at);
        if (rc == PCRE2_ERROR_NOMATCH) break;
        if (rc < 0) {
            MZ_FAIL(rc == PCRE2_ERROR_NOMEMORY ? MZ_ENOMEM : MZ_ELIMIT, err,
                    "the text is too hard for the pre-tokeniser near its byte %zu (PCRE2 error %d); shorten the run of similar characters "
                    "there",
                    from + at, rc);
        }
        const PCRE2_SIZE *o = pcre2_get_ovector_pointer(w->s->match[i]);
        size_t b = o[0], e = o[1];
        assert(b >= at && e > b && e <= n); /* no pattern of the table matches the empty string */
        MZ_TRY(split_stage(w, i + 1, from + done, b - done, err));
        MZ_TRY(split_stage(w, i + 1, from + b, e - b, err));
        done = at = e;
    }
    MZ_TRY(split_stage(w, i + 1, from + done, n - done, err));
out:
    return st;
}

mz_status mz_pretok_split(const mz_pretok *p, mz_pretok_scratch *s, const char *text, size_t n, mz_pretok_piece piece, void *user,
                          mz_err *err)
{
    const walk w = {p, s, text, piece, user};
    return split_stage(&w, 0, 0, n, err);
}
