/* SPDX-License-Identifier: Apache-2.0
 *
 * check_double.c: the reference itself against plain double arithmetic, so that a wrong reference shows.
 *
 * Bounds follow from the contracts: u = 2^-24 is the rounding unit, a chain of n fused steps errs by at most
 * about n * u times the sum of its terms' magnitudes (Higham, Accuracy and Stability, 3.1). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mzcheck.h"

static const double u = 0x1p-24;

static void *need(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    if (!p) abort();
    return p;
}

static void near(mzc *c, double got, double want, double bound, const char *what, int64_t i)
{
    if (!(fabs(got - want) <= bound)) mzc_fail(c, "%s[%lld] = %.9g, double %.9g, bound %.3g", what, (long long)i, got, want, bound);
}

/* ---- quantise_row ---- */

void check_double_quantise(mzc *c)
{
    static const mzc_kind kinds[] = {MZC_UNIFORM, MZC_SPIKY, MZC_WIDE, MZC_TIES, MZC_HUGE};
    for (int64_t n = 1; n < 300; n += 7) {
        for (size_t kind = 0; kind < 5; kind++) {
            if (!mzc_case(c)) continue;
            float *x = mzc_in(c, 0, (size_t)n * sizeof *x, sizeof *x);
            mzc_fill(c, kinds[kind], x, n);
            void *y = mzc_out(c, 1, mz_q8_row_bytes(n), 64);
            mzc_freeze(c);
            c->k->quantise_row(x, n, y);
            int64_t n_blk = mz_q8_n_blk(n);
            const int8_t *q = mz_q8_q(y);
            for (int64_t b = 0; b < n_blk; b++) {
                double amax = 0;
                for (int64_t i = 32 * b; i < n && i < 32 * b + 32; i++) amax = fmax(amax, fabs((double)x[i]));
                double d = (double)mz_q8_d(y, n_blk)[b];
                near(c, d, amax / 127, amax / 127 * u, "d", b);
                int sum[2] = {0}, top = 0;
                for (int i = 0; i < 32; i++) {
                    int64_t at = 32 * b + i;
                    double xi = at < n ? (double)x[at] : 0.0;
                    sum[i / 16] += q[at];
                    top = abs(q[at]) > top ? abs(q[at]) : top;
                    /* x * iv errs by 127 * 2 u before it is rounded to an integer, d by u */
                    near(c, q[at] * d, xi, d * (0.5 + 127 * 4 * u), "d * q", at);
                }
                if (amax > 0 && top != 127) mzc_fail(c, "largest code is %d", top);
                for (int h = 0; h < 2; h++)
                    if (mz_q8_s(y, n_blk)[2 * b + h] != sum[h]) mzc_fail(c, "sum of half block %lld is wrong", (long long)(2 * b + h));
            }
            mzc_end(c);
        }
    }
}

/* ---- matmul ---- */

/* Widened weights of row i_out, and for formats with a minimum the size of it in m (else 0). */
static void decode_row(const mz_weight *w, int64_t i_out, float *v, float *m)
{
    const mz_dtype_info *info = mz_dtype_get((uint32_t)w->type);
    const uint8_t *row = w->data + (size_t)i_out * w->row_bytes;
    info->decode(row, v, w->n_in);
    uint8_t *cleared = need(w->row_bytes, 1);
    memcpy(cleared, row, w->row_bytes);
    if (mzc_clear_codes(w->type, cleared, w->row_bytes))
        info->decode(cleared, m, w->n_in);
    else
        memset(m, 0, (size_t)w->n_in * sizeof *m);
    free(cleared);
}

