/* SPDX-License-Identifier: Apache-2.0
 *
 * check_attend.c: attention over paged keys and values, and storing them, against the reference. Slots without
 * a token and tokens no query sees hold NaN; numbers of pages no query sees are wild. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mzcheck.h"

enum { POOL, PAGES, Q, SCRATCH, O, SINK, STORE_K, STORE_V };
enum { MAX_Q = 8 };

static const struct {
    int64_t d_k, d_v, n_head_kv;
} dims[] = {{24, 24, 1},   {40, 40, 3}, {64, 64, 3}, {80, 80, 2}, {128, 128, 2},
            {576, 512, 1}, {1, 1, 2},   {7, 13, 2},  {96, 64, 1}, {256, 256, 1}};
enum { N_DIMS = sizeof dims / sizeof *dims };

/* Writes NaN over a slot of K and V in every head. */
static void poison_slot(const mz_attend_args *a, uint8_t *pool, int64_t pos)
{
    size_t e = mz_kv_elem_bytes(a->kv);
    uint8_t *page = pool + (size_t)a->page[pos / MZ_PAGE_TOK] * a->page_bytes;
    int64_t slot = pos % MZ_PAGE_TOK;
    for (int64_t i = 0; i < a->n_head_kv * a->d_k; i++) memset(page + a->k_offset + (size_t)(i * MZ_PAGE_TOK + slot) * e, 0xff, e);
    for (int64_t h = 0; h < a->n_head_kv; h++)
        memset(page + a->v_offset + (size_t)((h * MZ_PAGE_TOK + slot) * a->d_v) * e, 0xff, (size_t)a->d_v * e);
}

/* A pool in slot POOL with the pages of one sequence of len tokens in random order; all bytes 0xff (NaN in every type). */
static uint8_t *place_pool(mzc *c, mz_attend_args *a, int64_t len)
{
    size_t e = mz_kv_elem_bytes(a->kv);
    int64_t n_page = (len + MZ_PAGE_TOK - 1) / MZ_PAGE_TOK;
    a->k_offset = e * (size_t)mzc_int(c, 0, 3);
    a->v_offset = a->k_offset + e * (size_t)(a->n_head_kv * a->d_k * MZ_PAGE_TOK + mzc_int(c, 0, 3));
    a->page_bytes = a->v_offset + e * (size_t)(a->n_head_kv * a->d_v * MZ_PAGE_TOK);
    if (mzc_int(c, 0, 1)) { /* as an engine lays it out: everything on cache lines */
        a->k_offset = 0;
        a->v_offset = (e * (size_t)(a->n_head_kv * a->d_k * MZ_PAGE_TOK) + 63) & ~(size_t)63;
        a->page_bytes = (a->v_offset + e * (size_t)(a->n_head_kv * a->d_v * MZ_PAGE_TOK) + 63) & ~(size_t)63;
    }
    /* Not frozen as an input: it is filled after the page numbers are known, and kernels get it as const. */
    uint8_t *pool = mzc_in(c, POOL, a->page_bytes * (size_t)n_page, e);
    memset(pool, 0xff, a->page_bytes * (size_t)n_page);
    int32_t *page = mzc_in(c, PAGES, (size_t)n_page * sizeof *page, sizeof *page);
    for (int64_t i = 0; i < n_page; i++) {
        int64_t j = mzc_int(c, 0, i);
        page[i] = page[j];
        page[j] = (int32_t)i;
    }
    a->pool = pool;
    a->page = page;
    return pool;
}

static void fill_token(mzc *c, const mz_attend_args *a, uint8_t *pool, mzc_kind kind, float gain, int64_t pos, float *k, float *v)
{
    mzc_fill(c, kind, k, a->n_head_kv * a->d_k);
    mzc_fill(c, kind, v, a->n_head_kv * a->d_v);
    for (int64_t i = 0; i < a->n_head_kv * a->d_k; i++) k[i] *= gain;
    (void)c->ref->kv_store(a, pool, pos, k, v);
}

