/* SPDX-License-Identifier: Apache-2.0 */
#include "sp_encode.h"

#include <string.h>

#include "sp_merge.h"
#include "sp_normal.h"
#include "sp_unigram.h"

/* From this length on words are remembered. */
#define LONG_TEXT 2048

typedef struct encoder {
    const mz_sp *sp;
    mz_buf *out;
    mz_sp_normal normal;
    mz_sp_merger merger;
    bool after_unknown;
} encoder;

static mz_status push(encoder *e, int32_t id, mz_err *err)
{
    mz_status st = MZ_OK;
    if (!mz_buf_add(e->out, &id, sizeof id)) MZ_FAIL(MZ_ENOMEM, err, "no memory for the token ids");
out:
    return st;
}

static mz_status emit(void *user, int32_t id, mz_str s, mz_err *err)
{
    mz_status st = MZ_OK;
    encoder *e = user;
    if (id >= 0) {
        e->after_unknown = false;
        return push(e, id, err);
    }
    if (!e->sp->has_bytes) { /* a run of unknown characters is one token */
        if (!e->after_unknown) MZ_TRY(push(e, e->sp->unk, err));
        e->after_unknown = true;
        return MZ_OK;
    }
    for (size_t i = 0; i < s.n; i++) MZ_TRY(push(e, e->sp->byte_id[(unsigned char)s.s[i]], err));
out:
    return st;
}

/* The part [from, to) of the normalised text; guards from *g on, which moves on. */
static mz_status encode_part(encoder *e, size_t from, size_t to, size_t *g, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t *guard = (size_t *)(void *)e->normal.guard.data, n_all = e->normal.guard.len / sizeof *guard, n_guard = 0;
    if (from >= to) return MZ_OK;
    while (*g < n_all && guard[*g] < from) ++*g;
    size_t *first = guard ? guard + *g : NULL;
    while (*g < n_all && guard[*g] < to) {
        guard[*g] -= from;
        ++*g;
        n_guard++;
    }
    const char *text = e->normal.text.data + from;
    if (e->sp->unigram) {
        MZ_TRY(mz_sp_unigram(e->sp, text, to - from, first, n_guard, emit, e, err));
    } else {
        MZ_TRY(mz_sp_merge(e->sp, &e->merger, text, to - from, first, n_guard, emit, e, err));
    }
out:
    return st;
}

static mz_status encode_plain(encoder *e, const char *s, size_t n, const size_t *guard, size_t n_guard, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t from = 0, g = 0;
    if (n == 0) return MZ_OK;
    MZ_TRY(mz_sp_normalise(e->sp, s, n, guard, n_guard, &e->normal, err));
    const size_t *raw = (const size_t *)(const void *)e->normal.raw.data;
    e->after_unknown = false;
    for (size_t i = 0; i < e->normal.raw.len / sizeof *raw; i++) {
        MZ_TRY(encode_part(e, from, raw[i], &g, err));
        MZ_TRY(push(e, e->sp->byte_id[(unsigned char)e->normal.text.data[raw[i]]], err));
        from = raw[i] + 1;
    }
    MZ_TRY(encode_part(e, from, e->normal.text.len, &g, err));
out:
    return st;
}

/* The same with guards as places in the whole text; *i_guard moves on to the first one at or behind `to`. */
static mz_status encode_between(encoder *e, const char *text, size_t from, size_t to, const size_t *guard, size_t n_guard, size_t *i_guard,
                                mz_err *err)
{
    mz_status st = MZ_OK;
    mz_buf inside = {0};
    for (; *i_guard < n_guard && guard[*i_guard] < to; ++*i_guard) {
        if (guard[*i_guard] < from) continue;
        size_t at = guard[*i_guard] - from;
        if (!mz_buf_add(&inside, &at, sizeof at)) MZ_FAIL(MZ_ENOMEM, err, "no memory for the token ids");
    }
    MZ_TRY(encode_plain(e, text + from, to - from, (const size_t *)(const void *)inside.data, inside.len / sizeof(size_t), err));
out:
    mz_buf_free(&inside);
    return st;
}

mz_status mz_sp_encode(const mz_sp *sp, const mz_special *control, const char *text, size_t n, const size_t *guard, size_t n_guard,
                       mz_buf *out, mz_err *err)
{
    mz_status st = MZ_OK;
    encoder e = {.sp = sp, .out = out, .merger = {.use_memo = n > LONG_TEXT}};
    size_t from = 0, i = 0, i_guard = 0, i_from = 0;
    if (n == 0) return MZ_OK;
    while (control && i < n) {
        unsigned char c = (unsigned char)text[i];
        size_t len;
        int32_t form = -1;
        while (i_guard < n_guard && guard[i_guard] < i) i_guard++;
        bool guarded = i_guard < n_guard && guard[i_guard] == i;
        if (control->first[c] != control->first[c + 1] && !guarded) form = mz_special_match(control, text + i, n - i, &len);
        if (form < 0) {
            i++;
            continue;
        }
        MZ_TRY(encode_between(&e, text, from, i, guard, n_guard, &i_from, err));
        MZ_TRY(push(&e, control->form[form].id, err));
        i += len;
        from = i;
    }
    MZ_TRY(encode_between(&e, text, from, n, guard, n_guard, &i_from, err));
out:
    mz_sp_normal_done(&e.normal);
    mz_sp_merger_done(&e.merger);
    return st;
}
