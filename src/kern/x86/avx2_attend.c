/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_attend.c: attention of consecutive query rows of one head over paged keys and values.
 *
 * Partials outermost, then pages, then blocks of 4 queries, so that a page of K or V is used by all queries while it is
 * near. Scores: keys in lanes, 8 sums (queries × vectors of keys) in registers. Values: dimensions in lanes, 8 sums
 * (queries × vectors of dimensions) continued from scratch, keys ascending. Keys that a query must not see are computed
 * with its block, and left out afterwards.
 *
 * Scratch: per query MZ_ATTEND_PART scores, d_v value sums, and 16 floats of state (M, L, m, l). */
#include <math.h>

#include "avx2_kv.h"
#include "avx2_sets.h"

enum { QUERIES = 4, SUMS = 8, STATE = 16 };

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

MZ_INLINE int64_t max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
MZ_INLINE int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

MZ_INLINE int64_t first_key(const mz_attend_args *a, int64_t pos)
{
    return a->window > 0 ? max_i64(pos - a->window + 1, 0) : 0;
}

/* Keys of positions r that query i sees. */
MZ_INLINE range visible(const job *j, int64_t i, range r)
{
    const int64_t pos = j->pos0 + i;
    return (range){max_i64(first_key(j->a, pos), r.lo), min_i64(pos + 1, r.hi)};
}

MZ_INLINE const uint8_t *page_at(const mz_attend_args *a, int64_t pos, size_t offset, int64_t i_head_kv, int64_t d, const size_t size)
{
    return a->pool + (size_t)a->page[pos / MZ_PAGE_TOK] * a->page_bytes + offset + (size_t)(i_head_kv * d * MZ_PAGE_TOK) * size;
}

/* p[i][k] = q_i · k for nq queries and SUMS / nq vectors of keys at k (row stride MZ_PAGE_TOK). */
MZ_INLINE void dot_keys(const mz_kv_type kv, const size_t size, const int nq, const float *q, int64_t ldq, const uint8_t *k, int64_t d_k,
                        float *p)
{
    __m256 acc[SUMS];
    const int nk = SUMS / nq;
    MZ_UNROLL
    for (int s = 0; s < SUMS; s++) acc[s] = _mm256_setzero_ps();
    for (int64_t d = 0; d < d_k; d++, k += MZ_PAGE_TOK * size) {
        __m256 b[QUERIES];
        MZ_UNROLL
        for (int i = 0; i < nq; i++) b[i] = _mm256_broadcast_ss(q + i * ldq + d);
        MZ_UNROLL
        for (int j = 0; j < nk; j++) {
            const __m256 key = kv_load(kv, k + (size_t)(8 * j) * size);
            MZ_UNROLL
            for (int i = 0; i < nq; i++) acc[i * nk + j] = _mm256_fmadd_ps(b[i], key, acc[i * nk + j]);
        }
    }
    MZ_UNROLL
    for (int s = 0; s < SUMS; s++) _mm256_storeu_ps(p + s / nk * MZ_ATTEND_PART + s % nk * 8, acc[s]);
}

/* Scores of the keys r (inside one page) for nq queries from i on; whole tiles of keys are computed. */
MZ_INLINE void page_scores(const mz_kv_type kv, const size_t size, const int nq, const job *j, int64_t i, range r)
{
    const int64_t tile = 8 * (SUMS / nq), page = r.lo / MZ_PAGE_TOK * MZ_PAGE_TOK;
    const uint8_t *k = page_at(j->a, r.lo, j->a->k_offset, j->i_head_kv, j->a->d_k, size);
    for (int64_t at = (r.lo - page) / tile * tile; page + at < r.hi; at += tile)
        dot_keys(kv, size, nq, j->q + i * j->ldq, j->ldq, k + (size_t)at * size, j->a->d_k,
                 j->p + i * MZ_ATTEND_PART + (page + at) % MZ_ATTEND_PART);
}

