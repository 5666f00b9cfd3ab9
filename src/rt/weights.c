/* SPDX-License-Identifier: Apache-2.0
 * From mapped tensors to what the kernels read. A tensor is repacked in stripes whose mapped pages are given back as soon as
 * they are read, so that the peak is the weights and one stripe for each thread. */
#include <stdatomic.h>
#include <sys/mman.h>

#include "base/workers.h"
#include "rt/engine_int.h"

static bool is_packed(const mz_prog_weight *w, const mz_kern *k)
{
    return w->is_matmul && !w->is_vector && k->pack[w->w.type] != NULL;
}

/* Bytes of one stored row of n_in values; binding has checked that blocks divide it. */
static size_t row_bytes(const mz_prog_weight *w)
{
    const mz_dtype_info *t = mz_dtype_get(w->w.type);
    return (size_t)(w->w.n_in / t->block_elems) * t->block_bytes;
}

static size_t packed_bytes(const mz_prog_weight *w)
{
    return ((size_t)((w->w.n_out + 7) / 8 * 8) * row_bytes(w) + 63) & ~(size_t)63;
}

mz_status mz_weights_measure(const mz_gguf *g, const mz_prog *p, const mz_kern *k, mz_weights *out, mz_err *err)
{
    *out = (mz_weights){0};
    for (int i = 0; i < p->n_weight; i++) {
        const mz_prog_weight *w = &p->weight[i];
        const mz_gguf_tensor *t = mz_gguf_find_tensor(g, w->name);
        if (!t) return mz_err_set(err, MZ_EFORMAT, "tensor %s is missing", w->name);
        size_t bytes = t->n_bytes;
        if (w->is_vector) {
            bytes = ((size_t)w->w.n_in * sizeof(float) + 63) & ~(size_t)63;
            out->vectors_bytes += bytes;
        } else if (is_packed(w, k)) {
            bytes = packed_bytes(w);
            out->packed_bytes += bytes;
        }
        out->resident_bytes += bytes;
        if (w->is_vector || w->is_matmul) out->step_bytes += w->is_matmul ? t->n_bytes : bytes;
        if (w->is_matmul) out->flop_per_tok += 2.0 * (double)t->n_elem;
    }
    return MZ_OK;
}

#define STRIPE_BYTES ((size_t)2 << 20)

typedef struct pack_job {
    const mz_kern *kern;
    mz_weight src; /* ROWS */
    uint8_t *dst;
    const mz_map *file;
    size_t file_offset;
    int64_t stripe_panels;
    atomic_int_fast64_t next; /* the first panel nobody has claimed */
} pack_job;

static void pack_stripes(void *arg, int t, int n)
{
    pack_job *j = arg;
    int64_t n_out = j->src.n_out, n_panel = (n_out + 7) / 8;
    size_t row = j->src.row_bytes; /* a panel of 8 takes as much as its rows */
    (void)t, (void)n;
    for (;;) {
        int64_t begin = atomic_fetch_add(&j->next, j->stripe_panels);
        if (begin >= n_panel) return;
        int64_t end = begin + j->stripe_panels < n_panel ? begin + j->stripe_panels : n_panel;
        for (int64_t p = begin; p < end; p++) j->kern->pack[j->src.type](&j->src, p * 8, j->dst + (size_t)p * 8 * row);
        int64_t last_row = end * 8 < n_out ? end * 8 : n_out;
        mz_file_release(j->file, j->file_offset + (size_t)begin * 8 * row, (size_t)(last_row - begin * 8) * row);
    }
}

static mz_status load_one(const mz_gguf *g, mz_prog_weight *w, const mz_kern *k, mz_team *team, uint8_t **packed, float **vectors,
                          mz_err *err)
{
    const mz_gguf_tensor *t = mz_gguf_find_tensor(g, w->name);
    if (!t) return mz_err_set(err, MZ_EFORMAT, "tensor %s is missing", w->name);
    if (w->is_vector) {
        mz_status st = mz_gguf_decode(t, *vectors, err);
        w->vec = *vectors;
        *vectors += ((size_t)w->w.n_in + 15) & ~(size_t)15;
        return st;
    }
    w->w.layout = MZ_LAYOUT_ROWS;
    w->w.row_bytes = row_bytes(w);
    w->w.data = t->data;
    if (!is_packed(w, k)) return MZ_OK;
    int64_t stripe = w->w.row_bytes ? (int64_t)(STRIPE_BYTES / (w->w.row_bytes * 8)) : 0;
    pack_job job = {.kern = k,
                    .src = w->w,
                    .dst = *packed,
                    .file = &g->part[t->i_part],
                    .file_offset = t->file_offset,
                    .stripe_panels = stripe > 0 ? stripe : 1};
    mz_team_run(team, pack_stripes, &job);
    mz_file_release(&g->part[t->i_part], t->file_offset, t->n_bytes); /* pages on the seams, which no stripe had to itself */
    w->w.layout = MZ_LAYOUT_PANEL8;
    w->w.data = *packed;
    *packed += packed_bytes(w);
    return MZ_OK;
}

mz_status mz_weights_load(const mz_gguf *g, mz_prog *p, const mz_kern *k, int n_thread, mz_weights *w,
                          void (*progress)(void *, uint64_t, uint64_t), void *user, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_team *team = NULL;
    uint64_t done = 0;
    w->packed = mz_reserve(w->packed_bytes);
    w->vectors = mz_calloc_aligned(w->vectors_bytes);
    if (!w->packed || !w->vectors)
        MZ_FAIL(MZ_ENOMEM, err, "%zu bytes for the weights could not be had", w->packed_bytes + w->vectors_bytes);
    (void)madvise(w->packed, w->packed_bytes, MADV_HUGEPAGE); /* a hint: fewer address look-ups per step */
    MZ_TRY(mz_team_create(n_thread, &team, err));
    uint8_t *packed = w->packed;
    float *vectors = w->vectors;
    for (int i = 0; i < p->n_weight; i++) {
        MZ_TRY(load_one(g, &p->weight[i], k, team, &packed, &vectors, err));
        done += p->weight[i].is_vector ? 0 : (uint64_t)p->weight[i].w.n_out * row_bytes(&p->weight[i]);
        if (progress) progress(user, done < w->resident_bytes ? done : w->resident_bytes, w->resident_bytes);
    }
    if (progress) progress(user, w->resident_bytes, w->resident_bytes);
out:
    mz_team_free(team);
    return st; /* on failure the engine frees w */
}

void mz_weights_free(mz_weights *w)
{
    mz_unreserve(w->packed, w->packed_bytes);
    mz_free(w->vectors);
    *w = (mz_weights){0};
}