void check_double_matmul(mzc *c)
{
    const mz_dtype_info *info = mz_dtype_get((uint32_t)c->type);
    static const int64_t widths[] = {32, 64, 96, 256, 512, 576, 768, 1536, 2048, 2816};
    static const mzc_kind kinds[] = {MZC_UNIFORM, MZC_SPIKY};
    enum { N_OUT = 11, N_TOK = 2 };
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        for (int kind = 0; kind < 2; kind++) {
            int64_t n_in = widths[i];
            if (n_in % info->block_elems != 0 || !mzc_case(c)) continue;
            if (!info->is_low_bit) n_in -= mzc_int(c, 0, 20);
            size_t row_bytes = mzc_row_bytes(c->type, n_in);
            uint8_t *data = mzc_in(c, 0, row_bytes * N_OUT, info->is_low_bit ? 1 : info->block_bytes);
            mzc_fill_weight(c, MZC_W_SANE, c->type, data, row_bytes, N_OUT);
            mz_weight w = {c->type, MZ_LAYOUT_ROWS, N_OUT, n_in, row_bytes, data};
            size_t x_bytes = info->is_low_bit ? mz_q8_row_bytes(n_in) : (size_t)n_in * sizeof(float);
            uint8_t *x = mzc_in(c, 1, x_bytes * N_TOK, info->is_low_bit ? 64 : sizeof(float));
            float *row = need((size_t)n_in, sizeof *row), *m = need((size_t)n_in, sizeof *m);
            double *xd = need((size_t)n_in * N_TOK, sizeof *xd);
            int64_t n_blk = mz_q8_n_blk(n_in);
            for (int t = 0; t < N_TOK; t++) {
                mzc_fill(c, kinds[kind], row, n_in);
                uint8_t *xt = x + (size_t)t * x_bytes;
                if (info->is_low_bit)
                    c->k->quantise_row(row, n_in, xt);
                else
                    memcpy(xt, row, (size_t)n_in * sizeof *row);
                for (int64_t j = 0; j < n_in; j++)
                    xd[t * n_in + j] = info->is_low_bit ? (double)mz_q8_d(xt, n_blk)[j / 32] * mz_q8_q(xt)[j] : (double)row[j];
            }
            float *y = mzc_out(c, 2, sizeof(float) * N_OUT * N_TOK, sizeof(float));
            mzc_freeze(c);
            c->k->matmul[c->type][MZ_LAYOUT_ROWS].fn(&w, x, x_bytes, N_TOK, y, N_OUT, 0, N_OUT);
            /* Steps of the longest chain, and a few roundings of products, scales and the decode. */
            double steps = info->is_low_bit ? 2.0 * (double)n_blk + 12 : (double)n_in / 16 + 8;
            for (int64_t o = 0; o < N_OUT; o++) {
                decode_row(&w, o, row, m);
                for (int t = 0; t < N_TOK; t++) {
                    double sum = 0, size = 0;
                    for (int64_t j = 0; j < n_in; j++) {
                        sum += (double)row[j] * xd[t * n_in + j];
                        size += (fabs((double)row[j]) + 2 * fabs((double)m[j])) * fabs(xd[t * n_in + j]);
                    }
                    near(c, (double)y[t * N_OUT + o], sum, steps * u * 1.01 * size + 1e-40, "y", t * N_OUT + o);
                }
            }
            if (c->failed) mzc_fail(c, "; n_in %lld", (long long)n_in);
            free(row);
            free(m);
            free(xd);
            mzc_end(c);
        }
    }
}

/* ---- norms, softmax ---- */

void check_double_norms(mzc *c)
{
    for (int64_t n = 1; n < 3000; n = n * 5 / 4 + 1) {
        for (int rep = 0; rep < 3; rep++) {
            if (!mzc_case(c)) continue;
            float *x = mzc_in(c, 0, (size_t)n * sizeof *x, sizeof *x), *w = mzc_in(c, 1, (size_t)n * sizeof *x, sizeof *x);
            float *b = mzc_in(c, 2, (size_t)n * sizeof *x, sizeof *x), *y = mzc_out(c, 3, (size_t)n * sizeof *x, sizeof *x);
            mzc_fill(c, rep ? MZC_UNIFORM : MZC_SPIKY, x, n);
            mzc_fill(c, MZC_UNIFORM, w, n);
            mzc_fill(c, MZC_UNIFORM, b, n);
            mzc_freeze(c);
            double eps = (double)1e-5f, sum = 0, size = 0, sq = 0, var = 0, lanes = (double)n / 16 + 6;
            for (int64_t i = 0; i < n; i++) {
                sum += (double)x[i];
                size += fabs((double)x[i]);
                sq += (double)x[i] * (double)x[i];
            }
            c->k->rms_norm(x, w, n, 1e-5f, y);
            double inv = 1 / sqrt(sq / (double)n + eps);
            for (int64_t i = 0; i < n; i++) {
                double want = (double)x[i] * inv * (double)w[i];
                near(c, (double)y[i], want, (lanes / 2 + 6) * u * fabs(want) + 1e-44, "rms_norm", i);
            }
            double mean = sum / (double)n, e_mean = (lanes + 1) * u * size / (double)n;
            for (int64_t i = 0; i < n; i++) var += ((double)x[i] - mean) * ((double)x[i] - mean);
            c->k->layer_norm(x, w, b, n, 1e-5f, y);
            inv = 1 / sqrt(var / (double)n + eps);
            for (int64_t i = 0; i < n; i++) {
                double ci = (double)x[i] - mean, part = ci * inv * (double)w[i];
                /* the mean's error moves c and, to second order plus rounding, the variance */
                double bound = fabs((double)w[i]) * inv * e_mean * (1 + fabs(ci) * inv) + (lanes / 2 + 8) * u * fabs(part);
                near(c, (double)y[i], part + (double)b[i], bound + 2 * u * (fabs(part) + fabs((double)b[i])), "layer_norm", i);
            }
            double m = -INFINITY, total = 0;
            memcpy(y, x, (size_t)n * sizeof *y);
            for (int64_t i = 0; i < n; i++) m = fmax(m, (double)x[i]);
            for (int64_t i = 0; i < n; i++) total += exp((double)x[i] - m);
            c->k->softmax(y, n);
            for (int64_t i = 0; i < n; i++) {
                double want = exp((double)x[i] - m) / total;
                /* x - m is rounded once (an error of |x - m| u in the exponent), exp errs by 2 u, the sum likewise */
                near(c, (double)y[i], want, (2 * (m - (double)x[i]) + lanes + 130) * u * want + 1e-44, "softmax", i);
            }
            if (c->failed) mzc_fail(c, "; n %lld", (long long)n);
            mzc_end(c);
        }
    }
}

