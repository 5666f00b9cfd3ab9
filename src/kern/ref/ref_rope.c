/* SPDX-License-Identifier: Apache-2.0
 *
 * ref_rope.c: rotary position embedding of one token's heads, angles given as (cos, sin) pairs
 * (Su et al., arXiv 2104.09864; the half-split pairing is that of GPT-NeoX). */
#include "kern/ref/ref_common.h"

void mz_ref_rope(float *x, int64_t n_head, int64_t d, int64_t n_rot, const float *cs, bool interleaved)
{
    assert(n_head >= 0 && n_rot >= 0 && n_rot % 2 == 0 && n_rot <= d);
    for (int64_t h = 0; h < n_head; h++) {
        for (int64_t i = 0; i < n_rot / 2; i++) {
            float *pa = x + h * d + (interleaved ? 2 * i : i);
            float *pb = x + h * d + (interleaved ? 2 * i + 1 : i + n_rot / 2);
            float a = *pa, b = *pb, c = cs[2 * i], s = cs[2 * i + 1];
            *pa = fmaf(a, c, -(b * s));
            *pb = fmaf(b, c, a * s);
        }
    }
}
