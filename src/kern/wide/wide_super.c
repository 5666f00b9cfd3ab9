/* SPDX-License-Identifier: Apache-2.0
 *
 * wide_super.c: formats of super-blocks of 256: K-quants Q2_K to Q6_K, IQ4_XS, ternary TQ1_0 and TQ2_0. */
#include "wide_low.h"

/* Bits n.. of the bytes of v moved to bit `to`, width of them; the others are cleared. */
MZ_INLINE wb bits(wb v, const int n, const int to, const int width)
{
    switch (n - to) { /* vocabularies may want constants */
    case -4: v = wb_shl(v, 4); break;
    case -3: v = wb_shl(v, 3); break;
    case -2: v = wb_shl(v, 2); break;
    case -1: v = wb_shl(v, 1); break;
    case 1: v = wb_shr(v, 1); break;
    case 2: v = wb_shr(v, 2); break;
    case 3: v = wb_shr(v, 3); break;
    case 4: v = wb_shr(v, 4); break;
    case 5: v = wb_shr(v, 5); break;
    case 6: v = wb_shr(v, 6); break;
    default: break;
    }
    return wb_and(v, wb_set(((1 << width) - 1) << to));
}

/* ---- Q4_K, Q5_K ------------------------------------------------------------------------------ */

MZ_INLINE void prep_q4_k(wsrc s, wf *d, wf *dmin)
{
    *d = wf_f16s(s, MZ_P_Q4K_D);
    *dmin = wf_f16s(s, MZ_P_Q4K_DMIN);
}

/* 12 bytes: 6-bit scales of blocks 0-3, minima of 0-3, then nibbles of 4-7 whose upper bits top the first eight. */
MZ_INLINE void scales_q4_k(wsrc s, const int b, mz_wblock *w)
{
    const size_t at = MZ_P_Q4K_SC + 8 * (size_t)(b & 3);
    const wi sc = wi_u8(s, at), mn = wi_u8(s, at + 32);
    if (b < 4) {
        w->s0 = wf_cvt(wi_and(sc, wi_set(63)));
        w->m0 = wf_cvt(wi_and(mn, wi_set(63)));
        return;
    }
    const wi low = wi_u8(s, at + 64);
    w->s0 = wf_cvt(wi_or(wi_and(low, wi_set(15)), wi_shl(wi_shr(sc, 6), 4)));
    w->m0 = wf_cvt(wi_or(wi_shr(low, 4), wi_shl(wi_shr(mn, 6), 4)));
}

MZ_INLINE void unpack_q4_k(wsrc s, const int b, mz_wblock *w)
{
    MZ_UNROLL
    for (int g = 0; g < 8; g++) w->c[g] = bits(wb_load(s, (size_t)(MZ_P_Q4K_QS + 256 * (b >> 1) + 32 * g)), 4 * (b & 1), 0, 4);
    scales_q4_k(s, b, w);
}

MZ_INLINE void unpack_q5_k(wsrc s, const int b, mz_wblock *w)
{
    MZ_UNROLL
    for (int g = 0; g < 8; g++) {
        const wb low = bits(wb_load(s, (size_t)(MZ_P_Q5K_QS + 256 * (b >> 1) + 32 * g)), 4 * (b & 1), 0, 4);
        w->c[g] = wb_or(low, bits(wb_load(s, (size_t)(MZ_P_Q5K_QH + 32 * g)), b, 4, 1));
    }
    scales_q4_k(s, b, w);
}

/* ---- Q6_K ------------------------------------------------------------------------------------ */

MZ_INLINE void prep_q6_k(wsrc s, wf *d, wf *dmin)
{
    (void)dmin;
    *d = wf_f16s(s, MZ_P_Q6K_D);
}

MZ_INLINE void unpack_q6_k(wsrc s, const int b, mz_wblock *w)
{
    const int n = b >> 2, k = b & 3; /* half of 128 columns, block in it */
    MZ_UNROLL
    for (int g = 0; g < 8; g++) {
        const wb low = bits(wb_load(s, (size_t)(MZ_P_Q6K_QL + 512 * n + 256 * (k & 1) + 32 * g)), 4 * (k >> 1), 0, 4);
        w->c[g] = wb_or(low, bits(wb_load(s, (size_t)(MZ_P_Q6K_QH + 256 * n + 32 * g)), 2 * k, 4, 2));
    }
    w->s0 = wf_cvt(wi_i8(s, (size_t)(MZ_P_Q6K_SC + 16 * b)));
    w->s1 = wf_cvt(wi_i8(s, (size_t)(MZ_P_Q6K_SC + 16 * b + 8)));
}

