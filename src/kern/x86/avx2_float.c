/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_float.c: F32, F16 and BF16 weights (ROWS) against f32 rows in the order lanes16.
 *
 * The two 8-lane halves of an output never meet before the final tree, so a tile of 3 rows × 4 tokens may take the low
 * halves of its groups of 16 columns first and then the high ones: 12 sums in registers for 7 loads. Starting and ending
 * a pass over columns costs as much as 25 groups of 16, so passes are long (COLS), which takes both operands packed by
 * halves: of a tile of tokens 16 KiB stay in the first-level cache while STRIPS strips of 3 rows stream past from the
 * second. Sums wait in memory between pieces of columns. Packing pays from about FEW tokens on. Fewer take 3 rows × 2
 * tokens, one takes 4 rows, in one pass over the rows. */
#include "avx2_math.h"
#include "avx2_sets.h"

enum { ROWS = 3, TOKENS = 4, COLS = 1024, STRIPS = 8, ROWS_ONE = 4, FEW = 12, MAX_TILES = 16 };

MZ_INLINE __m256 widen(const mz_dtype type, const uint8_t *p)
{
    switch (type) {
    case MZ_DTYPE_F16: return v_f16x8(p);
    case MZ_DTYPE_BF16: return v_bf16x8(p);
    default: return _mm256_loadu_ps((const float *)(const void *)p);
    }
}

/* The 16 columns from c of a row, zeros beyond n_in. */
MZ_INLINE void widen16(const mz_dtype type, const size_t size, const uint8_t *row, int64_t c, int64_t n_in, __m256 out[2])
{
    uint8_t tmp[64] = {0};
    const uint8_t *p = row + (size_t)c * size;
    if (n_in - c < 16) p = memcpy(tmp, p, (size_t)(n_in - c) * size);
    out[0] = widen(type, p);
    out[1] = widen(type, p + 8 * size);
}

/* ---- few tokens ---- */

/* nr rows × nt tokens, nr * nt <= 6. */
MZ_INLINE void few(const mz_dtype type, const size_t size, const int nr, const int nt, const uint8_t *w, size_t w_stride, const float *x,
                   size_t ldx, int64_t n_in, float *y, int64_t ldy)
{
    __m256 lo[ROWS_ONE][2], hi[ROWS_ONE][2];
    MZ_UNROLL
    for (int i = 0; i < nr * nt; i++) lo[i / nt][i % nt] = hi[i / nt][i % nt] = _mm256_setzero_ps();
    int64_t c = 0;
    for (; c + 16 <= n_in; c += 16) {
        __m256 x0[2], x1[2];
        MZ_UNROLL
        for (int t = 0; t < nt; t++) {
            x0[t] = _mm256_loadu_ps(x + (size_t)t * ldx + c);
            x1[t] = _mm256_loadu_ps(x + (size_t)t * ldx + c + 8);
        }
        MZ_UNROLL
        for (int r = 0; r < nr; r++) {
            const uint8_t *p = w + (size_t)r * w_stride + (size_t)c * size;
            const __m256 w0 = widen(type, p), w1 = widen(type, p + 8 * size);
            MZ_UNROLL
            for (int t = 0; t < nt; t++) {
                lo[r][t] = _mm256_fmadd_ps(w0, x0[t], lo[r][t]);
                hi[r][t] = _mm256_fmadd_ps(w1, x1[t], hi[r][t]);
            }
        }
    }
    if (c < n_in) {
        MZ_UNROLL
        for (int i = 0; i < nr * nt; i++) {
            const int r = i / nt, t = i % nt;
            const float *p = x + (size_t)t * ldx + c;
            __m256 v[2];
            widen16(type, size, w + (size_t)r * w_stride, c, n_in, v);
            lo[r][t] = _mm256_fmadd_ps(v[0], v_load_n(p, n_in - c), lo[r][t]);
            hi[r][t] = _mm256_fmadd_ps(v[1], n_in - c > 8 ? v_load_n(p + 8, n_in - c - 8) : _mm256_setzero_ps(), hi[r][t]);
        }
    }
    MZ_UNROLL
    for (int i = 0; i < nr * nt; i++) y[i % nt * ldy + i / nt] = v_tree16(lo[i / nt][i % nt], hi[i / nt][i % nt]);
}

/* ---- many tokens ---- */

