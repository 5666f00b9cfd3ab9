/* SPDX-License-Identifier: Apache-2.0
 *
 * prog.h: the program, the waist of the hourglass. A family emits a flat, static list of ops over numbered
 * buffers; an executor runs it. Neither knows the other.
 *
 * A program is built once at load (builder functions below), checked (mz_prog_check), then
 * immutable. Ops are plain data. Row counts are symbolic: a buffer has one row per row of the step,
 * or one per row that needs logits. Sequence state is reached only through segments: an op names the
 * segment it reads or appends, the step view says where it lies.
 *
 * How later models fit: a mixture of experts is a MATMUL whose weight is a list and whose rows come sorted by
 * expert (a third row domain); latent attention and index keys are further segment kinds; recurrent state is a segment
 * without pages. None of these changes an executor's loop.
 *
 * Ownership: the program owns all its names and constants (one arena); weight data belongs to whoever loads it.
 * Threading: building is single-threaded; a checked program may be read by any thread. */
#ifndef MZ_PROG_PROG_H
#define MZ_PROG_PROG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "kern/kern.h"

/* ---- what a program is made of ---------------------------------------------------------------- */

typedef enum mz_rows { MZ_ROWS_STEP = 0, MZ_ROWS_LOGIT, MZ_ROWS_COUNT } mz_rows;

typedef enum mz_elem { MZ_ELEM_F32 = 0, MZ_ELEM_Q8 } mz_elem; /* Q8: quantised rows, kern.h */

typedef struct mz_prog_buf {
    const char *name;
    mz_rows rows;
    mz_elem elem;
    int64_t width; /* values per row */
} mz_prog_buf;

typedef struct mz_prog_weight {
    const char *name;          /* as the checkpoint spells it */
    mz_weight w;               /* type and shape from the file; data and layout filled at load. A vector has n_out 1 */
    bool is_vector;            /* used as f32 [n_in]; vec is filled at load */
    bool is_matmul;            /* multiplied (a candidate for repacking) */
    bool is_lookup;            /* rows are looked up */
    int n_use, n_use_declared; /* the check demands equality: 1 unless declared shared */
    const float *vec;
} mz_prog_weight;

typedef enum mz_seg_kind { MZ_SEG_KV = 0, MZ_SEG_COUNT } mz_seg_kind;

/* One typed segment of a sequence's state: here the paged keys and values of one layer. */
typedef struct mz_prog_seg {
    mz_seg_kind kind;
    int layer;
    int64_t n_head_kv, d_k, d_v;
} mz_prog_seg;

typedef enum mz_op_kind {
    MZ_OP_EMBED = 0,   /* out = row token of weight, times p.scale unless 1 */
    MZ_OP_RMS_NORM,    /* out = rms_norm(in; weight, p.eps), p.n_head pieces of a row apart (1: whole row) */
    MZ_OP_LAYER_NORM,  /* out = layer_norm(in; weight, weight2, p.eps) */
    MZ_OP_QUANTISE,    /* out (Q8) = quantise_rows(in) */
    MZ_OP_MATMUL,      /* out = weight · in (+ weight2) */
    MZ_OP_ROPE_TABLE,  /* out [n_rot] = cos, sin of position * p.freq[i], times p.scale */
    MZ_OP_ROPE,        /* out (in place) rotated by in: p.n_head heads of p.d_head, first p.n_rot */
    MZ_OP_KV_STORE,    /* segment += in (keys), in2 (values) at the row's position */
    MZ_OP_ATTEND,      /* out = attention of in over segment */
    MZ_OP_GLU,         /* out = act(in) * in2 */
    MZ_OP_ADD,         /* out = in + in2 */
    MZ_OP_SCALE,       /* out = in * p.scale */
    MZ_OP_SOFTCAP,     /* out = p.scale * tanh(in / p.scale) */
    MZ_OP_SELECT_ROWS, /* out (LOGIT rows) = the rows of in that need logits */
    MZ_OP_TAP,         /* in is shown to the observer under p.name */
    MZ_OP_COUNT
} mz_op_kind;

typedef struct mz_op {
    mz_op_kind kind;
    int layer;           /* -1: belongs to no layer */
    int in, in2, out;    /* buffer numbers, -1: none */
    int weight, weight2; /* weight numbers, -1: none */
    int seg;             /* segment number, -1: none */
    bool barrier;        /* set by mz_prog_check: all earlier ops must be complete */
    struct {
        float eps, scale, softcap;
        int64_t n_head, d_head, n_rot, window;
        bool interleaved;
        mz_glu glu;
        const float *freq; /* [n_rot / 2] radians per position */
        const char *name;
    } p;
} mz_op;

