/* SPDX-License-Identifier: Apache-2.0
 *
 * Formats of two bits and less: TQ1_0 and TQ2_0 (values -1, 0, 1 times d), Q1_0 (signs), Q2_0. */
#include "fmt/dtype_bits.h"

/* Digit k (0 first) of a byte that packs five base-3 digits as a fraction of 256: multiplying by 3^k
 * modulo 256 drops the digits before it, the next multiplication brings it above the byte. */
static int digit3(uint8_t v, int k)
{
    static const uint8_t pow3[5] = {1, 3, 9, 27, 81};
    return ((v * pow3[k] & 255) * 3) >> 8;
}

/* TQ1_0, 54 bytes, 256 elements: x = (digit - 1) d
 *   0                 48      52     54
 *   | qs[48]          | qh[4] | d f16|
 *   Elements   0..159: digit k of qs[m]       is element       32k + m, m < 32, k < 5
 *            160..239: digit k of qs[32 + m]  is element 160 + 16k + m, m < 16, k < 5
 *            240..255: digit k of qh[m]       is element 240 +  4k + m, m <  4, k < 4 */
MZ_DECODER(tq1_0)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 256, b += 54, y += 256) {
        float d = mz_load_f16(b + 52);
        for (int e = 0; e < 160; e++) y[e] = (float)(digit3(b[e % 32], e / 32) - 1) * d;
        for (int e = 0; e < 80; e++) y[160 + e] = (float)(digit3(b[32 + e % 16], e / 16) - 1) * d;
        for (int e = 0; e < 16; e++) y[240 + e] = (float)(digit3(b[48 + e % 4], e / 4) - 1) * d;
    }
}

/* TQ2_0, 66 bytes, 256 elements: x = (q - 1) d; two-bit codes placed as in Q2_K
 *   0                 64     66
 *   | qs[64]          | d f16| */
MZ_DECODER(tq2_0)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 256, b += 66, y += 256) {
        float d = mz_load_f16(b + 64);
        for (int e = 0; e < 256; e++) y[e] = (float)((b[e / 128 * 32 + e % 32] >> (e / 32 % 4 * 2) & 3) - 1) * d;
    }
}

/* Q1_0, 18 bytes, 128 elements: x = bit ? d : -d; element e is bit e%8 of byte e/8
 *   0      2                 18
 *   | d f16| bits[16]         | */
MZ_DECODER(q1_0)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 128, b += 18, y += 128) {
        float d = mz_load_f16(b);
        for (int e = 0; e < 128; e++) y[e] = b[2 + e / 8] >> (e % 8) & 1 ? d : -d;
    }
}

/* Q2_0, 18 bytes, 64 elements: x = (q - 1) d; element e is bits 2(e%4), 2(e%4)+1 of byte e/4
 *   0      2                 18
 *   | d f16| qs[16]           | */
MZ_DECODER(q2_0)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 64, b += 18, y += 64) {
        float d = mz_load_f16(b);
        for (int e = 0; e < 64; e++) y[e] = (float)((b[2 + e / 4] >> (e % 4 * 2) & 3) - 1) * d;
    }
}
