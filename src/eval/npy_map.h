/* SPDX-License-Identifier: Apache-2.0
 *
 * npy_map.h: reading a two-dimensional float32 NPY file by mapping it.
 *
 * What it is not: a general NPY reader; other types, orders and dimensions are refused by name.
 * Ownership: the mapping belongs to the opener. Threading: immutable after opening. */
#ifndef MZ_EVAL_NPY_MAP_H
#define MZ_EVAL_NPY_MAP_H

#include <stdint.h>

#include "base/file.h"

typedef struct mz_npy_map {
    mz_map map;
    const uint8_t *data; /* [n_row, n_col] f32, unaligned */
    int64_t n_row, n_col;
} mz_npy_map;

/* NPY 1.0, 2.0 or 3.0, '<f4', C order, shape (n_row, n_col); the file must hold exactly that. */
mz_status mz_npy_map_open(const char *path, mz_npy_map *out, mz_err *err) MZ_MUST_USE;
/* The same from bytes; fills all but out->map. */
mz_status mz_npy_map_parse(const uint8_t *bytes, size_t n, mz_npy_map *out, mz_err *err) MZ_MUST_USE;
void mz_npy_map_close(mz_npy_map *m);
/* row [n_col] = row i. */
void mz_npy_map_row(const mz_npy_map *m, int64_t i, float *row);

#endif