typedef struct mz_prog {
    mz_arena arena;
    mz_op *op;
    int n_op, cap_op;
    mz_prog_buf *buf;
    int n_buf, cap_buf;
    mz_prog_weight *weight;
    int n_weight, cap_weight;
    mz_prog_seg *seg;
    int n_seg, cap_seg;
    int logits;         /* the buffer [LOGIT, n_vocab] that the program ends in */
    bool taps;          /* keep TAP ops */
    bool out_of_memory; /* sticky: builders stay quiet, mz_prog_check reports it */
} mz_prog;

/* ---- building ---------------------------------------------------------------------------------- */

mz_prog *mz_prog_create(bool taps);
void mz_prog_free(mz_prog *p);

int mz_prog_add_buf(mz_prog *p, const char *name, mz_rows rows, mz_elem elem, int64_t width);
/* A matrix [n_out, n_in] or (is_vector) a vector [n_in]. */
int mz_prog_add_weight(mz_prog *p, const char *name, mz_dtype type, int64_t n_out, int64_t n_in, bool is_vector);
/* Says that weight w is used n times on purpose (a tied head). */
void mz_prog_share_weight(mz_prog *p, int w, int n_use);
int mz_prog_add_seg(mz_prog *p, mz_prog_seg seg);
/* Appends a copy of op; the zero-initialised fields mean none/0, buffer numbers must be set. */
void mz_prog_add_op(mz_prog *p, const mz_op *op);
float *mz_prog_floats(mz_prog *p, int64_t n); /* arena memory for constants; NULL when out of memory */

/* An op with everything absent, to fill in. */
static inline mz_op mz_op_make(mz_op_kind kind, int layer)
{
    mz_op op = {.kind = kind, .layer = layer, .in = -1, .in2 = -1, .out = -1, .weight = -1, .weight2 = -1, .seg = -1};
    op.p.scale = 1.0f;
    return op;
}

/* Demands: every buffer written before it is read; shapes and element kinds agree op by op; every weight used as
 * often as declared; every segment appended before it is read in the same step; the logits buffer written.
 * Then marks the barriers: an op needs one when it touches what an op since the last barrier wrote (or writes
 * what one read) unless both are split by the same rows. A broken program is MZ_EINVAL naming the op. */
mz_status mz_prog_check(mz_prog *p, mz_err *err) MZ_MUST_USE;

/* One line an op, then buffers, weights and segments; appended to out. */
mz_status mz_prog_print(const mz_prog *p, mz_buf *out, mz_err *err) MZ_MUST_USE;
const char *mz_op_name(mz_op_kind kind);

/* ---- views and accounting ------------------------------------------------------------------------ */

/* Rows at consecutive positions of one sequence. */
typedef struct mz_run {
    int32_t row0, n_row;
    int64_t pos0;        /* position of row0 */
    const int32_t *page; /* page numbers of the sequence, enough for its last row */
} mz_run;

typedef mz_status mz_tap_view_fn(void *user, int layer, const char *name, int64_t n_row, int64_t width, const float *rows, mz_err *err);

/* One step: what an executor is given. Pointers are the caller's and stay valid during the run. */
typedef struct mz_step_view {
    int32_t n_row;
    const int32_t *token;   /* [n_row], each in [0, n_vocab) */
    const int32_t *row_run; /* [n_row] which run a row belongs to */
    int32_t n_run;
    const mz_run *run; /* [n_run], rows in order, covering all */
    int32_t n_logit;
    const int32_t *logit_row; /* [n_logit] ascending */
    uint8_t *pool;            /* state pages */
    const struct mz_state_layout *layout;
    mz_tap_view_fn *tap; /* NULL: taps are passed over */
    void *tap_user;
} mz_step_view;

/* Where each segment lies inside a page; the same function serves the engine, `inspect` and the planner. */
typedef struct mz_state_layout {
    mz_kv_type kv;
    size_t page_bytes; /* one page: MZ_PAGE_TOK tokens of all segments */
    size_t bytes_per_tok;
    size_t *k_offset, *v_offset; /* [n_seg] inside a page */
} mz_state_layout;

mz_status mz_state_layout_make(const mz_prog *p, mz_kv_type kv, mz_state_layout *out, mz_err *err) MZ_MUST_USE;
void mz_state_layout_free(mz_state_layout *l);

/* Bytes of all buffers for steps of at most n_row rows and n_logit logit rows; offsets [n_buf] (may be NULL) get each one's
 * place, 64-byte aligned. False when it does not fit a size_t. */
bool mz_prog_buffer_bytes(const mz_prog *p, int64_t n_row, int64_t n_logit, size_t *offsets, size_t *total);
/* Bytes from one row of a buffer to the next. */
size_t mz_prog_row_bytes(const mz_prog_buf *b);

/* How an op's work is split among threads. */
typedef enum mz_split { MZ_SPLIT_ROWS = 0, MZ_SPLIT_OUTPUTS, MZ_SPLIT_ATTEND, MZ_SPLIT_ONE } mz_split;
mz_split mz_op_split(mz_op_kind kind);

#endif
