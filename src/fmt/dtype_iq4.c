/* SPDX-License-Identifier: Apache-2.0
 *
 * IQ4_NL and IQ4_XS: four-bit codes into a fixed table of unevenly spaced values. */
#include "fmt/dtype_bits.h"

static const int8_t iq4_value[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/* IQ4_NL, 18 bytes, 32 elements: x = d value[q]; byte j: element j low, j+16 high
 *   0      2                 18
 *   | d f16| qs[16]           | */
MZ_DECODER(iq4_nl)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 32, b += 18, y += 32) {
        float d = mz_load_f16(b);
        for (int j = 0; j < 16; j++) {
            y[j] = d * (float)iq4_value[b[2 + j] & 15];
            y[j + 16] = d * (float)iq4_value[b[2 + j] >> 4];
        }
    }
}

/* IQ4_XS, 136 bytes, 256 elements: 8 groups of 32, x = d (sc - 32) value[q]
 *   0      2              4             8                      136
 *   | d f16| scales_h u16 | scales_l[4] | qs[128]               |
 *   sc of group g: low four bits are a nibble of scales_l[g/2] (low one for even g), bits 4-5 are
 *   bits 2g, 2g+1 of scales_h. Each group owns 16 bytes of qs, split as in IQ4_NL. */
MZ_DECODER(iq4_xs)
{
    const uint8_t *b = src;
    for (int64_t i = 0; i < n; i += 256, b += 136, y += 256) {
        float d = mz_load_f16(b);
        int scales_h = mz_load_u16(b + 2);
        for (int g = 0; g < 8; g++) {
            const uint8_t *qs = b + 8 + g * 16;
            int sc = (b[4 + g / 2] >> (g % 2 * 4) & 15) | (scales_h >> (2 * g) & 3) << 4;
            float dl = d * (float)(sc - 32);
            for (int j = 0; j < 16; j++) {
                y[g * 32 + j] = dl * (float)iq4_value[qs[j] & 15];
                y[g * 32 + j + 16] = dl * (float)iq4_value[qs[j] >> 4];
            }
        }
    }
}
