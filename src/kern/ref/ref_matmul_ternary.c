/* SPDX-License-Identifier: Apache-2.0
 *
 * ref_matmul_ternary.c: TQ1_0 (five base-3 digits a byte) and TQ2_0 (bit pairs), 256-column super-blocks. */
#include "kern/ref/ref_matmul.h"

/* Digit k of a byte that stores a base-3 number scaled by 256/243. */
MZ_REF_INLINE int8_t digit(uint8_t v, int k)
{
    static const uint8_t pow3[5] = {1, 3, 9, 27, 81};
    return (int8_t)(((uint8_t)(v * pow3[k]) * 3) >> 8);
}

MZ_REF_INLINE float dot_ternary(const int8_t code[256], const mz_ref_act *a, int64_t b, float d, float acc)
{
    float p = 0.0f;
    for (int ib = 0; ib < 8; ib++) p = fmaf((float)mz_ref_isum(code + 32 * ib, a->q + 32 * (b + ib), 32), a->d[b + ib], p);
    return fmaf(p, d, acc);
}

static float dot_tq1_0(const uint8_t *row, const mz_ref_act *a)
{
    float acc = 0.0f;
    for (int64_t b = 0; b < a->n_blk; b += 8, row += 54) {
        int8_t code[256];
        for (int k = 0; k < 5; k++) {
            for (int m = 0; m < 32; m++) code[32 * k + m] = (int8_t)(digit(row[m], k) - 1);
            for (int m = 0; m < 16; m++) code[160 + 16 * k + m] = (int8_t)(digit(row[32 + m], k) - 1);
        }
        for (int k = 0; k < 4; k++)
            for (int m = 0; m < 4; m++) code[240 + 4 * k + m] = (int8_t)(digit(row[48 + m], k) - 1);
        acc = dot_ternary(code, a, b, mz_f16_to_f32(mz_load_u16(row + 52)), acc);
    }
    return acc;
}

static float dot_tq2_0(const uint8_t *row, const mz_ref_act *a)
{
    float acc = 0.0f;
    for (int64_t b = 0; b < a->n_blk; b += 8, row += 66) {
        int8_t code[256];
        for (int j = 0; j < 256; j++) code[j] = (int8_t)((row[32 * (j / 128) + j % 32] >> (2 * (j / 32 % 4)) & 3) - 1);
        acc = dot_ternary(code, a, b, mz_f16_to_f32(mz_load_u16(row + 64)), acc);
    }
    return acc;
}

MZ_REF_MATMUL(mz_ref_matmul_tq1_0, MZ_DTYPE_TQ1_0, dot_tq1_0)
MZ_REF_MATMUL(mz_ref_matmul_tq2_0, MZ_DTYPE_TQ2_0, dot_tq2_0)