static void one_case(mzc *c, mz_kv_type kv, int i_dim, int64_t pos0, int64_t n_q, mzc_kind kind)
{
    if (!mzc_case(c)) return;
    static const int64_t windows[] = {0, 0, 0, 1, 2, 15, 16, 64, 100, 511, 512, 513, 600, 1024};
    mz_attend_args a = {.kv = kv, .n_head_kv = dims[i_dim].n_head_kv, .d_k = dims[i_dim].d_k, .d_v = dims[i_dim].d_v};
    a.scale = 1.0f / sqrtf((float)a.d_k);
    a.softcap = mzc_int(c, 0, 3) == 0 ? 20.0f : 0.0f;
    a.window = windows[mzc_int(c, 0, (int64_t)(sizeof windows / sizeof *windows) - 1)];
    int64_t len = pos0 + n_q;
    uint8_t *pool = place_pool(c, &a, len);
    int64_t first = a.window > 0 && pos0 - a.window + 1 > 0 ? pos0 - a.window + 1 : 0; /* of the first query */
    float *k = malloc((size_t)(a.n_head_kv * (a.d_k + a.d_v)) * sizeof *k), *v = k + a.n_head_kv * a.d_k;
    float gain = mzc_int(c, 0, 2) ? 1.0f : 8.0f;
    if (!k) abort();
    for (int64_t pos = first; pos < len; pos++) fill_token(c, &a, pool, kind, gain, pos, k, v);
    if (mzc_int(c, 0, 3) == 0) poison_slot(&a, pool, mzc_int(c, first, len - 1)); /* one token that some queries see */
    for (int64_t p = 0; p < first / MZ_PAGE_TOK; p++) ((int32_t *)(uintptr_t)a.page)[p] = mzc_int(c, 0, 1) ? INT32_MIN : INT32_MAX;
    float *sink = mzc_in(c, SINK, sizeof *sink, sizeof *sink);
    *sink = (float)(20.0 * mzc_unit(c) - 10.0);
    if (mzc_int(c, 0, 9) == 0) *sink = mzc_int(c, 0, 1) ? NAN : -INFINITY;
    a.sink = mzc_int(c, 0, 1) ? sink : NULL;

    int64_t ldq = a.d_k + mzc_int(c, 0, 3), ldo = a.d_v + mzc_int(c, 0, 3), head = mzc_int(c, 0, a.n_head_kv - 1);
    float *q = mzc_in(c, Q, (size_t)(ldq * (n_q - 1) + a.d_k) * sizeof *q, sizeof *q);
    mzc_fill(c, kind == MZC_RAW || kind == MZC_HUGE ? MZC_UNIFORM : kind, q, ldq * (n_q - 1) + a.d_k);
    size_t o_len = (size_t)(ldo * (n_q - 1) + a.d_v);
    float *want = malloc(o_len * sizeof *want);
    if (!want) abort();
    mzc_freeze(c);
    float *scratch = mzc_out(c, SCRATCH, MZ_ATTEND_SCRATCH(n_q, a.d_v) * sizeof *scratch, 64);
    c->ref->attend(&a, q, ldq, n_q, pos0, head, want, ldo, scratch);
    /* All rows in one call, then cut in two: the same bits. */
    for (int cut = 0; cut < 2 && !c->failed; cut++) {
        int64_t n0 = cut ? mzc_int(c, 0, n_q) : n_q;
        float *o = mzc_out(c, O, o_len * sizeof *o, sizeof *o);
        scratch = mzc_out(c, SCRATCH, MZ_ATTEND_SCRATCH(n_q, a.d_v) * sizeof *scratch, 64);
        c->k->attend(&a, q, ldq, n0, pos0, head, o, ldo, scratch);
        if (n0 < n_q) c->k->attend(&a, q + n0 * ldq, ldq, n_q - n0, pos0 + n0, head, o + n0 * ldo, ldo, scratch);
        for (int64_t t = 0; t < n_q; t++) {
            mzc_expect_f32(c, o + t * ldo, want + t * ldo, a.d_v, "o");
            if (t + 1 < n_q) mzc_expect_pattern(c, o + t * ldo + a.d_v, (size_t)(ldo - a.d_v) * sizeof *o, "the padding between rows of o");
            if (c->failed && t >= 0 && c->text[0] != '\0' && t < n_q) {
                mzc_fail(
                    c,
                    "; kv type %d, d_k %lld, d_v %lld, query %lld of %lld from position %lld, window %lld, sink %g, softcap %g, values %s",
                    (int)kv, (long long)a.d_k, (long long)a.d_v, (long long)t, (long long)n_q, (long long)pos0, (long long)a.window,
                    a.sink ? (double)*sink : (double)NAN, (double)a.softcap, mzc_kind_name[kind]);
                break;
            }
        }
    }
    free(want);
    free(k);
    mzc_end(c);
}

