/* SPDX-License-Identifier: Apache-2.0
 *
 * ref_matmul_legacy.c: the 32-column formats with f16 scales: Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 IQ4_NL.
 * Byte diagrams: fmt/dtype_*.c. Each unpack function gives the 32 integer codes of one block. */
#include "kern/ref/ref_matmul.h"

/* Fills code, sets *m where the type has a minimum, returns d. */
typedef float unpack_fn(const uint8_t *b, int8_t code[32], float *m);

MZ_REF_INLINE void nibbles(const uint8_t *qs, int8_t code[32])
{
    for (int j = 0; j < 16; j++) {
        code[j] = (int8_t)(qs[j] & 15);
        code[j + 16] = (int8_t)(qs[j] >> 4);
    }
}
MZ_REF_INLINE void fifth_bits(const uint8_t *qh, int8_t code[32])
{
    uint32_t h = mz_load_u16(qh) | (uint32_t)mz_load_u16(qh + 2) << 16;
    for (int j = 0; j < 32; j++) code[j] = (int8_t)(code[j] | (h >> j & 1) << 4);
}
MZ_REF_INLINE void offset(int8_t code[32], int off)
{
    for (int j = 0; j < 32; j++) code[j] = (int8_t)(code[j] - off);
}

MZ_REF_INLINE float unpack_q4_0(const uint8_t *b, int8_t code[32], float *m)
{
    (void)m;
    nibbles(b + 2, code);
    offset(code, 8);
    return mz_f16_to_f32(mz_load_u16(b));
}
MZ_REF_INLINE float unpack_q4_1(const uint8_t *b, int8_t code[32], float *m)
{
    nibbles(b + 4, code);
    *m = mz_f16_to_f32(mz_load_u16(b + 2));
    return mz_f16_to_f32(mz_load_u16(b));
}
MZ_REF_INLINE float unpack_q5_0(const uint8_t *b, int8_t code[32], float *m)
{
    (void)m;
    nibbles(b + 6, code);
    fifth_bits(b + 2, code);
    offset(code, 16);
    return mz_f16_to_f32(mz_load_u16(b));
}
MZ_REF_INLINE float unpack_q5_1(const uint8_t *b, int8_t code[32], float *m)
{
    nibbles(b + 8, code);
    fifth_bits(b + 4, code);
    *m = mz_f16_to_f32(mz_load_u16(b + 2));
    return mz_f16_to_f32(mz_load_u16(b));
}
MZ_REF_INLINE float unpack_q8_0(const uint8_t *b, int8_t code[32], float *m)
{
    (void)m;
    memcpy(code, b + 2, 32);
    return mz_f16_to_f32(mz_load_u16(b));
}
MZ_REF_INLINE float unpack_iq4_nl(const uint8_t *b, int8_t code[32], float *m)
{
    (void)m;
    nibbles(b + 2, code);
    for (int j = 0; j < 32; j++) code[j] = mz_ref_iq4_table[code[j]];
    return mz_f16_to_f32(mz_load_u16(b));
}

MZ_REF_INLINE float dot_scale(const uint8_t *row, const mz_ref_act *a, unpack_fn *unpack, int block_bytes)
{
    float acc = 0.0f;
    for (int64_t b = 0; b < a->n_blk; b++) {
        int8_t code[32];
        float d = unpack(row + b * block_bytes, code, NULL);
        acc = fmaf((float)mz_ref_isum(code, a->q + 32 * b, 32), d * a->d[b], acc);
    }
    return acc;
}

MZ_REF_INLINE float dot_scale_min(const uint8_t *row, const mz_ref_act *a, unpack_fn *unpack, int block_bytes)
{
    float acc = 0.0f;
    for (int64_t b = 0; b < a->n_blk; b++) {
        int8_t code[32];
        float m;
        float d = unpack(row + b * block_bytes, code, &m);
        acc = fmaf((float)mz_ref_isum(code, a->q + 32 * b, 32), d * a->d[b], acc);
        acc = fmaf((float)(a->s[2 * b] + a->s[2 * b + 1]), m * a->d[b], acc);
    }
    return acc;
}

#define DOT(name, chain, unpack, block_bytes)                  \
    static float name(const uint8_t *row, const mz_ref_act *a) \
    {                                                          \
        return chain(row, a, unpack, block_bytes);             \
    }

DOT(dot_q4_0, dot_scale, unpack_q4_0, 18)
DOT(dot_q4_1, dot_scale_min, unpack_q4_1, 20)
DOT(dot_q5_0, dot_scale, unpack_q5_0, 22)
DOT(dot_q5_1, dot_scale_min, unpack_q5_1, 24)
DOT(dot_q8_0, dot_scale, unpack_q8_0, 34)
DOT(dot_iq4_nl, dot_scale, unpack_iq4_nl, 18)

MZ_REF_MATMUL(mz_ref_matmul_q4_0, MZ_DTYPE_Q4_0, dot_q4_0)
MZ_REF_MATMUL(mz_ref_matmul_q4_1, MZ_DTYPE_Q4_1, dot_q4_1)
MZ_REF_MATMUL(mz_ref_matmul_q5_0, MZ_DTYPE_Q5_0, dot_q5_0)
MZ_REF_MATMUL(mz_ref_matmul_q5_1, MZ_DTYPE_Q5_1, dot_q5_1)
MZ_REF_MATMUL(mz_ref_matmul_q8_0, MZ_DTYPE_Q8_0, dot_q8_0)
MZ_REF_MATMUL(mz_ref_matmul_iq4_nl, MZ_DTYPE_IQ4_NL, dot_iq4_nl)
