/* SPDX-License-Identifier: Apache-2.0
 *
 * mzcheck.h: what the checks of tests/kern share: a case counter with its own random stream, operands that
 * end (or begin) at a page nobody may touch, value generators, and comparison bit by bit.
 *
 * A check is a function that walks its cases: for each, `if (!mzc_case(c)) continue;`, place operands,
 * mzc_freeze, call, compare, mzc_end. The first failure of a check is kept and ends it.
 * Not: a benchmark of models. Threading: one check at a time; a check may start threads of its own. */
#ifndef MZCHECK_H
#define MZCHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/kern.h"

enum { MZC_N_SLOT = 12 };

typedef struct mzc {
    const mz_kern *ref, *k; /* the reference, and the set under test */
    mz_dtype type;          /* of matmul, pack and weight_row checks */
    mz_layout layout;
    const char *name;   /* of the running check: "avx2/matmul/Q4_0/panel8" */
    bool quick, serial; /* serial: what threads would do, one after another */
    uint64_t seed;
    int64_t n_case, only_case; /* cases begun; -1: all */
    uint64_t rng;
    int place; /* where operands go in this case: 0 at the end guard, 1 at the begin guard, 1 + j: j elements on */
    bool failed;
    char text[400]; /* what failed */
    struct {
        uint8_t *p;
        size_t bytes;
        uint8_t *frozen; /* copy of an input, or NULL */
        size_t frozen_cap;
        bool used, is_input;
    } slot[MZC_N_SLOT];
} mzc;

/* ---- cases ---- */
/* Begins the next case: false when it was not asked for or the check has failed already. */
bool mzc_case(mzc *c);
/* Ends it: guards' surroundings untouched, inputs unchanged. */
void mzc_end(mzc *c);
void mzc_fail(mzc *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- random ---- */
uint64_t mzc_u64(mzc *c);
/* In [lo, hi]. */
int64_t mzc_int(mzc *c, int64_t lo, int64_t hi);
double mzc_unit(mzc *c); /* [0, 1) */

/* ---- operands ---- */
/* Memory for `bytes` in a slot, in a place chosen by the case; align is the element's, or 64. Inputs are
 * compared after the call, outputs are filled with a pattern. */
void *mzc_in(mzc *c, int slot, size_t bytes, size_t align);
void *mzc_out(mzc *c, int slot, size_t bytes, size_t align);
/* Remembers the content of all inputs placed so far. */
void mzc_freeze(mzc *c);

#define MZC_PATTERN 0x5a /* outputs before a call */

/* ---- values ---- */
typedef enum mzc_kind {
    MZC_UNIFORM = 0, /* -1 … 1 */
    MZC_SPIKY,       /* small, and a few 1e4 times larger */
    MZC_WIDE,        /* every exponent from 2^-30 to 2^30 */
    MZC_LOGIT,       /* -110 … 110: the whole range of exp, its overflow and subnormal results */
    MZC_TIES,        /* small multiples of 1/2: ties in rounding and comparing, -0 */
    MZC_ZERO,        /* +0 and -0 */
    MZC_DENORMAL,
    MZC_HUGE,   /* near the largest f32 */
    MZC_RAW,    /* random bits: NaN, inf, all */
    MZC_POISON, /* uniform, with a rare NaN or inf */
    MZC_N_KIND
} mzc_kind;
extern const char *const mzc_kind_name[MZC_N_KIND];
void mzc_fill(mzc *c, mzc_kind kind, float *x, int64_t n);

typedef enum mzc_wkind {
    MZC_W_SANE = 0, /* random codes, scales of ordinary size */
    MZC_W_MAX,      /* all code bits set, scales sane */
    MZC_W_MIN,      /* all code bits clear */
    MZC_W_RAW,      /* random bytes, scales too: inf, NaN, denormal */
    MZC_W_BADSCALE, /* random codes, some scales inf or NaN, some zero */
    MZC_N_WKIND
} mzc_wkind;
extern const char *const mzc_wkind_name[MZC_N_WKIND];
/* n_rows rows of a type at data (row_bytes each). */
void mzc_fill_weight(mzc *c, mzc_wkind kind, mz_dtype type, uint8_t *data, size_t row_bytes, int64_t n_rows);
/* Clears every code of a row so that only offsets (minima) remain; false for types without minima. */
bool mzc_clear_codes(mz_dtype type, uint8_t *row, size_t row_bytes);
size_t mzc_row_bytes(mz_dtype type, int64_t n_in);

/* ---- comparison ---- */
static inline uint32_t mzc_bits(float x)
{
    uint32_t u;
    __builtin_memcpy(&u, &x, sizeof u);
    return u;
}
/* Bitwise, NaN equal to NaN. */
bool mzc_same(float a, float b);
/* Fails the check at the first difference; `what` names the operand. */
void mzc_expect_f32(mzc *c, const float *got, const float *want, int64_t n, const char *what);
/* Fails the check unless all bytes still hold MZC_PATTERN. */
void mzc_expect_pattern(mzc *c, const void *p, size_t bytes, const char *what);

/* ---- checks (one per contract) ---- */
void check_quantise_row(mzc *c);
void check_matmul(mzc *c);
void check_pack(mzc *c);
void check_weight_row(mzc *c);
void check_rms_norm(mzc *c);
void check_layer_norm(mzc *c);
void check_softmax(mzc *c);
void check_rope(mzc *c);
void check_glu(mzc *c);
void check_add(mzc *c);
void check_scale(mzc *c);
void check_softcap(mzc *c);
void check_exp(mzc *c);
void check_top_k(mzc *c);
void check_attend(mzc *c);
void check_kv_store(mzc *c);

/* The reference against plain double arithmetic, with error bounds from the contracts. */
void check_double_quantise(mzc *c);
void check_double_matmul(mzc *c);
void check_double_norms(mzc *c);
void check_double_rope(mzc *c);
void check_double_glu(mzc *c);
void check_double_top_k(mzc *c);
void check_double_attend(mzc *c);

/* Deliberately wrong kernels: each must turn its check red. */
typedef struct mzc_wrong {
    const char *what;
    void (*check)(mzc *c);
    mz_dtype type;
    bool faults; /* it must die on a guard page */
    void (*spoil)(mz_kern *k);
} mzc_wrong;
const mzc_wrong *mzc_wrong_list(int *n);

/* Times every row of every set; csv: machine-readable. */
void mzc_bench(const char *filter, bool csv);

#endif
