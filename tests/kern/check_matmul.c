/* SPDX-License-Identifier: Apache-2.0
 *
 * check_matmul.c: matmul, pack and weight_row of a set against the reference: every shape of a ladder, one
 * row and many, slices in threads, hostile weights and activations. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mzcheck.h"

enum { W, PANEL, X, Y, ROW };
enum { MAX_TOK = 33 };

static bool is_low_bit(mz_dtype type)
{
    return mz_dtype_get((uint32_t)type)->is_low_bit;
}

/* Activation rows whose integer sums are as large as they get: q all ±127, by a pattern. */
static void extreme_row(mzc *c, int64_t n_in, void *row)
{
    int64_t n_blk = mz_q8_n_blk(n_in);
    int8_t *q = row;
    float *d = (float *)(void *)((uint8_t *)row + 32 * n_blk);
    int16_t *s = (int16_t *)(void *)((uint8_t *)row + 36 * n_blk);
    int64_t pattern = mzc_int(c, 0, 3);
    for (int64_t b = 0; b < n_blk; b++) {
        for (int i = 0; i < 32; i++) {
            int64_t at = 32 * b + i;
            int sign = pattern == 0 ? 1 : pattern == 1 ? -1 : pattern == 2 ? (i & 1 ? 1 : -1) : mzc_int(c, 0, 1) ? 1 : -1;
            q[at] = (int8_t)(at < n_in ? 127 * sign : 0);
        }
        d[b] = (float)mzc_unit(c);
        for (int h = 0; h < 2; h++) {
            int sum = 0;
            for (int i = 0; i < 16; i++) sum += q[32 * b + 16 * h + i];
            s[2 * b + h] = (int16_t)sum;
        }
    }
}

static void fill_activations(mzc *c, int kind, uint8_t *x, size_t x_bytes, int64_t n_tok, int64_t n_in)
{
    bool low = is_low_bit(c->type);
    float *row = malloc((size_t)(n_in + 1) * sizeof *row);
    if (!row) abort();
    for (int64_t t = 0; t < n_tok; t++) {
        uint8_t *xt = x + (size_t)t * x_bytes;
        if (kind == MZC_N_KIND && low) {
            memset(xt, 0, mz_q8_row_bytes(n_in));
            extreme_row(c, n_in, xt);
            continue;
        }
        mzc_fill(c, kind == MZC_N_KIND ? MZC_UNIFORM : (mzc_kind)kind, row, n_in);
        if (low)
            c->ref->quantise_row(row, n_in, xt);
        else
            memcpy(xt, row, (size_t)n_in * sizeof *row);
    }
    free(row);
}

/* Rows in slot W and, when the layout under test is panels, the same weight packed into slot PANEL. */
static void place_weights(mzc *c, mzc_wkind kind, int64_t n_out, int64_t n_in, mz_weight *rows, mz_weight *test)
{
    size_t row_bytes = mzc_row_bytes(c->type, n_in);
    /* Element alignment of low-bit rows is one byte; of floats their size. */
    size_t align = is_low_bit(c->type) ? 1 : mz_dtype_get((uint32_t)c->type)->block_bytes;
    uint8_t *data = mzc_in(c, W, row_bytes * (size_t)n_out, align);
    mzc_fill_weight(c, kind, c->type, data, row_bytes, n_out);
    *rows = (mz_weight){c->type, MZ_LAYOUT_ROWS, n_out, n_in, row_bytes, data};
    *test = *rows;
    if (c->layout == MZ_LAYOUT_ROWS) return;
    int64_t n_panel = (n_out + 7) / 8;
    uint8_t *panels = mzc_in(c, PANEL, 8 * row_bytes * (size_t)n_panel, 64);
    for (int64_t p = 0; p < n_panel; p++) c->k->pack[c->type](rows, 8 * p, panels + (size_t)p * 8 * row_bytes);
    test->layout = c->layout;
    test->data = panels;
}

typedef struct slice {
    mz_matmul_fn *fn;
    const mz_weight *w;
    const void *x;
    size_t x_bytes;
    int64_t n_tok, ldy, out0, out1;
    float *y;
} slice;

static void *run_slice(void *arg)
{
    slice *s = arg;
    s->fn(s->w, s->x, s->x_bytes, s->n_tok, s->y, s->ldy, s->out0, s->out1);
    return NULL;
}