/* ---- rope: against a rotation of complex numbers by explicit pairing ---- */

void check_double_rope(mzc *c)
{
    for (int rep = 0; rep < 200; rep++) {
        if (!mzc_case(c)) continue;
        int64_t d = 2 * mzc_int(c, 1, 64), n_rot = 2 * mzc_int(c, 0, d / 2), n_head = mzc_int(c, 1, 3);
        bool inter = rep & 1;
        float *x = mzc_out(c, 0, (size_t)(n_head * d) * sizeof *x, sizeof *x), *cs = mzc_in(c, 1, (size_t)n_rot * sizeof *cs, sizeof *cs);
        float *before = need((size_t)(n_head * d), sizeof *before);
        mzc_fill(c, MZC_UNIFORM, x, n_head * d);
        memcpy(before, x, (size_t)(n_head * d) * sizeof *x);
        for (int64_t i = 0; i < n_rot / 2; i++) {
            double angle = 7 * mzc_unit(c);
            cs[2 * i] = (float)cos(angle);
            cs[2 * i + 1] = (float)sin(angle);
        }
        mzc_freeze(c);
        c->k->rope(x, n_head, d, n_rot, cs, inter);
        for (int64_t h = 0; h < n_head; h++) {
            for (int64_t j = 0; j < d; j++) {
                const float *v = before + h * d;
                double want = (double)v[j];
                if (j < n_rot) {
                    int64_t i = inter ? j / 2 : j % (n_rot / 2);
                    bool second = inter ? j % 2 == 1 : j >= n_rot / 2;
                    double re = (double)v[inter ? 2 * i : i], im = (double)v[inter ? 2 * i + 1 : i + n_rot / 2];
                    double co = (double)cs[2 * i], si = (double)cs[2 * i + 1];
                    want = second ? re * si + im * co : re * co - im * si;
                }
                near(c, (double)x[h * d + j], want, j < n_rot ? 4 * u : 0, "rope", h * d + j);
            }
        }
        free(before);
        mzc_end(c);
    }
}

/* ---- gated activations, soft cap ---- */

static double act64(mz_glu kind, double g)
{
    switch (kind) {
    case MZ_GLU_SILU: return g / (1 + exp(-g));
    case MZ_GLU_GELU_TANH: return 0.5 * g * (1 + tanh(0.7978845608028654 * (g + 0.044715 * g * g * g)));
    case MZ_GLU_GELU_ERF: return 0.5 * g * (1 + erf(g / sqrt(2.0)));
    case MZ_GLU_RELU: return g > 0 ? g : 0;
    default: abort();
    }
}

