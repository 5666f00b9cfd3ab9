/* SPDX-License-Identifier: Apache-2.0
 *
 * ref_matmul_fp4.c: E2M1 codes: MXFP4 (one power-of-two scale per 32 columns) and NVFP4 (one unsigned E4M3
 * scale per 16). Codes are kept doubled, as integers; the scales are halved. */
#include "kern/ref/ref_matmul.h"

static const int8_t e2m1_doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

static float dot_mxfp4(const uint8_t *row, const mz_ref_act *a)
{
    float acc = 0.0f;
    for (int64_t b = 0; b < a->n_blk; b++, row += 17) {
        int8_t code[32];
        for (int j = 0; j < 16; j++) {
            code[j] = e2m1_doubled[row[1 + j] & 15];
            code[j + 16] = e2m1_doubled[row[1 + j] >> 4];
        }
        acc = fmaf((float)mz_ref_isum(code, a->q + 32 * b, 32), mz_e8m0_half_to_f32(row[0]) * a->d[b], acc);
    }
    return acc;
}

/* A block has 64 columns: two activation blocks, four groups of 16 (8 bytes each, j low and j + 8 high). */
static float dot_nvfp4(const uint8_t *row, const mz_ref_act *a)
{
    float acc = 0.0f;
    for (int64_t b = 0; b < a->n_blk; b += 2, row += 36) {
        for (int g = 0; g < 4; g++) {
            const uint8_t *qs = row + 4 + 8 * g;
            int8_t code[16];
            for (int j = 0; j < 8; j++) {
                code[j] = e2m1_doubled[qs[j] & 15];
                code[j + 8] = e2m1_doubled[qs[j] >> 4];
            }
            float d = 0.5f * mz_ue4m3_to_f32(row[g]);
            acc = fmaf((float)mz_ref_isum(code, a->q + 32 * b + 16 * g, 16), d * a->d[b + g / 2], acc);
        }
    }
    return acc;
}

MZ_REF_MATMUL(mz_ref_matmul_mxfp4, MZ_DTYPE_MXFP4, dot_mxfp4)
MZ_REF_MATMUL(mz_ref_matmul_nvfp4, MZ_DTYPE_NVFP4, dot_nvfp4)