/* ---- Q2_K ------------------------------------------------------------------------------------ */

MZ_INLINE void prep_q2_k(wsrc s, wf *d, wf *dmin)
{
    *d = wf_f16s(s, MZ_P_Q2K_D);
    *dmin = wf_f16s(s, MZ_P_Q2K_DMIN);
}

MZ_INLINE void unpack_q2_k(wsrc s, const int b, mz_wblock *w)
{
    MZ_UNROLL
    for (int g = 0; g < 8; g++) w->c[g] = bits(wb_load(s, (size_t)(MZ_P_Q2K_QS + 256 * (b >> 2) + 32 * g)), 2 * (b & 3), 0, 2);
    const wi v0 = wi_u8(s, (size_t)(MZ_P_Q2K_SC + 16 * b)), v1 = wi_u8(s, (size_t)(MZ_P_Q2K_SC + 16 * b + 8));
    w->s0 = wf_cvt(wi_and(v0, wi_set(15)));
    w->s1 = wf_cvt(wi_and(v1, wi_set(15)));
    w->m0 = wf_cvt(wi_shr(v0, 4));
    w->m1 = wf_cvt(wi_shr(v1, 4));
}

/* ---- Q3_K ------------------------------------------------------------------------------------ */

MZ_INLINE void prep_q3_k(wsrc s, wf *d, wf *dmin)
{
    (void)dmin;
    *d = wf_f16s(s, MZ_P_Q3K_D);
}

/* Scale g of 16: four bits in nibbles of bytes 0-7, two more in bytes 8-11; less 32. */
MZ_INLINE wf scale_q3_k(wsrc s, const int g)
{
    const wi low = wi_u8(s, (size_t)(MZ_P_Q3K_SC + 8 * (g & 7))), high = wi_u8(s, (size_t)(MZ_P_Q3K_SC + 64 + 8 * (g & 3)));
    const wi l = g < 8 ? wi_and(low, wi_set(15)) : wi_shr(low, 4);
    wi h = high;
    switch (g >> 2) {
    case 1: h = wi_shr(high, 2); break;
    case 2: h = wi_shr(high, 4); break;
    case 3: h = wi_shr(high, 6); break;
    default: break;
    }
    return wf_cvt(wi_sub(wi_or(l, wi_shl(wi_and(h, wi_set(3)), 4)), wi_set(32)));
}

MZ_INLINE void unpack_q3_k(wsrc s, const int b, mz_wblock *w)
{
    MZ_UNROLL
    for (int g = 0; g < 8; g++) {
        const wb low = bits(wb_load(s, (size_t)(MZ_P_Q3K_QS + 256 * (b >> 2) + 32 * g)), 2 * (b & 3), 0, 2);
        w->c[g] = wb_or(low, bits(wb_load(s, (size_t)(MZ_P_Q3K_HM + 32 * g)), b, 2, 1));
    }
    w->s0 = scale_q3_k(s, 2 * b);
    w->s1 = scale_q3_k(s, 2 * b + 1);
}

/* ---- IQ4_XS ---------------------------------------------------------------------------------- */

MZ_INLINE void prep_iq4_xs(wsrc s, wf *d, wf *dmin)
{
    (void)dmin;
    *d = wf_f16s(s, MZ_P_IQ4XS_D);
}

/* A block's 16 bytes a row hold columns 0-15 low and 16-31 high. Scales: a nibble and two bits, less 32. */
MZ_INLINE void unpack_iq4_xs(wsrc s, const int b, mz_wblock *w)
{
    MZ_UNROLL
    for (int k = 0; k < 4; k++) {
        const wb v = wb_load(s, (size_t)(MZ_P_IQ4XS_QS + 128 * b + 32 * k));
        w->c[k] = wb_table(W_IQ4_TABLE, bits(v, 0, 0, 4));
        w->c[k + 4] = wb_table(W_IQ4_TABLE, bits(v, 4, 0, 4));
    }
    const wi low = wi_u8(s, (size_t)(MZ_P_IQ4XS_SL + 8 * (b >> 1)));
    const wi l = b & 1 ? wi_shr(low, 4) : wi_and(low, wi_set(15));
    /* Bits 2b and 2b + 1 to bits 4 and 5. */
    wi h = wi_u16(s, MZ_P_IQ4XS_SH);
    switch (b) {
    case 0: h = wi_shl(h, 4); break;
    case 1: h = wi_shl(h, 2); break;
    case 3: h = wi_shr(h, 2); break;
    case 4: h = wi_shr(h, 4); break;
    case 5: h = wi_shr(h, 6); break;
    case 6: h = wi_shr(h, 8); break;
    case 7: h = wi_shr(h, 10); break;
    default: break;
    }
    w->s0 = wf_cvt(wi_sub(wi_or(l, wi_and(h, wi_set(0x30))), wi_set(32)));
}

