/* SPDX-License-Identifier: Apache-2.0
 *
 * The number formats: golden vectors of every block format, and the small floats exhaustively. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/dtype.h"

static uint32_t bits_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static float float_of(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

#define assert_same(a, b) assert_int_equal(bits_of(a), bits_of(b))

/* Decode results of the ggml reference (commit d99724f2) for the block b[i] = (37 i + 11) mod 256 in
 * which the f16 at i_d is 0.0625, the one at i_m 0.03125 (-1: none), and a scale byte or four are
 * replaced where a format has them. wsum = sum of (i+1) y[i]. tolerance: the printed digits. */
static const struct golden {
    const char *name;
    int i_d, i_m;
    float y0, y1, y16, y31, last;
    double sum, wsum, tolerance;
} golden[] = {
    {"Q4_0", 0, -1, -0.1875F, 0.125F, -0.1875F, 0, 0, -1.3125, -32.375, 0},
    {"Q4_1", 0, 2, 0.96875F, 0.28125F, 0.59375F, 0.78125F, 0.78125F, 16.3125, 265.4375, 0},
    {"Q5_0", 0, -1, 0.5625F, -0.125F, 0.875F, 0.0625F, 0.0625F, 0.9375, 7, 0},
    {"Q5_1", 0, 2, 1.21875F, 1.53125F, 1.21875F, 0.34375F, 0.34375F, 32.5625, 510.3125, 0},
    {"Q8_0", 0, -1, 5.3125F, 7.625F, -5.6875F, -3, -3, -11, -505, 0},
    {"Q2_K", 80, 82, 2.0625F, 0, -0.09375F, -0.09375F, 0.28125F, 128.6875, 15195.625, 0},
    {"Q3_K", 108, -1, 5.0625F, -6.75F, -6, 4, 2.625F, 59.875, 11071.5625, 0},
    {"Q4_K", 0, 2, 19.71875F, -1.59375F, 19.71875F, 10.03125F, 3.03125F, 3402.5, 473302.5, 0},
    {"Q5_K", 0, 2, 50.71875F, -1.59375F, 50.71875F, 10.03125F, 6.78125F, 7263.5, 1001715.5, 0},
    {"Q6_K", 208, -1, -89.4375F, 106, -27, -6, -3.75F, 288.25, 49026.25, 0},
    {"IQ4_NL", 0, -1, -2.1875F, 1.5625F, -2.1875F, 0.0625F, 0.0625F, -16.0625, -432.4375, 0},
    {"IQ4_XS", 0, -1, 4.0625F, -0.0625F, 4.0625F, 2.1875F, -1, -687.8125, -130695.875, 0},
    {"TQ1_0", 52, -1, -0.0625F, -0.0625F, 0, 0, -0.0625F, -0.125, -8.1875, 0},
    {"TQ2_0", 64, -1, 0.125F, -0.0625F, 0.125F, 0.0625F, -0.0625F, 8.0625, 1077.8125, 0},
    {"MXFP4", -1, -1, 0, 0.75F, 0.375F, 0.75F, 0.75F, 3.125, 79.75, 0},
    {"NVFP4", -1, -1, -6, 2, 12, -4, 224, 2467.9668, 96709.6572, 5e-5},
    {"Q1_0", 0, -1, 0.0625F, -0.0625F, 0.0625F, 0.0625F, 0.0625F, 0, -33.25, 0},
    {"Q2_0", 0, -1, 0, 0, 0, 0, 0.0625F, 1.875, 50.8125, 0},
};
enum { N_GOLDEN = sizeof golden / sizeof *golden };

static void golden_block(const struct golden *g, const mz_dtype_info *info, uint8_t *b)
{
    for (uint32_t i = 0; i < info->block_bytes; i++) b[i] = (uint8_t)(37 * i + 11);
    if (g->i_d >= 0) memcpy(b + g->i_d, "\x00\x2C", 2);
    if (g->i_m >= 0) memcpy(b + g->i_m, "\x00\x28", 2);
    if (strcmp(g->name, "MXFP4") == 0) b[0] = 125;
    if (strcmp(g->name, "NVFP4") == 0) memcpy(b, "\x38\x40\x01\x7E", 4);
}

