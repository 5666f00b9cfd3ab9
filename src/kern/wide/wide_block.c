/* SPDX-License-Identifier: Apache-2.0
 *
 * wide_block.c: formats with one or two scales a block of 32: Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 IQ4_NL MXFP4 NVFP4. */
#include "wide_low.h"

/* Nibbles of one block: vector k holds code vector k in the low and k + 4 in the high halves. */
MZ_INLINE void nibbles(wsrc s, wb c[8])
{
    const wb low = wb_set(15);
    MZ_UNROLL
    for (int k = 0; k < 4; k++) {
        const wb v = wb_load(s, (size_t)(MZ_P_NIB + 32 * k));
        c[k] = wb_and(v, low);
        c[k + 4] = wb_and(wb_shr(v, 4), low);
    }
}

/* Bit g of the bytes of h is the fifth bit of code vector g. */
MZ_INLINE void fifth_bits(wsrc s, wb c[8])
{
    const wb bit = wb_set(16), h = wb_load(s, MZ_P_Q5_H);
    c[0] = wb_or(c[0], wb_and(wb_shl(h, 4), bit));
    c[1] = wb_or(c[1], wb_and(wb_shl(h, 3), bit));
    c[2] = wb_or(c[2], wb_and(wb_shl(h, 2), bit));
    c[3] = wb_or(c[3], wb_and(wb_shl(h, 1), bit));
    c[4] = wb_or(c[4], wb_and(h, bit));
    c[5] = wb_or(c[5], wb_and(wb_shr(h, 1), bit));
    c[6] = wb_or(c[6], wb_and(wb_shr(h, 2), bit));
    c[7] = wb_or(c[7], wb_and(wb_shr(h, 3), bit));
}

MZ_INLINE void unpack_q4_0(wsrc s, int64_t b, mz_wblock *w)
{
    s = wsrc_at(s, (size_t)b * 144);
    nibbles(s, w->c);
    w->s0 = wf_f16s(s, MZ_P_Q4_D);
}

MZ_INLINE void unpack_q4_1(wsrc s, int64_t b, mz_wblock *w)
{
    s = wsrc_at(s, (size_t)b * 160);
    nibbles(s, w->c);
    w->s0 = wf_f16s(s, MZ_P_Q4_D);
    w->m0 = wf_f16s(s, MZ_P_Q4_M);
}

MZ_INLINE void unpack_q5_0(wsrc s, int64_t b, mz_wblock *w)
{
    s = wsrc_at(s, (size_t)b * 176);
    nibbles(s, w->c);
    fifth_bits(s, w->c);
    w->s0 = wf_f16s(s, MZ_P_Q5_D);
}

MZ_INLINE void unpack_q5_1(wsrc s, int64_t b, mz_wblock *w)
{
    s = wsrc_at(s, (size_t)b * 192);
    nibbles(s, w->c);
    fifth_bits(s, w->c);
    w->s0 = wf_f16s(s, MZ_P_Q5_D);
    w->m0 = wf_f16s(s, MZ_P_Q5_M);
}

MZ_INLINE void unpack_q8_0(wsrc s, int64_t b, mz_wblock *w)
{
    s = wsrc_at(s, (size_t)b * 272);
    MZ_UNROLL
    for (int g = 0; g < 8; g++) w->c[g] = wb_byte_code(wb_load(s, (size_t)(MZ_P_Q8_Q + 32 * g)));
    w->s0 = wf_f16s(s, MZ_P_Q8_D);
}

MZ_INLINE void unpack_iq4_nl(wsrc s, int64_t b, mz_wblock *w)
{
    s = wsrc_at(s, (size_t)b * 144);
    nibbles(s, w->c);
    MZ_UNROLL
    for (int g = 0; g < 8; g++) w->c[g] = wb_table(W_IQ4_TABLE, w->c[g]);
    w->s0 = wf_f16s(s, MZ_P_Q4_D);
}