void check_attend(mzc *c)
{
    static const int64_t starts[] = {0, 1, 2, 15, 16, 62, 63, 64, 65, 127, 300, 505, 510, 511, 512, 513, 700, 1023, 1024, 1025, 1600};
    static const mzc_kind kinds[] = {MZC_UNIFORM, MZC_SPIKY,   MZC_TIES, MZC_ZERO, MZC_DENORMAL,
                                     MZC_WIDE,    MZC_UNIFORM, MZC_RAW,  MZC_HUGE, MZC_POISON};
    int at = 0;
    for (int kv = 0; kv < MZ_KV_COUNT; kv++) {
        for (int i_dim = 0; i_dim < N_DIMS; i_dim++) {
            for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
                for (int rep = 0; rep < (c->quick ? 1 : 3); rep++, at++) {
                    if (c->quick && (starts[s] > 600 ? at % 9 != 0 : at % 2 == 1)) continue;
                    int64_t n_q = 1 + (at * 7 + at / 8) % MAX_Q;
                    if (starts[s] > 600 && c->quick) n_q = 1 + n_q % 3;
                    one_case(c, (mz_kv_type)kv, i_dim, starts[s], n_q, kinds[(at + at / 10) % 10]);
                }
            }
        }
    }
}

/* Bytes equal, or both NaN in the element's type. */
static bool same_elem(mz_kv_type kv, const uint8_t *a, const uint8_t *b)
{
    size_t e = mz_kv_elem_bytes(kv);
    if (memcmp(a, b, e) == 0) return true;
    uint16_t ha, hb;
    float fa, fb;
    memcpy(&ha, a, e < 2 ? e : 2);
    memcpy(&hb, b, e < 2 ? e : 2);
    switch (kv) {
    case MZ_KV_F32:
        memcpy(&fa, a, sizeof fa);
        memcpy(&fb, b, sizeof fb);
        break;
    case MZ_KV_F16: fa = mz_f16_to_f32(ha), fb = mz_f16_to_f32(hb); break;
    case MZ_KV_BF16: fa = mz_bf16_to_f32(ha), fb = mz_bf16_to_f32(hb); break;
    default: fa = mz_e4m3_to_f32(*a), fb = mz_e4m3_to_f32(*b); break;
    }
    return fa != fa && fb != fb;
}

void check_kv_store(mzc *c)
{
    for (int kv = 0; kv < MZ_KV_COUNT; kv++) {
        for (int i_dim = 0; i_dim < N_DIMS; i_dim++) {
            for (int kind = 0; kind < MZC_N_KIND; kind++) {
                for (int rep = 0; rep < (c->quick ? 1 : 6); rep++) {
                    if (!mzc_case(c)) continue;
                    mz_attend_args a = {
                        .kv = (mz_kv_type)kv, .n_head_kv = dims[i_dim].n_head_kv, .d_k = dims[i_dim].d_k, .d_v = dims[i_dim].d_v};
                    int64_t len = 130;
                    uint8_t *pool = place_pool(c, &a, len);
                    size_t pool_bytes = c->slot[POOL].bytes;
                    c->slot[POOL].is_input = false;
                    float *k = mzc_in(c, STORE_K, (size_t)(a.n_head_kv * a.d_k) * sizeof *k, sizeof *k);
                    float *v = mzc_in(c, STORE_V, (size_t)(a.n_head_kv * a.d_v) * sizeof *v, sizeof *v);
                    uint8_t *want = malloc(pool_bytes);
                    if (!want) abort();
                    memcpy(want, pool, pool_bytes);
                    for (int i = 0; i < 6 && !c->failed; i++) {
                        int64_t pos = i == 0 ? 63 : i == 1 ? 64 : mzc_int(c, 0, len - 1);
                        /* fp8 reaches 448: some values below, some past it */
                        float gain = mzc_int(c, 0, 1) ? 1.0f : (float)mzc_int(c, 1, 600);
                        mzc_fill(c, (mzc_kind)kind, k, a.n_head_kv * a.d_k);
                        mzc_fill(c, mzc_int(c, 0, 1) ? MZC_UNIFORM : (mzc_kind)kind, v, a.n_head_kv * a.d_v);
                        for (int64_t j = 0; j < a.n_head_kv * a.d_k; j++) k[j] *= gain;
                        mzc_freeze(c);
                        bool fits = c->ref->kv_store(&a, want, pos, k, v);
                        if (c->k->kv_store(&a, pool, pos, k, v) != fits) mzc_fail(c, "says %d where the reference says %d", !fits, fits);
                        size_t e = mz_kv_elem_bytes(a.kv);
                        for (size_t j = 0; j + e <= pool_bytes && !c->failed; j += e)
                            if (!same_elem(a.kv, pool + j, want + j)) mzc_fail(c, "pool differs at byte %zu", j);
                    }
                    if (c->failed)
                        mzc_fail(c, "; kv type %d, d_k %lld, d_v %lld, values %s", kv, (long long)a.d_k, (long long)a.d_v,
                                 mzc_kind_name[kind]);
                    free(want);
                    mzc_end(c);
                }
            }
        }
    }
}