static void run_threads(slice all, int n_thread, bool serial)
{
    pthread_t thread[8];
    slice s[8];
    int64_t n_group = (all.w->n_out + 7) / 8;
    for (int i = 0; i < n_thread; i++) {
        s[i] = all;
        s[i].out0 = n_group * i / n_thread * 8;
        s[i].out1 = n_group * (i + 1) / n_thread * 8;
        if (s[i].out1 > all.w->n_out) s[i].out1 = all.w->n_out;
        if (s[i].out0 > s[i].out1) s[i].out0 = s[i].out1;
        if (serial)
            run_slice(&s[i]);
        else if (pthread_create(&thread[i], NULL, run_slice, &s[i]) != 0)
            abort();
    }
    for (int i = 0; i < n_thread && !serial; i++) (void)pthread_join(thread[i], NULL);
}

static void one_case(mzc *c, int64_t n_in, int64_t n_out, mzc_wkind wkind, int xkind)
{
    if (!mzc_case(c)) return;
    static const int64_t toks[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, MAX_TOK};
    static const int n_threads[] = {1, 2, 3, 8};
    mz_weight rows, test;
    place_weights(c, wkind, n_out, n_in, &rows, &test);
    size_t x_align = is_low_bit(c->type) ? 64 : sizeof(float);
    size_t x_bytes = (is_low_bit(c->type) ? mz_q8_row_bytes(n_in) : (size_t)n_in * sizeof(float)) + x_align * (size_t)mzc_int(c, 0, 1);
    uint8_t *x = mzc_in(c, X, x_bytes * MAX_TOK, x_align);
    fill_activations(c, xkind, x, x_bytes, MAX_TOK, n_in);
    int64_t ldy = n_out + mzc_int(c, 0, 5);
    size_t y_bytes = (size_t)(ldy * (MAX_TOK - 1) + n_out) * sizeof(float);
    float *want = malloc(y_bytes + 1);
    if (!want) abort();
    c->ref->matmul[c->type][MZ_LAYOUT_ROWS].fn(&rows, x, x_bytes, MAX_TOK, want, ldy, 0, n_out);
    mzc_freeze(c);

    slice s = {c->k->matmul[c->type][c->layout].fn, &test, x, x_bytes, 0, ldy, 0, n_out, NULL};
    for (size_t i = 0; i < sizeof toks / sizeof *toks && !c->failed; i++) {
        s.n_tok = toks[i];
        /* The last row of y ends at n_out, where the guard is; rows before it have their padding watched. */
        size_t used = s.n_tok ? (size_t)(ldy * (s.n_tok - 1) + n_out) * sizeof(float) : 0;
        s.y = mzc_out(c, Y, used, sizeof(float));
        s.out0 = 0;
        if (i % 3 == 0) {
            run_threads(s, n_threads[(size_t)c->n_case % 4], c->serial);
        } else if (i % 3 == 1) {
            run_slice(&s);
        } else { /* two slices, and an empty one */
            s.out1 = mzc_int(c, 0, n_out / 8) * 8;
            run_slice(&s);
            s.out0 = s.out1;
            run_slice(&s);
            s.out1 = n_out;
            run_slice(&s);
        }
        for (int64_t t = 0; t < s.n_tok; t++) {
            mzc_expect_f32(c, s.y + t * ldy, want + t * ldy, n_out, "y");
            if (t + 1 < s.n_tok)
                mzc_expect_pattern(c, s.y + t * ldy + n_out, (size_t)(ldy - n_out) * sizeof(float), "the padding between rows of y");
        }
        if (c->failed)
            mzc_fail(c, "; n_in %lld, n_out %lld, n_tok %lld, weights %s, activations %s", (long long)n_in, (long long)n_out,
                     (long long)s.n_tok, mzc_wkind_name[wkind], xkind == MZC_N_KIND ? "extreme" : mzc_kind_name[xkind]);
    }
    free(want);
    mzc_end(c);
}

/* Widths: a few blocks, primes of blocks, and real models'. */
static const int64_t float_widths[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 64, 97, 251, 576, 1536, 2880, 2048, 5632};
static const int64_t block_counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 31};
static const int64_t model_widths[] = {576, 1536, 2880, 2048, 5632};

