/* SPDX-License-Identifier: Apache-2.0
 *
 * neon_wide.h: the vocabulary of kern/wide/wide.h in Advanced SIMD with the byte products of Armv8.2 (FEAT_DotProd), and
 * with the matrix products of FEAT_I8MM for many tokens where the file is compiled for them (MZ_WIDE_I8MM).
 *
 * Sixteen lanes are four registers, spelled out so that the compiler keeps them in registers without unrolling first.
 * Little-endian only. Pure functions, any thread. */
#ifndef MZ_KERN_NEON_WIDE_H
#define MZ_KERN_NEON_WIDE_H

#include <arm_neon.h>

typedef struct wf {
    float32x4_t a, b, c, d;
} wf;
typedef struct wi {
    int32x4_t a, b, c, d;
} wi;
typedef struct wb {
    uint8x16_t a, b, c, d;
} wb;
typedef struct wm {
    uint32x4_t a, b, c, d;
} wm;
typedef struct wsrc {
    const uint8_t *p0, *p1;
} wsrc;

enum {
    MZ_WTILE = 4,   /* tokens of a tile */
    MZ_WSTRIP = 32, /* blocks of a strip; whole super-blocks */
    MZ_WSUMS = 4,   /* sums attention keeps in registers */
    MZ_WROWS = 2,   /* float products: rows × tokens of a tile */
    MZ_WTOKENS = 2,
};
#define W_TILE_MANY  "16x4"
#define W_FLOAT_ONE  "2x1"
#define W_FLOAT_MANY "2x2"

/* A function of each of the four registers. */
#define EACH0(type, f)          ((type){f, f, f, f})
#define EACH1(type, f, x)       ((type){f((x).a), f((x).b), f((x).c), f((x).d)})
#define EACH2(type, f, x, y)    ((type){f((x).a, (y).a), f((x).b, (y).b), f((x).c, (y).c), f((x).d, (y).d)})
#define EACH3(type, f, x, y, z) ((type){f((x).a, (y).a, (z).a), f((x).b, (y).b, (z).b), f((x).c, (y).c, (z).c), f((x).d, (y).d, (z).d)})
#define EACHN(type, f, x, n)    ((type){f((x).a, n), f((x).b, n), f((x).c, n), f((x).d, n)})

/* ---- f32 ---- */

