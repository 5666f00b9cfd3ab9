/* SPDX-License-Identifier: Apache-2.0
 *
 * ref_matmul_k.c: the 256-column super-block formats Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_XS.
 * Byte diagrams: fmt/dtype_*.c. Sub-block scales join inside the super-block, the f16 scales once after it. */
#include "kern/ref/ref_matmul.h"

/* Two bits per column, as Q2_K and Q3_K place them: byte l of a half (128 columns, 32 bytes) holds columns
 * l, l+32, l+64, l+96. Fills block ib (32 columns) of the super-block. */
MZ_REF_INLINE void bit_pairs(const uint8_t *qs, int ib, int8_t code[32])
{
    const uint8_t *half = qs + 32 * (ib / 4);
    for (int l = 0; l < 32; l++) code[l] = (int8_t)(half[l] >> (2 * (ib % 4)) & 3);
}

/* Four bits per column as Q4_K and Q5_K place them: 32 bytes carry blocks 2i (low) and 2i+1 (high). */
MZ_REF_INLINE void nibble_blocks(const uint8_t *qs, int ib, int8_t code[32])
{
    const uint8_t *p = qs + 32 * (ib / 2);
    for (int l = 0; l < 32; l++) code[l] = (int8_t)(p[l] >> (4 * (ib % 2)) & 15);
}

/* The 6-bit scale and minimum of block j in Q4_K's and Q5_K's 12 bytes. */
MZ_REF_INLINE void scale_min_6(const uint8_t *b, int j, int *sc, int *mn)
{
    if (j < 4) {
        *sc = b[j] & 63;
        *mn = b[j + 4] & 63;
    } else {
        *sc = (b[j + 4] & 15) | (b[j - 4] >> 6) << 4;
        *mn = (b[j + 4] >> 4) | (b[j] >> 6) << 4;
    }
}

static float dot_q2_k(const uint8_t *row, const mz_ref_act *a)
{
    float acc = 0.0f;
    for (int64_t b = 0; b < a->n_blk; b += 8, row += 84) {
        const uint8_t *scales = row, *qs = row + 16;
        float p = 0.0f, m = 0.0f;
        for (int ib = 0; ib < 8; ib++) {
            int8_t code[32];
            bit_pairs(qs, ib, code);
            const int8_t *q = a->q + 32 * (b + ib);
            const int16_t *s = a->s + 2 * (b + ib);
            int s0 = scales[2 * ib], s1 = scales[2 * ib + 1];
            int32_t i = (s0 & 15) * mz_ref_isum(code, q, 16) + (s1 & 15) * mz_ref_isum(code + 16, q + 16, 16);
            p = fmaf((float)i, a->d[b + ib], p);
            m = fmaf((float)((s0 >> 4) * s[0] + (s1 >> 4) * s[1]), a->d[b + ib], m);
        }
        acc = fmaf(p, mz_f16_to_f32(mz_load_u16(row + 80)), acc);
        acc = fmaf(-m, mz_f16_to_f32(mz_load_u16(row + 82)), acc);
    }
    return acc;
}

static float dot_q3_k(const uint8_t *row, const mz_ref_act *a)
{
    float acc = 0.0f;
    for (int64_t b = 0; b < a->n_blk; b += 8, row += 110) {
        const uint8_t *hmask = row, *qs = row + 32, *sc = row + 96;
        float p = 0.0f;
        for (int ib = 0; ib < 8; ib++) {
            int8_t code[32];
            bit_pairs(qs, ib, code);
            for (int l = 0; l < 32; l++) code[l] = (int8_t)(code[l] - (hmask[l] >> ib & 1 ? 0 : 4));
            int s[2];
            for (int h = 0; h < 2; h++) {
                int j = 2 * ib + h;
                int low = j < 8 ? sc[j] & 15 : sc[j - 8] >> 4;
                s[h] = (low | (sc[8 + j % 4] >> (2 * (j / 4)) & 3) << 4) - 32;
            }
            const int8_t *q = a->q + 32 * (b + ib);
            int32_t i = s[0] * mz_ref_isum(code, q, 16) + s[1] * mz_ref_isum(code + 16, q + 16, 16);
            p = fmaf((float)i, a->d[b + ib], p);
        }
        acc = fmaf(p, mz_f16_to_f32(mz_load_u16(row + 108)), acc);
    }
    return acc;
}

