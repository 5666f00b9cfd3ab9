/* SPDX-License-Identifier: Apache-2.0
 *
 * kern.h: the contracts of all numeric kernels, and the table through which they are called.
 *
 * Each contract fixes ONE order of floating-point operations. src/kern/ref spells it in plain C;
 * every other variant (one row or many, any instruction set, repacked or not) must give the same
 * bits, which tests/kern (mzcheck) demands. Integer sums are exact, so their order is free; the order
 * of float operations is not. Work is split over output elements only, never over a sum, so the
 * number of threads cannot enter a result.
 *
 * Common words:
 *   chain        acc = fmaf(a_i, b_i, acc) for ascending i, acc starting at +0
 *   tree16(l)    for 16 lanes: a_i = l_i + l_{i+8} (i<8); b_i = a_i + a_{i+4} (i<4);
 *                c_i = b_i + b_{i+2} (i<2); c_0 + c_1
 *   lanes16      lane j takes elements j, j+16, j+32, …, as a chain; the last group is padded with
 *                zeros that take part (fmaf(0, 0, acc)); then tree16
 *   rne          round to nearest, ties to even
 * Only fmaf, sqrtf, +, -, *, / and rne are used; denormals stay on; NaN equals NaN in comparisons
 * (payload and sign are free).
 *
 * What this is not: it knows no models, threads or state; callers slice the work.
 * Ownership: kernels own nothing. Threading: all kernels are pure functions of their operands.
 * Operands must not overlap unless a contract says "may alias". No alignment beyond that of the
 * element type is assumed except where stated. */
#ifndef MZ_KERN_KERN_H
#define MZ_KERN_KERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fmt/dtype.h"

/* ---- quantised activation rows ------------------------------------------------------------- */

/* One row of n values (padded with zeros to blocks of 32, n_blk = ceil(n/32)), 64-byte aligned:
 *
 *   offset 0            32*n_blk                36*n_blk                  40*n_blk   row_bytes
 *   | q: i8 [32*n_blk]  | d: f32 [n_blk]        | s: i16 [2*n_blk]        | pad (zero) |
 *
 * s holds the sums of q over each half block of 16. n_blk is the same for all users of the row. */
#define MZ_Q8_BLOCK 32

static inline int64_t mz_q8_n_blk(int64_t n)
{
    return (n + MZ_Q8_BLOCK - 1) / MZ_Q8_BLOCK;
}
static inline size_t mz_q8_row_bytes(int64_t n)
{
    return ((size_t)mz_q8_n_blk(n) * 40 + 63) & ~(size_t)63;
}
static inline const int8_t *mz_q8_q(const void *row)
{
    return row;
}
static inline const float *mz_q8_d(const void *row, int64_t n_blk)
{
    return (const float *)(const void *)((const uint8_t *)row + 32 * n_blk);
}
static inline const int16_t *mz_q8_s(const void *row, int64_t n_blk)
{
    return (const int16_t *)(const void *)((const uint8_t *)row + 36 * n_blk);
}

/* ---- weights --------------------------------------------------------------------------------- */

typedef enum mz_layout {
    MZ_LAYOUT_ROWS = 0, /* as the file has it: row i_out at data + i_out * row_bytes */
    MZ_LAYOUT_PANEL8,   /* 8 output rows interleaved block by block; n_out padded to a multiple of 8 */
    MZ_LAYOUT_COUNT
} mz_layout;

typedef struct mz_weight {
    mz_dtype type;
    mz_layout layout;
    int64_t n_out, n_in; /* y[n_out] = W[n_out, n_in] x[n_in]; both >= 1, n_in a multiple of the type's block */
    size_t row_bytes;    /* of one output row in either layout; a panel has 8 * row_bytes */
    const uint8_t *data; /* rows, which may be unaligned; or panels, panel p at data + p * 8 * row_bytes, data 64-byte aligned */
} mz_weight;

