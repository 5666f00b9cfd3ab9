/* SPDX-License-Identifier: Apache-2.0
 *
 * engine_int.h: what engine.c, session.c and weights.c share. Internal to rt/. */
#ifndef MZ_RT_ENGINE_INT_H
#define MZ_RT_ENGINE_INT_H

#include <mizan/engine.h>

#include "exec/exec.h"
#include "fmt/gguf.h"
#include "model/model.h"

#define MZ_DEFAULT_CHUNK_TOK 512
#define MZ_LEAST_CHUNK_TOK   64
#define MZ_CHUNK_BYTES       ((size_t)36 << 20)
/* Rows of logits one step can give: scoring works in strips of this many. */
#define MZ_LOGIT_ROWS 32

/* Rows of a prefill step when none are stated: at most the default, fewer where they would add more than MZ_CHUNK_BYTES to the
 * buffers. Hundreds of rows hide the reading of the weights already, and results do not depend on it. */
int64_t mz_chunk_choose(const mz_prog *p, const mz_kern *k);

/* Loaded weights: repacked ones lie in one block, vectors in another; the rest stays mapped. */
typedef struct mz_weights {
    uint8_t *packed;
    size_t packed_bytes;
    float *vectors;
    size_t vectors_bytes;
    uint64_t resident_bytes; /* packed + vectors + mapped and used */
    uint64_t step_bytes;     /* touched by one decode step */
    double flop_per_tok;
} mz_weights;

/* Sizes only; what mz_weights_load will take. */
mz_status mz_weights_measure(const mz_gguf *g, const mz_prog *p, const mz_kern *k, mz_weights *out, mz_err *err) MZ_MUST_USE;
/* Fills the program's weights; w comes from mz_weights_measure. Repacks tensor by tensor with n_thread threads and gives the mapped pages back. */
mz_status mz_weights_load(const mz_gguf *g, mz_prog *p, const mz_kern *k, int n_thread, mz_weights *w,
                          void (*progress)(void *, uint64_t, uint64_t), void *user, mz_err *err) MZ_MUST_USE;
void mz_weights_free(mz_weights *w);

/* State pages of all sessions of an engine. */
typedef struct mz_pool {
    uint8_t *data;
    size_t bytes, page_bytes;
    int32_t *free_page; /* stack [n_page] */
    int32_t n_free, n_page;
} mz_pool;

mz_status mz_pool_init(size_t page_bytes, int64_t n_page, mz_pool *out, mz_err *err) MZ_MUST_USE;
void mz_pool_free(mz_pool *p);

struct mz_engine {
    mz_engine_options o; /* as in effect */
    mz_gguf *g;
    mz_model *m;
    mz_text *text; /* NULL: the file has none */
    const mz_kern *kern;
    const mz_exec_type *type;
    mz_exec *exec;
    mz_weights weights;
    mz_state_layout layout;
    mz_pool pool;
    size_t buffer_bytes;
    int64_t page_per_session, max_row, max_logit;
    int n_open; /* sessions in existence */
    /* the step being assembled */
    mz_step_view step;
    int32_t *token, *row_run; /* [max_row] */
    mz_run *run;              /* [n_session] */
    int32_t *logit_row;       /* [max_logit] */
};

struct mz_session {
    mz_engine *e;
    int32_t *ids; /* [len], room for ctx_tok */
    int64_t len;
    int32_t *page; /* [n_page], room for page_per_session */
    int64_t n_page;
    float *logits; /* [n_vocab] of the token len - 1 */
    bool has_logits;
    const volatile int *cancel;
};

#endif