MZ_INLINE wf wf_set(float x)
{
    return EACH0(wf, vdupq_n_f32(x));
}
MZ_INLINE wf wf_zero(void)
{
    return wf_set(0.0f);
}
MZ_INLINE float32x4_t neon_load4(const void *p)
{
    return vreinterpretq_f32_u8(vld1q_u8(p)); /* any alignment */
}
MZ_INLINE wf wf_load(const void *p)
{
    const uint8_t *q = p;
    return (wf){neon_load4(q), neon_load4(q + 16), neon_load4(q + 32), neon_load4(q + 48)};
}
MZ_INLINE void wf_store(void *p, wf v)
{
    uint8_t *q = p;
    vst1q_u8(q, vreinterpretq_u8_f32(v.a));
    vst1q_u8(q + 16, vreinterpretq_u8_f32(v.b));
    vst1q_u8(q + 32, vreinterpretq_u8_f32(v.c));
    vst1q_u8(q + 48, vreinterpretq_u8_f32(v.d));
}
MZ_INLINE wf wf_load_n(const float *p, int64_t n)
{
    if (n >= 16) return wf_load(p);
    float tmp[16] = {0};
    memcpy(tmp, p, (size_t)n * sizeof *p);
    return wf_load(tmp);
}
MZ_INLINE void wf_store_n(float *p, wf v, int64_t n)
{
    if (n >= 16) {
        wf_store(p, v);
        return;
    }
    float tmp[16];
    wf_store(tmp, v);
    memcpy(p, tmp, (size_t)n * sizeof *p);
}
MZ_INLINE wf wf_add(wf x, wf y)
{
    return EACH2(wf, vaddq_f32, x, y);
}
MZ_INLINE wf wf_sub(wf x, wf y)
{
    return EACH2(wf, vsubq_f32, x, y);
}
MZ_INLINE wf wf_mul(wf x, wf y)
{
    return EACH2(wf, vmulq_f32, x, y);
}
MZ_INLINE wf wf_div(wf x, wf y)
{
    return EACH2(wf, vdivq_f32, x, y);
}
MZ_INLINE wf wf_fma(wf x, wf y, wf z)
{
    return EACH3(wf, vfmaq_f32, z, x, y);
}
MZ_INLINE wf wf_fnma(wf x, wf y, wf z)
{
    return EACH3(wf, vfmsq_f32, z, x, y);
}
MZ_INLINE wf wf_fms(wf x, wf y, wf z)
{
    const wf n = EACH1(wf, vnegq_f32, z);
    return wf_fma(x, y, n);
}
/* FMIN and FMAX would return the NaN whichever operand it is. */
#define NEON_MIN(x, y) vbslq_f32(vcltq_f32(x, y), x, y)
#define NEON_MAX(x, y) vbslq_f32(vcgtq_f32(x, y), x, y)
MZ_INLINE wf wf_min(wf x, wf y)
{
    return EACH2(wf, NEON_MIN, x, y);
}
MZ_INLINE wf wf_max(wf x, wf y)
{
    return EACH2(wf, NEON_MAX, x, y);
}
MZ_INLINE wf wf_bits(wi v)
{
    return EACH1(wf, vreinterpretq_f32_s32, v);
}
MZ_INLINE wi wi_bits(wf v)
{
    return EACH1(wi, vreinterpretq_s32_f32, v);
}
MZ_INLINE wf wf_cvt(wi v)
{
    return EACH1(wf, vcvtq_f32_s32, v);
}
MZ_INLINE wi wi_rne(wf v)
{
    return EACH1(wi, vcvtnq_s32_f32, v);
}
/* tree16 of kern.h. */
MZ_INLINE float wf_tree(wf v)
{
    const float32x4_t b = vaddq_f32(vaddq_f32(v.a, v.c), vaddq_f32(v.b, v.d));
    const float32x2_t c = vadd_f32(vget_low_f32(b), vget_high_f32(b));
    return vget_lane_f32(c, 0) + vget_lane_f32(c, 1);
}
/* The largest lane; no lane may be a NaN. */
MZ_INLINE float wf_largest(wf v)
{
    return vmaxvq_f32(vmaxq_f32(vmaxq_f32(v.a, v.b), vmaxq_f32(v.c, v.d)));
}
MZ_INLINE float wf_lane0(wf v)
{
    return vgetq_lane_f32(v.a, 0);
}
MZ_INLINE wm wf_lt(wf x, wf y)
{
    return EACH2(wm, vcltq_f32, x, y);
}
/* Not x <= y: also where one is a NaN. */
#define NEON_NLE(x, y) vmvnq_u32(vcleq_f32(x, y))
MZ_INLINE wm wf_nle(wf x, wf y)
{
    return EACH2(wm, NEON_NLE, x, y);
}
#define NEON_NAN(x) vmvnq_u32(vceqq_f32(x, x))
MZ_INLINE wm wf_nan(wf v)
{
    return EACH1(wm, NEON_NAN, v);
}
MZ_INLINE wf wf_pick(wm m, wf yes, wf no)
{
    return EACH3(wf, vbslq_f32, m, yes, no);
}
MZ_INLINE void wf_pairs(const float *p, wf *even, wf *odd)
{
    const float32x4x2_t a = vld2q_f32(p), b = vld2q_f32(p + 8), c = vld2q_f32(p + 16), d = vld2q_f32(p + 24);
    *even = (wf){a.val[0], b.val[0], c.val[0], d.val[0]};
    *odd = (wf){a.val[1], b.val[1], c.val[1], d.val[1]};
}
MZ_INLINE void wf_put_pairs(float *p, wf even, wf odd)
{
    vst2q_f32(p, ((float32x4x2_t){{even.a, odd.a}}));
    vst2q_f32(p + 8, ((float32x4x2_t){{even.b, odd.b}}));
    vst2q_f32(p + 16, ((float32x4x2_t){{even.c, odd.c}}));
    vst2q_f32(p + 24, ((float32x4x2_t){{even.d, odd.d}}));
}

