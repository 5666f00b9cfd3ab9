/* SPDX-License-Identifier: Apache-2.0
 *
 * wide_low.h: low-bit matrix products over pairs of panels of 8 rows: 16 output rows in lanes.
 *
 * As in x86/avx2_low.h the lanes fix the order of float operations whatever the number of tokens, and there are two
 * families: "a" has one or two scales a block of 32, "b" chains over super-blocks of 256.
 *   one token    format code unpacks a block in registers and multiplies it
 *   many tokens  a strip is unpacked once onto the stack (first-level cache), then tiles of MZ_WTILE tokens run over it
 *                (wide_tile.c); sums wait in y between strips
 * Offsets of codes are taken off before the first product of a block, from the half-block sums. Sub-scales multiply as
 * floats: a sum of codes times activations times its sub-scale stays below 2^24 (kern.h), so every such product is exact.
 * Where it is zero its sign may differ from that of the converted integer; added to a chain that started from +0 and is
 * never -0, that changes nothing.
 *
 * Pure functions, any thread; 26 KiB of stack. */
#ifndef MZ_KERN_WIDE_LOW_H
#define MZ_KERN_WIDE_LOW_H

#include "kern/panel.h"
#include "wide.h"

/* Values of IQ4_NL's and IQ4_XS's codes as the multiplier wants signed bytes (wb_byte_code). */
static const int8_t W_IQ4_TABLE[16] = {
#define MZ_IQ4(v) (int8_t)(uint8_t)((v) + MZ_BYTE_OFFSET)
    MZ_IQ4(-127), MZ_IQ4(-104), MZ_IQ4(-83), MZ_IQ4(-65), MZ_IQ4(-49), MZ_IQ4(-35), MZ_IQ4(-22), MZ_IQ4(-10),
    MZ_IQ4(1),    MZ_IQ4(13),   MZ_IQ4(25),  MZ_IQ4(38),  MZ_IQ4(53),  MZ_IQ4(69),  MZ_IQ4(89),  MZ_IQ4(113),
};

/* What becomes of the sums I of a block.
 *   a: D      acc = fmaf(I, s0 * da, acc)      DM  and fmaf(S, m0 * da, acc)      HALVES  fmaf(I_h, s_h * da, acc) twice
 *   b: ONE    p = fmaf(s0 * I, da, p)          TWO p = fmaf(s0 * I_0 + s1 * I_1, da, p)      UNIT  p = fmaf(I, da, p)
 *      …_MIN  and the chain of minima with m0, or m0 and m1 */
typedef enum mz_wterm {
    MZ_WTERM_D,
    MZ_WTERM_DM,
    MZ_WTERM_HALVES,
    MZ_WTERM_UNIT,
    MZ_WTERM_ONE,
    MZ_WTERM_ONE_MIN,
    MZ_WTERM_TWO,
    MZ_WTERM_TWO_MIN
} mz_wterm;

/* A block of 32 columns, unpacked. */
typedef struct mz_wblock {
    wb c[8];
    wf s0, s1, m0, m1; /* scales or sub-scales of the halves (s0 of both where there is one), minima */
} mz_wblock;

typedef struct mz_wstrip {
    mz_wblock block[MZ_WSTRIP];
    wf d[MZ_WSTRIP / 8], dmin[MZ_WSTRIP / 8]; /* b: of the super-blocks */
} mz_wstrip;

/* Tiles of n_tok tokens over n_blk blocks of a strip: y[t * ldy + 0..min(n_row, 16)) continues from its content, or from +0
 * when first. */
typedef void mz_wtile_fn(const mz_wstrip *w, int64_t n_blk, int offset, mz_wact x, int64_t n_tok, float *y, int64_t ldy, int64_t n_row,
                         bool first);
mz_wtile_fn W(tile_d), W(tile_dm), W(tile_halves), W(tile_byte_d);
mz_wtile_fn W(tile_unit), W(tile_one_min), W(tile_byte_one), W(tile_two), W(tile_two_6), W(tile_two_min);

MZ_INLINE mz_wact act_at(const void *x, size_t x_bytes, int64_t n_blk, int64_t i_tok, int64_t b)
{
    const uint8_t *row = (const uint8_t *)x + (size_t)i_tok * x_bytes;
    return (mz_wact){row + 32 * b, row + 32 * n_blk + 4 * b, row + 36 * n_blk + 4 * b, x_bytes};
}
MZ_INLINE mz_wact act_next(mz_wact x, int64_t n_blk)
{
    return (mz_wact){x.q + 32 * n_blk, x.d + 4 * n_blk, x.s + 4 * n_blk, x.stride};
}
MZ_INLINE wf act_d(mz_wact x, int t)
{
    return wf_set(mz_w_load_f32(x.d + (size_t)t * x.stride));
}