MZ_REF_INLINE float dot_q45_k(const uint8_t *row, const mz_ref_act *a, bool five)
{
    float acc = 0.0f;
    for (int64_t b = 0; b < a->n_blk; b += 8, row += five ? 176 : 144) {
        const uint8_t *qh = row + 16, *qs = row + (five ? 48 : 16);
        float p = 0.0f, m = 0.0f;
        for (int ib = 0; ib < 8; ib++) {
            int8_t code[32];
            nibble_blocks(qs, ib, code);
            if (five) {
                for (int l = 0; l < 32; l++) code[l] = (int8_t)(code[l] | (qh[l] >> ib & 1) << 4);
            }
            int sc, mn;
            scale_min_6(row + 4, ib, &sc, &mn);
            const int16_t *s = a->s + 2 * (b + ib);
            p = fmaf((float)(sc * mz_ref_isum(code, a->q + 32 * (b + ib), 32)), a->d[b + ib], p);
            m = fmaf((float)(mn * (s[0] + s[1])), a->d[b + ib], m);
        }
        acc = fmaf(p, mz_f16_to_f32(mz_load_u16(row)), acc);
        acc = fmaf(-m, mz_f16_to_f32(mz_load_u16(row + 2)), acc);
    }
    return acc;
}

static float dot_q4_k(const uint8_t *row, const mz_ref_act *a)
{
    return dot_q45_k(row, a, false);
}

static float dot_q5_k(const uint8_t *row, const mz_ref_act *a)
{
    return dot_q45_k(row, a, true);
}

static float dot_q6_k(const uint8_t *row, const mz_ref_act *a)
{
    float acc = 0.0f;
    for (int64_t b = 0; b < a->n_blk; b += 8, row += 210) {
        float p = 0.0f;
        for (int ib = 0; ib < 8; ib++) {
            /* Of a half's four blocks 0 and 1 take the low nibbles of 64 bytes, 2 and 3 the high ones. */
            const uint8_t *ql = row + 64 * (ib / 4) + 32 * (ib % 2), *qh = row + 128 + 32 * (ib / 4);
            int8_t code[32];
            for (int l = 0; l < 32; l++) code[l] = (int8_t)(((ql[l] >> (ib & 2 ? 4 : 0) & 15) | (qh[l] >> (2 * (ib % 4)) & 3) << 4) - 32);
            const int8_t *q = a->q + 32 * (b + ib);
            int s0 = (int8_t)row[192 + 2 * ib], s1 = (int8_t)row[193 + 2 * ib];
            int32_t i = s0 * mz_ref_isum(code, q, 16) + s1 * mz_ref_isum(code + 16, q + 16, 16);
            p = fmaf((float)i, a->d[b + ib], p);
        }
        acc = fmaf(p, mz_f16_to_f32(mz_load_u16(row + 208)), acc);
    }
    return acc;
}

static float dot_iq4_xs(const uint8_t *row, const mz_ref_act *a)
{
    float acc = 0.0f;
    for (int64_t b = 0; b < a->n_blk; b += 8, row += 136) {
        unsigned high = mz_load_u16(row + 2);
        float p = 0.0f;
        for (int ib = 0; ib < 8; ib++) {
            const uint8_t *qs = row + 8 + 16 * ib;
            int8_t code[32];
            for (int j = 0; j < 16; j++) {
                code[j] = mz_ref_iq4_table[qs[j] & 15];
                code[j + 16] = mz_ref_iq4_table[qs[j] >> 4];
            }
            int sc = (int)((row[4 + ib / 2] >> (4 * (ib % 2)) & 15u) | (high >> (2 * ib) & 3u) << 4) - 32;
            p = fmaf((float)(sc * mz_ref_isum(code, a->q + 32 * (b + ib), 32)), a->d[b + ib], p);
        }
        acc = fmaf(p, mz_f16_to_f32(mz_load_u16(row)), acc);
    }
    return acc;
}

MZ_REF_MATMUL(mz_ref_matmul_q2_k, MZ_DTYPE_Q2_K, dot_q2_k)
MZ_REF_MATMUL(mz_ref_matmul_q3_k, MZ_DTYPE_Q3_K, dot_q3_k)
MZ_REF_MATMUL(mz_ref_matmul_q4_k, MZ_DTYPE_Q4_K, dot_q4_k)
MZ_REF_MATMUL(mz_ref_matmul_q5_k, MZ_DTYPE_Q5_K, dot_q5_k)
MZ_REF_MATMUL(mz_ref_matmul_q6_k, MZ_DTYPE_Q6_K, dot_q6_k)
MZ_REF_MATMUL(mz_ref_matmul_iq4_xs, MZ_DTYPE_IQ4_XS, dot_iq4_xs)
