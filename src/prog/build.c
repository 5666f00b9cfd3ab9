/* SPDX-License-Identifier: Apache-2.0
 * Builder side of prog.h. Growth failures are sticky so that families need not check every call. */
#include <string.h>

#include "prog.h"

mz_prog *mz_prog_create(bool taps)
{
    mz_prog *p = mz_calloc(1, sizeof *p);
    if (p) {
        p->taps = taps;
        p->logits = -1;
    }
    return p;
}

void mz_prog_free(mz_prog *p)
{
    if (!p) return;
    mz_free(p->op);
    mz_free(p->buf);
    mz_free(p->weight);
    mz_free(p->seg);
    mz_arena_free(&p->arena);
    mz_free(p);
}

/* Makes room for one item more; returns the item's number or -1. */
static int grow(mz_prog *p, void **items, int *n, int *cap, size_t item_bytes)
{
    if (p->out_of_memory) return -1;
    if (*n == *cap) {
        int more = *cap ? *cap * 2 : 64;
        void *q = mz_realloc(*items, (size_t)more, item_bytes);
        if (!q) {
            p->out_of_memory = true;
            return -1;
        }
        *items = q;
        *cap = more;
    }
    memset((char *)*items + (size_t)*n * item_bytes, 0, item_bytes);
    return (*n)++;
}

static const char *keep_name(mz_prog *p, const char *name)
{
    const char *kept = mz_arena_strndup(&p->arena, name, strlen(name));
    if (!kept) p->out_of_memory = true;
    return kept;
}

int mz_prog_add_buf(mz_prog *p, const char *name, mz_rows rows, mz_elem elem, int64_t width)
{
    int i = grow(p, (void **)&p->buf, &p->n_buf, &p->cap_buf, sizeof *p->buf);
    if (i >= 0) p->buf[i] = (mz_prog_buf){.name = keep_name(p, name), .rows = rows, .elem = elem, .width = width};
    return i;
}

int mz_prog_add_weight(mz_prog *p, const char *name, mz_dtype type, int64_t n_out, int64_t n_in, bool is_vector)
{
    int i = grow(p, (void **)&p->weight, &p->n_weight, &p->cap_weight, sizeof *p->weight);
    if (i >= 0)
        p->weight[i] = (mz_prog_weight){
            .name = keep_name(p, name), .w = {.type = type, .n_out = n_out, .n_in = n_in}, .is_vector = is_vector, .n_use_declared = 1};
    return i;
}

void mz_prog_share_weight(mz_prog *p, int w, int n_use)
{
    if (w >= 0 && !p->out_of_memory) p->weight[w].n_use_declared = n_use;
}

int mz_prog_add_seg(mz_prog *p, mz_prog_seg seg)
{
    int i = grow(p, (void **)&p->seg, &p->n_seg, &p->cap_seg, sizeof *p->seg);
    if (i >= 0) p->seg[i] = seg;
    return i;
}

void mz_prog_add_op(mz_prog *p, const mz_op *op)
{
    if (op->kind == MZ_OP_TAP && !p->taps) return;
    int i = grow(p, (void **)&p->op, &p->n_op, &p->cap_op, sizeof *p->op);
    if (i < 0) return;
    p->op[i] = *op;
    if (op->p.name) p->op[i].p.name = keep_name(p, op->p.name);
}

float *mz_prog_floats(mz_prog *p, int64_t n)
{
    size_t bytes;
    float *x = NULL;
    if (n >= 0 && mz_mul_size((size_t)n, sizeof *x, &bytes)) x = mz_arena_alloc(&p->arena, bytes);
    if (!x) p->out_of_memory = true;
    return x;
}