void check_matmul(mzc *c)
{
    int64_t block = (int64_t)mz_dtype_get((uint32_t)c->type)->block_elems;
    int64_t widths[64];
    int n = 0;
    if (!is_low_bit(c->type)) {
        for (size_t i = 0; i < sizeof float_widths / sizeof *float_widths; i++) widths[n++] = float_widths[i];
    } else {
        for (size_t i = 0; i < sizeof block_counts / sizeof *block_counts; i++)
            if (block_counts[i] * block <= 2048) widths[n++] = block_counts[i] * block;
        for (size_t i = 0; i < sizeof model_widths / sizeof *model_widths; i++)
            if (model_widths[i] % block == 0) widths[n++] = model_widths[i];
    }
    static const int64_t outs[] = {1, 2, 7, 8, 9, 15, 16, 17, 24, 33, 41, 70};
    int n_outs = (int)(sizeof outs / sizeof *outs);
    int at = 0;
    for (int i = 0; i < n; i++) {
        /* Small shapes meet every kind of operand; wide ones a rotating few. */
        bool small = widths[i] <= (c->quick ? 64 : 600) || (widths[i] <= 256 && block == 256);
        for (int wk = 0; wk < MZC_N_WKIND; wk++) {
            for (int xk = 0; xk <= MZC_N_KIND; xk++, at++) {
                bool chosen = small ? !c->quick || at % (block > 1 ? 3 : 7) == 0 : at % (c->quick ? 37 : 7) == 0;
                if (!chosen && !(wk == MZC_W_SANE && xk == MZC_UNIFORM)) continue;
                if (!chosen && c->quick && widths[i] > 2048) continue;
                int64_t n_out = outs[at * 5 % n_outs];
                if (widths[i] > 600 && n_out > 24) n_out = 9;
                one_case(c, widths[i], n_out, (mzc_wkind)wk, xk);
            }
        }
    }
}

/* Panels hold exactly the rows, and zero rows after the last. */
void check_pack(mzc *c)
{
    int64_t block = (int64_t)mz_dtype_get((uint32_t)c->type)->block_elems;
    for (int64_t n_blk = 1; n_blk <= 5; n_blk++) {
        for (int64_t n_out = 1; n_out <= 17; n_out += 3) {
            for (int wk = 0; wk < MZC_N_WKIND; wk++) {
                if (!mzc_case(c)) continue;
                mz_weight rows, test;
                int64_t n_in = n_blk * block;
                place_weights(c, (mzc_wkind)wk, n_out, n_in, &rows, &test);
                float *want = calloc((size_t)n_in, sizeof *want);
                if (!want) abort();
                mzc_freeze(c);
                test.n_out = (n_out + 7) / 8 * 8; /* the padding rows can be read too */
                for (int64_t i = 0; i < test.n_out && !c->failed; i++) {
                    if (i < n_out)
                        c->ref->weight_row(&rows, i, want);
                    else
                        memset(want, 0, (size_t)n_in * sizeof *want);
                    float *y = mzc_out(c, Y, (size_t)n_in * sizeof *y, sizeof *y);
                    c->k->weight_row(&test, i, y);
                    if (i >= n_out) { /* a zero block of a format with offsets may decode to -0 */
                        for (int64_t j = 0; j < n_in; j++) y[j] += 0.0f;
                    }
                    mzc_expect_f32(c, y, want, n_in, "row of a panel");
                }
                free(want);
                mzc_end(c);
            }
        }
    }
}

void check_weight_row(mzc *c)
{
    int64_t block = (int64_t)mz_dtype_get((uint32_t)c->type)->block_elems;
    for (int64_t n_blk = 1; n_blk <= 70; n_blk += n_blk < 9 ? 1 : 13) {
        for (int wk = 0; wk < MZC_N_WKIND; wk++) {
            if (!mzc_case(c)) continue;
            mz_weight rows, test;
            int64_t n_in = n_blk * block, n_out = 3;
            place_weights(c, (mzc_wkind)wk, n_out, n_in, &rows, &test);
            float *want = malloc((size_t)n_in * sizeof *want);
            if (!want) abort();
            mzc_freeze(c);
            for (int64_t i = 0; i < n_out; i++) {
                mz_dtype_get((uint32_t)c->type)->decode(rows.data + (size_t)i * rows.row_bytes, want, n_in);
                float *y = mzc_out(c, Y, (size_t)n_in * sizeof *y, sizeof *y);
                c->k->weight_row(&test, i, y);
                mzc_expect_f32(c, y, want, n_in, "row");
            }
            free(want);
            mzc_end(c);
        }
    }
}
