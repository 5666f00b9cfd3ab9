/* SPDX-License-Identifier: Apache-2.0
 *
 * wide_attend.c: attention of consecutive query rows of one head over paged keys and values.
 *
 * The walk is that of x86/avx2_attend.c: partials outermost, then pages, then blocks of 4 queries, so that a page of K or V
 * is used by all queries while it is near. Scores: keys in lanes. Values: dimensions in lanes, keys ascending. MZ_WSUMS sums
 * (queries × vectors) are kept in registers. Keys that a query must not see are computed with its block, and left out
 * afterwards.
 *
 * Scratch: per query MZ_ATTEND_PART scores, d_v value sums, and 16 floats of state (M, L, m, l). */
#include <math.h>

#include "wide_math.h"

enum { QUERIES = 4, STATE = 16, PAGE_VECTORS = MZ_PAGE_TOK / 16 };

typedef struct job {
    const mz_attend_args *a;
    const float *q;
    int64_t ldq, n_q, pos0, i_head_kv;
    float *o;
    int64_t ldo;
    float *p, *v, *state; /* [n_q, MZ_ATTEND_PART], [n_q, d_v], [n_q, STATE] */
} job;

typedef struct range {
    int64_t lo, hi; /* keys lo..hi-1 */
} range;

MZ_INLINE int64_t first_key(const mz_attend_args *a, int64_t pos)
{
    return a->window > 0 ? mz_w_max(pos - a->window + 1, 0) : 0;
}

/* Keys of positions r that query i sees. */
MZ_INLINE range visible(const job *j, int64_t i, range r)
{
    const int64_t pos = j->pos0 + i;
    return (range){mz_w_max(first_key(j->a, pos), r.lo), mz_w_min(pos + 1, r.hi)};
}

MZ_INLINE const uint8_t *page_at(const mz_attend_args *a, int64_t pos, size_t offset, int64_t i_head_kv, int64_t d, const size_t size)
{
    return a->pool + (size_t)a->page[pos / MZ_PAGE_TOK] * a->page_bytes + offset + (size_t)(i_head_kv * d * MZ_PAGE_TOK) * size;
}

/* p[i][k] = q_i · k for nq queries and nk vectors of keys at k (row stride MZ_PAGE_TOK). */
MZ_INLINE void dot_keys(const mz_kv_type kv, const size_t size, const int nq, const int nk, const float *q, int64_t ldq, const uint8_t *k,
                        int64_t d_k, float *p)
{
    wf acc[MZ_WSUMS];
    MZ_UNROLL
    for (int s = 0; s < nq * nk; s++) acc[s] = wf_zero();
    for (int64_t d = 0; d < d_k; d++, k += MZ_PAGE_TOK * size) {
        wf b[QUERIES];
        MZ_UNROLL
        for (int i = 0; i < nq; i++) b[i] = wf_set(q[i * ldq + d]);
        MZ_UNROLL
        for (int j = 0; j < nk; j++) {
            const wf key = wf_kv(kv, k + (size_t)(16 * j) * size);
            MZ_UNROLL
            for (int i = 0; i < nq; i++) acc[i * nk + j] = wf_fma(b[i], key, acc[i * nk + j]);
        }
    }
    MZ_UNROLL
    for (int s = 0; s < nq * nk; s++) wf_store(p + s / nk * MZ_ATTEND_PART + s % nk * 16, acc[s]);
}

/* Scores of a block's keys in one page; whole tiles of keys are computed. */
MZ_INLINE void block_scores(const mz_kv_type kv, const size_t size, const int nq, const job *j, int64_t i, range page)
{
    const int nk = MZ_WSUMS / nq < PAGE_VECTORS ? MZ_WSUMS / nq : PAGE_VECTORS;
    const range r = {visible(j, i, page).lo, visible(j, i + nq - 1, page).hi};
    if (r.lo >= r.hi) return;
    const uint8_t *k = page_at(j->a, page.lo, j->a->k_offset, j->i_head_kv, j->a->d_k, size);
    for (int64_t at = (r.lo - page.lo) / (16 * nk) * (16 * nk); page.lo + at < r.hi; at += 16 * nk)
        dot_keys(kv, size, nq, nk, j->q + i * j->ldq, j->ldq, k + (size_t)at * size, j->a->d_k,
                 j->p + i * MZ_ATTEND_PART + (page.lo + at) % MZ_ATTEND_PART);
}

