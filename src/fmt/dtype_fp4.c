/* SPDX-License-Identifier: Apache-2.0
 *
 * MXFP4 (OCP Microscaling v1.0) and NVFP4 as GGUF stores them. Element code s.ee.m (E2M1):
 * 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives.
 *
 * As in ggml the table holds doubled integers and the scales are halved. Code 8, minus zero, reads
 * as plus zero. The nibble order (j, j+n/2) differs from that of safetensors files (2j, 2j+1). */
#include "fmt/dtype_bits.h"

static const int8_t e2m1_doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/* MXFP4, 17 bytes, 32 elements: x = 2^(e-128) doubled[q]; byte j: element j low, j+16 high
 *   0        1                 17
 *   | e e8m0 | qs[16]           |
 * e = 255 means NaN in the OCP text but is an ordinary exponent here, as ggml reads it. */
MZ_DECODER(mxfp4)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 32, b += 17, y += 32) {
        float d = mz_e8m0_half_to_f32(b[0]);
        for (int j = 0; j < 16; j++) {
            y[j] = d * (float)e2m1_doubled[b[1 + j] & 15];
            y[j + 16] = d * (float)e2m1_doubled[b[1 + j] >> 4];
        }
    }
}

/* NVFP4, 36 bytes, 64 elements: 4 groups of 16, x = s[g]/2 doubled[q]
 *   0             4                              36
 *   | s ue4m3[4]  | 8 bytes a group               |
 * Inside group g byte j holds element 16g + j low and 16g + j + 8 high. The tensor's f32 factor is
 * another tensor, <name>.scale, and is not applied here. */
MZ_DECODER(nvfp4)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 64, b += 36, y += 64) {
        for (int g = 0; g < 4; g++) {
            float d = mz_ue4m3_to_f32(b[g]) * 0.5f;
            for (int j = 0; j < 8; j++) {
                uint8_t q = b[4 + g * 8 + j];
                y[g * 16 + j] = d * (float)e2m1_doubled[q & 15];
                y[g * 16 + j + 8] = d * (float)e2m1_doubled[q >> 4];
            }
        }
    }
}