/* Scores to weights for one query: scale, soft cap, max, exp, lane sums. */
static void weigh(const job *j, int64_t i, range r)
{
    float *p = j->p + i * MZ_ATTEND_PART, *state = j->state + i * STATE;
    const int64_t base = r.lo / MZ_ATTEND_PART * MZ_ATTEND_PART, lo = r.lo - base, hi = r.hi - base;
    const __m256 scale = v_set(j->a->scale), cap = v_set(j->a->softcap), inf = v_set(-INFINITY);
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256 m = inf, nan = _mm256_setzero_ps();
    for (int64_t c = lo & ~(int64_t)7; c < hi; c += 8) {
        __m256 s = _mm256_mul_ps(_mm256_loadu_ps(p + c), scale);
        if (j->a->softcap > 0.0f) s = v_softcap(s, cap);
        if (c < lo || c + 8 > hi) { /* hidden: -inf, whose exp is +0 */
            const __m256i at = _mm256_add_epi32(lane, _mm256_set1_epi32((int32_t)c));
            const __m256i seen = _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)lo), at),
                                                     _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)hi), at));
            s = _mm256_blendv_ps(inf, s, _mm256_castsi256_ps(seen));
        }
        m = _mm256_max_ps(m, s);
        nan = _mm256_or_ps(nan, _mm256_cmp_ps(s, s, _CMP_UNORD_Q));
        _mm256_storeu_ps(p + c, s);
    }
    __m128 t = _mm_max_ps(_mm256_castps256_ps128(m), _mm256_extractf128_ps(m, 1));
    t = _mm_max_ps(t, _mm_movehl_ps(t, t));
    t = _mm_max_ss(t, _mm_movehdup_ps(t));
    state[2] = _mm256_testz_ps(nan, nan) ? _mm_cvtss_f32(t) : NAN;
    m = v_set(state[2]);
    __m256 sum[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    for (int64_t c = lo & ~(int64_t)7; c < hi; c += 8) {
        const __m256 e = v_exp(_mm256_sub_ps(_mm256_loadu_ps(p + c), m));
        _mm256_storeu_ps(p + c, e);
        sum[c >> 3 & 1] = _mm256_add_ps(sum[c >> 3 & 1], e);
    }
    state[3] = v_tree16(sum[0], sum[1]);
}

/* v[i][d..] continues over n keys for nq queries and SUMS / nq vectors of dimensions. */
MZ_INLINE void sum_values(const mz_kv_type kv, const size_t size, const int nq, const int nd, const float *p, const uint8_t *v, int64_t d_v,
                          int64_t n, float *out)
{
    __m256 acc[SUMS];
    MZ_UNROLL
    for (int s = 0; s < nq * nd; s++) acc[s] = _mm256_loadu_ps(out + s / nd * d_v + s % nd * 8);
    for (int64_t k = 0; k < n; k++, v += (size_t)d_v * size) {
        __m256 b[QUERIES];
        MZ_UNROLL
        for (int i = 0; i < nq; i++) b[i] = _mm256_broadcast_ss(p + i * MZ_ATTEND_PART + k);
        MZ_UNROLL
        for (int j = 0; j < nd; j++) {
            const __m256 val = kv_load(kv, v + (size_t)(8 * j) * size);
            MZ_UNROLL
            for (int i = 0; i < nq; i++) acc[i * nd + j] = _mm256_fmadd_ps(b[i], val, acc[i * nd + j]);
        }
    }
    MZ_UNROLL
    for (int s = 0; s < nq * nd; s++) _mm256_storeu_ps(out + s / nd * d_v + s % nd * 8, acc[s]);
}

/* Adds the values of keys r (inside one page), which all nq queries see. */
MZ_INLINE void page_values(const mz_kv_type kv, const size_t size, const int nq, const job *j, int64_t i, range r)
{
    if (r.lo >= r.hi) return;
    const int64_t d_v = j->a->d_v, n = r.hi - r.lo;
    const int nd = SUMS / nq;
    const float *p = j->p + i * MZ_ATTEND_PART + r.lo % MZ_ATTEND_PART;
    const uint8_t *v = page_at(j->a, r.lo, j->a->v_offset, j->i_head_kv, d_v, size) + (size_t)(r.lo % MZ_PAGE_TOK * d_v) * size;
    float *out = j->v + i * d_v;
    int64_t d = 0;
    for (; d + 8 * nd <= d_v; d += 8 * nd) sum_values(kv, size, nq, nd, p, v + (size_t)d * size, d_v, n, out + d);
    for (; d + 8 <= d_v; d += 8) sum_values(kv, size, nq, 1, p, v + (size_t)d * size, d_v, n, out + d);
    for (; d < d_v; d++)
        for (int64_t q = 0; q < nq; q++)
            for (int64_t k = 0; k < n; k++)
                out[q * d_v + d] = fmaf(p[q * MZ_ATTEND_PART + k], kv_load1(kv, v + (size_t)(k * d_v + d) * size), out[q * d_v + d]);
}

