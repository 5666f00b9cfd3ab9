/* SPDX-License-Identifier: Apache-2.0
 *
 * Q2_K .. Q6_K: super-blocks of 256 elements with small integer scales per group.
 *
 * The products are formed in ggml's order, scale times group scale first, so that the results are
 * equal to its own bit for bit. */
#include "fmt/dtype_bits.h"

/* Q2_K, 84 bytes: 16 groups of 16, x = d sc q - dmin mn
 *   0                16                80     82        84
 *   | scales[16]      | qs[64]         | d f16| dmin f16 |
 *   scales[g]: low nibble sc, high nibble mn of group g.
 *   qs: each half of 128 elements owns 32 bytes; byte l holds elements l, l+32, l+64, l+96 of the
 *   half in bits 0-1, 2-3, 4-5, 6-7. */
MZ_DECODER(q2_k)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 256, b += 84, y += 256) {
        const uint8_t *qs = b + 16;
        float d = mz_load_f16(b + 80), dmin = mz_load_f16(b + 82);
        for (int e = 0; e < 256; e++) {
            float dl = d * (float)(b[e / 16] & 15), ml = dmin * (float)(b[e / 16] >> 4);
            y[e] = dl * (float)(qs[e / 128 * 32 + e % 32] >> (e / 32 % 4 * 2) & 3) - ml;
        }
    }
}

/* Q3_K, 110 bytes: 16 groups of 16, x = d (sc - 32) q, q in -4..3
 *   0                32                96           108    110
 *   | hmask[32]       | qs[64]         | scales[12]  | d f16|
 *   qs: two low bits placed as in Q2_K. hmask: bit k of byte l belongs to element 32k + l; a clear
 *   bit means 4 less. scales: six bits; the low four in nibbles (group j < 8: low nibble of byte j,
 *   else high nibble of byte j-8), the high two in byte 8 + j%4 at bit 2 (j/4). */
MZ_DECODER(q3_k)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 256, b += 110, y += 256) {
        const uint8_t *qs = b + 32, *sc = b + 96;
        float d = mz_load_f16(b + 108);
        for (int e = 0; e < 256; e++) {
            int j = e / 16;
            int low = (j < 8 ? sc[j] : sc[j - 8] >> 4) & 15, high = sc[8 + j % 4] >> (j / 4 * 2) & 3;
            int q = (qs[e / 128 * 32 + e % 32] >> (e / 32 % 4 * 2) & 3) - (b[e % 32] >> (e / 32) & 1 ? 0 : 4);
            float dl = d * (float)((low | high << 4) - 32);
            y[e] = dl * (float)q;
        }
    }
}

/* Six-bit scale and minimum of group j (0..7) out of the 12 bytes shared by Q4_K and Q5_K:
 *   byte j     (0..3): low 6 bits sc[j],   top 2 bits = bits 4-5 of sc[j+4]
 *   byte j+4   (4..7): low 6 bits mn[j],   top 2 bits = bits 4-5 of mn[j+4]
 *   byte j+8  (8..11): low nibble of sc[j+4], high nibble of mn[j+4] */
static void scale_min(const uint8_t *s, int j, int *sc, int *mn)
{
    if (j < 4) {
        *sc = s[j] & 63;
        *mn = s[j + 4] & 63;
    } else {
        *sc = (s[j + 4] & 15) | (s[j - 4] >> 6) << 4;
        *mn = (s[j + 4] >> 4) | (s[j] >> 6) << 4;
    }
}

/* Q4_K, 144 bytes: 8 groups of 32, x = d sc q - dmin mn
 *   0      2         4            16                       144
 *   | d f16| dmin f16| scales[12] | qs[128]                 |
 *   qs: 32 bytes carry two groups, the even one in the low nibbles, the odd one in the high. */
MZ_DECODER(q4_k)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 256, b += 144, y += 256) {
        float d = mz_load_f16(b), dmin = mz_load_f16(b + 2);
        for (int g = 0; g < 8; g++) {
            const uint8_t *qs = b + 16 + g / 2 * 32;
            int sc, mn;
            scale_min(b + 4, g, &sc, &mn);
            float dl = d * (float)sc, ml = dmin * (float)mn;
            for (int l = 0; l < 32; l++) y[g * 32 + l] = dl * (float)(qs[l] >> (g % 2 * 4) & 15) - ml;
        }
    }
}

/* Q5_K, 176 bytes: as Q4_K with a fifth bit, bit g of qh[l] for element l of group g
 *   0      2         4            16          48            176
 *   | d f16| dmin f16| scales[12] | qh[32]    | qs[128]      | */
MZ_DECODER(q5_k)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 256, b += 176, y += 256) {
        const uint8_t *qh = b + 16;
        float d = mz_load_f16(b), dmin = mz_load_f16(b + 2);
        for (int g = 0; g < 8; g++) {
            const uint8_t *qs = b + 48 + g / 2 * 32;
            int sc, mn;
            scale_min(b + 4, g, &sc, &mn);
            float dl = d * (float)sc, ml = dmin * (float)mn;
            for (int l = 0; l < 32; l++) y[g * 32 + l] = dl * (float)((qs[l] >> (g % 2 * 4) & 15) + (qh[l] >> g & 1) * 16) - ml;
        }
    }
}

/* Q6_K, 210 bytes: 16 groups of 16, x = d sc (q - 32)
 *   0            128         192           208    210
 *   | ql[128]    | qh[64]    | sc i8[16]    | d f16|
 *   Each half of 128 elements owns 64 bytes of ql and 32 of qh. With l = 0..31 inside the half:
 *     element l      ql[l] low nibble       qh[l] bits 0-1
 *     element l+32   ql[l+32] low nibble    qh[l] bits 2-3
 *     element l+64   ql[l] high nibble      qh[l] bits 4-5
 *     element l+96   ql[l+32] high nibble   qh[l] bits 6-7 */
MZ_DECODER(q6_k)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 256, b += 210, y += 256) {
        float d = mz_load_f16(b + 208);
        for (int e = 0; e < 256; e++) {
            int k = e / 32 % 4, l = e % 32;
            const uint8_t *ql = b + e / 128 * 64, *qh = b + 128 + e / 128 * 32;
            int low = ql[l + k % 2 * 32] >> (k / 2 * 4) & 15, high = qh[l] >> (2 * k) & 3;
            y[e] = d * (float)(int8_t)b[192 + e / 16] * (float)((low | high << 4) - 32);
        }
    }
}