/* ---- TQ1_0, TQ2_0 ---------------------------------------------------------------------------- */

MZ_INLINE void prep_tq2_0(wsrc s, wf *d, wf *dmin)
{
    (void)dmin;
    *d = wf_f16s(s, MZ_P_TQ2_D);
}

MZ_INLINE void unpack_tq2_0(wsrc s, const int b, mz_wblock *w)
{
    MZ_UNROLL
    for (int g = 0; g < 8; g++) w->c[g] = bits(wb_load(s, (size_t)(MZ_P_TQ2_QS + 256 * (b >> 2) + 32 * g)), 2 * (b & 3), 0, 2);
}

MZ_INLINE void prep_tq1_0(wsrc s, wf *d, wf *dmin)
{
    (void)dmin;
    *d = wf_f16s(s, MZ_P_TQ1_D);
}

/* Digit n of each byte: x = v * 3^n mod 256, then (3 x) >> 8, which is (x >= 86) + (x >= 171). */
MZ_INLINE wb digit(wb v, const int n)
{
    MZ_UNROLL
    for (int i = 0; i < n; i++) v = wb_add(v, wb_add(v, v));
    return wb_add(wb_ge(v, 86), wb_ge(v, 171));
}

/* Blocks 0-4 are the digits of bytes 0-31; the half blocks after them the digits of bytes 32-47, and the last half
 * the four digits of the four bytes of qh. */
MZ_INLINE void unpack_tq1_0(wsrc s, const int b, mz_wblock *w)
{
    MZ_UNROLL
    for (int g = 0; g < 8; g++) {
        const int half = 2 * (b - 5) + (g >> 2);
        if (b < 5)
            w->c[g] = digit(wb_load(s, (size_t)(MZ_P_TQ1_QS + 32 * g)), b);
        else if (half < 5)
            w->c[g] = digit(wb_load(s, (size_t)(MZ_P_TQ1_QS + 256 + 32 * (g & 3))), half);
        else
            w->c[g] = digit(wb_load(s, MZ_P_TQ1_QH), g & 3);
    }
}

#define LOW_B(name, prep, unpack, dot, term, offset, sb_bytes, tile)                                                               \
    void name(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1) \
    {                                                                                                                              \
        low_b(prep, unpack, dot, term, offset, sb_bytes, tile, w, x, x_bytes, n_tok, y, ldy, out0, out1);                          \
    }

LOW_B(W(q4_k), prep_q4_k, unpack_q4_k, MZ_WDOT_5, MZ_WTERM_ONE_MIN, 0, 1152, W(tile_one_min))
LOW_B(W(q5_k), prep_q4_k, unpack_q5_k, MZ_WDOT_5, MZ_WTERM_ONE_MIN, 0, 1408, W(tile_one_min))
LOW_B(W(q2_k), prep_q2_k, unpack_q2_k, MZ_WDOT_5, MZ_WTERM_TWO_MIN, 0, 672, W(tile_two_min))
LOW_B(W(q3_k), prep_q3_k, unpack_q3_k, MZ_WDOT_5, MZ_WTERM_TWO, 4, 880, W(tile_two))
LOW_B(W(q6_k), prep_q6_k, unpack_q6_k, MZ_WDOT_6, MZ_WTERM_TWO, 32, 1680, W(tile_two_6))
LOW_B(W(iq4_xs), prep_iq4_xs, unpack_iq4_xs, MZ_WDOT_BYTE, MZ_WTERM_ONE, MZ_BYTE_OFFSET, 1088, W(tile_byte_one))
LOW_B(W(tq1_0), prep_tq1_0, unpack_tq1_0, MZ_WDOT_5, MZ_WTERM_UNIT, 1, 432, W(tile_unit))
LOW_B(W(tq2_0), prep_tq2_0, unpack_tq2_0, MZ_WDOT_5, MZ_WTERM_UNIT, 1, 528, W(tile_unit))