/* y[t, i_out] for t in [0, n_tok) and i_out in [out0, out1):  y [n_tok, *] f32, row stride ldy elements.
 *   low-bit types: x is n_tok quantised activation rows, stride x_bytes = mz_q8_row_bytes(n_in)
 *   F32 F16 BF16 (and F64, I8…: not multiplied): x is f32 rows, stride x_bytes
 * out0 is a multiple of 8; out1 too, or n_out.
 *
 * Float types: y = lanes16 over w_i * x_i, w_i widened exactly to f32.
 *
 * Low-bit types: block b of 32 columns, da_b the activation's scale, I the exact integer sum over
 * the given columns of code * q. acc starts at +0 and runs over b ascending. "sb" is a super-block
 * of 256 columns (8 blocks). f(.) is conversion of an integer to f32; it is exact, since every I with its
 * sub-scales stays below 2^24 for q in -127..127 (largest: Q6_K 128 * 32 * 127 * 32, IQ4_XS 32 * 127 * 127 * 32).
 *   Q4_0 Q5_0 Q8_0 IQ4_NL  acc = fmaf(f(I_b), d_b * da_b, acc); code with its offset taken off / table value
 *   MXFP4                  the same with doubled codes {0,1,2,3,4,6,8,12} and d_b = mz_e8m0_half_to_f32
 *   Q4_1 Q5_1              acc = fmaf(f(I_b), d_b * da_b, acc); acc = fmaf(f(S_b), m_b * da_b, acc),
 *                          code unsigned, S_b = s_{2b} + s_{2b+1}
 *   NVFP4                  for both halves h of 16 in order: acc = fmaf(f(I_h), d_h * da_b, acc), doubled codes,
 *                          d_h = 0.5f * mz_ue4m3_to_f32(byte)
 *   Q4_K Q5_K              per sb: p = chain over its blocks of fmaf(f(sc_b * I_b), da_b, p), and
 *                          m = chain of fmaf(f(mn_b * S_b), da_b, m), both from +0;
 *                          acc = fmaf(p, d, acc); acc = fmaf(-m, dmin, acc)
 *   Q2_K                   as Q4_K with f(sc_0 I_0 + sc_1 I_1) and f(mn_0 s_{2b} + mn_1 s_{2b+1}) over the two
 *                          groups of 16 in the block
 *   Q3_K Q6_K              per sb: p = chain of fmaf(f(sc_0 I_0 + sc_1 I_1), da_b, p), signed codes and scales;
 *                          acc = fmaf(p, d, acc)
 *   IQ4_XS                 per sb: p = chain of fmaf(f(sc_b * I_b), da_b, p), sc = 6 bits - 32; acc = fmaf(p, d, acc)
 *   TQ1_0 TQ2_0            per sb: p = chain of fmaf(f(I_b), da_b, p), codes -1..1(2); acc = fmaf(p, d, acc)
 * Products d_b * da_b are one f32 multiplication, rounded. */
typedef void mz_matmul_fn(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0,
                          int64_t out1);

/* Repacks 8 rows [n_rows <= 8 given; the rest reads as zero] of w (ROWS) starting at row i_out into one
 * panel at dst [8 * row_bytes], where the panel lies in mz_weight.data. Lossless. */
typedef void mz_pack_fn(const mz_weight *w, int64_t i_out, uint8_t *dst);

typedef struct mz_matmul_kernel {
    mz_matmul_fn *fn;
    const char *name_one, *name_many; /* what runs for one row and for many, as `inspect --cpu` prints it */
} mz_matmul_kernel;

/* ---- attention ------------------------------------------------------------------------------- */

#define MZ_PAGE_TOK    64  /* tokens per KV page */
#define MZ_ATTEND_PART 512 /* keys per partial, counted by absolute position */

typedef enum mz_kv_type { MZ_KV_F32 = 0, MZ_KV_F16, MZ_KV_BF16, MZ_KV_FP8, MZ_KV_COUNT } mz_kv_type; /* FP8: E4M3FN */

static inline size_t mz_kv_elem_bytes(mz_kv_type t)
{
    return t == MZ_KV_F32 ? 4 : t == MZ_KV_FP8 ? 1 : 2;
}

/* One page of one layer, element type kv:
 *   K at k_page: [n_head_kv, d_k, MZ_PAGE_TOK]   (keys in lanes)
 *   V at v_page: [n_head_kv, MZ_PAGE_TOK, d_v]
 * Slots that hold no token yet have arbitrary content. */
