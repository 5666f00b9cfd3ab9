/* SPDX-License-Identifier: Apache-2.0
 *
 * mzcheck_gen.c: random streams and hostile values for operands of every kind. */
#include <math.h>
#include <string.h>

#include "mzcheck.h"

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
uint64_t mzc_u64(mzc *c)
{
    uint64_t z = c->rng += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t mzc_int(mzc *c, int64_t lo, int64_t hi)
{
    return lo + (int64_t)(mzc_u64(c) % (uint64_t)(hi - lo + 1));
}

double mzc_unit(mzc *c)
{
    return (double)(mzc_u64(c) >> 11) * 0x1p-53;
}

static float from_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

const char *const mzc_kind_name[MZC_N_KIND] = {"uniform", "spiky", "wide", "logit", "ties", "zero", "denormal", "huge", "raw", "poison"};

static float value(mzc *c, mzc_kind kind)
{
    float u = (float)(2.0 * mzc_unit(c) - 1.0);
    switch (kind) {
    case MZC_UNIFORM: return u;
    case MZC_SPIKY: return mzc_int(c, 0, 40) ? 0.01f * u : 100.0f * u;
    case MZC_WIDE: return ldexpf(u, (int)mzc_int(c, -30, 30));
    case MZC_LOGIT: return 110.0f * u;
    case MZC_TIES: return (float)mzc_int(c, -9, 9) * 0.5f * (mzc_int(c, 0, 7) ? 1.0f : -0.0f);
    case MZC_ZERO: return mzc_int(c, 0, 1) ? 0.0f : -0.0f;
    case MZC_DENORMAL: return from_bits((uint32_t)mzc_u64(c) & 0x800fffffu);
    case MZC_HUGE: return 0x1.fffffep127f * (mzc_int(c, 0, 3) ? u : u > 0 ? 1.0f : -1.0f);
    case MZC_RAW: return from_bits((uint32_t)mzc_u64(c));
    case MZC_POISON:
        switch (mzc_int(c, 0, 199)) {
        case 0: return from_bits(0x7fc00000u);
        case 1: return INFINITY;
        case 2: return -INFINITY;
        default: return u;
        }
    case MZC_N_KIND: break;
    }
    return 0.0f;
}

void mzc_fill(mzc *c, mzc_kind kind, float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) x[i] = value(c, kind);
}

/* ---- weights ---- */

/* Where the scales and codes of a block lie. f16 fields at f16[], scale bytes of FP4 formats at [0, n_e8). */
typedef struct block_map {
    mz_dtype type;
    bool has_min;
    uint8_t n_f16, f16[2], n_exp;
    struct {
        uint8_t at, n;
    } code[2];
} block_map;

static const block_map maps[] = {
    {MZ_DTYPE_Q4_0, false, 1, {0}, 0, {{2, 16}}},      {MZ_DTYPE_Q4_1, true, 2, {0, 2}, 0, {{4, 16}}},
    {MZ_DTYPE_Q5_0, false, 1, {0}, 0, {{2, 20}}},      {MZ_DTYPE_Q5_1, true, 2, {0, 2}, 0, {{4, 20}}},
    {MZ_DTYPE_Q8_0, false, 1, {0}, 0, {{2, 32}}},      {MZ_DTYPE_IQ4_NL, false, 1, {0}, 0, {{2, 16}}},
    {MZ_DTYPE_Q2_K, true, 2, {80, 82}, 0, {{16, 64}}}, {MZ_DTYPE_Q3_K, false, 1, {108}, 0, {{0, 96}}},
    {MZ_DTYPE_Q4_K, true, 2, {0, 2}, 0, {{16, 128}}},  {MZ_DTYPE_Q5_K, true, 2, {0, 2}, 0, {{16, 160}}},
    {MZ_DTYPE_Q6_K, false, 1, {208}, 0, {{0, 192}}},   {MZ_DTYPE_IQ4_XS, false, 1, {0}, 0, {{8, 128}}},
    {MZ_DTYPE_TQ1_0, false, 1, {52}, 0, {{0, 52}}},    {MZ_DTYPE_TQ2_0, false, 1, {64}, 0, {{0, 64}}},
    {MZ_DTYPE_MXFP4, false, 0, {0}, 1, {{1, 16}}},     {MZ_DTYPE_NVFP4, false, 0, {0}, 4, {{4, 32}}},
};