/* A block's keys of one page: those before and after what all see go query by query. */
MZ_INLINE void block_values(const mz_kv_type kv, const size_t size, const int nq, const job *j, int64_t i, range page)
{
    range all = page;
    for (int64_t q = i; q < i + nq; q++) {
        const range r = visible(j, q, page);
        all = (range){max_i64(all.lo, r.lo), min_i64(all.hi, r.hi)};
    }
    if (nq == 1 || all.lo >= all.hi) {
        for (int64_t q = i; q < i + nq; q++) page_values(kv, size, 1, j, q, visible(j, q, page));
        return;
    }
    for (int64_t q = i; q < i + nq; q++) page_values(kv, size, 1, j, q, (range){visible(j, q, page).lo, all.lo});
    page_values(kv, size, nq, j, i, all);
    for (int64_t q = i; q < i + nq; q++) page_values(kv, size, 1, j, q, (range){all.hi, visible(j, q, page).hi});
}

MZ_INLINE void block_scores(const mz_kv_type kv, const size_t size, const int nq, const job *j, int64_t i, range page)
{
    const range r = {visible(j, i, page).lo, visible(j, i + nq - 1, page).hi};
    if (r.lo < r.hi) page_scores(kv, size, nq, j, i, r);
}

/* O = O * a + v * b for one vector row. */
static void scale_add(float *o, float ea, const float *v, float eb, int64_t n)
{
    for (int64_t d = 0; d < n; d += 8)
        v_put_n(o + d, _mm256_fmadd_ps(v_load_n(o + d, n - d), v_set(ea), _mm256_mul_ps(v_load_n(v + d, n - d), v_set(eb))), n - d);
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
    if (first) {
        state[0] = state[2];
        state[1] = state[3];
        memcpy(o, v, (size_t)j->a->d_v * sizeof *o);
        return;
    }
    const float both = max_nan(state[0], state[2]);
    const float ea = v_exp1(state[0] - both), eb = v_exp1(state[2] - both);
    state[1] = fmaf(state[1], ea, state[3] * eb);
    scale_add(o, ea, v, eb, j->a->d_v);
    state[0] = both;
}

static void finish(const job *j, int64_t i)
{
    const float *state = j->state + i * STATE;
    float *o = j->o + i * j->ldo, l = state[1];
    const int64_t n = j->a->d_v;
    if (j->a->sink) {
        const float both = max_nan(state[0], *j->a->sink), ea = v_exp1(state[0] - both);
        l = fmaf(l, ea, v_exp1(*j->a->sink - both));
        mz_avx2_scale(o, ea, n, o);
    }
    for (int64_t d = 0; d < n; d += 8) v_put_n(o + d, _mm256_div_ps(v_load_n(o + d, n - d), v_set(l)), n - d);
}

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
            int64_t i = i0;
            for (; i + 4 <= i1; i += 4) block_scores(kv, size, 4, j, i, page);
            for (; i + 2 <= i1; i += 2) block_scores(kv, size, 2, j, i, page);
            for (; i < i1; i++) block_scores(kv, size, 1, j, i, page);
        }
        for (int64_t i = i0; i < i1; i++) weigh(j, i, visible(j, i, part));
        memset(j->v + i0 * j->a->d_v, 0, (size_t)((i1 - i0) * j->a->d_v) * sizeof(float));
        for (int64_t pos = from; pos < to; pos += MZ_PAGE_TOK) {
            const range page = {pos, pos + MZ_PAGE_TOK};
            int64_t i = i0;
            for (; i + 4 <= i1; i += 4) block_values(kv, size, 4, j, i, page);
            for (; i + 2 <= i1; i += 2) block_values(kv, size, 2, j, i, page);
            for (; i < i1; i++) block_values(kv, size, 1, j, i, page);
        }
        for (int64_t i = i0; i < i1; i++) merge(j, i, first_key(j->a, j->pos0 + i) >= base);
    }
    for (int64_t i = 0; i < j->n_q; i++) finish(j, i);
}

void mz_avx2_attend(const mz_attend_args *a, const float *q, int64_t ldq, int64_t n_q, int64_t pos0, int64_t i_head_kv, float *o,
                    int64_t ldo, float *scratch)
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