typedef struct mz_attend_args {
    mz_kv_type kv;
    int64_t n_head_kv, d_k, d_v;
    const uint8_t *pool; /* page p of this layer: K at pool + p * page_bytes + k_offset, V at … + v_offset */
    size_t page_bytes, k_offset, v_offset;
    const int32_t *page; /* [ceil(len / MZ_PAGE_TOK)] page numbers of the sequence, by position; those of
                          * pages without a key that a query of the call sees are not used (a window drops them) */
    float scale;         /* score = (q·k) * scale */
    float softcap;       /* > 0: score = softcap * tanh(score / softcap) */
    int64_t window;      /* > 0: a query at position p sees keys p - window + 1 … p; 0: all up to p */
    const float *sink;   /* NULL, or the logit of this head's sink, added to the denominator last */
} mz_attend_args;

/* Scratch floats one attend call needs for n_q query rows. */
#define MZ_ATTEND_SCRATCH(n_q, d_v) ((size_t)(n_q) * ((size_t)MZ_ATTEND_PART + (size_t)(d_v) + 16) + 64)

/* n_q query rows of one head, at consecutive positions pos0, pos0+1, … of one sequence.
 *   q [n_q, d_k] stride ldq;  o [n_q, d_v] stride ldo;  i_head_kv: which key/value head
 *   scratch: 64-byte aligned, MZ_ATTEND_SCRATCH floats
 * For each query: keys 0…pos (or its window), cut into partials of MZ_ATTEND_PART by absolute position. In a
 * partial with visible keys lo..hi:
 *   s_j = (chain over d of q_d * k_jd) * scale; soft-capped if asked: softcap * tanh(s / softcap)
 *   m = max s_j (NaN if any is NaN); p_j = exp(s_j - m); l = lanes16-style sum: lane (j mod 16) adds its p_j in
 *       ascending j starting from +0 (p_j of hidden keys counts as +0 and is added), then tree16
 *   v_d = chain over visible j ascending of p_j * v_jd
 * Partials merge left to right: the first gives (M, L, O) = (m, l, v); then with M' = max(M, m),
 *   a = exp(M - M'), b = exp(m - M'):  L = fmaf(L, a, l * b), O_d = fmaf(O_d, a, v_d * b), M = M'.
 * Sink z, last: M' = max(M, z), a = exp(M - M'): L = fmaf(L, a, exp(z - M')), O_d = O_d * a.
 * o_d = O_d / L. Keys and values are widened exactly from the stored type. */
typedef void mz_attend_fn(const mz_attend_args *a, const float *q, int64_t ldq, int64_t n_q, int64_t pos0, int64_t i_head_kv, float *o,
                          int64_t ldo, float *scratch);

/* Stores k [n_head_kv * d_k] and v [n_head_kv * d_v] f32 of the token at position pos, rounding rne.
 * False when a value is not finite in the stored type (the store is still done). */
typedef bool mz_kv_store_fn(const mz_attend_args *a, uint8_t *pool, int64_t pos, const float *k, const float *v);

/* ---- the rest --------------------------------------------------------------------------------- */

typedef enum mz_glu { MZ_GLU_SILU = 0, MZ_GLU_GELU_TANH, MZ_GLU_GELU_ERF, MZ_GLU_RELU, MZ_GLU_COUNT } mz_glu;