/* ---- i32 and masks ---- */

MZ_INLINE wi wi_set(int32_t x)
{
    return EACH0(wi, vdupq_n_s32(x));
}
MZ_INLINE wi wi_zero(void)
{
    return wi_set(0);
}
MZ_INLINE wi wi_index(void)
{
    return (wi){{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}};
}
MZ_INLINE wi wi_add(wi x, wi y)
{
    return EACH2(wi, vaddq_s32, x, y);
}
MZ_INLINE wi wi_sub(wi x, wi y)
{
    return EACH2(wi, vsubq_s32, x, y);
}
MZ_INLINE wi wi_and(wi x, wi y)
{
    return EACH2(wi, vandq_s32, x, y);
}
MZ_INLINE wi wi_or(wi x, wi y)
{
    return EACH2(wi, vorrq_s32, x, y);
}
MZ_INLINE wi wi_xor(wi x, wi y)
{
    return EACH2(wi, veorq_s32, x, y);
}
#define NEON_SHR(x, n) vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(x), n))
#define wi_shl(v, n)   EACHN(wi, vshlq_n_s32, v, n)
#define wi_shr(v, n)   EACHN(wi, NEON_SHR, v, n)
#define wi_sar(v, n)   EACHN(wi, vshrq_n_s32, v, n)
/* v << n, lane by lane. */
MZ_INLINE wi wi_shlv(wi v, wi n)
{
    return EACH2(wi, vshlq_s32, v, n);
}
MZ_INLINE wi wi_smaller(wi x, wi y)
{
    return EACH2(wi, vminq_s32, x, y);
}
MZ_INLINE wm wi_gt(wi x, wi y)
{
    return EACH2(wm, vcgtq_s32, x, y);
}
MZ_INLINE wm wi_eq(wi x, wi y)
{
    return EACH2(wm, vceqq_s32, x, y);
}
MZ_INLINE wi wi_pick(wm m, wi yes, wi no)
{
    return EACH3(wi, vbslq_s32, m, yes, no);
}
MZ_INLINE wm wm_none(void)
{
    return EACH0(wm, vdupq_n_u32(0));
}
MZ_INLINE wm wm_or(wm x, wm y)
{
    return EACH2(wm, vorrq_u32, x, y);
}
MZ_INLINE wm wm_and(wm x, wm y)
{
    return EACH2(wm, vandq_u32, x, y);
}
MZ_INLINE bool wm_any(wm m)
{
    return vmaxvq_u32(vorrq_u32(vorrq_u32(m.a, m.b), vorrq_u32(m.c, m.d))) != 0;
}
MZ_INLINE wm wm_first(int64_t n)
{
    return wi_gt(wi_set((int32_t)n), wi_index());
}
/* The low byte, or the low half, of every lane. */
MZ_INLINE void wi_put_halves(void *p, wi v)
{
    uint8_t *q = p;
    vst1q_u8(q, vreinterpretq_u8_s16(vcombine_s16(vmovn_s32(v.a), vmovn_s32(v.b))));
    vst1q_u8(q + 16, vreinterpretq_u8_s16(vcombine_s16(vmovn_s32(v.c), vmovn_s32(v.d))));
}
MZ_INLINE void wi_put_bytes(void *p, wi v)
{
    const int16x8_t x = vcombine_s16(vmovn_s32(v.a), vmovn_s32(v.b)), y = vcombine_s16(vmovn_s32(v.c), vmovn_s32(v.d));
    vst1q_u8(p, vreinterpretq_u8_s8(vcombine_s8(vmovn_s16(x), vmovn_s16(y))));
}
MZ_INLINE int32_t wi_total(wi v)
{
    return vaddvq_s32(vaddq_s32(vaddq_s32(v.a, v.b), vaddq_s32(v.c, v.d)));
}

