/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_kv.c: storing a token's keys and values. Eight at a time are rounded; keys are then scattered to their columns
 * (a page holds keys of one dimension together), values written as they are. */
#include "avx2_kv.h"
#include "avx2_sets.h"

/* 8 values to p in the stored type; returns lanes that are not finite as stored (sign bits). */
MZ_INLINE __m256 round8(const mz_kv_type kv, __m256 v, uint8_t *p)
{
    const __m256i exp = _mm256_set1_epi32(0x7f800000);
    const __m256i bits = _mm256_castps_si256(v), mag = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff));
    const __m256i wild = _mm256_cmpeq_epi32(_mm256_and_si256(bits, exp), exp); /* not finite before rounding */
    switch (kv) {
    case MZ_KV_F16: {
        const __m128i h = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)p, h);
        const __m128i e = _mm_set1_epi16(0x7c00);
        return _mm256_castsi256_ps(_mm256_cvtepi16_epi32(_mm_cmpeq_epi16(_mm_and_si128(h, e), e)));
    }
    case MZ_KV_BF16: {
        const __m256i nan = _mm256_cmpgt_epi32(mag, exp);
        const __m256i even = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
        __m256i r = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), even), 16);
        r = _mm256_blendv_epi8(r, _mm256_or_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(0x40)), nan);
        const __m256i w = _mm256_permute4x64_epi64(_mm256_packus_epi32(r, r), 0x08);
        _mm_storeu_si128((__m128i *)(void *)p, _mm256_castsi256_si128(w));
        const __m256i e = _mm256_set1_epi32(0x7f80);
        return _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(r, e), e));
    }
    case MZ_KV_FP8: {
        const __m256i sign = _mm256_and_si256(_mm256_srli_epi32(bits, 24), _mm256_set1_epi32(0x80));
        const __m256i even = _mm256_and_si256(_mm256_srli_epi32(mag, 20), _mm256_set1_epi32(1));
        const __m256i normal = _mm256_sub_epi32(
            _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(mag, _mm256_set1_epi32(0x7ffff)), even), 20), _mm256_set1_epi32(120 << 3));
        /* Below 2^-6 in steps of 2^-9: the addition rounds. */
        const __m256 magic = v_set(0x1p14f);
        const __m256 rounded = _mm256_add_ps(_mm256_castsi256_ps(mag), magic);
        const __m256i tiny = _mm256_sub_epi32(_mm256_castps_si256(rounded), _mm256_castps_si256(magic));
        __m256i c = _mm256_blendv_epi8(normal, tiny, _mm256_cmpgt_epi32(_mm256_set1_epi32(0x3c800000), mag));
        c = _mm256_or_si256(_mm256_min_epi32(c, _mm256_set1_epi32(0x7f)), _mm256_and_si256(wild, _mm256_set1_epi32(0x7f)));
        const __m256i bad = _mm256_cmpeq_epi32(_mm256_and_si256(c, _mm256_set1_epi32(0x7f)), _mm256_set1_epi32(0x7f));
        c = _mm256_or_si256(c, sign);
        const __m256i w = _mm256_permute4x64_epi64(_mm256_packus_epi32(c, c), 0x08);
        const __m128i b = _mm_packus_epi16(_mm256_castsi256_si128(w), _mm_setzero_si128());
        _mm_storel_epi64((__m128i *)(void *)p, b);
        return _mm256_castsi256_ps(bad);
    }
    default: _mm256_storeu_ps((float *)(void *)p, v); return _mm256_castsi256_ps(wild);
    }
}

MZ_INLINE bool store(const mz_kv_type kv, const size_t size, const mz_attend_args *a, uint8_t *pool, int64_t pos, const float *k,
                     const float *v)
{
    const int64_t slot = pos % MZ_PAGE_TOK;
    uint8_t *page = pool + (size_t)a->page[pos / MZ_PAGE_TOK] * a->page_bytes;
    __m256 bad = _mm256_setzero_ps();
    uint8_t tmp[32];
    const int64_t n_k = a->n_head_kv * a->d_k;
    for (int64_t i = 0; i < n_k; i += 8) {
        const int64_t n = n_k - i < 8 ? n_k - i : 8;
        bad = _mm256_or_ps(bad, round8(kv, v_load_n(k + i, n), tmp));
        uint8_t *to = page + a->k_offset + (size_t)(i * MZ_PAGE_TOK + slot) * size;
        for (int64_t j = 0; j < n; j++) memcpy(to + (size_t)j * MZ_PAGE_TOK * size, tmp + (size_t)j * size, size);
    }
    for (int64_t h = 0; h < a->n_head_kv; h++) {
        uint8_t *to = page + a->v_offset + (size_t)((h * MZ_PAGE_TOK + slot) * a->d_v) * size;
        for (int64_t i = 0; i < a->d_v; i += 8) {
            const int64_t n = a->d_v - i < 8 ? a->d_v - i : 8;
            bad = _mm256_or_ps(bad, round8(kv, v_load_n(v + h * a->d_v + i, n), tmp));
            if (n == 8)
                memcpy(to + (size_t)i * size, tmp, 8 * size);
            else
                memcpy(to + (size_t)i * size, tmp, (size_t)n * size);
        }
    }
    return _mm256_testz_ps(bad, bad);
}

bool mz_avx2_kv_store(const mz_attend_args *a, uint8_t *pool, int64_t pos, const float *k, const float *v)
{
    switch (a->kv) {
    case MZ_KV_F16: return store(MZ_KV_F16, 2, a, pool, pos, k, v);
    case MZ_KV_BF16: return store(MZ_KV_BF16, 2, a, pool, pos, k, v);
    case MZ_KV_FP8: return store(MZ_KV_FP8, 1, a, pool, pos, k, v);
    default: return store(MZ_KV_F32, 4, a, pool, pos, k, v);
    }
}