/* Doubled E2M1 values plus 12, so that they are unsigned. */
#define E2M1_OFFSET 12
static const int8_t E2M1[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

MZ_INLINE void unpack_mxfp4(wsrc s, int64_t b, mz_wblock *w)
{
    s = wsrc_at(s, (size_t)b * 136);
    nibbles(s, w->c);
    MZ_UNROLL
    for (int g = 0; g < 8; g++) w->c[g] = wb_table(E2M1, w->c[g]);
    /* 2^(e - 128): an exponent field, or for e < 2 a subnormal with one bit. */
    const wi e = wi_u8(s, MZ_P_MX_E);
    const wm small = wi_gt(wi_set(2), e);
    const wi normal = wi_shl(wi_sub(e, wi_set(1)), 23), tiny = wi_shlv(wi_set(0x00200000), wi_pick(small, e, wi_zero()));
    w->s0 = wf_bits(wi_pick(small, tiny, normal));
}

/* 0.5 * the value of an unsigned E4M3 byte: its bits as an f32 of exponent bias 127 are 2^-120 too small, exactly,
 * subnormals included. The sign bit is ignored and byte 0x7F is zero, as in mz_ue4m3_to_f32. */
MZ_INLINE wf ue4m3_half(wsrc s, size_t offset)
{
    const wi b = wi_u8(s, offset);
    const wi bits = wi_shl(wi_and(b, wi_set(0x7f)), 20);
    return wf_mul(wf_bits(wi_pick(wi_eq(b, wi_set(0x7f)), wi_zero(), bits)), wf_set(0x1p119f));
}

/* A file block of 64 is two blocks of 32. In a group of 16 byte j holds column j low and j + 8 high, so 8 bytes of a
 * row (2 vectors) are one half block. */
MZ_INLINE void unpack_nvfp4(wsrc s, int64_t b, mz_wblock *w)
{
    const wb low = wb_set(15);
    s = wsrc_at(s, (size_t)(b / 2) * 288);
    const size_t nib = (size_t)(b & 1) * 128, sc = MZ_P_NV_D + (size_t)(b & 1) * 16;
    MZ_UNROLL
    for (int i = 0; i < 4; i++) { /* half i / 2 */
        const wb v = wb_load(s, nib + (size_t)(32 * i));
        const int g = i / 2 * 4 + i % 2;
        w->c[g] = wb_table(E2M1, wb_and(v, low));
        w->c[g + 2] = wb_table(E2M1, wb_and(wb_shr(v, 4), low));
    }
    w->s0 = ue4m3_half(s, sc);
    w->s1 = ue4m3_half(s, sc + 8);
}

#define LOW_A(name, unpack, dot, term, offset, tile)                                                                               \
    void name(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1) \
    {                                                                                                                              \
        low_a(unpack, dot, term, offset, tile, w, x, x_bytes, n_tok, y, ldy, out0, out1);                                          \
    }

LOW_A(W(q4_0), unpack_q4_0, MZ_WDOT_5, MZ_WTERM_D, 8, W(tile_d))
LOW_A(W(q4_1), unpack_q4_1, MZ_WDOT_5, MZ_WTERM_DM, 0, W(tile_dm))
LOW_A(W(q5_0), unpack_q5_0, MZ_WDOT_5, MZ_WTERM_D, 16, W(tile_d))
LOW_A(W(q5_1), unpack_q5_1, MZ_WDOT_5, MZ_WTERM_DM, 0, W(tile_dm))
LOW_A(W(q8_0), unpack_q8_0, MZ_WDOT_BYTE, MZ_WTERM_D, MZ_BYTE_OFFSET, W(tile_byte_d))
LOW_A(W(iq4_nl), unpack_iq4_nl, MZ_WDOT_BYTE, MZ_WTERM_D, MZ_BYTE_OFFSET, W(tile_byte_d))
LOW_A(W(mxfp4), unpack_mxfp4, MZ_WDOT_5, MZ_WTERM_D, E2M1_OFFSET, W(tile_d))
LOW_A(W(nvfp4), unpack_nvfp4, MZ_WDOT_5, MZ_WTERM_HALVES, E2M1_OFFSET, W(tile_halves))
