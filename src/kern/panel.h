/* SPDX-License-Identifier: Apache-2.0
 *
 * panel.h: how 8 rows of a low-bit weight lie in one panel (MZ_LAYOUT_PANEL8).
 *
 * A panel is a row of blocks, each 8 file blocks wide; inside a block every field of the file format is cut into
 * units of 1, 2 or 4 bytes, and unit u of the 8 rows lies together: dst + (8 u + row) * unit. So 32 bytes hold, for
 * one row a 32-bit lane, 4 neighbouring columns of 8 rows (more where codes are narrower than a byte), and the
 * scales of 8 rows are neighbours. Q5_0 and Q5_1 regroup their fifth bits too (see MZ_PANEL_BITS). Lossless.
 *
 * Not: the arithmetic; see x86/avx2_low.h and wide/wide_low.h. Pure functions, any thread. */
#ifndef MZ_KERN_PANEL_H
#define MZ_KERN_PANEL_H

#include "kern/kern.h"

/* Unit value of the Q5 high bits: the file's u32 with bit j for column j becomes 4 bytes a row, byte i with
 * bit g for column 4 g + i. */
#define MZ_PANEL_BITS 5

typedef struct mz_panel_field {
    uint16_t src, dst; /* offset in a file block; offset in a panel block */
    uint8_t unit, n;   /* bytes of a unit, units */
} mz_panel_field;

/* Offsets of panel blocks, used by the kernels. */
enum {
    MZ_P_NIB = 0, /* Q4_0 Q4_1 Q5_0 Q5_1 IQ4_NL MXFP4: [4][8 rows][4 B] nibbles: low column 4k+i, high 16+4k+i */
    MZ_P_Q4_D = 128,
    MZ_P_Q4_M = 144, /* f16 [8] */
    MZ_P_Q5_H = 128,
    MZ_P_Q5_D = 160,
    MZ_P_Q5_M = 176, /* bits [8][4 B]; f16 [8] */
    MZ_P_Q8_Q = 0,
    MZ_P_Q8_D = 256, /* [8][8][4 B]; f16 [8] */
    MZ_P_MX_E = 128, /* u8 [8] */
    MZ_P_NV_D = 256, /* u8 [4][8]; nibbles [8][8][4 B] before it */
    MZ_P_Q4K_D = 0,
    MZ_P_Q4K_DMIN = 16,
    MZ_P_Q4K_SC = 32,  /* f16 [8], f16 [8], u8 [12][8] */
    MZ_P_Q4K_QS = 128, /* [4][8][8][4 B] */
    MZ_P_Q5K_QH = 128,
    MZ_P_Q5K_QS = 384, /* [8][8][4 B], [4][8][8][4 B] */
    MZ_P_Q6K_QL = 0,
    MZ_P_Q6K_QH = 1024,
    MZ_P_Q6K_SC = 1536,
    MZ_P_Q6K_D = 1664,
    MZ_P_Q2K_QS = 0,
    MZ_P_Q2K_SC = 512,
    MZ_P_Q2K_D = 640,
    MZ_P_Q2K_DMIN = 656,
    MZ_P_Q3K_QS = 0,
    MZ_P_Q3K_HM = 512,
    MZ_P_Q3K_SC = 768,
    MZ_P_Q3K_D = 864,
    MZ_P_IQ4XS_QS = 0,
    MZ_P_IQ4XS_SL = 1024,
    MZ_P_IQ4XS_SH = 1056,
    MZ_P_IQ4XS_D = 1072,
    MZ_P_TQ2_QS = 0,
    MZ_P_TQ2_D = 512,
    MZ_P_TQ1_QS = 0,
    MZ_P_TQ1_QH = 384,
    MZ_P_TQ1_D = 416,
};

/* mz_pack_fn for every low-bit format. */
void mz_panel_pack(const mz_weight *w, int64_t i_out, uint8_t *dst);

/* mz_kern.weight_row: any type, any layout. */
void mz_panel_weight_row(const mz_weight *w, int64_t i_out, float *y);

#endif
