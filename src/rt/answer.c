/* SPDX-License-Identifier: Apache-2.0
 *
 * answer.c: ids in, text that is safe to show out.
 *
 * `text` holds all bytes of the answer; the first n_shown of them were handed out. What lies behind is
 * held back because it may be the beginning of a stop string or of a character. A stop string can only
 * begin at or behind n_shown, so the search never looks at shown text. */
#include <string.h>

#include <mizan/sample.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/utf8.h"

struct mz_answer {
    const mz_text *source; /* NULL: ids only */
    int64_t n_max;
    char **stop;
    size_t n_stop;
    int32_t *stop_ids;
    size_t n_stop_ids;
    bool ignore_eos, show_special;
    mz_finish finish;
    mz_buf ids;  /* int32_t */
    mz_buf text; /* shown and held back */
    size_t n_shown;
};

mz_status mz_answer_create(const mz_text *text, const mz_answer_options *o, mz_answer **out, mz_err *err)
{
    mz_status st = MZ_OK;
    *out = NULL;
    mz_answer *a = mz_calloc(1, sizeof *a);
    if (!a) MZ_FAIL(MZ_ENOMEM, err, "out of memory for an answer");
    if (!text && o->n_stop) MZ_FAIL(MZ_EINVAL, err, "stop strings need a tokenizer, which this model does not have");
    a->source = text;
    a->n_max = o->n_max;
    a->ignore_eos = o->ignore_eos;
    a->show_special = o->show_special;
    a->stop = mz_calloc(o->n_stop, sizeof *a->stop);
    a->stop_ids = mz_calloc(o->n_stop_ids, sizeof *a->stop_ids);
    if (!a->stop || !a->stop_ids) MZ_FAIL(MZ_ENOMEM, err, "out of memory for an answer");
    for (size_t i = 0; i < o->n_stop; i++) {
        if (!o->stop[i][0]) MZ_FAIL(MZ_EINVAL, err, "stop string %zu is empty", i);
        a->stop[i] = mz_strndup(o->stop[i], strlen(o->stop[i]));
        if (!a->stop[i]) MZ_FAIL(MZ_ENOMEM, err, "out of memory for an answer");
        a->n_stop = i + 1;
    }
    if (o->n_stop_ids) memcpy(a->stop_ids, o->stop_ids, o->n_stop_ids * sizeof *a->stop_ids);
    a->n_stop_ids = o->n_stop_ids;
    *out = a;
    a = NULL;
out:
    mz_answer_free(a);
    return st;
}

void mz_answer_free(mz_answer *a)
{
    if (!a) return;
    for (size_t i = 0; i < a->n_stop; i++) mz_free(a->stop[i]);
    mz_free(a->stop);
    mz_free(a->stop_ids);
    mz_buf_free(&a->ids);
    mz_buf_free(&a->text);
    mz_free(a);
}

static bool is_stop_id(const mz_answer *a, int32_t id)
{
    for (size_t i = 0; i < a->n_stop_ids; i++)
        if (a->stop_ids[i] == id) return true;
    return !a->ignore_eos && a->source && mz_text_is_stop(a->source, id);
}

/* Cuts the text before the stop string that begins first; false when there is none. */
static bool cut_at_stop(mz_answer *a)
{
    size_t first = a->text.len;
    for (size_t i = 0; i < a->n_stop; i++) {
        const char *held = a->text.data + a->n_shown;
        const char *at = memmem(held, a->text.len - a->n_shown, a->stop[i], strlen(a->stop[i]));
        if (at && (size_t)(at - a->text.data) < first) first = (size_t)(at - a->text.data);
    }
    if (first == a->text.len) return false;
    a->text.len = first;
    a->text.data[first] = '\0';
    return true;
}

/* How much of the text may be shown: all but the longest end that begins a stop string, and no part of a character. */
static size_t showable(const mz_answer *a)
{
    size_t n_held = a->text.len - a->n_shown, keep = 0;
    if (n_held == 0) return a->n_shown;
    const char *end = a->text.data + a->text.len;
    for (size_t i = 0; i < a->n_stop; i++) {
        size_t n_stop = strlen(a->stop[i]);
        for (size_t n = n_held < n_stop - 1 ? n_held : n_stop - 1; n > keep; n--)
            if (memcmp(end - n, a->stop[i], n) == 0) {
                keep = n;
                break;
            }
    }
    size_t n = n_held - keep;
    return a->n_shown + n - mz_utf8_incomplete_tail(a->text.data + a->n_shown, n);
}

static void hand_out(mz_answer *a, size_t up_to, const char **delta, size_t *n)
{
    *delta = a->text.data ? a->text.data + a->n_shown : "";
    *n = up_to - a->n_shown;
    a->n_shown = up_to;
}

mz_status mz_answer_add(mz_answer *a, int32_t id, const char **delta, size_t *n, mz_finish *finish, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t n_piece = 0, n_ids = a->ids.len / sizeof id;
    *delta = "";
    *n = 0;
    if (id < 0) MZ_FAIL(MZ_EINVAL, err, "token id %d is negative", id);
    if (a->finish != MZ_FINISH_NONE) MZ_FAIL(MZ_EINVAL, err, "token %d was added to an answer that had ended", id);
    if (is_stop_id(a, id)) {
        a->finish = MZ_FINISH_STOP;
    } else if (a->n_max >= 0 && n_ids >= (uint64_t)a->n_max) {
        a->finish = MZ_FINISH_LENGTH; /* only when n_max is 0 */
    } else {
        if (!mz_buf_add(&a->ids, &id, sizeof id)) MZ_FAIL(MZ_ENOMEM, err, "out of memory for an answer");
        /* Ids behind the tokenizer's vocabulary (padding of the output layer) have no text. */
        const char *piece = a->source ? mz_text_piece(a->source, id, a->show_special, &n_piece) : NULL;
        if (piece && !mz_buf_add(&a->text, piece, n_piece)) MZ_FAIL(MZ_ENOMEM, err, "out of memory for an answer");
        if (a->n_stop && a->text.len && cut_at_stop(a))
            a->finish = MZ_FINISH_STOP;
        else if (a->n_max >= 0 && n_ids + 1 >= (uint64_t)a->n_max)
            a->finish = MZ_FINISH_LENGTH;
    }
    hand_out(a, a->finish != MZ_FINISH_NONE ? a->text.len : showable(a), delta, n);
    *finish = a->finish;
out:
    return st;
}

mz_status mz_answer_flush(mz_answer *a, const char **delta, size_t *n, mz_err *err)
{
    (void)err;
    hand_out(a, a->text.len, delta, n);
    return MZ_OK;
}

const int32_t *mz_answer_ids(const mz_answer *a, size_t *n)
{
    *n = a->ids.len / sizeof(int32_t);
    return (const int32_t *)(const void *)a->ids.data;
}

const char *mz_answer_text(const mz_answer *a, size_t *n)
{
    *n = a->n_shown;
    return a->text.data ? a->text.data : "";
}
