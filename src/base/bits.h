/* SPDX-License-Identifier: Apache-2.0
 *
 * bits.h: bit casts between floats and integers, and little-endian loads from any alignment. Pure functions, any thread. */
#ifndef MZ_BASE_BITS_H
#define MZ_BASE_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint32_t mz_f32_to_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float mz_bits_to_f32(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline uint64_t mz_f64_to_bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double mz_bits_to_f64(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

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

#endif