/* Widened columns of ROWS rows: [half][group of 16][row]. */
typedef struct strip {
    __m256 w[2][COLS / 16][ROWS];
} strip;
/* The same columns of TOKENS tokens: [half][group of 16][token]. */
typedef struct cols {
    __m256 x[2][COLS / 16][TOKENS];
} cols;
/* The sums of a tile. */
typedef struct sums {
    __m256 v[2][ROWS][TOKENS];
} sums;

/* Columns c.. (n of them, at most COLS) of nr rows; rows that do not exist read as zero. The pieces are too short for the
 * processor to foresee the next one, which lies `ahead` bytes on in each row. */
MZ_INLINE void pack(const mz_dtype type, const size_t size, const uint8_t *w, size_t w_stride, int64_t nr, int64_t c, int64_t n,
                    size_t ahead, strip *s)
{
    const int64_t whole = n / 16;
    for (int r = 0; r < ROWS; r++) {
        const uint8_t *p = w + (size_t)r * w_stride + (size_t)c * size;
        if (r >= nr) {
            for (int64_t g = 0; g <= whole && g < COLS / 16; g++) s->w[0][g][r] = s->w[1][g][r] = _mm256_setzero_ps();
            continue;
        }
        for (int64_t g = 0; g < whole; g++) {
            _mm_prefetch((const char *)p + 16 * (size_t)g * size + ahead, _MM_HINT_T1);
            s->w[0][g][r] = widen(type, p + 16 * (size_t)g * size);
            s->w[1][g][r] = widen(type, p + (16 * (size_t)g + 8) * size);
        }
        if (n % 16) {
            __m256 v[2];
            widen16(type, size, w + (size_t)r * w_stride, c + 16 * whole, c + n, v);
            s->w[0][whole][r] = v[0];
            s->w[1][whole][r] = v[1];
        }
    }
}

/* The n columns from x on of nt tokens. */
MZ_INLINE void gather(const int nt, const float *x, size_t ldx, int64_t n, cols *to)
{
    const int64_t whole = n / 16;
    for (int64_t g = 0; g < whole; g++) {
        MZ_UNROLL
        for (int t = 0; t < nt; t++) {
            to->x[0][g][t] = _mm256_loadu_ps(x + (size_t)t * ldx + 16 * g);
            to->x[1][g][t] = _mm256_loadu_ps(x + (size_t)t * ldx + 16 * g + 8);
        }
    }
    if (n % 16 == 0) return;
    for (int t = 0; t < nt; t++) {
        __m256 v[2];
        widen16(MZ_DTYPE_F32, sizeof(float), (const uint8_t *)(x + (size_t)t * ldx), 16 * whole, n, v);
        to->x[0][whole][t] = v[0];
        to->x[1][whole][t] = v[1];
    }
}

/* acc continues over n_group groups of one half. */
MZ_INLINE void half_pass(const int nt, const __m256 (*w)[ROWS], __m256 (*x)[TOKENS], int64_t n_group, __m256 acc[ROWS][TOKENS])
{
    __m256 a[ROWS][TOKENS];
    MZ_UNROLL
    for (int r = 0; r < ROWS; r++) {
        MZ_UNROLL
        for (int t = 0; t < nt; t++) a[r][t] = acc[r][t];
    }
    MZ_UNROLL_BY_4
    for (int64_t g = 0; g < n_group; g++) {
        const __m256 w0 = w[g][0], w1 = w[g][1], w2 = w[g][2];
        MZ_UNROLL
        for (int t = 0; t < nt; t++) {
            const __m256 v = x[g][t];
            a[0][t] = _mm256_fmadd_ps(w0, v, a[0][t]);
            a[1][t] = _mm256_fmadd_ps(w1, v, a[1][t]);
            a[2][t] = _mm256_fmadd_ps(w2, v, a[2][t]);
        }
    }
    MZ_UNROLL
    for (int r = 0; r < ROWS; r++) {
        MZ_UNROLL
        for (int t = 0; t < nt; t++) acc[r][t] = a[r][t];
    }
}

MZ_INLINE void tile(const int nt, const strip *s, int64_t n_strip, const float *x, size_t ldx, int64_t n, cols *near, sums *acc)
{
    gather(nt, x, ldx, n, near);
    for (int h = 0; h < 2; h++)
        for (int64_t i = 0; i < n_strip; i++) half_pass(nt, s[i].w[h], near->x[h], (n + 15) / 16, acc[i].v[h]);
}

