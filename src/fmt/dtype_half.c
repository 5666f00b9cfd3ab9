/* SPDX-License-Identifier: Apache-2.0
 *
 * 16-bit and 8-bit floats and the FP4 scale bytes, in integer arithmetic: the results do not depend
 * on what the processor offers. The conversions from f32 rely on the default rounding mode.
 *
 *   f16   s eeeee mmmmmmmmmm        bias 15     bf16  the upper half of an f32
 *   e4m3  s eeee mmm                bias 7      e8m0  eeeeeeee, 2^(e-127) */
#include "fmt/dtype.h"

#include "fmt/dtype_bits.h"

float mz_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = h >> 10 & 31, man = h & 0x3FF;
    if (exp == 0) return mz_bits_to_f32(sign | mz_f32_to_bits((float)man * 0x1p-24f));
    if (exp == 31) return mz_bits_to_f32(sign | 0x7F800000 | man << 13 | (man ? 0x400000 : 0));
    return mz_bits_to_f32(sign | (exp + 112) << 23 | man << 13);
}

/* Rounds the f32 magnitude `mag` (bits, no sign) to nearest even with n_drop mantissa bits dropped. */
static uint32_t drop_bits(uint32_t mag, int n_drop)
{
    return (mag + ((1u << (n_drop - 1)) - 1) + (mag >> n_drop & 1)) >> n_drop;
}

/* |x| as a multiple of a power of two, to nearest even: `magic` is an f32 whose last mantissa bit
 * has that weight, so the addition does the rounding. |x| is far below magic. */
static uint32_t to_fixed(uint32_t mag, float magic)
{
    return mz_f32_to_bits(mz_bits_to_f32(mag) + magic) - mz_f32_to_bits(magic);
}

uint16_t mz_f32_to_f16(float x)
{
    uint32_t bits = mz_f32_to_bits(x), sign = bits >> 16 & 0x8000, mag = bits & 0x7FFFFFFF;
    if (mag > 0x7F800000) return (uint16_t)(sign | 0x7E00 | (mag >> 13 & 0x3FF));
    if (mag >= 0x47800000) return (uint16_t)(sign | 0x7C00);             /* 2^16 and up */
    if (mag < 0x38800000) return (uint16_t)(sign | to_fixed(mag, 0.5f)); /* below 2^-14: steps of 2^-24 */
    return (uint16_t)(sign | (drop_bits(mag, 13) - (112u << 10)));       /* a carry past 65504 gives infinity */
}

float mz_bf16_to_f32(uint16_t h)
{
    return mz_bits_to_f32((uint32_t)h << 16);
}

uint16_t mz_f32_to_bf16(float x)
{
    uint32_t bits = mz_f32_to_bits(x), sign = bits >> 16 & 0x8000, mag = bits & 0x7FFFFFFF;
    if (mag > 0x7F800000) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)(sign | drop_bits(mag, 16));
}

float mz_e4m3_to_f32(uint8_t b)
{
    uint32_t sign = (uint32_t)(b & 0x80) << 24, exp = b >> 3 & 15, man = b & 7;
    if ((b & 0x7F) == 0x7F) return mz_bits_to_f32(sign | 0x7FC00000);
    if (exp == 0) return mz_bits_to_f32(sign | mz_f32_to_bits((float)man * 0x1p-9f));
    return mz_bits_to_f32(sign | (exp + 120) << 23 | man << 20);
}

uint8_t mz_f32_to_e4m3(float x)
{
    uint32_t bits = mz_f32_to_bits(x), sign = bits >> 24 & 0x80, mag = bits & 0x7FFFFFFF, code;
    if (mag >= 0x7F800000)
        code = 0x7F;
    else if (mag < 0x3C800000) /* below 2^-6: steps of 2^-9 */
        code = to_fixed(mag, 0x1p14f);
    else
        code = drop_bits(mag, 20) - (120u << 3);
    return (uint8_t)(sign | (code < 0x7F ? code : 0x7F));
}

float mz_e8m0_to_f32(uint8_t b)
{
    if (b == 255) return mz_bits_to_f32(0x7FC00000);
    return mz_bits_to_f32(b ? (uint32_t)b << 23 : 0x00400000); /* 0 is 2^-127: subnormal, not zero */
}

float mz_e8m0_half_to_f32(uint8_t b)
{
    return mz_bits_to_f32(b < 2 ? 0x00200000u << b : (uint32_t)(b - 1) << 23);
}

float mz_ue4m3_to_f32(uint8_t b)
{
    /* ggml masks the unused top bit only after comparing with 0x7F, so 0xFF is 480. */
    if (b == 0x7F) return 0.0f;
    uint32_t exp = b >> 3 & 15, man = b & 7;
    return exp ? mz_bits_to_f32((exp + 120) << 23 | man << 20) : (float)man * 0x1p-9f;
}

MZ_DECODER(f32)
{
    memcpy(y, src, (size_t)n * sizeof *y);
}

MZ_DECODER(f16)
{
    const uint8_t *p = src;
    for (int64_t i = 0; i < n; i++) y[i] = mz_load_f16(p + 2 * i);
}

MZ_DECODER(bf16)
{
    const uint8_t *p = src;
    for (int64_t i = 0; i < n; i++) y[i] = mz_bf16_to_f32(mz_load_u16(p + 2 * i));
}

MZ_DECODER(f64)
{
    const uint8_t *p = src;
    for (int64_t i = 0; i < n; i++) {
        uint64_t u = mz_load_u64(p + 8 * i);
        double d;
        memcpy(&d, &u, sizeof d);
        y[i] = (float)d;
    }
}

MZ_DECODER(i8)
{
    const int8_t *p = src;
    for (int64_t i = 0; i < n; i++) y[i] = (float)p[i];
}

MZ_DECODER(i16)
{
    const uint8_t *p = src;
    for (int64_t i = 0; i < n; i++) y[i] = (float)(int16_t)mz_load_u16(p + 2 * i);
}

MZ_DECODER(i32)
{
    const uint8_t *p = src;
    for (int64_t i = 0; i < n; i++) y[i] = (float)(int32_t)mz_load_u32(p + 4 * i);
}

MZ_DECODER(i64)
{
    const uint8_t *p = src;
    for (int64_t i = 0; i < n; i++) y[i] = (float)(int64_t)mz_load_u64(p + 8 * i);
}