void check_double_glu(mzc *c)
{
    enum { N = 301 };
    static const mzc_kind kinds[] = {MZC_UNIFORM, MZC_SPIKY, MZC_LOGIT};
    for (int kind = 0; kind < MZ_GLU_COUNT; kind++) {
        for (int values = 0; values < 3; values++) {
            if (!mzc_case(c)) continue;
            float *g = mzc_in(c, 0, N * sizeof *g, sizeof *g), *up = mzc_in(c, 1, N * sizeof *g, sizeof *g);
            float *y = mzc_out(c, 2, N * sizeof *g, sizeof *g);
            mzc_fill(c, kinds[values], g, N);
            mzc_fill(c, MZC_UNIFORM, up, N);
            mzc_freeze(c);
            c->k->glu((mz_glu)kind, g, up, N, y);
            for (int64_t i = 0; i < N; i++) {
                double a = act64((mz_glu)kind, (double)g[i]), v = (double)up[i], gi = fabs((double)g[i] * v);
                /* SILU errs relatively (exp 2 u, sum, quotient, product); the GELUs absolutely, by the errors of
                 * tanh (2 ulp, and 4 u of its argument) and erf (2e-7) times g/2 */
                double bound = kind == MZ_GLU_SILU ? 8 * u * fabs(a * v) : kind == MZ_GLU_RELU ? u * fabs(a * v) : 8 * u * gi;
                near(c, (double)y[i], a * v, bound + 1e-36, kind == MZ_GLU_SILU ? "silu" : kind == MZ_GLU_RELU ? "relu" : "gelu", i);
            }
            c->k->softcap(g, 30.0f, N, y);
            for (int64_t i = 0; i < N; i++) {
                double want = 30 * tanh((double)g[i] / 30);
                near(c, (double)y[i], want, 8 * u * fabs(want), "softcap", i);
            }
            mzc_end(c);
        }
    }
}

/* ---- top-k: against sorting everything ---- */

static const float *sort_x;

