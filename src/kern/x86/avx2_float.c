/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_float.c: F32, F16 and BF16 weights (ROWS) against f32 rows in the order lanes16.
 *
 * The two 8-lane halves of an output never meet before the final tree. So a tile of 4 rows × 3 tokens first takes the
 * low halves of all groups of 16 columns, then the high ones: 12 sums in registers for 7 loads. It does so in pieces of
 * COLS columns, which stay in the first-level cache between the two passes. */
#include "avx2_math.h"
#include "avx2_sets.h"

enum { ROWS = 4, TOKENS = 3, COLS = 512 };

MZ_INLINE __m256 widen(const mz_dtype type, const uint8_t *p)
{
    switch (type) {
    case MZ_DTYPE_F16: return v_f16x8(p);
    case MZ_DTYPE_BF16: return v_bf16x8(p);
    default: return _mm256_loadu_ps((const float *)(const void *)p);
    }
}

typedef struct operands {
    const uint8_t *w;
    size_t w_stride; /* bytes to the next row */
    const uint8_t *x;
    size_t x_stride;
} operands;

/* acc[r][t] continues over columns c0, c0 + 16, … below c1 of one half. */
MZ_INLINE void half_pass(const mz_dtype type, const size_t size, const int nr, const int nt, const operands *o, int64_t c0, int64_t c1,
                         __m256 acc[ROWS][TOKENS])
{
    for (int64_t c = c0; c < c1; c += 16) {
        __m256 x[TOKENS];
#pragma GCC unroll 3
        for (int t = 0; t < nt; t++) x[t] = _mm256_loadu_ps((const float *)(const void *)(o->x + (size_t)t * o->x_stride) + c);
#pragma GCC unroll 4
        for (int r = 0; r < nr; r++) {
            const __m256 w = widen(type, o->w + (size_t)r * o->w_stride + (size_t)c * size);
#pragma GCC unroll 3
            for (int t = 0; t < nt; t++) acc[r][t] = _mm256_fmadd_ps(w, x[t], acc[r][t]);
        }
    }
}

/* The last group of fewer than 16 columns: zeros take part. */
MZ_INLINE void tail_group(const mz_dtype type, const size_t size, const int nr, const int nt, const operands *o, int64_t c, int64_t n,
                          __m256 lo[ROWS][TOKENS], __m256 hi[ROWS][TOKENS])
{
    for (int r = 0; r < nr; r++) {
        uint8_t w[64] = {0};
        memcpy(w, o->w + (size_t)r * o->w_stride + (size_t)c * size, (size_t)n * size);
        for (int t = 0; t < nt; t++) {
            const float *x = (const float *)(const void *)(o->x + (size_t)t * o->x_stride) + c;
            lo[r][t] = _mm256_fmadd_ps(widen(type, w), v_load_n(x, n), lo[r][t]);
            hi[r][t] = _mm256_fmadd_ps(widen(type, w + 8 * size), n > 8 ? v_load_n(x + 8, n - 8) : _mm256_setzero_ps(), hi[r][t]);
        }
    }
}

MZ_INLINE void tile(const mz_dtype type, const size_t size, const int nr, const int nt, const operands *o, int64_t n_in, float *y,
                    int64_t ldy)
{
    __m256 lo[ROWS][TOKENS], hi[ROWS][TOKENS];
    for (int r = 0; r < nr; r++)
        for (int t = 0; t < nt; t++) lo[r][t] = hi[r][t] = _mm256_setzero_ps();
    const int64_t whole = n_in & ~(int64_t)15;
    if (nt == 1) { /* one token: 8 sums in one pass over the rows */
        for (int64_t c = 0; c < whole; c += 16) {
            half_pass(type, size, nr, nt, o, c, c + 1, lo);
            half_pass(type, size, nr, nt, o, c + 8, c + 9, hi);
        }
    } else {
        for (int64_t c = 0; c < whole; c += COLS) {
            const int64_t end = whole - c < COLS ? whole : c + COLS;
            half_pass(type, size, nr, nt, o, c, end, lo);
            half_pass(type, size, nr, nt, o, c + 8, end, hi);
        }
    }
    if (whole < n_in) tail_group(type, size, nr, nt, o, whole, n_in - whole, lo, hi);
#pragma GCC unroll 4
    for (int r = 0; r < nr; r++)
#pragma GCC unroll 3
        for (int t = 0; t < nt; t++) y[t * ldy + r] = v_tree16(lo[r][t], hi[r][t]);
}

/* Tokens whose rows are walked for each strip of weight rows: half a second-level cache. */
MZ_INLINE int64_t chunk_tok(size_t x_bytes)
{
    const int64_t n = (int64_t)(256 * 1024 / (x_bytes + 1)) / TOKENS * TOKENS;
    return n < TOKENS ? TOKENS : n;
}

MZ_INLINE void rows_by_tokens(const mz_dtype type, const size_t size, const int nr, operands o, int64_t n_tok, int64_t n_in, float *y,
                              int64_t ldy)
{
    int64_t t = 0;
    for (; t + TOKENS <= n_tok; t += TOKENS, o.x += TOKENS * o.x_stride) tile(type, size, nr, TOKENS, &o, n_in, y + t * ldy, ldy);
    if (n_tok - t == 2)
        tile(type, size, nr, 2, &o, n_in, y + t * ldy, ldy);
    else if (n_tok - t == 1)
        tile(type, size, nr, 1, &o, n_in, y + t * ldy, ldy);
}

MZ_INLINE void matmul(const mz_dtype type, const size_t size, const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y,
                      int64_t ldy, int64_t out0, int64_t out1)
{
    const int64_t chunk = chunk_tok(x_bytes);
    for (int64_t t = 0; t < n_tok; t += chunk) {
        const int64_t nt = n_tok - t < chunk ? n_tok - t : chunk;
        operands o = {w->data + (size_t)out0 * w->row_bytes, w->row_bytes, (const uint8_t *)x + (size_t)t * x_bytes, x_bytes};
        int64_t r = out0;
        for (; r + ROWS <= out1; r += ROWS, o.w += ROWS * o.w_stride) rows_by_tokens(type, size, ROWS, o, nt, w->n_in, y + t * ldy + r, ldy);
        for (; r < out1; r++, o.w += o.w_stride) rows_by_tokens(type, size, 1, o, nt, w->n_in, y + t * ldy + r, ldy);
    }
}

void mz_avx2_f32(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1)
{
    matmul(MZ_DTYPE_F32, 4, w, x, x_bytes, n_tok, y, ldy, out0, out1);
}

void mz_avx2_f16(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1)
{
    matmul(MZ_DTYPE_F16, 2, w, x, x_bytes, n_tok, y, ldy, out0, out1);
}

void mz_avx2_bf16(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1)
{
    matmul(MZ_DTYPE_BF16, 2, w, x, x_bytes, n_tok, y, ldy, out0, out1);
}