MZ_NOINLINE void tiles(const strip *s, int64_t n_strip, const float *x, size_t ldx, int64_t n_tok, int64_t n, sums (*acc)[STRIPS])
{
    cols near;
    for (; n_tok > 0; n_tok -= TOKENS, x += TOKENS * ldx, acc++) {
        switch (n_tok) {
        case 1: tile(1, s, n_strip, x, ldx, n, &near, *acc); break;
        case 2: tile(2, s, n_strip, x, ldx, n, &near, *acc); break;
        case 3: tile(3, s, n_strip, x, ldx, n, &near, *acc); break;
        default: tile(4, s, n_strip, x, ldx, n, &near, *acc); break;
        }
    }
}

MZ_INLINE int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Apart, so that its tables are on the stack only where many tokens come. */
MZ_INLINE void many(const mz_dtype type, const size_t size, const mz_weight *w, const float *x, size_t ldx, int64_t n_tok, float *y,
                    int64_t ldy, int64_t out0, int64_t out1)
{
    strip s[STRIPS];
    sums acc[MAX_TILES][STRIPS];
    const uint8_t *rows = w->data + (size_t)out0 * w->row_bytes;
    for (int64_t t0 = 0; t0 < n_tok; t0 += MAX_TILES * TOKENS) {
        const int64_t nt = min_i64(MAX_TILES * TOKENS, n_tok - t0);
        const float *xt = x + (size_t)t0 * ldx;
        for (int64_t r = out0; r < out1; r += ROWS * STRIPS) {
            const int64_t nr = min_i64(ROWS * STRIPS, out1 - r), n_strip = (nr + ROWS - 1) / ROWS;
            memset(acc, 0, (size_t)((nt + TOKENS - 1) / TOKENS) * sizeof *acc);
            for (int64_t c = 0; c < w->n_in; c += COLS) {
                const int64_t n = min_i64(COLS, w->n_in - c);
                const size_t ahead = c + n < w->n_in ? COLS * size : ROWS * STRIPS * w->row_bytes - (size_t)c * size;
                for (int64_t i = 0; i < n_strip; i++)
                    pack(type, size, rows + (size_t)(r - out0 + i * ROWS) * w->row_bytes, w->row_bytes, nr - i * ROWS, c, n, ahead, &s[i]);
                tiles(s, n_strip, xt + c, ldx, nt, n, acc);
            }
            for (int64_t t = 0; t < nt; t++) {
                for (int64_t i = 0; i < nr; i++) {
                    const sums *a = &acc[t / TOKENS][i / ROWS];
                    y[(t0 + t) * ldy + r + i] = v_tree16(a->v[0][i % ROWS][t % TOKENS], a->v[1][i % ROWS][t % TOKENS]);
                }
            }
        }
    }
}

MZ_INLINE void matmul(const mz_dtype type, const size_t size, const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y,
                      int64_t ldy, int64_t out0, int64_t out1)
{
    const uint8_t *rows = w->data + (size_t)out0 * w->row_bytes;
    const size_t ldx = x_bytes / sizeof(float), wb = w->row_bytes;
    if (n_tok >= FEW) {
        many(type, size, w, x, ldx, n_tok, y, ldy, out0, out1);
        return;
    }
    int64_t r = out0;
    if (n_tok == 1)
        for (; r + ROWS_ONE <= out1; r += ROWS_ONE, rows += ROWS_ONE * wb)
            few(type, size, ROWS_ONE, 1, rows, wb, x, ldx, w->n_in, y + r, ldy);
    for (int64_t nr; r < out1; r += nr, rows += (size_t)nr * wb) {
        nr = out1 - r < ROWS ? 1 : ROWS;
        const float *xt = x;
        for (int64_t t = 0; t < n_tok; t += 2, xt += 2 * ldx) {
            float *yt = y + t * ldy + r;
            if (nr == ROWS && n_tok - t > 1)
                few(type, size, ROWS, 2, rows, wb, xt, ldx, w->n_in, yt, ldy);
            else if (nr == ROWS)
                few(type, size, ROWS, 1, rows, wb, xt, ldx, w->n_in, yt, ldy);
            else if (n_tok - t > 1)
                few(type, size, 1, 2, rows, wb, xt, ldx, w->n_in, yt, ldy);
            else
                few(type, size, 1, 1, rows, wb, xt, ldx, w->n_in, yt, ldy);
        }
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
