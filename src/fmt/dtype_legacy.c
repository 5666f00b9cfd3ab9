/* SPDX-License-Identifier: Apache-2.0
 *
 * Q4_0 Q4_1 Q5_0 Q5_1 Q8_0: 32 elements, one f16 scale d (and minimum m) a block.
 *
 * The 4-bit part is the same in the first four: byte j holds element j in its low nibble and
 * element j+16 in its high one. */
#include "fmt/dtype_bits.h"

/* Q4_0, 18 bytes: x = (q - 8) d
 *   0      2                 18
 *   | d f16| qs[16]           | */
MZ_DECODER(q4_0)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 32, b += 18, y += 32) {
        float d = mz_load_f16(b);
        for (int j = 0; j < 16; j++) {
            y[j] = (float)((b[2 + j] & 15) - 8) * d;
            y[j + 16] = (float)((b[2 + j] >> 4) - 8) * d;
        }
    }
}

/* Q4_1, 20 bytes: x = q d + m
 *   0      2      4                 20
 *   | d f16| m f16| qs[16]           | */
MZ_DECODER(q4_1)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 32, b += 20, y += 32) {
        float d = mz_load_f16(b), m = mz_load_f16(b + 2);
        for (int j = 0; j < 16; j++) {
            y[j] = (float)(b[4 + j] & 15) * d + m;
            y[j + 16] = (float)(b[4 + j] >> 4) * d + m;
        }
    }
}

/* Q5_0, 22 bytes: x = (q - 16) d; bit j of qh is the fifth bit of element j
 *   0      2        6                 22
 *   | d f16| qh u32 | qs[16]           | */
MZ_DECODER(q5_0)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 32, b += 22, y += 32) {
        float d = mz_load_f16(b);
        uint32_t qh = mz_load_u32(b + 2);
        for (int j = 0; j < 16; j++) {
            y[j] = (float)((b[6 + j] & 15) + (int)(qh >> j & 1) * 16 - 16) * d;
            y[j + 16] = (float)((b[6 + j] >> 4) + (int)(qh >> (j + 16) & 1) * 16 - 16) * d;
        }
    }
}

/* Q5_1, 24 bytes: x = q d + m; qh as in Q5_0
 *   0      2      4        8                 24
 *   | d f16| m f16| qh u32 | qs[16]           | */
MZ_DECODER(q5_1)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 32, b += 24, y += 32) {
        float d = mz_load_f16(b), m = mz_load_f16(b + 2);
        uint32_t qh = mz_load_u32(b + 4);
        for (int j = 0; j < 16; j++) {
            y[j] = (float)((b[8 + j] & 15) + (int)(qh >> j & 1) * 16) * d + m;
            y[j + 16] = (float)((b[8 + j] >> 4) + (int)(qh >> (j + 16) & 1) * 16) * d + m;
        }
    }
}

/* Q8_0, 34 bytes: x = q d
 *   0      2                                 34
 *   | d f16| q i8[32], in order               | */
MZ_DECODER(q8_0)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 32, b += 34, y += 32) {
        float d = mz_load_f16(b);
        for (int j = 0; j < 32; j++) y[j] = (float)(int8_t)b[2 + j] * d;
    }
}
