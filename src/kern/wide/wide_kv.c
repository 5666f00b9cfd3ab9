/* SPDX-License-Identifier: Apache-2.0
 *
 * wide_kv.c: storing a token's keys and values. Sixteen at a time are rounded; keys are then scattered to their columns
 * (a page holds keys of one dimension together), values written as they are. */
#include "wide_math.h"

MZ_INLINE bool store(const mz_kv_type kv, const size_t size, const mz_attend_args *a, uint8_t *pool, int64_t pos, const float *k,
                     const float *v)
{
    const int64_t slot = pos % MZ_PAGE_TOK, n_k = a->n_head_kv * a->d_k;
    uint8_t *page = pool + (size_t)a->page[pos / MZ_PAGE_TOK] * a->page_bytes, tmp[64];
    wm bad = wm_none();
    for (int64_t i = 0; i < n_k; i += 16) {
        const int64_t n = mz_w_min(n_k - i, 16);
        bad = wm_or(bad, wf_put_kv(kv, wf_load_n(k + i, n), tmp));
        uint8_t *to = page + a->k_offset + (size_t)(i * MZ_PAGE_TOK + slot) * size;
        for (int64_t j = 0; j < n; j++) memcpy(to + (size_t)j * MZ_PAGE_TOK * size, tmp + (size_t)j * size, size);
    }
    for (int64_t h = 0; h < a->n_head_kv; h++) {
        uint8_t *to = page + a->v_offset + (size_t)((h * MZ_PAGE_TOK + slot) * a->d_v) * size;
        for (int64_t i = 0; i < a->d_v; i += 16) {
            const int64_t n = mz_w_min(a->d_v - i, 16);
            bad = wm_or(bad, wf_put_kv(kv, wf_load_n(v + h * a->d_v + i, n), tmp));
            memcpy(to + (size_t)i * size, tmp, (size_t)n * size);
        }
    }
    return !wm_any(bad);
}

bool W(kv_store)(const mz_attend_args *a, uint8_t *pool, int64_t pos, const float *k, const float *v)
{
    switch (a->kv) {
    case MZ_KV_F16: return store(MZ_KV_F16, 2, a, pool, pos, k, v);
    case MZ_KV_BF16: return store(MZ_KV_BF16, 2, a, pool, pos, k, v);
    case MZ_KV_FP8: return store(MZ_KV_FP8, 1, a, pool, pos, k, v);
    default: return store(MZ_KV_F32, 4, a, pool, pos, k, v);
    }
}
