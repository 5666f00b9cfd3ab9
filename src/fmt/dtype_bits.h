/* SPDX-License-Identifier: Apache-2.0
 *
 * dtype_bits.h: loads shared by the decoders, and their prototypes.
 *
 * Private to fmt. Loads take any alignment. Pure functions, any thread. */
#ifndef MZ_FMT_DTYPE_BITS_H
#define MZ_FMT_DTYPE_BITS_H

#include <stdint.h>

#include "base/bits.h"
#include "fmt/dtype.h"

static inline float mz_load_f16(const uint8_t *p)
{
    return mz_f16_to_f32(mz_load_u16(p));
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
