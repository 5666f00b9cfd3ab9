/* SPDX-License-Identifier: Apache-2.0
 *
 * check_rows.c: what works on whole rows of f32: norms, softmax, gated activations, add, scale, soft cap, exp,
 * rope, top-k. Aliasing is tried wherever a contract allows it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mzcheck.h"

static const int64_t sizes[] = {0,  1,  2,  3,  5,  7,  8,   9,   13,  15,   16,   17,   23,  31,
                                32, 33, 47, 64, 65, 97, 128, 251, 576, 1536, 2048, 2880, 5632};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static float *scratch(int64_t n)
{
    float *p = malloc(((size_t)n + 1) * sizeof *p);
    if (!p) abort();
    return p;
}

/* One call of a row kernel: y [n] from up to three inputs, the first or second of which y may alias. */
typedef void call_fn(const mz_kern *k, mzc *c, int mode, const float *a, const float *b, const float *d, int64_t n, float *y);

static void rows(mzc *c, call_fn *call, int n_mode, int64_t n_min, int n_alias, int reps)
{
    for (int i = 0; i < N_SIZES; i++) {
        if (sizes[i] < n_min) continue;
        for (int kind = 0; kind < MZC_N_KIND; kind++) {
            for (int rep = 0; rep < (c->quick ? (reps + 2) / 3 : 3 * reps); rep++) {
                if (!mzc_case(c)) continue;
                int64_t n = sizes[i];
                int mode = (int)mzc_int(c, 0, n_mode - 1), alias = (int)mzc_int(c, 0, n_alias);
                float *in[3];
                for (int j = 0; j < 3; j++) {
                    in[j] = j + 1 == alias ? mzc_out(c, j, (size_t)n * sizeof(float), sizeof(float))
                                           : mzc_in(c, j, (size_t)n * sizeof(float), sizeof(float));
                    mzc_fill(c, mzc_int(c, 0, 2) ? (mzc_kind)kind : MZC_UNIFORM, in[j], n);
                }
                float *y = alias ? in[alias - 1] : mzc_out(c, 3, (size_t)n * sizeof(float), sizeof(float));
                float *want = scratch(n);
                mzc_freeze(c);
                call(c->ref, c, mode, in[0], in[1], in[2], n, want);
                call(c->k, c, mode, in[0], in[1], in[2], n, y);
                mzc_expect_f32(c, y, want, n, "y");
                if (c->failed)
                    mzc_fail(c, "; n %lld, values %s, mode %d, alias of input %d", (long long)n, mzc_kind_name[kind], mode, alias);
                free(want);
                mzc_end(c);
            }
        }
    }
}

static void call_rms_norm(const mz_kern *k, mzc *c, int mode, const float *a, const float *b, const float *d, int64_t n, float *y)
{
    (void)c, (void)d;
    k->rms_norm(a, mode & 1 ? NULL : b, n, mode & 2 ? 0.0f : 1e-5f, y);
}
void check_rms_norm(mzc *c)
{
    rows(c, call_rms_norm, 4, 1, 1, 3);
}

static void call_layer_norm(const mz_kern *k, mzc *c, int mode, const float *a, const float *b, const float *d, int64_t n, float *y)
{
    (void)c;
    k->layer_norm(a, b, mode & 1 ? NULL : d, n, mode & 2 ? 0.0f : 1e-5f, y);
}
void check_layer_norm(mzc *c)
{
    rows(c, call_layer_norm, 4, 1, 1, 3);
}

static void call_softmax(const mz_kern *k, mzc *c, int mode, const float *a, const float *b, const float *d, int64_t n, float *y)
{
    (void)c, (void)b, (void)d;
    for (int64_t i = 0; i < n; i++) y[i] = mode ? 10.0f * a[i] : a[i];
    k->softmax(y, n);
}
void check_softmax(mzc *c)
{
    rows(c, call_softmax, 2, 1, 0, 3);
}

static void call_glu(const mz_kern *k, mzc *c, int mode, const float *a, const float *b, const float *d, int64_t n, float *y)
{
    (void)c, (void)d;
    k->glu((mz_glu)(mode / 2), a, mode & 1 ? b : NULL, n, y);
}
void check_glu(mzc *c)
{
    rows(c, call_glu, 2 * MZ_GLU_COUNT, 0, 2, 9);
}

static void call_add(const mz_kern *k, mzc *c, int mode, const float *a, const float *b, const float *d, int64_t n, float *y)
{
    (void)c, (void)d, (void)mode;
    k->add(a, b, n, y);
}
void check_add(mzc *c)
{
    rows(c, call_add, 1, 0, 2, 3);
}