typedef struct mz_kern {
    const char *name; /* "ref", "avx2", … */

    /* y: one quantised row (kern.h top) of x [n]. Per block: amax = max |x_i|;
     *   any x not finite:  d = NaN, q = 0, s = 0
     *   amax < 2^-100:     d = 0, q = 0, s = 0
     *   else iv = 127 / amax, q_i = (int8) rne(x_i * iv), d = amax / 127. Tail columns count as 0. */
    void (*quantise_row)(const float *x, int64_t n, void *y);

    mz_matmul_kernel matmul[MZ_DTYPE_COUNT][MZ_LAYOUT_COUNT]; /* fn NULL: layout not offered by this set */
    mz_pack_fn *pack[MZ_DTYPE_COUNT];                         /* NULL: weights of this type stay ROWS */

    /* y [n_in] f32 = row i_out of w, any layout, exactly decoded. */
    void (*weight_row)(const mz_weight *w, int64_t i_out, float *y);

    /* y = (x * inv) * w, inv = 1 / sqrtf(lanes16(x_i * x_i) / n + eps). n >= 1. y may alias x; w NULL: all ones. */
    void (*rms_norm)(const float *x, const float *w, int64_t n, float eps, float *y);
    /* mean = (lanes16 sum of x_i * 1) / n; c_i = x_i - mean; inv = 1 / sqrtf(lanes16(c_i * c_i) / n + eps), c_i of padding is 0;
     * y = fmaf(c_i * inv, w_i, b_i). n >= 1. y may alias x; b NULL: zeros. */
    void (*layer_norm)(const float *x, const float *w, const float *b, int64_t n, float eps, float *y);

    /* Rotates the first n_rot of each head's d values in place: x [n_head, d]; cs [n_rot/2, 2] = (cos, sin).
     * Pair i is (2i, 2i+1) when interleaved, else (i, i + n_rot/2); (a, b) becomes
     * (fmaf(a, cos, -(b * sin)), fmaf(b, cos, a * sin)). */
    void (*rope)(float *x, int64_t n_head, int64_t d, int64_t n_rot, const float *cs, bool interleaved);

    mz_attend_fn *attend;
    mz_kv_store_fn *kv_store;

    /* In place: m = max (NaN if any is NaN), e_i = exp(x_i - m), x_i = e_i / lanes16-sum(e_i * 1). n >= 1. */
    void (*softmax)(float *x, int64_t n);
    /* y_i = act(g_i) * u_i; u NULL: y_i = act(g_i). y may alias g or u.
     *   SILU g / (1 + exp(-g));  GELU_TANH (0.5 g) * (1 + tanh(0.7978845608 * fmaf(0.044715 * (g * g), g, g)));
     *   GELU_ERF (0.5 g) * (1 + erf(g * 0.70710678118));  RELU g > 0 ? g : 0 (NaN stays NaN) */
    void (*glu)(mz_glu kind, const float *g, const float *u, int64_t n, float *y);
    /* y_i = a_i + b_i; y may alias a or b. */
    void (*add)(const float *a, const float *b, int64_t n, float *y);
    /* y_i = x_i * s; y may alias x. */
    void (*scale)(const float *x, float s, int64_t n, float *y);
    /* y_i = cap * tanh(x_i / cap); y may alias x. */
    void (*softcap)(const float *x, float cap, int64_t n, float *y);
    /* Indices of the k largest of x [n], best first: higher value, then lower index; -0 equals +0; NaN after
     * every number. 0 <= k <= n. */
    void (*top_k)(const float *x, int64_t n, int64_t k, int32_t *ids);
    /* y_i = exp(x_i), the exp of all contracts (base/fmath.h mz_expf). */
    void (*exp)(const float *x, int64_t n, float *y);
} mz_kern;

/* The set named `isa`, or the best this processor runs when isa is NULL. MZ_EINVAL lists the names when unknown;
 * MZ_ESUPPORT when the processor lacks it. */
mz_status mz_kern_get(const char *isa, const mz_kern **out, mz_err *err) MZ_MUST_USE;
/* All sets compiled in, best last; *n of them. mz_kern_runs: whether this processor can run the set. */
const mz_kern *const *mz_kern_list(int *n);
bool mz_kern_runs(const mz_kern *k);

/* The kernel that multiplies w, never NULL for types that have a reference. */
static inline const mz_matmul_kernel *mz_kern_matmul(const mz_kern *k, const mz_weight *w)
{
    return &k->matmul[w->type][w->layout];
}

/* What a set is built from (table.c): the reference first, then overrides. */
extern const mz_kern mz_kern_ref;
#if defined(__x86_64__)
void mz_kern_init_avx2(mz_kern *k);                              /* starts from a copy of mz_kern_ref; x86/ */
void mz_avx512_init(mz_kern *k), mz_avx512vnni_init(mz_kern *k); /* the same; wide/ */
#elif defined(__aarch64__)
void mz_neon_dot_init(mz_kern *k), mz_neon_i8mm_init(mz_kern *k);
#endif

#endif
