/* SPDX-License-Identifier: Apache-2.0
 *
 * panel.c: rows into panels, and one row back out of a panel. */
#include "kern/panel.h"

#include <assert.h>
#include <string.h>

#define MAX_FIELDS 4
typedef struct panel_map {
    mz_panel_field f[MAX_FIELDS];
} panel_map;

static const panel_map MAP[MZ_DTYPE_COUNT] = {
    [MZ_DTYPE_Q4_0] = {{{0, MZ_P_Q4_D, 2, 1}, {2, MZ_P_NIB, 4, 4}}},
    [MZ_DTYPE_IQ4_NL] = {{{0, MZ_P_Q4_D, 2, 1}, {2, MZ_P_NIB, 4, 4}}},
    [MZ_DTYPE_Q4_1] = {{{0, MZ_P_Q4_D, 2, 1}, {2, MZ_P_Q4_M, 2, 1}, {4, MZ_P_NIB, 4, 4}}},
    [MZ_DTYPE_Q5_0] = {{{0, MZ_P_Q5_D, 2, 1}, {2, MZ_P_Q5_H, MZ_PANEL_BITS, 1}, {6, MZ_P_NIB, 4, 4}}},
    [MZ_DTYPE_Q5_1] = {{{0, MZ_P_Q5_D, 2, 1}, {2, MZ_P_Q5_M, 2, 1}, {4, MZ_P_Q5_H, MZ_PANEL_BITS, 1}, {8, MZ_P_NIB, 4, 4}}},
    [MZ_DTYPE_Q8_0] = {{{0, MZ_P_Q8_D, 2, 1}, {2, MZ_P_Q8_Q, 4, 8}}},
    [MZ_DTYPE_MXFP4] = {{{0, MZ_P_MX_E, 1, 1}, {1, MZ_P_NIB, 4, 4}}},
    [MZ_DTYPE_NVFP4] = {{{0, MZ_P_NV_D, 1, 4}, {4, 0, 4, 8}}},
    [MZ_DTYPE_Q2_K] = {{{0, MZ_P_Q2K_SC, 1, 16}, {16, MZ_P_Q2K_QS, 4, 16}, {80, MZ_P_Q2K_D, 2, 1}, {82, MZ_P_Q2K_DMIN, 2, 1}}},
    [MZ_DTYPE_Q3_K] = {{{0, MZ_P_Q3K_HM, 4, 8}, {32, MZ_P_Q3K_QS, 4, 16}, {96, MZ_P_Q3K_SC, 1, 12}, {108, MZ_P_Q3K_D, 2, 1}}},
    [MZ_DTYPE_Q4_K] = {{{0, MZ_P_Q4K_D, 2, 1}, {2, MZ_P_Q4K_DMIN, 2, 1}, {4, MZ_P_Q4K_SC, 1, 12}, {16, MZ_P_Q4K_QS, 4, 32}}},
    /* qh and qs follow each other in the file and in the panel */
    [MZ_DTYPE_Q5_K] = {{{0, MZ_P_Q4K_D, 2, 1}, {2, MZ_P_Q4K_DMIN, 2, 1}, {4, MZ_P_Q4K_SC, 1, 12}, {16, MZ_P_Q5K_QH, 4, 40}}},
    [MZ_DTYPE_Q6_K] = {{{0, MZ_P_Q6K_QL, 4, 32}, {128, MZ_P_Q6K_QH, 4, 16}, {192, MZ_P_Q6K_SC, 1, 16}, {208, MZ_P_Q6K_D, 2, 1}}},
    [MZ_DTYPE_IQ4_XS] = {{{0, MZ_P_IQ4XS_D, 2, 1}, {2, MZ_P_IQ4XS_SH, 2, 1}, {4, MZ_P_IQ4XS_SL, 1, 4}, {8, MZ_P_IQ4XS_QS, 4, 32}}},
    [MZ_DTYPE_TQ1_0] = {{{0, MZ_P_TQ1_QS, 4, 12}, {48, MZ_P_TQ1_QH, 4, 1}, {52, MZ_P_TQ1_D, 2, 1}}},
    [MZ_DTYPE_TQ2_0] = {{{0, MZ_P_TQ2_QS, 4, 16}, {64, MZ_P_TQ2_D, 2, 1}}},
};

/* Bit j of a u32 (column j) to bit j/4 of byte j%4; an 8x4 bit transpose, and back. */
static uint32_t bits_to_panel(uint32_t x)
{
    uint32_t y = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t t = (x >> i) & 0x11111111u; /* bit 4g: column 4g+i */
        t = (t | (t >> 3)) & 0x03030303u;    /* pairs */
        t = (t | (t >> 6)) & 0x000f000fu;
        t = (t | (t >> 12)) & 0xffu;
        y |= t << (8 * i);
    }
    return y;
}

