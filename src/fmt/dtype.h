/* SPDX-License-Identifier: Apache-2.0
 *
 * dtype.h: the stored number formats: names, block sizes, and the exact decode of each to f32.
 *
 * The decode functions are the definition ("what ggml reads") against which every kernel is
 * checked; they are not fast. Byte diagrams stand beside each decoder in dtype_*.c.
 * Numbers of the enum are those of GGUF; they are pinned. Pure functions, any thread. */
#ifndef MZ_FMT_DTYPE_H
#define MZ_FMT_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mz_dtype {
    MZ_DTYPE_F32 = 0,
    MZ_DTYPE_F16 = 1,
    MZ_DTYPE_Q4_0 = 2,
    MZ_DTYPE_Q4_1 = 3,
    MZ_DTYPE_Q5_0 = 6,
    MZ_DTYPE_Q5_1 = 7,
    MZ_DTYPE_Q8_0 = 8,
    MZ_DTYPE_Q2_K = 10,
    MZ_DTYPE_Q3_K = 11,
    MZ_DTYPE_Q4_K = 12,
    MZ_DTYPE_Q5_K = 13,
    MZ_DTYPE_Q6_K = 14,
    MZ_DTYPE_IQ4_NL = 20,
    MZ_DTYPE_IQ4_XS = 23,
    MZ_DTYPE_I8 = 24,
    MZ_DTYPE_I16 = 25,
    MZ_DTYPE_I32 = 26,
    MZ_DTYPE_I64 = 27,
    MZ_DTYPE_F64 = 28,
    MZ_DTYPE_BF16 = 30,
    MZ_DTYPE_TQ1_0 = 34,
    MZ_DTYPE_TQ2_0 = 35,
    MZ_DTYPE_MXFP4 = 39,
    MZ_DTYPE_NVFP4 = 40,
    MZ_DTYPE_Q1_0 = 41,
    MZ_DTYPE_Q2_0 = 42,
    /* Known by name and size only (no decode function): internal formats and codebook formats. */
    MZ_DTYPE_Q8_1 = 9,
    MZ_DTYPE_Q8_K = 15,
    MZ_DTYPE_IQ2_XXS = 16,
    MZ_DTYPE_IQ2_XS = 17,
    MZ_DTYPE_IQ3_XXS = 18,
    MZ_DTYPE_IQ1_S = 19,
    MZ_DTYPE_IQ3_S = 21,
    MZ_DTYPE_IQ2_S = 22,
    MZ_DTYPE_IQ1_M = 29,
    MZ_DTYPE_COUNT = 43 /* table size; not every number below is a known type */
} mz_dtype;

typedef struct mz_dtype_info {
    const char *name;     /* as GGUF spells it, upper case; NULL: unknown number */
    uint32_t block_elems; /* elements per block, 1 for plain types */
    uint32_t block_bytes;
    bool is_low_bit; /* multiplied against quantised activations */
    /* y [n] f32 = n decoded elements of src; n is a multiple of block_elems. src may be unaligned.
     * NULL: mizan knows the type's name and size but cannot read it. */
    void (*decode)(const void *src, float *y, int64_t n);
} mz_dtype_info;

/* The table row of a type number, or NULL for a number mizan does not know. */
const mz_dtype_info *mz_dtype_get(uint32_t type);
/* Finds a type by name in any case; -1 when unknown. */
int mz_dtype_find(const char *name);

/* Half and bfloat16 are uint16_t; these conversions are exact (to f32) or round to nearest even
 * (from f32; overflow gives infinity, NaN stays a quiet NaN). */
float mz_f16_to_f32(uint16_t h);
uint16_t mz_f32_to_f16(float x);
float mz_bf16_to_f32(uint16_t h);
uint16_t mz_f32_to_bf16(float x);
/* FP8 E4M3 (FN: S.1111.111 is NaN, no infinity, maximum 448). From f32: nearest even; a magnitude
 * that rounds past 448 gives NaN, so that a caller can see the overflow. */
float mz_e4m3_to_f32(uint8_t b);
uint8_t mz_f32_to_e4m3(float x);
/* OCP MX scale: 2^(b-127); 0 is 2^-127 (a subnormal), 255 is NaN. */
float mz_e8m0_to_f32(uint8_t b);
/* GGUF's halved MXFP4 scale, 2^(b-128), as ggml computes it for every byte including 255. */
float mz_e8m0_half_to_f32(uint8_t b);
/* NVFP4 block scale in GGUF: unsigned E4M3, true value (ggml's own function halves it); byte 0x7F
 * decodes to 0 and the top bit is ignored, so that 0xFF is 480 (as ggml reads them). */
float mz_ue4m3_to_f32(uint8_t b);

#endif