static void test_golden(void **state)
{
    (void)state;
    for (int i = 0; i < N_GOLDEN; i++) {
        const struct golden *g = &golden[i];
        const mz_dtype_info *info = mz_dtype_get((uint32_t)mz_dtype_find(g->name));
        assert_non_null(info);
        assert_string_equal(info->name, g->name);
        /* Exactly as large as the block, so that a sanitizer sees a read past it. */
        uint8_t *b = malloc(info->block_bytes);
        float *y = malloc(info->block_elems * sizeof *y);
        golden_block(g, info, b);
        info->decode(b, y, info->block_elems);
        double sum = 0, wsum = 0;
        for (uint32_t e = 0; e < info->block_elems; e++) {
            sum += (double)y[e];
            wsum += (e + 1) * (double)y[e];
        }
        assert_true(y[0] == g->y0 && y[1] == g->y1 && y[16] == g->y16 && y[31] == g->y31);
        assert_true(y[info->block_elems - 1] == g->last);
        if (!(fabs(sum - g->sum) <= g->tolerance)) fail_msg("%s: sum %.9g, expected %.9g", g->name, sum, g->sum);
        if (!(fabs(wsum - g->wsum) <= g->tolerance)) fail_msg("%s: wsum %.9g, expected %.9g", g->name, wsum, g->wsum);
        free(b);
        free(y);
    }
}

/* Several blocks in one call, from an odd address, equal the blocks one by one. */
static void test_many_blocks(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < MZ_DTYPE_COUNT; type++) {
        const mz_dtype_info *info = mz_dtype_get(type);
        if (!info || !info->decode) continue;
        enum { N = 5 };
        uint8_t *mem = malloc(1 + N * info->block_bytes), *b = mem + 1;
        float *all = malloc(N * info->block_elems * sizeof *all), *one = malloc(info->block_elems * sizeof *one);
        for (uint32_t i = 0; i < N * info->block_bytes; i++) b[i] = (uint8_t)(i * 73 + i * i / 5);
        info->decode(b, all, N * (int64_t)info->block_elems);
        for (uint32_t k = 0; k < N; k++) {
            info->decode(b + k * info->block_bytes, one, info->block_elems);
            assert_memory_equal(all + k * info->block_elems, one, info->block_elems * sizeof *one);
        }
        free(mem);
        free(all);
        free(one);
    }
}

static void test_table(void **state)
{
    (void)state;
    static const uint8_t removed[] = {4, 5, 31, 32, 33, 36, 37, 38};
    static const char *const undecoded[] = {"IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ3_S", "IQ2_S", "IQ1_M", "Q8_1", "Q8_K"};
    for (size_t i = 0; i < sizeof removed; i++) assert_null(mz_dtype_get(removed[i]));
    assert_null(mz_dtype_get(MZ_DTYPE_COUNT));
    assert_null(mz_dtype_get(UINT32_MAX));
    int n_decode = 0, n_golden = 0;
    for (uint32_t type = 0; type < MZ_DTYPE_COUNT; type++) {
        const mz_dtype_info *info = mz_dtype_get(type);
        if (!info) continue;
        assert_int_equal(mz_dtype_find(info->name), type);
        assert_int_equal(info->is_low_bit, info->block_elems > 1);
        if (info->decode && info->block_elems > 1) n_decode++;
    }
    for (int i = 0; i < N_GOLDEN; i++) n_golden += mz_dtype_get((uint32_t)mz_dtype_find(golden[i].name))->block_elems > 1;
    assert_int_equal(n_decode, n_golden); /* a decoder without a golden vector fails here */
    for (size_t i = 0; i < sizeof undecoded / sizeof *undecoded; i++) {
        const mz_dtype_info *info = mz_dtype_get((uint32_t)mz_dtype_find(undecoded[i]));
        assert_non_null(info);
        assert_null(info->decode);
    }
    assert_int_equal(mz_dtype_find("q4_k"), MZ_DTYPE_Q4_K);
    assert_int_equal(mz_dtype_find("bf16"), MZ_DTYPE_BF16);
    assert_int_equal(mz_dtype_find("Q4"), -1);
    assert_int_equal(mz_dtype_find(""), -1);
}