/* ---- stored elements ---- */

MZ_INLINE wf neon_f16(uint8x16_t lo, uint8x16_t hi)
{
    const float16x8_t x = vreinterpretq_f16_u8(lo), y = vreinterpretq_f16_u8(hi);
    return (wf){vcvt_f32_f16(vget_low_f16(x)), vcvt_high_f32_f16(x), vcvt_f32_f16(vget_low_f16(y)), vcvt_high_f32_f16(y)};
}
MZ_INLINE wf wf_f16(const void *p)
{
    return neon_f16(vld1q_u8(p), vld1q_u8((const uint8_t *)p + 16));
}
MZ_INLINE wf wf_bf16(const void *p)
{
    const uint16x8_t x = vreinterpretq_u16_u8(vld1q_u8(p)), y = vreinterpretq_u16_u8(vld1q_u8((const uint8_t *)p + 16));
    return (wf){vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(x), 16)), vreinterpretq_f32_u32(vshll_high_n_u16(x, 16)),
                vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(y), 16)), vreinterpretq_f32_u32(vshll_high_n_u16(y, 16))};
}
/* E4M3 is a half with 3 bits less of mantissa and a bias 8 smaller, subnormals included. Sign extension leaves a copy of
 * the sign in the top exponent bit, which the mask takes away. All ones is a NaN in both. */
MZ_INLINE uint8x16_t neon_e4m3(int8x8_t v)
{
    const uint16x8_t low = vdupq_n_u16(0x3f80), b = vreinterpretq_u16_s16(vshll_n_s8(v, 7));
    const uint16x8_t nan = vceqq_u16(vandq_u16(b, low), low);
    return vreinterpretq_u8_u16(vorrq_u16(vandq_u16(b, vdupq_n_u16(0xbf80)), nan));
}
MZ_INLINE wf wf_e4m3(const void *p)
{
    const int8x16_t v = vreinterpretq_s8_u8(vld1q_u8(p));
    return wf_mul(neon_f16(neon_e4m3(vget_low_s8(v)), neon_e4m3(vget_high_s8(v))), wf_set(256.0f));
}
/* Rounds to nearest even halves. */
MZ_INLINE void wf_put_f16(void *p, wf v)
{
    uint8_t *q = p;
    vst1q_u8(q, vreinterpretq_u8_f16(vcvt_high_f16_f32(vcvt_f16_f32(v.a), v.b)));
    vst1q_u8(q + 16, vreinterpretq_u8_f16(vcvt_high_f16_f32(vcvt_f16_f32(v.c), v.d)));
}

/* ---- panels ---- */

