/* SPDX-License-Identifier: Apache-2.0 */
#include "fmt/dtype.h"

#include <string.h>
#include <strings.h>

#include "fmt/dtype_bits.h"

#define PLAIN(type, bytes, fn)        [MZ_DTYPE_##type] = {#type, 1, bytes, false, mz_decode_##fn}
#define BLOCK(type, elems, bytes, fn) [MZ_DTYPE_##type] = {#type, elems, bytes, true, mz_decode_##fn}
/* Known by name and size, so that a file holding one can be listed; nothing can be computed with it. */
#define NAMED(type, elems, bytes) [MZ_DTYPE_##type] = {#type, elems, bytes, true, NULL}

/* Sizes: the table of GGUF types; numbers missing here were removed from the format. */
static const mz_dtype_info table[MZ_DTYPE_COUNT] = {
    PLAIN(F32, 4, f32),
    PLAIN(F16, 2, f16),
    PLAIN(BF16, 2, bf16),
    PLAIN(F64, 8, f64),
    PLAIN(I8, 1, i8),
    PLAIN(I16, 2, i16),
    PLAIN(I32, 4, i32),
    PLAIN(I64, 8, i64),
    BLOCK(Q4_0, 32, 18, q4_0),
    BLOCK(Q4_1, 32, 20, q4_1),
    BLOCK(Q5_0, 32, 22, q5_0),
    BLOCK(Q5_1, 32, 24, q5_1),
    BLOCK(Q8_0, 32, 34, q8_0),
    BLOCK(Q2_K, 256, 84, q2_k),
    BLOCK(Q3_K, 256, 110, q3_k),
    BLOCK(Q4_K, 256, 144, q4_k),
    BLOCK(Q5_K, 256, 176, q5_k),
    BLOCK(Q6_K, 256, 210, q6_k),
    BLOCK(IQ4_NL, 32, 18, iq4_nl),
    BLOCK(IQ4_XS, 256, 136, iq4_xs),
    BLOCK(TQ1_0, 256, 54, tq1_0),
    BLOCK(TQ2_0, 256, 66, tq2_0),
    BLOCK(MXFP4, 32, 17, mxfp4),
    BLOCK(NVFP4, 64, 36, nvfp4),
    BLOCK(Q1_0, 128, 18, q1_0),
    BLOCK(Q2_0, 64, 18, q2_0),
    NAMED(Q8_1, 32, 36),
    NAMED(Q8_K, 256, 292),
    NAMED(IQ2_XXS, 256, 66),
    NAMED(IQ2_XS, 256, 74),
    NAMED(IQ3_XXS, 256, 98),
    NAMED(IQ1_S, 256, 50),
    NAMED(IQ3_S, 256, 110),
    NAMED(IQ2_S, 256, 82),
    NAMED(IQ1_M, 256, 56),
};

const mz_dtype_info *mz_dtype_get(uint32_t type)
{
    return type < MZ_DTYPE_COUNT && table[type].name ? &table[type] : NULL;
}

int mz_dtype_find(const char *name)
{
    for (int i = 0; i < MZ_DTYPE_COUNT; i++)
        if (table[i].name && strcasecmp(table[i].name, name) == 0) return i;
    return -1;
}