static void call_scale(const mz_kern *k, mzc *c, int mode, const float *a, const float *b, const float *d, int64_t n, float *y)
{
    static const float s[] = {1.0f, -0.5f, 0.0f, 0.3f, 0x1p-120f, 3e38f};
    (void)c, (void)b, (void)d;
    k->scale(a, s[mode], n, y);
}
void check_scale(mzc *c)
{
    rows(c, call_scale, 6, 0, 1, 3);
}

static void call_softcap(const mz_kern *k, mzc *c, int mode, const float *a, const float *b, const float *d, int64_t n, float *y)
{
    static const float cap[] = {1.0f, 15.0f, 30.0f, 50.0f};
    (void)c, (void)b, (void)d;
    k->softcap(a, cap[mode], n, y);
}
void check_softcap(mzc *c)
{
    rows(c, call_softcap, 4, 0, 1, 4);
}

static void call_exp(const mz_kern *k, mzc *c, int mode, const float *a, const float *b, const float *d, int64_t n, float *y)
{
    (void)c, (void)b, (void)d, (void)mode;
    k->exp(a, n, y);
}
void check_exp(mzc *c)
{
    rows(c, call_exp, 1, 0, 0, 9);
}

/* ---- rope ---- */

void check_rope(mzc *c)
{
    static const int64_t dims[] = {2, 6, 16, 24, 40, 64, 80, 96, 128, 256};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        for (int kind = 0; kind < MZC_N_KIND; kind++) {
            for (int rep = 0; rep < (c->quick ? 4 : 30); rep++) {
                if (!mzc_case(c)) continue;
                int64_t d = dims[i], n_head = mzc_int(c, 0, 5);
                int64_t n_rot = rep & 1 ? d : mzc_int(c, 0, d / 2) * 2; /* whole or partial */
                bool interleaved = rep & 2;
                size_t bytes = (size_t)(n_head * d) * sizeof(float);
                float *x = mzc_out(c, 0, bytes, sizeof *x);
                mzc_fill(c, (mzc_kind)kind, x, n_head * d);
                float *cs = mzc_in(c, 1, (size_t)n_rot * sizeof *cs, sizeof *cs);
                mzc_fill(c, mzc_int(c, 0, 2) ? MZC_UNIFORM : (mzc_kind)kind, cs, n_rot);
                float *want = scratch(n_head * d);
                memcpy(want, x, bytes);
                mzc_freeze(c);
                c->ref->rope(want, n_head, d, n_rot, cs, interleaved);
                c->k->rope(x, n_head, d, n_rot, cs, interleaved);
                mzc_expect_f32(c, x, want, n_head * d, "x");
                if (c->failed)
                    mzc_fail(c, "; d %lld, n_rot %lld, n_head %lld, %s", (long long)d, (long long)n_rot, (long long)n_head,
                             interleaved ? "interleaved" : "half-split");
                free(want);
                mzc_end(c);
            }
        }
    }
}

/* ---- top-k ---- */

void check_top_k(mzc *c)
{
    static const int64_t lens[] = {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 64, 65, 251, 1000, 4096};
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        for (int kind = 0; kind < MZC_N_KIND; kind++) {
            for (int rep = 0; rep < (c->quick ? 3 : 20); rep++) {
                if (!mzc_case(c)) continue;
                int64_t n = lens[i];
                int64_t k = rep == 0 ? n : rep == 1 ? (n < 8 ? n : 8) : mzc_int(c, 0, n);
                float *x = mzc_in(c, 0, (size_t)n * sizeof *x, sizeof *x);
                mzc_fill(c, (mzc_kind)kind, x, n);
                int32_t *ids = mzc_out(c, 1, (size_t)k * sizeof *ids, sizeof *ids);
                int32_t *want = malloc(((size_t)k + 1) * sizeof *want);
                if (!want) abort();
                mzc_freeze(c);
                c->ref->top_k(x, n, k, want);
                c->k->top_k(x, n, k, ids);
                for (int64_t j = 0; j < k && !c->failed; j++)
                    if (ids[j] != want[j])
                        mzc_fail(c, "ids[%lld of %lld] = %d, reference %d; n %lld, values %s", (long long)j, (long long)k, ids[j], want[j],
                                 (long long)n, mzc_kind_name[kind]);
                free(want);
                mzc_end(c);
            }
        }
    }
}
