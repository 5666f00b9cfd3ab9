/* SPDX-License-Identifier: Apache-2.0
 *
 * eval_logits.c: logits and taps of one sequence as NPY files, row by row as they are computed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <mizan/eval.h>

#include "base/err.h"
#include "base/mem.h"
#include "fmt/npy.h"

typedef struct tap_file {
    int layer;
    char name[48];
    int64_t width;
    mz_npy npy;
} tap_file;

typedef struct writer {
    int64_t n_tok;
    mz_npy logits;
    bool has_logits;
    const char *dir;
    tap_file *tap;
    size_t n_tap, cap_tap;
} writer;

static mz_status on_logits(void *user, int64_t row0, int64_t n_row, int64_t width, const float *rows, mz_err *err)
{
    writer *w = user;
    (void)row0;
    return mz_npy_write(&w->logits, rows, (uint64_t)(n_row * width), err);
}

static mz_status open_tap(writer *w, int layer, const char *name, int64_t width, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_buf path = {0};
    if (w->n_tap == w->cap_tap) {
        size_t cap = w->cap_tap ? w->cap_tap * 2 : 64;
        tap_file *grown = mz_realloc(w->tap, cap, sizeof *grown);
        if (!grown) MZ_FAIL(MZ_ENOMEM, err, "out of memory for taps");
        w->tap = grown;
        w->cap_tap = cap;
    }
    tap_file *t = &w->tap[w->n_tap];
    *t = (tap_file){.layer = layer, .width = width};
    (void)snprintf(t->name, sizeof t->name, "%s", name);
    bool ok = layer < 0 ? mz_buf_addf(&path, "%s/final.%s.npy", w->dir, name) : mz_buf_addf(&path, "%s/%d.%s.npy", w->dir, layer, name);
    if (!ok) MZ_FAIL(MZ_ENOMEM, err, "out of memory for taps");
    MZ_TRY(mz_npy_open(path.data, (const int64_t[]){w->n_tok, width}, 2, false, &t->npy, err));
    w->n_tap++;
out:
    mz_buf_free(&path);
    return st;
}

static mz_status on_tap(void *user, int layer, const char *name, int64_t row0, int64_t n_row, int64_t width, const float *rows, mz_err *err)
{
    writer *w = user;
    mz_status st = MZ_OK;
    size_t i = 0;
    while (i < w->n_tap && (w->tap[i].layer != layer || strcmp(w->tap[i].name, name) != 0)) i++;
    if (i == w->n_tap && row0 == 0) MZ_TRY(open_tap(w, layer, name, width, err));
    if (i == w->n_tap || w->tap[i].width != width) MZ_FAIL(MZ_EINVAL, err, "tap %d.%s changed between strips", layer, name);
    MZ_TRY(mz_npy_write(&w->tap[i].npy, rows, (uint64_t)(n_row * width), err));
out:
    return st;
}

static mz_status make_dir(const char *dir, mz_err *err)
{
    struct stat sb;
    if (mkdir(dir, 0777) == 0) return MZ_OK;
    int why = errno;
    if (why == EEXIST && stat(dir, &sb) == 0) {
        if (S_ISDIR(sb.st_mode)) return MZ_OK;
        return mz_err_set(err, MZ_EINVAL, "%s: is not a directory, taps need one", dir);
    }
    return mz_err_set(err, MZ_EIO, "%s: cannot create the directory: %s", dir, strerror(why));
}

mz_status mz_eval_logits(mz_engine *e, const int32_t *ids, size_t n, const char *logits_path, const char *taps_dir, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_session *s = NULL;
    writer w = {.n_tok = (int64_t)n, .dir = taps_dir};
    if (taps_dir) MZ_TRY(make_dir(taps_dir, err));
    if (logits_path) {
        MZ_TRY(mz_npy_open(logits_path, (const int64_t[]){(int64_t)n, mz_engine_get_info(e).n_vocab}, 2, false, &w.logits, err));
        w.has_logits = true;
    }
    MZ_TRY(mz_session_create(e, &s, err));
    MZ_TRY(mz_session_score(s, ids, n, logits_path ? on_logits : NULL, &w, taps_dir ? on_tap : NULL, &w, err));
    for (size_t i = 0; i < w.n_tap; i++) MZ_TRY(mz_npy_commit(&w.tap[i].npy, err));
    if (logits_path) MZ_TRY(mz_npy_commit(&w.logits, err));
out:
    for (size_t i = 0; i < w.n_tap; i++) mz_npy_abort(&w.tap[i].npy);
    if (w.has_logits) mz_npy_abort(&w.logits);
    mz_free(w.tap);
    mz_session_close(s);
    return st;
}