static void decode_one(mz_dtype type, const void *src, float want)
{
    float y;
    mz_dtype_get(type)->decode(src, &y, 1);
    assert_same(y, want);
}

static void test_plain(void **state)
{
    (void)state;
    decode_one(MZ_DTYPE_F32, "\x00\x00\x80\xBF", -1);
    decode_one(MZ_DTYPE_F16, "\x00\xC0", -2);
    decode_one(MZ_DTYPE_BF16, "\x40\x40", 3);
    decode_one(MZ_DTYPE_F64, "\x9A\x99\x99\x99\x99\x99\xB9\x3F", 0.1F);
    decode_one(MZ_DTYPE_F64, "\xFF\xFF\xFF\xFF\xFF\xFF\xEF\x7F", INFINITY);
    decode_one(MZ_DTYPE_I8, "\x80", -128);
    decode_one(MZ_DTYPE_I16, "\xFE\xFF", -2);
    decode_one(MZ_DTYPE_I32, "\x01\x00\x00\x01", 16777216); /* 2^24 + 1 rounds to even */
    decode_one(MZ_DTYPE_I64, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", -1);
}

/* Value of a small float by its definition. */
static double by_definition(uint32_t code, int n_exp, int n_man, int bias)
{
    int exp = (int)(code >> n_man & ((1u << n_exp) - 1)), man = (int)(code & ((1u << n_man) - 1));
    double mag = exp ? ldexp(1 + ldexp(man, -n_man), exp - bias) : ldexp(man, 1 - bias - n_man);
    return code >> (n_exp + n_man) & 1 ? -mag : mag;
}

static void test_f16(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        float f = mz_f16_to_f32((uint16_t)h);
        if ((h & 0x7FFF) > 0x7C00) {
            assert_true(isnan(f));
            assert_int_equal(mz_f32_to_f16(f), h | 0x200);
            continue;
        }
        if ((h & 0x7FFF) == 0x7C00)
            assert_same(f, h >> 15 ? -INFINITY : INFINITY);
        else
            assert_same(f, (float)by_definition(h, 5, 10, 15));
        assert_int_equal(mz_f32_to_f16(f), h);
    }
}

static void test_bf16(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        float f = mz_bf16_to_f32((uint16_t)h);
        assert_int_equal(bits_of(f), h << 16);
        assert_int_equal(mz_f32_to_bf16(f), (h & 0x7FFF) > 0x7F80 ? h | 0x40 : h);
    }
    assert_int_equal(mz_f32_to_bf16(float_of(0x7F800001)), 0x7FC0); /* a NaN whose upper half is infinity */
    assert_int_equal(mz_f32_to_bf16(float_of(0x7F7FFFFF)), 0x7F80);
}

typedef struct small_float {
    float (*to_f32)(uint32_t code);
    uint32_t (*from_f32)(float x);
    uint32_t last_code, sign; /* the largest finite code, the sign bit */
} small_float;

#define SMALL_FLOAT(name, uint)                \
    static float name##_to_f32(uint32_t code)  \
    {                                          \
        return mz_##name##_to_f32((uint)code); \
    }                                          \
    static uint32_t name##_from_f32(float x)   \
    {                                          \
        return mz_f32_to_##name(x);            \
    }
SMALL_FLOAT(f16, uint16_t)
SMALL_FLOAT(bf16, uint16_t)
SMALL_FLOAT(e4m3, uint8_t)

/* Between every two neighbours of a small float: the middle goes to the even code, the f32 values
 * just beside it to the nearer one. The middles are exact in f32. */
static void check_ties(small_float s)
{
    for (uint32_t c = 0; c < s.last_code; c++) {
        float lo = s.to_f32(c), hi = s.to_f32(c + 1), mid = (float)(((double)lo + (double)hi) / 2);
        assert_int_equal(s.from_f32(mid), (c + 1) & ~1u);
        assert_int_equal(s.from_f32(nextafterf(mid, lo)), c);
        assert_int_equal(s.from_f32(nextafterf(mid, hi)), c + 1);
        assert_int_equal(s.from_f32(-mid), ((c + 1) & ~1u) | s.sign);
    }
}