MZ_INLINE wsrc wsrc_at(wsrc s, size_t offset)
{
    return (wsrc){s.p0 + offset, s.p1 + offset};
}
MZ_INLINE wb wb_load(wsrc s, size_t offset)
{
    return (wb){vld1q_u8(s.p0 + offset), vld1q_u8(s.p0 + offset + 16), vld1q_u8(s.p1 + offset), vld1q_u8(s.p1 + offset + 16)};
}
MZ_INLINE wi neon_wide_u16(uint16x8_t x, uint16x8_t y)
{
    return (wi){vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(x))), vreinterpretq_s32_u32(vmovl_high_u16(x)),
                vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(y))), vreinterpretq_s32_u32(vmovl_high_u16(y))};
}
MZ_INLINE wi wi_u8(wsrc s, size_t offset)
{
    return neon_wide_u16(vmovl_u8(vld1_u8(s.p0 + offset)), vmovl_u8(vld1_u8(s.p1 + offset)));
}
MZ_INLINE wi wi_i8(wsrc s, size_t offset)
{
    const int16x8_t x = vmovl_s8(vreinterpret_s8_u8(vld1_u8(s.p0 + offset))), y = vmovl_s8(vreinterpret_s8_u8(vld1_u8(s.p1 + offset)));
    return (wi){vmovl_s16(vget_low_s16(x)), vmovl_high_s16(x), vmovl_s16(vget_low_s16(y)), vmovl_high_s16(y)};
}
MZ_INLINE wi wi_u16(wsrc s, size_t offset)
{
    return neon_wide_u16(vreinterpretq_u16_u8(vld1q_u8(s.p0 + offset)), vreinterpretq_u16_u8(vld1q_u8(s.p1 + offset)));
}
MZ_INLINE wf wf_f16s(wsrc s, size_t offset)
{
    return neon_f16(vld1q_u8(s.p0 + offset), vld1q_u8(s.p1 + offset));
}
MZ_INLINE wb wb_set(int x)
{
    return EACH0(wb, vdupq_n_u8((uint8_t)x));
}
MZ_INLINE wb wb_and(wb x, wb y)
{
    return EACH2(wb, vandq_u8, x, y);
}
MZ_INLINE wb wb_or(wb x, wb y)
{
    return EACH2(wb, vorrq_u8, x, y);
}
MZ_INLINE wb wb_add(wb x, wb y)
{
    return EACH2(wb, vaddq_u8, x, y);
}
#define wb_shr(v, n) EACHN(wb, vshrq_n_u8, v, n)
#define wb_shl(v, n) EACHN(wb, vshlq_n_u8, v, n)
/* table[v] for bytes v below 16. */
MZ_INLINE wb wb_table(const int8_t table[16], wb v)
{
    const uint8x16_t t = vld1q_u8((const uint8_t *)table);
    return (wb){vqtbl1q_u8(t, v.a), vqtbl1q_u8(t, v.b), vqtbl1q_u8(t, v.c), vqtbl1q_u8(t, v.d)};
}
#define NEON_GE(x, k) vshrq_n_u8(vcgeq_u8(x, vdupq_n_u8(k)), 7)
MZ_INLINE wb wb_ge(wb v, int k)
{
    const uint8_t u = (uint8_t)k;
    return EACHN(wb, NEON_GE, v, u);
}

/* ---- products ---- */

#define MZ_BYTE_OFFSET 0
MZ_INLINE wb wb_byte_code(wb v)
{
    return v;
}

/* The same in all lanes: two 16-bit loads and multiplications by scalars cost less than their vectors. */
MZ_INLINE int32_t neon_half_sums(mz_wact x, int t, int k0, int k1)
{
    int16_t s[2];
    memcpy(s, x.s + (size_t)t * x.stride, sizeof s);
    return k0 * s[0] + k1 * s[1];
}
MZ_INLINE wi wi_half_sums(mz_wact x, int t, int k0, int k1)
{
    return wi_set(neon_half_sums(x, t, k0, k1));
}

#define NEON_S8(v) vreinterpretq_s8_u8(v)

/* Codes of all formats fit signed bytes, so SDOT takes them as they are: 4 columns of 4 rows by 4 activations, which lie in
 * one lane of a register that holds 16. */
#define NEON_SDOT(sum, w, act, lane)                                   \
    do {                                                               \
        (sum).a = vdotq_laneq_s32((sum).a, NEON_S8((w).a), act, lane); \
        (sum).b = vdotq_laneq_s32((sum).b, NEON_S8((w).b), act, lane); \
        (sum).c = vdotq_laneq_s32((sum).c, NEON_S8((w).c), act, lane); \
        (sum).d = vdotq_laneq_s32((sum).d, NEON_S8((w).d), act, lane); \
    } while (0)

MZ_INLINE int8x16_t neon_act(mz_wact x, int t, int g)
{
    return vreinterpretq_s8_u8(vld1q_u8(x.q + (size_t)t * x.stride + 4 * g));
}

/* Without it gcc keeps what several blocks load in registers that it then has to spill. */
MZ_INLINE void w_fence(void)
{
    __asm__ volatile("" ::: "memory");
}

#ifdef MZ_WIDE_I8MM
/* SMMLA multiplies 2 rows × 8 columns by 2 tokens × 8 columns: groups g and g + 1 are zipped, so that each register holds 8
 * columns of 2 rows; vector g then has rows 0-7, vector g + 1 rows 8-15. */
