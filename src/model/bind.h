/* SPDX-License-Identifier: Apache-2.0
 *
 * bind.h: what a family file works with: the open checkpoint, the program being built, and calls that
 * bind a tensor by name while checking its type and shape. Internal to model/. */
#ifndef MZ_MODEL_BIND_H
#define MZ_MODEL_BIND_H

#include "model/model.h"

typedef struct mz_bind {
    const mz_gguf *g;
    mz_model *m;
    mz_prog *p;
    const char *arch; /* value of general.architecture, the prefix of the keys */
    bool *used;       /* [g->n_tensor] */
    mz_err *err;
} mz_bind;

/* Reads "<arch>.<key>". lo..hi bound integers; an absent optional key leaves *out. */
mz_status mz_bind_i64(mz_bind *b, const char *key, bool required, int64_t lo, int64_t hi, int64_t *out) MZ_MUST_USE;
mz_status mz_bind_f32(mz_bind *b, const char *key, bool required, float *out) MZ_MUST_USE;
/* The value for one layer of a key that may be a number for all layers or an array with one per layer. */
mz_status mz_bind_layer_i64(mz_bind *b, const char *key, int64_t layer, bool required, int64_t lo, int64_t hi, int64_t *out) MZ_MUST_USE;

/* MZ_ESUPPORT when the file asks for sliding windows, in a family where mizan does not know which layers have them. */
mz_status mz_bind_no_windows(mz_bind *b) MZ_MUST_USE;

/* Weight number of the matrix `name` [n_out, n_in] (file order: n_in contiguous); n_out 0 accepts any and is read from the
 * result. Absent: *id = -1 and, if required, MZ_EFORMAT. A tensor bound twice gets two weights: share instead. */
mz_status mz_bind_matrix(mz_bind *b, const char *name, int64_t n_out, int64_t n_in, bool required, int *id) MZ_MUST_USE;
mz_status mz_bind_vector(mz_bind *b, const char *name, int64_t n, bool required, int *id) MZ_MUST_USE;
/* "blk.<layer>.<what>" into a buffer owned by the caller. */
const char *mz_bind_layer_name(char buf[96], int64_t layer, const char *what);
/* Marks a tensor that the family reads by itself or knows to be redundant. */
void mz_bind_mark_used(mz_bind *b, const char *name);

/* One file of arch/. */
typedef mz_status mz_family_build_fn(mz_bind *b);
typedef struct mz_family {
    const char *arch; /* general.architecture */
    mz_family_build_fn *build;
} mz_family;

mz_status mz_family_gemma2(mz_bind *b);
mz_status mz_family_gemma3(mz_bind *b);
mz_status mz_family_llama(mz_bind *b);
mz_status mz_family_qwen2(mz_bind *b);
mz_status mz_family_qwen3(mz_bind *b);
mz_status mz_family_smollm3(mz_bind *b);

#endif
