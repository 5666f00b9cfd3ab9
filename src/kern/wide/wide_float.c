/* SPDX-License-Identifier: Apache-2.0
 *
 * wide_float.c: F32, F16 and BF16 weights (ROWS) against f32 rows in the order lanes16: the sums of one output are one wf.
 * Tiles of MZ_WROWS rows × MZ_WTOKENS tokens; each group of 16 columns is widened once for the tokens of a tile. */
#include "wide_math.h"

MZ_INLINE wf widen(const mz_dtype type, const uint8_t *p)
{
    switch (type) {
    case MZ_DTYPE_F16: return wf_f16(p);
    case MZ_DTYPE_BF16: return wf_bf16(p);
    default: return wf_load(p);
    }
}

/* nr rows × nt tokens. */
MZ_INLINE void tile(const mz_dtype type, const size_t size, const int nr, const int nt, const uint8_t *w, size_t w_stride, const float *x,
                    size_t ldx, int64_t n_in, float *y, int64_t ldy)
{
    wf acc[MZ_WROWS][MZ_WTOKENS], v[MZ_WROWS];
    MZ_UNROLL
    for (int r = 0; r < nr; r++) {
        MZ_UNROLL
        for (int t = 0; t < nt; t++) acc[r][t] = wf_zero();
    }
    int64_t c = 0;
    for (; c + 16 <= n_in; c += 16) {
        MZ_UNROLL
        for (int r = 0; r < nr; r++) v[r] = widen(type, w + (size_t)r * w_stride + (size_t)c * size);
        MZ_UNROLL
        for (int t = 0; t < nt; t++) {
            const wf xt = wf_load(x + (size_t)t * ldx + c);
            MZ_UNROLL
            for (int r = 0; r < nr; r++) acc[r][t] = wf_fma(v[r], xt, acc[r][t]);
        }
    }
    if (c < n_in) {
        uint8_t tmp[64] = {0};
        MZ_UNROLL
        for (int r = 0; r < nr; r++) {
            memcpy(tmp, w + (size_t)r * w_stride + (size_t)c * size, (size_t)(n_in - c) * size);
            v[r] = widen(type, tmp);
        }
        MZ_UNROLL
        for (int t = 0; t < nt; t++) {
            const wf xt = wf_load_n(x + (size_t)t * ldx + c, n_in - c);
            MZ_UNROLL
            for (int r = 0; r < nr; r++) acc[r][t] = wf_fma(v[r], xt, acc[r][t]);
        }
    }
    MZ_UNROLL
    for (int t = 0; t < nt; t++) {
        MZ_UNROLL
        for (int r = 0; r < nr; r++) y[t * ldy + r] = wf_tree(acc[r][t]);
    }
}

/* nr rows × all tokens of a chunk. */
MZ_INLINE void rows(const mz_dtype type, const size_t size, const int nr, const uint8_t *w, size_t w_stride, const float *x, size_t ldx,
                    int64_t n_tok, int64_t n_in, float *y, int64_t ldy)
{
    int64_t t = 0;
    for (; t + MZ_WTOKENS <= n_tok; t += MZ_WTOKENS)
        tile(type, size, nr, MZ_WTOKENS, w, w_stride, x + (size_t)t * ldx, ldx, n_in, y + t * ldy, ldy);
    for (; MZ_WTOKENS > 2 && t + 2 <= n_tok; t += 2) tile(type, size, nr, 2, w, w_stride, x + (size_t)t * ldx, ldx, n_in, y + t * ldy, ldy);
    for (; t < n_tok; t++) tile(type, size, nr, 1, w, w_stride, x + (size_t)t * ldx, ldx, n_in, y + t * ldy, ldy);
}

MZ_INLINE void matmul(const mz_dtype type, const size_t size, const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y,
                      int64_t ldy, int64_t out0, int64_t out1)
{
    const size_t ldx = x_bytes / sizeof(float), row = w->row_bytes;
    /* Tokens walked per tile of rows: what half a second-level cache holds. */
    const int64_t chunk = mz_w_max((int64_t)(256 * 1024 / (x_bytes + 1)) / MZ_WTOKENS, 1) * MZ_WTOKENS;
    for (int64_t t0 = 0; t0 < n_tok; t0 += chunk) {
        const int64_t nt = mz_w_min(chunk, n_tok - t0);
        const float *xt = (const float *)x + (size_t)t0 * ldx;
        float *yt = y + t0 * ldy;
        int64_t r = out0;
        for (; r + MZ_WROWS <= out1; r += MZ_WROWS)
            rows(type, size, MZ_WROWS, w->data + (size_t)r * row, row, xt, ldx, nt, w->n_in, yt + r, ldy);
        for (; r < out1; r++) rows(type, size, 1, w->data + (size_t)r * row, row, xt, ldx, nt, w->n_in, yt + r, ldy);
    }
}

void W(f32)(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1)
{
    matmul(MZ_DTYPE_F32, 4, w, x, x_bytes, n_tok, y, ldy, out0, out1);
}

void W(f16)(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1)
{
    matmul(MZ_DTYPE_F16, 2, w, x, x_bytes, n_tok, y, ldy, out0, out1);
}

void W(bf16)(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1)
{
    matmul(MZ_DTYPE_BF16, 2, w, x, x_bytes, n_tok, y, ldy, out0, out1);
}