MZ_INLINE void w_strip(wb c[8])
{
    MZ_UNROLL
    for (int g = 0; g < 8; g += 2) {
#define NEON_ZIP(n, x) vreinterpretq_u8_u32(vzip##n##q_u32(vreinterpretq_u32_u8(c[g].x), vreinterpretq_u32_u8(c[g + 1].x)))
        const wb lo = {NEON_ZIP(1, a), NEON_ZIP(2, a), NEON_ZIP(1, b), NEON_ZIP(2, b)};
        const wb hi = {NEON_ZIP(1, c), NEON_ZIP(2, c), NEON_ZIP(1, d), NEON_ZIP(2, d)};
#undef NEON_ZIP
        c[g] = lo;
        c[g + 1] = hi;
    }
}

MZ_INLINE wi neon_mmla(wi s, wb w, int8x16_t act)
{
    return (wi){vmmlaq_s32(s.a, NEON_S8(w.a), act), vmmlaq_s32(s.b, NEON_S8(w.b), act), vmmlaq_s32(s.c, NEON_S8(w.c), act),
                vmmlaq_s32(s.d, NEON_S8(w.d), act)};
}

/* Tokens t and u (which may be the same) over zipped codes. */
MZ_INLINE void neon_dot_pair(const int g0, const int g1, const wb *c, const mz_wact x, const int t, const int u, const wi *init, wi *sum)
{
    const int32x4_t start = vzip1q_s32(init[t].a, init[u].a); /* init is the same in all lanes */
    wi lo = EACH0(wi, start), hi = lo;
    MZ_UNROLL
    for (int g = g0; g < g1; g += 2) {
        const uint8_t *p = x.q + 4 * g;
        const int8x16_t act = vreinterpretq_s8_u8(vcombine_u8(vld1_u8(p + (size_t)t * x.stride), vld1_u8(p + (size_t)u * x.stride)));
        lo = neon_mmla(lo, c[g], act);
        hi = neon_mmla(hi, c[g + 1], act);
    }
    /* (row, token) pairs to rows of each token. */
    sum[t] = (wi){vuzp1q_s32(lo.a, lo.b), vuzp1q_s32(lo.c, lo.d), vuzp1q_s32(hi.a, hi.b), vuzp1q_s32(hi.c, hi.d)};
    if (u != t) sum[u] = (wi){vuzp2q_s32(lo.a, lo.b), vuzp2q_s32(lo.c, lo.d), vuzp2q_s32(hi.a, hi.b), vuzp2q_s32(hi.c, hi.d)};
}
#else
MZ_INLINE void w_strip(wb c[8])
{
    (void)c;
}
#endif

MZ_INLINE void w_dot(const int nt, const mz_wdot dot, const bool strip, const int g0, const int g1, const wb *c, const mz_wact x,
                     const wi *init, wi *sum)
{
    (void)dot, (void)strip;
#ifdef MZ_WIDE_I8MM
    if (strip) {
        MZ_UNROLL
        for (int t = 0; t < nt; t += 2) neon_dot_pair(g0, g1, c, x, t, t + 1 < nt ? t + 1 : t, init, sum);
        return;
    }
#endif
    MZ_UNROLL
    for (int t = 0; t < nt; t++) sum[t] = init[t];
    MZ_UNROLL
    for (int g = g0; g < g1; g += 4) {
        int8x16_t act[MZ_WTILE];
        MZ_UNROLL
        for (int t = 0; t < nt; t++) act[t] = neon_act(x, t, g);
        MZ_UNROLL
        for (int t = 0; t < nt; t++) NEON_SDOT(sum[t], c[g], act[t], 0);
        MZ_UNROLL
        for (int t = 0; t < nt; t++) NEON_SDOT(sum[t], c[g + 1], act[t], 1);
        MZ_UNROLL
        for (int t = 0; t < nt; t++) NEON_SDOT(sum[t], c[g + 2], act[t], 2);
        MZ_UNROLL
        for (int t = 0; t < nt; t++) NEON_SDOT(sum[t], c[g + 3], act[t], 3);
    }
}

#endif