static void test_ties(void **state)
{
    (void)state;
    check_ties((small_float){f16_to_f32, f16_from_f32, 0x7BFF, 0x8000});
    check_ties((small_float){bf16_to_f32, bf16_from_f32, 0x7F7F, 0x8000});
    check_ties((small_float){e4m3_to_f32, e4m3_from_f32, 0x7E, 0x80});
    assert_int_equal(mz_f32_to_f16(65519.996F), 0x7BFF);
    assert_int_equal(mz_f32_to_f16(65520), 0x7C00); /* the middle of 65504 and 2^16 */
    assert_int_equal(mz_f32_to_f16(-INFINITY), 0xFC00);
    assert_int_equal(mz_f32_to_f16(0x1p-149F), 0);
    assert_int_equal(mz_f32_to_f16(float_of(0x7F800001)), 0x7E00);
}

static void test_e4m3(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < 256; b++) {
        float f = mz_e4m3_to_f32((uint8_t)b);
        if ((b & 0x7F) == 0x7F)
            assert_true(isnan(f));
        else
            assert_same(f, (float)by_definition(b, 4, 3, 7));
        assert_int_equal(mz_f32_to_e4m3(f), b);
    }
    assert_true(mz_e4m3_to_f32(0x7E) == 448);
    assert_int_equal(mz_f32_to_e4m3(464), 0x7E); /* the middle of 448 and 480 */
    assert_int_equal(mz_f32_to_e4m3(nextafterf(464, 500)), 0x7F);
    assert_int_equal(mz_f32_to_e4m3(-1e30F), 0xFF);
    assert_int_equal(mz_f32_to_e4m3(INFINITY), 0x7F);
    assert_int_equal(mz_f32_to_e4m3(1e-30F), 0);
}

static void test_scales(void **state)
{
    (void)state;
    for (int b = 0; b < 256; b++) {
        float e = mz_e8m0_to_f32((uint8_t)b), half = mz_e8m0_half_to_f32((uint8_t)b), u = mz_ue4m3_to_f32((uint8_t)b);
        if (b == 255)
            assert_true(isnan(e));
        else
            assert_same(e, (float)ldexp(1, b - 127));
        assert_same(half, (float)ldexp(1, b - 128));
        assert_same(u, b == 0x7F ? 0 : (float)by_definition(b & 0x7F, 4, 3, 7));
    }
    assert_true(mz_ue4m3_to_f32(0xFF) == 480);
    assert_true(mz_e8m0_to_f32(0) > 0);
}

/* All sixteen element codes at the ends of the scale range. */
static void test_fp4_codes(void **state)
{
    (void)state;
    static const float e2m1[16] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6, 0, -0.5F, -1, -1.5F, -2, -3, -4, -6};
    static const uint8_t scale[] = {0, 1, 2, 127, 254};
    for (size_t i = 0; i < sizeof scale; i++) {
        uint8_t b[17] = {scale[i]};
        float y[32];
        for (int j = 0; j < 16; j++) b[1 + j] = (uint8_t)(j | (15 - j) << 4);
        mz_dtype_get(MZ_DTYPE_MXFP4)->decode(b, y, 32);
        for (int j = 0; j < 16; j++) {
            assert_same(y[j], (float)ldexp(e2m1[j], scale[i] - 127));
            assert_same(y[j + 16], (float)ldexp(e2m1[15 - j], scale[i] - 127));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden), cmocka_unit_test(test_many_blocks), cmocka_unit_test(test_table), cmocka_unit_test(test_plain),
        cmocka_unit_test(test_f16),    cmocka_unit_test(test_bf16),        cmocka_unit_test(test_ties),  cmocka_unit_test(test_e4m3),
        cmocka_unit_test(test_scales), cmocka_unit_test(test_fp4_codes),
    };
    return cmocka_run_group_tests_name("dtype", tests, NULL, NULL);
}
