/* SPDX-License-Identifier: Apache-2.0 */
#include "fmt/npy.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"

/* Everything before the data is a multiple of this, as NumPy writes it. */
enum { HEADER_ALIGN = 64, PREFIX_BYTES = 10 };

static mz_status make_header(const char *path, const int64_t *shape, int n_dim, bool is_int, mz_buf *h, uint64_t *n_elem, mz_err *err)
{
    mz_status st = MZ_OK;
    *n_elem = 1;
    bool ok = mz_buf_addf(h, "\x93NUMPY\x01%c%c%c", 0, 0, 0);
    ok = ok && mz_buf_addf(h, "{'descr': '%s', 'fortran_order': False, 'shape': (", is_int ? "<i4" : "<f4");
    for (int i = 0; i < n_dim; i++) {
        if (shape[i] < 0 || __builtin_mul_overflow(*n_elem, (uint64_t)shape[i], n_elem))
            MZ_FAIL(MZ_EINVAL, err, "%s: dimension %d of the array to be written is %" PRId64, path, i, shape[i]);
        ok = ok && mz_buf_addf(h, "%s%" PRId64, i ? ", " : "", shape[i]);
    }
    ok = ok && mz_buf_addf(h, "%s), }", n_dim == 1 ? "," : "");
    while (ok && (h->len + 1) % HEADER_ALIGN != 0) ok = mz_buf_add(h, " ", 1);
    if (!ok || !mz_buf_add(h, "\n", 1)) MZ_FAIL(MZ_ENOMEM, err, "%s: out of memory", path);
    if (h->len - PREFIX_BYTES > UINT16_MAX) MZ_FAIL(MZ_EINVAL, err, "%s: an array of %d dimensions cannot be written", path, n_dim);
    h->data[8] = (char)((h->len - PREFIX_BYTES) & 255);
    h->data[9] = (char)((h->len - PREFIX_BYTES) >> 8);
out:
    return st;
}

mz_status mz_npy_open(const char *path, const int64_t *shape, int n_dim, bool is_int, mz_npy *out, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_buf header = {0};
    *out = (mz_npy){0};
    MZ_TRY(make_header(path, shape, n_dim, is_int, &header, &out->n_left, err));
    MZ_TRY(mz_out_open(path, &out->out, err));
    MZ_TRY(mz_out_write(&out->out, header.data, header.len, err));
out:
    mz_buf_free(&header);
    if (st != MZ_OK) mz_npy_abort(out);
    return st;
}

mz_status mz_npy_write(mz_npy *w, const void *x, uint64_t n, mz_err *err)
{
    mz_status st = MZ_OK;
    if (n > w->n_left) MZ_FAIL(MZ_EINVAL, err, "%s: %" PRIu64 " more elements than the shape has room for", w->out.path, n - w->n_left);
    MZ_TRY(mz_out_write(&w->out, x, n * 4, err));
    w->n_left -= n;
out:
    return st;
}

mz_status mz_npy_commit(mz_npy *w, mz_err *err)
{
    mz_status st = MZ_OK;
    if (w->n_left) MZ_FAIL(MZ_EINVAL, err, "%s: %" PRIu64 " elements are missing", w->out.path, w->n_left);
    st = mz_out_commit(&w->out, err);
out:
    mz_npy_abort(w);
    return st;
}

void mz_npy_abort(mz_npy *w)
{
    mz_out_abort(&w->out);
    *w = (mz_npy){0};
}