/* Scores to weights for one query: scale, soft cap, max, exp, lane sums. */
static void weigh(const job *j, int64_t i, range r)
{
    float *p = j->p + i * MZ_ATTEND_PART, *state = j->state + i * STATE;
    const int64_t base = r.lo / MZ_ATTEND_PART * MZ_ATTEND_PART, lo = r.lo - base, hi = r.hi - base;
    const wf scale = wf_set(j->a->scale), cap = wf_set(j->a->softcap), inf = wf_set(-INFINITY);
    wf m = inf, sum = wf_zero();
    wm nan = wm_none();
    for (int64_t c = lo & ~(int64_t)15; c < hi; c += 16) {
        wf s = wf_mul(wf_load(p + c), scale);
        if (j->a->softcap > 0.0f) s = wf_softcap(s, cap);
        if (c < lo || c + 16 > hi) { /* hidden: -inf, whose exp is +0 */
            const wi at = wi_add(wi_index(), wi_set((int32_t)c));
            s = wf_pick(wm_and(wi_gt(at, wi_set((int32_t)lo - 1)), wi_gt(wi_set((int32_t)hi), at)), s, inf);
        }
        m = wf_max(m, s);
        nan = wm_or(nan, wf_nan(s));
        wf_store(p + c, s);
    }
    state[2] = wm_any(nan) ? NAN : wf_largest(m);
    m = wf_set(state[2]);
    for (int64_t c = lo & ~(int64_t)15; c < hi; c += 16) {
        const wf e = wf_exp(wf_sub(wf_load(p + c), m));
        wf_store(p + c, e);
        sum = wf_add(sum, e);
    }
    state[3] = wf_tree(sum);
}

/* v[i][d..] continues over n keys for nq queries and nd vectors of dimensions, the last of which has `last` of them. */
MZ_INLINE void sum_values(const mz_kv_type kv, const size_t size, const int nq, const int nd, int64_t last, const float *p,
                          const uint8_t *v, int64_t d_v, int64_t n, float *out)
{
    wf acc[MZ_WSUMS];
    MZ_UNROLL
    for (int s = 0; s < nq * nd; s++) acc[s] = wf_load_n(out + s / nd * d_v + s % nd * 16, s % nd == nd - 1 ? last : 16);
    for (int64_t k = 0; k < n; k++, v += (size_t)d_v * size) {
        wf b[QUERIES];
        MZ_UNROLL
        for (int i = 0; i < nq; i++) b[i] = wf_set(p[i * MZ_ATTEND_PART + k]);
        MZ_UNROLL
        for (int j = 0; j < nd; j++) {
            const wf val = wf_kv_n(kv, size, v + (size_t)(16 * j) * size, j == nd - 1 ? last : 16);
            MZ_UNROLL
            for (int i = 0; i < nq; i++) acc[i * nd + j] = wf_fma(b[i], val, acc[i * nd + j]);
        }
    }
    MZ_UNROLL
    for (int s = 0; s < nq * nd; s++) wf_store_n(out + s / nd * d_v + s % nd * 16, acc[s], s % nd == nd - 1 ? last : 16);
}

/* Adds the values of keys r (inside one page), which all nq queries see. */
MZ_INLINE void page_values(const mz_kv_type kv, const size_t size, const int nq, const job *j, int64_t i, range r)
{
    if (r.lo >= r.hi) return;
    const int64_t d_v = j->a->d_v, n = r.hi - r.lo;
    const int nd = MZ_WSUMS / nq < 8 ? MZ_WSUMS / nq : 8;
    const float *p = j->p + i * MZ_ATTEND_PART + r.lo % MZ_ATTEND_PART;
    const uint8_t *v = page_at(j->a, r.lo, j->a->v_offset, j->i_head_kv, d_v, size) + (size_t)(r.lo % MZ_PAGE_TOK * d_v) * size;
    float *out = j->v + i * d_v;
    int64_t d = 0;
    for (; d + 16 * nd <= d_v; d += 16 * nd) sum_values(kv, size, nq, nd, 16, p, v + (size_t)d * size, d_v, n, out + d);
    for (; d < d_v; d += 16) sum_values(kv, size, nq, 1, mz_w_min(d_v - d, 16), p, v + (size_t)d * size, d_v, n, out + d);
}

/* The same for query i alone, compiled once for each type: blocks call it from several places. */
MZ_NOINLINE void one_values(const job *j, int64_t i, range r)
{
    switch (j->a->kv) {
    case MZ_KV_F16: page_values(MZ_KV_F16, 2, 1, j, i, r); return;
    case MZ_KV_BF16: page_values(MZ_KV_BF16, 2, 1, j, i, r); return;
    case MZ_KV_FP8: page_values(MZ_KV_FP8, 1, 1, j, i, r); return;
    default: page_values(MZ_KV_F32, 4, 1, j, i, r); return;
    }
}

/* A block's keys of one page: those before and after what all see go query by query. */
MZ_INLINE void block_values(const mz_kv_type kv, const size_t size, const int nq, const job *j, int64_t i, range page)
{
    range all = page;
    for (int64_t q = i; q < i + nq; q++) {
        const range r = visible(j, q, page);
        all = (range){mz_w_max(all.lo, r.lo), mz_w_min(all.hi, r.hi)};
    }
    if (nq == 1 || all.lo >= all.hi) {
        for (int64_t q = i; q < i + nq; q++) one_values(j, q, visible(j, q, page));
        return;
    }
    for (int64_t q = i; q < i + nq; q++) one_values(j, q, (range){visible(j, q, page).lo, all.lo});
    page_values(kv, size, nq, j, i, all);
    for (int64_t q = i; q < i + nq; q++) one_values(j, q, (range){all.hi, visible(j, q, page).hi});
}