static uint32_t bits_from_panel(uint32_t y)
{
    uint32_t x = 0;
    for (int j = 0; j < 32; j++) x |= ((y >> (8 * (j & 3) + (j >> 2))) & 1u) << j;
    return x;
}

static const uint8_t ZERO_BLOCK[256];

typedef uint32_t u32x4 __attribute__((vector_size(16)));

/* 4 words of 4 rows, turned: word u of the rows to dst + 32 u. */
static void turn_4x4(const uint8_t *const src[4], size_t at, uint8_t *dst)
{
    u32x4 r[4], w[4];
    for (int i = 0; i < 4; i++) memcpy(&r[i], src[i] + at, 16);
    const u32x4 a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5), b = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
    const u32x4 c = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7), d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
    w[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    w[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    w[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    w[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
    for (int u = 0; u < 4; u++) memcpy(dst + 32 * u, &w[u], 16);
}

static void pack_words(const mz_panel_field *f, const uint8_t *const src[8], uint8_t *dst)
{
    int u = 0;
    for (; u + 4 <= f->n; u += 4) { /* most of every format, and loading waits for it */
        turn_4x4(src, f->src + (size_t)u * 4, dst + u * 32);
        turn_4x4(src + 4, f->src + (size_t)u * 4, dst + u * 32 + 16);
    }
    for (; u < f->n; u++)
        for (int r = 0; r < 8; r++) memcpy(dst + (u * 8 + r) * 4, src[r] + f->src + u * 4, 4);
}

/* One field of one block: unit u of row r to dst + (8 u + r) * unit. */
static void pack_field(const mz_panel_field *f, const uint8_t *const src[8], uint8_t *dst)
{
    switch (f->unit) {
    case 1:
        for (int u = 0; u < f->n; u++)
            for (int r = 0; r < 8; r++) dst[u * 8 + r] = src[r][f->src + u];
        break;
    case 2:
        for (int u = 0; u < f->n; u++)
            for (int r = 0; r < 8; r++) memcpy(dst + (u * 8 + r) * 2, src[r] + f->src + u * 2, 2);
        break;
    case 4: pack_words(f, src, dst); break;
    default:
        for (int r = 0; r < 8; r++) {
            uint32_t x;
            memcpy(&x, src[r] + f->src, 4);
            x = bits_to_panel(x);
            memcpy(dst + r * 4, &x, 4);
        }
    }
}

void mz_panel_pack(const mz_weight *w, int64_t i_out, uint8_t *dst)
{
    const mz_dtype_info *info = mz_dtype_get(w->type);
    const panel_map *map = &MAP[w->type];
    const size_t bytes = info->block_bytes;
    assert(w->layout == MZ_LAYOUT_ROWS && map->f[0].n);
    for (int64_t b = 0; b < w->n_in / (int64_t)info->block_elems; b++, dst += 8 * bytes) {
        const uint8_t *src[8];
        for (int64_t r = 0; r < 8; r++)
            src[r] = i_out + r < w->n_out ? w->data + (size_t)(i_out + r) * w->row_bytes + (size_t)b * bytes : ZERO_BLOCK;
        for (int i = 0; i < MAX_FIELDS && map->f[i].n; i++) pack_field(&map->f[i], src, dst + map->f[i].dst);
    }
}

static void unpack_block(const panel_map *map, const uint8_t *panel, int r, uint8_t *dst)
{
    for (int i = 0; i < MAX_FIELDS && map->f[i].n; i++) {
        const mz_panel_field *f = &map->f[i];
        if (f->unit == MZ_PANEL_BITS) {
            uint32_t x;
            memcpy(&x, panel + f->dst + r * 4, 4);
            x = bits_from_panel(x);
            memcpy(dst + f->src, &x, 4);
            continue;
        }
        for (int u = 0; u < f->n; u++) memcpy(dst + f->src + u * f->unit, panel + f->dst + (u * 8 + r) * f->unit, f->unit);
    }
}

void mz_panel_weight_row(const mz_weight *w, int64_t i_out, float *y)
{
    const mz_dtype_info *info = mz_dtype_get(w->type);
    if (w->layout == MZ_LAYOUT_ROWS) {
        info->decode(w->data + (size_t)i_out * w->row_bytes, y, w->n_in);
        return;
    }
    const uint8_t *panel = w->data + (size_t)(i_out / 8 * 8) * w->row_bytes;
    uint8_t block[256];
    for (int64_t b = 0; b < w->n_in / (int64_t)info->block_elems; b++, panel += 8 * info->block_bytes) {
        unpack_block(&MAP[w->type], panel, (int)(i_out % 8), block);
        info->decode(block, y + b * (int64_t)info->block_elems, info->block_elems);
    }
}
