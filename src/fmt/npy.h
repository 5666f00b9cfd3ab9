/* SPDX-License-Identifier: Apache-2.0
 *
 * npy.h: writing NumPy NPY v1.0 files, little-endian float32 or int32, C order, in strips.
 *
 * Usage: open with the full shape, write rows as they come, commit. The file appears under its
 * name only at commit. Threading: one writer, one thread. */
#ifndef MZ_FMT_NPY_H
#define MZ_FMT_NPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/file.h"

typedef struct mz_npy {
    mz_out out;
    uint64_t n_left; /* elements still owed */
} mz_npy;

/* shape [n_dim] is outermost first (NumPy's order). is_int: int32 instead of float32. */
mz_status mz_npy_open(const char *path, const int64_t *shape, int n_dim, bool is_int, mz_npy *out, mz_err *err) MZ_MUST_USE;
/* Appends n elements of 4 bytes each, as they lie. */
mz_status mz_npy_write(mz_npy *w, const void *x, uint64_t n, mz_err *err) MZ_MUST_USE;
/* Fails when elements are still owed. */
mz_status mz_npy_commit(mz_npy *w, mz_err *err) MZ_MUST_USE;
void mz_npy_abort(mz_npy *w);

#endif