static float max_nan(float m, float x)
{
    if (m != m) return m;
    return x > m || x != x ? x : m;
}

/* Joins the partial of query i to what came before. */
static void merge(const job *j, int64_t i, bool first)
{
    float *state = j->state + i * STATE, *o = j->o + i * j->ldo;
    const float *v = j->v + i * j->a->d_v;
    const int64_t n = j->a->d_v;
    if (first) {
        state[0] = state[2];
        state[1] = state[3];
        memcpy(o, v, (size_t)n * sizeof *o);
        return;
    }
    const float both = max_nan(state[0], state[2]);
    const float ea = wf_exp1(state[0] - both), eb = wf_exp1(state[2] - both);
    state[0] = both;
    state[1] = fmaf(state[1], ea, state[3] * eb);
    for (int64_t d = 0; d < n; d += 16)
        wf_store_n(o + d, wf_fma(wf_load_n(o + d, n - d), wf_set(ea), wf_mul(wf_load_n(v + d, n - d), wf_set(eb))), n - d);
}

static void finish(const job *j, int64_t i)
{
    const float *state = j->state + i * STATE;
    float *o = j->o + i * j->ldo, l = state[1];
    const int64_t n = j->a->d_v;
    if (j->a->sink) {
        const float both = max_nan(state[0], *j->a->sink), ea = wf_exp1(state[0] - both);
        l = fmaf(l, ea, wf_exp1(*j->a->sink - both));
        W(scale)(o, ea, n, o);
    }
    for (int64_t d = 0; d < n; d += 16) wf_store_n(o + d, wf_div(wf_load_n(o + d, n - d), wf_set(l)), n - d);
}

/* Calls block (4, then 2, then 1 queries) for queries i0..i1-1. */
#define BLOCKS(block)                                               \
    do {                                                            \
        int64_t i = i0;                                             \
        for (; i + 4 <= i1; i += 4) block(kv, size, 4, j, i, page); \
        for (; i + 2 <= i1; i += 2) block(kv, size, 2, j, i, page); \
        for (; i < i1; i++) block(kv, size, 1, j, i, page);         \
    } while (0)

MZ_INLINE void attend(const mz_kv_type kv, const size_t size, const job *j)
{
    const int64_t last = j->pos0 + j->n_q - 1;
    for (int64_t base = first_key(j->a, j->pos0) / MZ_ATTEND_PART * MZ_ATTEND_PART; base <= last; base += MZ_ATTEND_PART) {
        const range part = {base, base + MZ_ATTEND_PART};
        /* Queries i0..i1-1 see keys of this partial; both bounds only grow with the partial. */
        int64_t i0 = 0, i1 = j->n_q;
        while (i0 < i1 && visible(j, i0, part).lo >= visible(j, i0, part).hi) i0++;
        while (i1 > i0 && visible(j, i1 - 1, part).lo >= visible(j, i1 - 1, part).hi) i1--;
        const int64_t from = visible(j, i0, part).lo & ~(int64_t)(MZ_PAGE_TOK - 1), to = visible(j, i1 - 1, part).hi;
        for (int64_t pos = from; pos < to; pos += MZ_PAGE_TOK) {
            const range page = {pos, pos + MZ_PAGE_TOK};
            BLOCKS(block_scores);
        }
        for (int64_t i = i0; i < i1; i++) weigh(j, i, visible(j, i, part));
        memset(j->v + i0 * j->a->d_v, 0, (size_t)((i1 - i0) * j->a->d_v) * sizeof(float));
        for (int64_t pos = from; pos < to; pos += MZ_PAGE_TOK) {
            const range page = {pos, pos + MZ_PAGE_TOK};
            BLOCKS(block_values);
        }
        for (int64_t i = i0; i < i1; i++) merge(j, i, first_key(j->a, j->pos0 + i) >= base);
    }
    for (int64_t i = 0; i < j->n_q; i++) finish(j, i);
}

void W(attend)(const mz_attend_args *a, const float *q, int64_t ldq, int64_t n_q, int64_t pos0, int64_t i_head_kv, float *o, int64_t ldo,
               float *scratch)
{
    if (n_q <= 0) return;
    float *p = scratch, *state = p + n_q * MZ_ATTEND_PART, *v = state + n_q * STATE;
    const job j = {a, q, ldq, n_q, pos0, i_head_kv, o, ldo, p, v, state};
    switch (a->kv) {
    case MZ_KV_F16: attend(MZ_KV_F16, 2, &j); return;
    case MZ_KV_BF16: attend(MZ_KV_BF16, 2, &j); return;
    case MZ_KV_FP8: attend(MZ_KV_FP8, 1, &j); return;
    default: attend(MZ_KV_F32, 4, &j); return;
    }
}
