/* SPDX-License-Identifier: Apache-2.0
 *
 * dtype_bits.h: little-endian loads and bit casts shared by the decoders, and their prototypes.
 *
 * Private to fmt. Loads take any alignment. Pure functions, any thread. */
#ifndef MZ_FMT_DTYPE_BITS_H
#define MZ_FMT_DTYPE_BITS_H

#include <stdint.h>
#include <string.h>

#include "fmt/dtype.h"

static inline uint16_t mz_load_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t mz_load_u32(const uint8_t *p)
{
    return (uint32_t)mz_load_u16(p) | (uint32_t)mz_load_u16(p + 2) << 16;
}

static inline uint64_t mz_load_u64(const uint8_t *p)
{
    return (uint64_t)mz_load_u32(p) | (uint64_t)mz_load_u32(p + 4) << 32;
}

static inline float mz_load_f16(const uint8_t *p)
{
    return mz_f16_to_f32(mz_load_u16(p));
}

static inline float mz_bits_to_f32(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline uint32_t mz_f32_to_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

/* One decoder per format with the signature of mz_dtype_info.decode; the file names say the family. */
#define MZ_DECODER(name) void mz_decode_##name(const void *src, float *y, int64_t n)
MZ_DECODER(f32);
MZ_DECODER(f16);
MZ_DECODER(bf16);
MZ_DECODER(f64);
MZ_DECODER(i8);
MZ_DECODER(i16);
MZ_DECODER(i32);
MZ_DECODER(i64);
MZ_DECODER(q4_0);
MZ_DECODER(q4_1);
MZ_DECODER(q5_0);
MZ_DECODER(q5_1);
MZ_DECODER(q8_0);
MZ_DECODER(q2_k);
MZ_DECODER(q3_k);
MZ_DECODER(q4_k);
MZ_DECODER(q5_k);
MZ_DECODER(q6_k);
MZ_DECODER(iq4_nl);
MZ_DECODER(iq4_xs);
MZ_DECODER(tq1_0);
MZ_DECODER(tq2_0);
MZ_DECODER(q1_0);
MZ_DECODER(q2_0);
MZ_DECODER(mxfp4);
MZ_DECODER(nvfp4);

#endif