const char *const mzc_wkind_name[MZC_N_WKIND] = {"sane", "max", "min", "raw", "badscale"};

static const block_map *map_of(mz_dtype type)
{
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (maps[i].type == type) return &maps[i];
    return NULL;
}

size_t mzc_row_bytes(mz_dtype type, int64_t n_in)
{
    const mz_dtype_info *info = mz_dtype_get((uint32_t)type);
    return (size_t)(n_in / (int64_t)info->block_elems) * info->block_bytes;
}

static uint16_t scale_f16(mzc *c, mzc_wkind kind)
{
    static const uint16_t bad[] = {0x7c00, 0xfc00, 0x7e01, 0x0000, 0x8000, 0x0001, 0x7bff, 0xfbff};
    if (kind == MZC_W_BADSCALE && mzc_int(c, 0, 3) == 0) return bad[mzc_int(c, 0, 7)];
    return (uint16_t)((mzc_u64(c) & 0x83ff) | (uint64_t)mzc_int(c, 4, 14) << 10); /* 2^-11 … 1 */
}

static void fill_float(mzc *c, mzc_wkind kind, mz_dtype type, uint8_t *p, size_t bytes)
{
    size_t size = type == MZ_DTYPE_F32 ? 4 : 2;
    static const mzc_kind as[MZC_N_WKIND] = {MZC_UNIFORM, MZC_WIDE, MZC_ZERO, MZC_RAW, MZC_POISON};
    for (size_t i = 0; i < bytes / size; i++) {
        float x = value(c, as[kind]);
        uint16_t h = type == MZ_DTYPE_F16 ? mz_f32_to_f16(x) : mz_f32_to_bf16(x);
        if (kind == MZC_W_RAW) h = (uint16_t)mzc_u64(c);
        memcpy(p + i * size, size == 4 ? (const void *)&x : (const void *)&h, size);
    }
}

void mzc_fill_weight(mzc *c, mzc_wkind kind, mz_dtype type, uint8_t *data, size_t row_bytes, int64_t n_rows)
{
    size_t total = row_bytes * (size_t)n_rows;
    const block_map *m = map_of(type);
    if (!m) {
        fill_float(c, kind, type, data, total);
        return;
    }
    size_t i = 0;
    for (; i + 8 <= total; i += 8) {
        uint64_t v = mzc_u64(c);
        memcpy(data + i, &v, 8);
    }
    for (; i < total; i++) data[i] = (uint8_t)mzc_u64(c);
    if (kind == MZC_W_RAW) return;
    size_t block = mz_dtype_get((uint32_t)type)->block_bytes;
    for (uint8_t *b = data; b < data + total; b += block) {
        /* Sub-block scales at their extremes too: the largest integer sums a block can have. */
        static const uint8_t filler[] = {0xff, 0x80, 0x7f, 0x00};
        int64_t fill = mzc_int(c, 0, 7);
        if ((kind == MZC_W_MAX || kind == MZC_W_MIN) && fill < 4) memset(b, filler[fill], block);
        for (int f = 0; f < m->n_f16; f++) {
            uint16_t h = scale_f16(c, kind);
            memcpy(b + m->f16[f], &h, sizeof h);
        }
        for (int e = 0; e < m->n_exp; e++) {
            bool bad = kind == MZC_W_BADSCALE && mzc_int(c, 0, 2) == 0;
            static const uint8_t extremes[] = {0, 1, 2, 253, 254, 255, 127, 128};
            b[e] = bad ? extremes[mzc_int(c, 0, 7)] : (uint8_t)(type == MZ_DTYPE_MXFP4 ? mzc_int(c, 110, 135) : mzc_int(c, 0x08, 0x5f));
        }
        if (kind != MZC_W_MAX && kind != MZC_W_MIN) continue;
        for (int k = 0; k < 2; k++) memset(b + m->code[k].at, kind == MZC_W_MAX ? 0xff : 0, m->code[k].n);
    }
}

bool mzc_clear_codes(mz_dtype type, uint8_t *row, size_t row_bytes)
{
    const block_map *m = map_of(type);
    if (!m || !m->has_min) return false;
    size_t block = mz_dtype_get((uint32_t)type)->block_bytes;
    for (uint8_t *b = row; b < row + row_bytes; b += block) memset(b + m->code[0].at, 0, m->code[0].n);
    return true;
}
