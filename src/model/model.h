/* SPDX-License-Identifier: Apache-2.0
 *
 * model.h: from a checkpoint's metadata and tensor table to a checked program.
 *
 * What it is not: it neither loads weights (rt/) nor runs anything (exec/). A family is one file in
 * arch/ which binds names, checks shapes and emits ops through blocks/.
 * Ownership: the model owns its program; names point into it. Threading: immutable after building. */
#ifndef MZ_MODEL_MODEL_H
#define MZ_MODEL_MODEL_H

#include "fmt/gguf.h"
#include "prog/prog.h"

typedef struct mz_model {
    const char *family; /* registry name, static */
    int64_t n_layer, d_model, n_vocab;
    int64_t ctx_tok;         /* the context length the file states */
    uint64_t n_param;        /* all stored parameters */
    uint64_t n_param_active; /* multiplied or looked up for one token */
    mz_prog *prog;
} mz_model;

/* MZ_ESUPPORT names an unknown family; MZ_EFORMAT names the key or tensor that is missing or wrong. */
mz_status mz_model_build(const mz_gguf *g, bool taps, mz_model **out, mz_err *err) MZ_MUST_USE;
void mz_model_free(mz_model *m);

#endif
