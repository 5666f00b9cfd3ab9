/* SPDX-License-Identifier: Apache-2.0
 * Exact sizes of buffers and state, from the program alone. */
#include "prog.h"

size_t mz_prog_row_bytes(const mz_prog_buf *b)
{
    return b->elem == MZ_ELEM_Q8 ? mz_q8_row_bytes(b->width) : ((size_t)b->width * sizeof(float) + 63) & ~(size_t)63;
}

bool mz_prog_buffer_bytes(const mz_prog *p, int64_t n_row, int64_t n_logit, size_t *offsets, size_t *total)
{
    size_t at = 0;
    for (int i = 0; i < p->n_buf; i++) {
        size_t bytes;
        int64_t rows = p->buf[i].rows == MZ_ROWS_LOGIT ? n_logit : n_row;
        if (offsets) offsets[i] = at;
        if (!mz_mul_size((size_t)rows, mz_prog_row_bytes(&p->buf[i]), &bytes) || !mz_add_size(at, bytes, &at)) return false;
    }
    *total = at;
    return true;
}

mz_status mz_state_layout_make(const mz_prog *p, mz_kv_type kv, mz_state_layout *out, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t elem = mz_kv_elem_bytes(kv), at = 0;
    *out = (mz_state_layout){.kv = kv};
    out->k_offset = mz_calloc((size_t)p->n_seg + 1, sizeof *out->k_offset);
    out->v_offset = mz_calloc((size_t)p->n_seg + 1, sizeof *out->v_offset);
    if (!out->k_offset || !out->v_offset) MZ_FAIL(MZ_ENOMEM, err, "out of memory while laying out the state");
    for (int i = 0; i < p->n_seg; i++) {
        const mz_prog_seg *s = &p->seg[i];
        size_t k, v;
        out->k_offset[i] = at;
        bool fits = mz_mul_size((size_t)(s->n_head_kv * s->d_k), elem * MZ_PAGE_TOK, &k) && mz_add_size(at, k, &at);
        out->v_offset[i] = at;
        fits = fits && mz_mul_size((size_t)(s->n_head_kv * s->d_v), elem * MZ_PAGE_TOK, &v) && mz_add_size(at, v, &at);
        if (!fits) MZ_FAIL(MZ_ERANGE, err, "the state of one page does not fit the address space");
    }
    out->page_bytes = at;
    out->bytes_per_tok = at / MZ_PAGE_TOK;
out:
    if (st != MZ_OK) mz_state_layout_free(out);
    return st;
}

void mz_state_layout_free(mz_state_layout *l)
{
    mz_free(l->k_offset);
    mz_free(l->v_offset);
    *l = (mz_state_layout){0};
}