/* Continues the chains of nt tokens over one block: family a acc; family b acc (sums) and min. */
MZ_INLINE void block_step(const int nt, const mz_wdot dot, const mz_wterm term, const bool strip, const int offset, const mz_wblock *w,
                          const mz_wact x, wf *acc, wf *min)
{
    const bool halves = term == MZ_WTERM_HALVES || term == MZ_WTERM_TWO || term == MZ_WTERM_TWO_MIN;
    const bool is_a = term == MZ_WTERM_D || term == MZ_WTERM_DM || term == MZ_WTERM_HALVES;
    wi init[2][MZ_WTILE], sum[2][MZ_WTILE];
    MZ_UNROLL
    for (int t = 0; t < nt; t++) {
        init[0][t] = init[1][t] = wi_zero();
        if (term == MZ_WTERM_DM || term == MZ_WTERM_ONE_MIN || term == MZ_WTERM_TWO_MIN) continue; /* codes without an offset */
        init[0][t] = wi_half_sums(x, t, -offset, halves ? 0 : -offset);
        if (halves) init[1][t] = wi_half_sums(x, t, 0, -offset);
    }
    if (halves) {
        w_dot(nt, dot, strip, 0, 4, w->c, x, init[0], sum[0]);
        w_dot(nt, dot, strip, 4, 8, w->c, x, init[1], sum[1]);
    } else {
        w_dot(nt, dot, strip, 0, 8, w->c, x, init[0], sum[0]);
    }
    MZ_UNROLL
    for (int t = 0; t < nt; t++) {
        const wf da = act_d(x, t), i = wf_cvt(sum[0][t]);
        if (is_a) {
            acc[t] = wf_fma(i, wf_mul(w->s0, da), acc[t]);
            if (term == MZ_WTERM_DM) acc[t] = wf_fma(wf_cvt(wi_half_sums(x, t, 1, 1)), wf_mul(w->m0, da), acc[t]);
            if (halves) acc[t] = wf_fma(wf_cvt(sum[1][t]), wf_mul(w->s1, da), acc[t]);
            continue;
        }
        wf p = i;
        if (term != MZ_WTERM_UNIT) p = wf_mul(i, w->s0);
        if (halves) p = wf_fma(wf_cvt(sum[1][t]), w->s1, p);
        acc[t] = wf_fma(p, da, acc[t]);
        if (term == MZ_WTERM_ONE_MIN) min[t] = wf_fma(wf_mul(wf_cvt(wi_half_sums(x, t, 1, 1)), w->m0), da, min[t]);
        if (term == MZ_WTERM_TWO_MIN) {
            const wf m = wf_mul(wf_cvt(wi_half_sums(x, t, 1, 0)), w->m0);
            min[t] = wf_fma(wf_fma(wf_cvt(wi_half_sums(x, t, 0, 1)), w->m1, m), da, min[t]);
        }
    }
}

/* Family b: what a super-block adds to the chain. */
MZ_INLINE wf super_step(const mz_wterm term, wf sum, wf min, wf d, wf dmin, wf acc)
{
    acc = wf_fma(sum, d, acc);
    return term == MZ_WTERM_ONE_MIN || term == MZ_WTERM_TWO_MIN ? wf_fnma(min, dmin, acc) : acc;
}

/* Tokens walked per pair of panels before the next pair: those whose activations fit half a second-level cache. */
MZ_INLINE int64_t chunk_tok(size_t x_bytes)
{
    return mz_w_max((int64_t)(256 * 1024 / (x_bytes + 1)) / MZ_WTILE, 1) * MZ_WTILE;
}

/* Panels of rows o.. and o + 8..; the second is the first again when there is none in the slice. */
MZ_INLINE wsrc panels_at(const mz_weight *w, int64_t o, int64_t out1)
{
    const uint8_t *p = w->data + (size_t)o * w->row_bytes;
    return (wsrc){p, o + 8 < out1 ? p + 8 * w->row_bytes : p};
}

/* Unpacks block b of panels whose blocks lie at s. */
typedef void mz_wunpack_a_fn(wsrc s, int64_t b, mz_wblock *w);

