/* SPDX-License-Identifier: Apache-2.0
 *
 * ref_quantise.c: activation rows to blocks of 32 signed bytes with an f32 scale (kern.h, top). */
#include "kern/ref/ref_common.h"

void mz_ref_quantise_row(const float *x, int64_t n, void *y)
{
    assert(n >= 0 && (uintptr_t)y % 64 == 0);
    int64_t n_blk = mz_q8_n_blk(n);
    int8_t *q = y;
    float *d = (float *)(void *)((uint8_t *)y + 32 * n_blk);
    int16_t *s = (int16_t *)(void *)((uint8_t *)y + 36 * n_blk);
    memset((uint8_t *)y + 40 * n_blk, 0, mz_q8_row_bytes(n) - (size_t)n_blk * 40);
    for (int64_t b = 0; b < n_blk; b++) {
        float v[32] = {0};
        int64_t len = n - 32 * b < 32 ? n - 32 * b : 32;
        memcpy(v, x + 32 * b, (size_t)len * sizeof *v);
        float amax = 0.0f;
        bool finite = true;
        for (int i = 0; i < 32; i++) {
            amax = fabsf(v[i]) > amax ? fabsf(v[i]) : amax;
            finite = finite && mz_ref_finite(v[i]);
        }
        /* iv would overflow for smaller maxima; a block this small contributes nothing. */
        bool quantised = finite && amax >= 0x1p-100f;
        d[b] = !finite ? mz_bits_to_f32(0x7fc00000u) : quantised ? amax / 127.0f : 0.0f;
        float iv = quantised ? 127.0f / amax : 0.0f;
        for (int h = 0; h < 2; h++) {
            int sum = 0;
            for (int i = 16 * h; i < 16 * h + 16; i++) {
                int32_t c = quantised ? mz_ref_rne(v[i] * iv) : 0;
                q[32 * b + i] = (int8_t)c;
                sum += c;
            }
            s[2 * b + h] = (int16_t)sum;
        }
    }
}
