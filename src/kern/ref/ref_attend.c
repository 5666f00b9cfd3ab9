/* SPDX-License-Identifier: Apache-2.0
 *
 * ref_attend.c: attention of a few query rows of one head over paged keys and values, and storing them.
 * One pass per partial of 512 positions, merged as in online softmax (Milakov and Gimelshein,
 * arXiv 1805.02867); attention sinks as in gpt-oss: one more logit in the denominator. */
#include "kern/ref/ref_common.h"

static float widen(mz_kv_type kv, const uint8_t *p, int64_t i)
{
    switch (kv) {
    case MZ_KV_F32: {
        float v;
        memcpy(&v, p + 4 * i, sizeof v);
        return v;
    }
    case MZ_KV_F16: return mz_f16_to_f32(mz_load_u16(p + 2 * i));
    case MZ_KV_BF16: return mz_bf16_to_f32(mz_load_u16(p + 2 * i));
    case MZ_KV_FP8: return mz_e4m3_to_f32(p[i]);
    case MZ_KV_COUNT: break;
    }
    assert(0 && "unknown KV type");
    return 0.0f;
}

/* Where K [d_k, MZ_PAGE_TOK] and V [MZ_PAGE_TOK, d_v] of a head start in the page of a position. */
static const uint8_t *page_at(const mz_attend_args *a, int64_t pos, size_t offset, int64_t i_head_kv, int64_t d)
{
    return a->pool + (size_t)a->page[pos / MZ_PAGE_TOK] * a->page_bytes + offset +
           (size_t)(i_head_kv * d * MZ_PAGE_TOK) * mz_kv_elem_bytes(a->kv);
}

static float score(const mz_attend_args *a, const float *q, int64_t pos, int64_t i_head_kv)
{
    const uint8_t *k = page_at(a, pos, a->k_offset, i_head_kv, a->d_k);
    float acc = 0.0f;
    for (int64_t d = 0; d < a->d_k; d++) acc = fmaf(q[d], widen(a->kv, k, d * MZ_PAGE_TOK + pos % MZ_PAGE_TOK), acc);
    float s = acc * a->scale;
    return a->softcap > 0.0f ? a->softcap * mz_tanhf(s / a->softcap) : s;
}

static void attend_one(const mz_attend_args *a, const float *q, int64_t pos, int64_t i_head_kv, float *o, float *scratch)
{
    float *p = scratch, *v = scratch + MZ_ATTEND_PART;
    float big_m = 0.0f, big_l = 0.0f;
    int64_t first = a->window > 0 && pos - a->window + 1 > 0 ? pos - a->window + 1 : 0;
    for (int64_t part = first / MZ_ATTEND_PART; part <= pos / MZ_ATTEND_PART; part++) {
        int64_t base = part * MZ_ATTEND_PART;
        int64_t lo = first > base ? first : base;
        int64_t hi = pos < base + MZ_ATTEND_PART - 1 ? pos : base + MZ_ATTEND_PART - 1;
        float m = score(a, q, lo, i_head_kv);
        p[lo - base] = m;
        for (int64_t j = lo + 1; j <= hi; j++) {
            p[j - base] = score(a, q, j, i_head_kv);
            m = mz_ref_max(m, p[j - base]);
        }
        /* Lanes are absolute positions mod 16 (base is a multiple of 16); hidden keys would add +0 to sums
         * that are never -0, so they are left out. */
        float l16[16] = {0};
        for (int64_t j = lo; j <= hi; j++) {
            p[j - base] = mz_expf(p[j - base] - m);
            l16[j & 15] += p[j - base];
        }
        float l = mz_ref_tree16(l16);
        for (int64_t d = 0; d < a->d_v; d++) v[d] = 0.0f;
        for (int64_t j = lo; j <= hi; j++) {
            const uint8_t *vp = page_at(a, j, a->v_offset, i_head_kv, a->d_v);
            for (int64_t d = 0; d < a->d_v; d++) v[d] = fmaf(p[j - base], widen(a->kv, vp, j % MZ_PAGE_TOK * a->d_v + d), v[d]);
        }
        if (part == first / MZ_ATTEND_PART) {
            big_m = m;
            big_l = l;
            memcpy(o, v, (size_t)a->d_v * sizeof *o);
            continue;
        }
        float both = mz_ref_max(big_m, m);
        float ea = mz_expf(big_m - both), eb = mz_expf(m - both);
        big_l = fmaf(big_l, ea, l * eb);
        for (int64_t d = 0; d < a->d_v; d++) o[d] = fmaf(o[d], ea, v[d] * eb);
        big_m = both;
    }
    if (a->sink) {
        float both = mz_ref_max(big_m, *a->sink);
        float ea = mz_expf(big_m - both);
        big_l = fmaf(big_l, ea, mz_expf(*a->sink - both));
        for (int64_t d = 0; d < a->d_v; d++) o[d] = o[d] * ea;
    }
    for (int64_t d = 0; d < a->d_v; d++) o[d] = o[d] / big_l;
}

void mz_ref_attend(const mz_attend_args *a, const float *q, int64_t ldq, int64_t n_q, int64_t pos0, int64_t i_head_kv, float *o,
                   int64_t ldo, float *scratch)
{
    assert(n_q >= 0 && pos0 >= 0 && i_head_kv >= 0 && i_head_kv < a->n_head_kv);
    assert(a->d_k > 0 && a->d_v > 0 && (n_q <= 1 || (ldq >= a->d_k && ldo >= a->d_v)));
    assert((uintptr_t)scratch % 64 == 0 && a->window >= 0);
    for (int64_t i = 0; i < n_q; i++) attend_one(a, q + i * ldq, pos0 + i, i_head_kv, o + i * ldo, scratch);
}

/* Rounds x into element i; false when the stored value is not finite. */
static bool narrow(mz_kv_type kv, uint8_t *p, int64_t i, float x)
{
    uint16_t h;
    switch (kv) {
    case MZ_KV_F32: memcpy(p + 4 * i, &x, sizeof x); break;
    case MZ_KV_F16:
        h = mz_f32_to_f16(x);
        memcpy(p + 2 * i, &h, sizeof h);
        break;
    case MZ_KV_BF16:
        h = mz_f32_to_bf16(x);
        memcpy(p + 2 * i, &h, sizeof h);
        break;
    case MZ_KV_FP8: p[i] = mz_f32_to_e4m3(x); break;
    case MZ_KV_COUNT: assert(0 && "unknown KV type"); break;
    }
    return mz_ref_finite(widen(kv, p, i));
}

bool mz_ref_kv_store(const mz_attend_args *a, uint8_t *pool, int64_t pos, const float *k, const float *v)
{
    assert(pos >= 0);
    bool fits = true;
    int64_t slot = pos % MZ_PAGE_TOK;
    uint8_t *page = pool + (size_t)a->page[pos / MZ_PAGE_TOK] * a->page_bytes;
    for (int64_t i = 0; i < a->n_head_kv * a->d_k; i++) fits = narrow(a->kv, page + a->k_offset, i * MZ_PAGE_TOK + slot, k[i]) && fits;
    for (int64_t h = 0; h < a->n_head_kv; h++)
        for (int64_t d = 0; d < a->d_v; d++)
            fits = narrow(a->kv, page + a->v_offset, (h * MZ_PAGE_TOK + slot) * a->d_v + d, v[h * a->d_v + d]) && fits;
    return fits;
}