MZ_INLINE void low_a(mz_wunpack_a_fn *unpack, const mz_wdot dot, const mz_wterm term, const int offset, mz_wtile_fn *tile,
                     const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1)
{
    const int64_t n_blk = mz_q8_n_blk(w->n_in);
    if (n_tok == 1) {
        for (int64_t o = out0; o < out1; o += 16) {
            const wsrc s = panels_at(w, o, out1);
            mz_wact a = act_at(x, x_bytes, n_blk, 0, 0);
            wf acc = wf_zero();
            for (int64_t b = 0; b < n_blk; b++, a = act_next(a, 1)) {
                mz_wblock u;
                unpack(s, b, &u);
                block_step(1, dot, term, false, offset, &u, a, &acc, NULL);
            }
            wf_store_n(y + o, acc, out1 - o);
        }
        return;
    }
    mz_wstrip strip;
    const int64_t chunk = chunk_tok(x_bytes);
    for (int64_t t0 = 0; t0 < n_tok; t0 += chunk) {
        const int64_t nt = mz_w_min(chunk, n_tok - t0);
        for (int64_t o = out0; o < out1; o += 16) {
            const wsrc s = panels_at(w, o, out1);
            for (int64_t b0 = 0; b0 < n_blk; b0 += MZ_WSTRIP) {
                const int64_t nb = mz_w_min(n_blk - b0, MZ_WSTRIP);
                for (int64_t b = 0; b < nb; b++) {
                    unpack(s, b0 + b, &strip.block[b]);
                    w_strip(strip.block[b].c);
                }
                tile(&strip, nb, offset, act_at(x, x_bytes, n_blk, t0, b0), nt, y + t0 * ldy + o, ldy, out1 - o, b0 == 0);
            }
        }
    }
}

/* The scales of a super-block; and unpacking block b (0..7, a constant) of it. */
typedef void mz_wprep_fn(wsrc s, wf *d, wf *dmin);
typedef void mz_wunpack_b_fn(wsrc s, const int b, mz_wblock *w);

MZ_INLINE void low_b(mz_wprep_fn *prep, mz_wunpack_b_fn *unpack, const mz_wdot dot, const mz_wterm term, const int offset,
                     const size_t sb_bytes, mz_wtile_fn *tile, const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y,
                     int64_t ldy, int64_t out0, int64_t out1)
{
    const int64_t n_blk = mz_q8_n_blk(w->n_in);
    if (n_tok == 1) {
        for (int64_t o = out0; o < out1; o += 16) {
            wsrc s = panels_at(w, o, out1);
            mz_wact a = act_at(x, x_bytes, n_blk, 0, 0);
            wf acc = wf_zero();
            for (int64_t b0 = 0; b0 < n_blk; b0 += 8, s = wsrc_at(s, sb_bytes), a = act_next(a, 8)) {
                wf d, dmin = wf_zero(), sum = wf_zero(), min = wf_zero();
                prep(s, &d, &dmin);
                MZ_UNROLL
                for (int b = 0; b < 8; b++) {
                    mz_wblock u;
                    unpack(s, b, &u);
                    block_step(1, dot, term, false, offset, &u, act_next(a, b), &sum, &min);
                    w_fence();
                }
                acc = super_step(term, sum, min, d, dmin, acc);
            }
            wf_store_n(y + o, acc, out1 - o);
        }
        return;
    }
    mz_wstrip strip;
    const int64_t chunk = chunk_tok(x_bytes);
    for (int64_t t0 = 0; t0 < n_tok; t0 += chunk) {
        const int64_t nt = mz_w_min(chunk, n_tok - t0);
        for (int64_t o = out0; o < out1; o += 16) {
            wsrc s = panels_at(w, o, out1);
            for (int64_t b0 = 0; b0 < n_blk; b0 += MZ_WSTRIP) {
                const int64_t nb = mz_w_min(n_blk - b0, MZ_WSTRIP);
                for (int64_t i = 0; i < nb / 8; i++, s = wsrc_at(s, sb_bytes)) {
                    strip.dmin[i] = wf_zero();
                    prep(s, &strip.d[i], &strip.dmin[i]);
                    MZ_UNROLL
                    for (int b = 0; b < 8; b++) {
                        unpack(s, b, &strip.block[8 * i + b]);
                        w_strip(strip.block[8 * i + b].c);
                        w_fence();
                    }
                }
                tile(&strip, nb, offset, act_at(x, x_bytes, n_blk, t0, b0), nt, y + t0 * ldy + o, ldy, out1 - o, b0 == 0);
            }
        }
    }
}

#endif