static int by_value(const void *pa, const void *pb)
{
    int32_t a = *(const int32_t *)pa, b = *(const int32_t *)pb;
    int nan_a = isnan(sort_x[a]), nan_b = isnan(sort_x[b]);
    if (nan_a != nan_b) return nan_a - nan_b;
    if (!nan_a && sort_x[a] != sort_x[b]) return sort_x[a] > sort_x[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

void check_double_top_k(mzc *c)
{
    for (int kind = 0; kind < MZC_N_KIND; kind++) {
        for (int64_t n = 0; n < 200; n += n < 10 ? 1 : 19) {
            if (!mzc_case(c)) continue;
            float *x = mzc_in(c, 0, (size_t)n * sizeof *x, sizeof *x);
            mzc_fill(c, (mzc_kind)kind, x, n);
            int32_t *all = need((size_t)n, sizeof *all), *ids = need((size_t)n, sizeof *ids);
            for (int32_t i = 0; i < (int32_t)n; i++) all[i] = i;
            sort_x = x;
            qsort(all, (size_t)n, sizeof *all, by_value);
            mzc_freeze(c);
            for (int64_t k = 0; k <= n && !c->failed; k++) {
                c->k->top_k(x, n, k, ids);
                if (memcmp(all, ids, (size_t)k * sizeof *ids) != 0)
                    mzc_fail(c, "n %lld, k %lld, values %s: not the first of the sorted list", (long long)n, (long long)k,
                             mzc_kind_name[kind]);
            }
            free(all);
            free(ids);
            mzc_end(c);
        }
    }
}

/* ---- attention: two plain passes over all visible keys ---- */

void check_double_attend(mzc *c)
{
    static const int64_t ends[] = {0, 1, 17, 63, 64, 200, 511, 512, 513, 1100};
    enum { N_HEAD = 2, LDQ = 40, N_Q = 3 };
    for (int kv = 0; kv < MZ_KV_COUNT; kv++) {
        for (size_t i_end = 0; i_end < sizeof ends / sizeof *ends; i_end++) {
            for (int mode = 0; mode < 8; mode++) {
                if (!mzc_case(c)) continue;
                int64_t pos0 = ends[i_end], len = pos0 + N_Q, n_page = (len + MZ_PAGE_TOK - 1) / MZ_PAGE_TOK, head = mzc_int(c, 0, 1);
                int64_t d_k = mzc_int(c, 1, 40), d_v = mzc_int(c, 1, 40);
                size_t e = mz_kv_elem_bytes((mz_kv_type)kv);
                mz_attend_args a = {.kv = (mz_kv_type)kv, .n_head_kv = N_HEAD, .d_k = d_k, .d_v = d_v, .scale = 0.3f};
                a.v_offset = e * (size_t)(N_HEAD * d_k * MZ_PAGE_TOK);
                a.page_bytes = a.v_offset + e * (size_t)(N_HEAD * d_v * MZ_PAGE_TOK);
                a.window = mode & 1 ? mzc_int(c, 1, 600) : 0;
                a.softcap = mode & 2 ? 5.0f : 0.0f;
                float *sink = mzc_in(c, 2, sizeof *sink, sizeof *sink);
                *sink = (float)(4 * mzc_unit(c) - 2);
                a.sink = mode & 4 ? sink : NULL;
                uint8_t *pool = mzc_in(c, 0, a.page_bytes * (size_t)n_page, e);
                int32_t *page = mzc_in(c, 1, (size_t)n_page * sizeof *page, sizeof *page);
                for (int64_t p = 0; p < n_page; p++) page[p] = (int32_t)(n_page - 1 - p);
                a.pool = pool;
                a.page = page;
                float *k = need((size_t)(N_HEAD * d_k * len), sizeof *k), *v = need((size_t)(N_HEAD * d_v * len), sizeof *v);
                mzc_fill(c, MZC_UNIFORM, k, N_HEAD * d_k * len);
                mzc_fill(c, MZC_UNIFORM, v, N_HEAD * d_v * len);
                if (kv == MZ_KV_FP8) { /* every value exact in all types: what is tested is attention */
                    for (int64_t i = 0; i < N_HEAD * d_k * len; i++) k[i] = rintf(k[i] * 8) / 8;
                    for (int64_t i = 0; i < N_HEAD * d_v * len; i++) v[i] = rintf(v[i] * 8) / 8;
                } else {
                    for (int64_t i = 0; i < N_HEAD * d_k * len; i++) k[i] = rintf(k[i] * 128) / 128;
                    for (int64_t i = 0; i < N_HEAD * d_v * len; i++) v[i] = rintf(v[i] * 128) / 128;
                }
                for (int64_t p = 0; p < len; p++)
                    if (!c->k->kv_store(&a, pool, p, k + p * N_HEAD * d_k, v + p * N_HEAD * d_v)) mzc_fail(c, "a value did not fit");
                float *q = mzc_in(c, 3, LDQ * N_Q * sizeof *q, sizeof *q);
                mzc_fill(c, MZC_UNIFORM, q, LDQ * N_Q);
                for (int i = 0; i < LDQ * N_Q; i++) q[i] *= 4;
                float *o = mzc_out(c, 4, (size_t)(d_v * N_Q) * sizeof *o, sizeof *o);
                float *scratch = mzc_out(c, 5, MZ_ATTEND_SCRATCH(N_Q, d_v) * sizeof *scratch, 64);
                mzc_freeze(c);
                c->k->attend(&a, q, LDQ, N_Q, pos0, head, o, d_v, scratch);

                double *s = need((size_t)len, sizeof *s), *sum = need((size_t)d_v, sizeof *sum);
                for (int64_t t = 0; t < N_Q; t++) {
                    int64_t pos = pos0 + t, first = a.window && pos - a.window + 1 > 0 ? pos - a.window + 1 : 0;
                    double m = a.sink ? (double)*sink : -INFINITY, total = 0, e_score = 0;
                    for (int64_t j = first; j <= pos; j++) {
                        double dot = 0, size = 0;
                        for (int64_t d = 0; d < d_k; d++) {
                            double term = (double)q[t * LDQ + d] * (double)k[(j * N_HEAD + head) * d_k + d];
                            dot += term;
                            size += fabs(term);
                        }
                        s[j] = dot * (double)a.scale;
                        e_score = fmax(e_score, ((double)d_k + 2) * u * size * (double)a.scale + 8 * u * fabs(s[j]));
                        if (a.softcap > 0) s[j] = (double)a.softcap * tanh(s[j] / (double)a.softcap);
                        m = fmax(m, s[j]);
                    }
                    memset(sum, 0, (size_t)d_v * sizeof *sum);
                    double span = 0;
                    for (int64_t j = first; j <= pos; j++) {
                        span = fmax(span, m - s[j]);
                        double p = exp(s[j] - m);
                        total += p;
                        for (int64_t d = 0; d < d_v; d++) sum[d] += p * (double)v[(j * N_HEAD + head) * d_v + d];
                    }
                    if (a.sink) total += exp((double)*sink - m);
                    /* |v| <= 1: every p errs relatively by twice the score's error, the difference's rounding and exp's 2 u
                     * (numerator and denominator), the value chain by up to 512 u, the merges by a few u each. */
                    double bound = 2 * (2 * e_score + (span + 6) * u) + (512 + 40 + 16) * u;
                    for (int64_t d = 0; d < d_v; d++) near(c, (double)o[t * d_v + d], sum[d] / total, bound, "o", t * d_v + d);
                }
                if (c->failed)
                    mzc_fail(c, "; kv type %d, position %lld, window %lld, softcap %g, sink %d", kv, (long long)pos0, (long long)a.window,
                             (double)a.softcap, a.sink != NULL);
                free(s);
                free(sum);
                free(k);
                free(v);
                mzc_end(c);
            }
        }
    }
}
