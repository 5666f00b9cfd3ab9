/* SPDX-License-Identifier: Apache-2.0
 *
 * wide_math.h: sixteen lanes of mz_expf, mz_tanhf and mz_erff (base/fmath.c), line by line in their order, so that every
 * lane has the bits of the scalar function; and the widening and rounding of stored keys and values. Pure functions. */
#ifndef MZ_KERN_WIDE_MATH_H
#define MZ_KERN_WIDE_MATH_H

#include "wide.h"

MZ_INLINE wf wf_abs(wf x)
{
    return wf_bits(wi_and(wi_bits(x), wi_set(0x7fffffff)));
}
MZ_INLINE wf wf_neg(wf x)
{
    return wf_bits(wi_xor(wi_bits(x), wi_set(INT32_MIN)));
}
/* The magnitude bits of mag with the sign of x or-ed in. */
MZ_INLINE wf wf_signed(wf mag, wf x)
{
    return wf_bits(wi_or(wi_bits(mag), wi_and(wi_bits(x), wi_set(INT32_MIN))));
}
/* +0 where not m. */
MZ_INLINE wf wf_keep(wm m, wf x)
{
    return wf_pick(m, x, wf_zero());
}

MZ_INLINE wf wf_exp(wf x)
{
    const wf magic = wf_set(0x1.8p23f);
    x = wf_min(wf_set(89.0f), x); /* these two keep a NaN */
    x = wf_max(wf_set(-104.5f), x);
    const wf t = wf_fma(x, wf_set(0x1.715476p+0f), magic);
    const wf n = wf_sub(t, magic);
    wf r = wf_fma(n, wf_set(-0x1.62e430p-1f), x);
    r = wf_fma(n, wf_set(0x1.05c610p-29f), r);
    wf p = wf_set(0x1.6a244cp-10f);
    p = wf_fma(p, r, wf_set(0x1.1239d4p-7f));
    p = wf_fma(p, r, wf_set(0x1.5558f2p-5f));
    p = wf_fma(p, r, wf_set(0x1.555492p-3f));
    p = wf_fma(p, r, wf_set(0x1.fffffcp-2f));
    p = wf_fma(p, r, wf_set(1.0f));
    p = wf_fma(p, r, wf_set(1.0f));
    const wi bias = wi_set(127), i = wi_sub(wi_bits(t), wi_bits(magic));
    const wi h = wi_sar(i, 1), rest = wi_sub(i, h);
    p = wf_mul(p, wf_bits(wi_shl(wi_add(h, bias), 23)));
    return wf_mul(p, wf_bits(wi_shl(wi_add(rest, bias), 23)));
}

/* mz_expf through the same instructions. */
MZ_INLINE float wf_exp1(float x)
{
    return wf_lane0(wf_exp(wf_set(x)));
}

MZ_INLINE wf wf_tanh(wf x)
{
    const wf a = wf_abs(x), z = wf_mul(a, a);
    wf p = wf_set(-0x1.75e1cep-8f);
    p = wf_fma(p, z, wf_set(0x1.52269cp-6f));
    p = wf_fma(p, z, wf_set(-0x1.b83c5ap-5f));
    p = wf_fma(p, z, wf_set(0x1.110726p-3f));
    p = wf_fma(p, z, wf_set(-0x1.555532p-2f));
    const wf small = wf_fma(wf_mul(a, z), p, a);
    const wf e = wf_exp(wf_add(a, a));
    const wf large = wf_sub(wf_set(1.0f), wf_div(wf_set(2.0f), wf_add(e, wf_set(1.0f))));
    return wf_signed(wf_pick(wf_lt(a, wf_set(0.625f)), small, large), x);
}

MZ_INLINE wf wf_erf(wf x)
{
    const wf a = wf_abs(x), z = wf_mul(a, a);
    wf p = wf_set(0x1.496a32p-14f);
    p = wf_fma(p, z, wf_set(-0x1.a3f700p-11f));
    p = wf_fma(p, z, wf_set(0x1.5405b2p-8f));
    p = wf_fma(p, z, wf_set(-0x1.b7f90ep-6f));
    p = wf_fma(p, z, wf_set(0x1.ce2cf8p-4f));
    p = wf_fma(p, z, wf_set(-0x1.81273ep-2f));
    p = wf_fma(p, z, wf_set(0x1.20dd74p+0f));
    const wf small = wf_mul(a, p);
    const wf b = wf_min(wf_set(4.0f), a); /* keeps a NaN */
    wf g = wf_set(-0x1.b8c8a0p-13f);
    g = wf_fma(g, b, wf_set(0x1.a137aep-9f));
    g = wf_fma(g, b, wf_set(-0x1.7553c4p-6f));
    g = wf_fma(g, b, wf_set(0x1.ae79d8p-4f));
    g = wf_fma(g, b, wf_set(0x1.458da8p-1f));
    g = wf_fma(g, b, wf_set(0x1.20e3c6p+0f));
    const wf large = wf_sub(wf_set(1.0f), wf_exp(wf_neg(wf_mul(b, g))));
    return wf_signed(wf_pick(wf_lt(a, wf_set(1.0f)), small, large), x);
}

MZ_INLINE wf wf_softcap(wf x, wf cap)
{
    return wf_mul(cap, wf_tanh(wf_div(x, cap)));
}

/* 16 stored elements at p, exactly. */
MZ_INLINE wf wf_kv(const mz_kv_type kv, const uint8_t *p)
{
    switch (kv) {
    case MZ_KV_F16: return wf_f16(p);
    case MZ_KV_BF16: return wf_bf16(p);
    case MZ_KV_FP8: return wf_e4m3(p);
    default: return wf_load(p);
    }
}
/* The first n of them, memory beyond not touched, the others +0. */
MZ_INLINE wf wf_kv_n(const mz_kv_type kv, const size_t size, const uint8_t *p, int64_t n)
{
    uint8_t tmp[64] = {0};
    if (n >= 16) return wf_kv(kv, p);
    memcpy(tmp, p, (size_t)n * size);
    return wf_kv(kv, tmp);
}

/* Rounds 16 values to p in the stored type, to nearest even as the conversions of fmt/dtype.h; gives the lanes that are not
 * finite as stored. */
MZ_INLINE wm wf_put_kv(const mz_kv_type kv, wf v, uint8_t *p)
{
    const wi exp = wi_set(0x7f800000), bits = wi_bits(v), mag = wi_and(bits, wi_set(0x7fffffff));
    const wm wild = wi_eq(wi_and(bits, exp), exp); /* not finite before rounding */
    switch (kv) {
    case MZ_KV_F16: wf_put_f16(p, v); return wi_gt(mag, wi_set(0x477fefff)); /* 65520 and above rounds to infinity */
    case MZ_KV_BF16: {
        const wi even = wi_and(wi_shr(bits, 16), wi_set(1)), up = wi_add(wi_add(bits, wi_set(0x7fff)), even);
        const wi r = wi_pick(wi_gt(mag, exp), wi_or(wi_shr(bits, 16), wi_set(0x40)), wi_shr(up, 16)), e = wi_set(0x7f80);
        wi_put_halves(p, r);
        return wi_eq(wi_and(r, e), e);
    }
    case MZ_KV_FP8: {
        const wi sign = wi_and(wi_shr(bits, 24), wi_set(0x80)), even = wi_and(wi_shr(mag, 20), wi_set(1));
        const wi up = wi_add(wi_add(mag, wi_set(0x7ffff)), even), normal = wi_sub(wi_shr(up, 20), wi_set(120 << 3));
        /* Below 2^-6 in steps of 2^-9: the addition rounds. */
        const wf magic = wf_set(0x1p14f);
        const wi tiny = wi_sub(wi_bits(wf_add(wf_bits(mag), magic)), wi_bits(magic));
        const wi c = wi_smaller(wi_pick(wi_gt(wi_set(0x3c800000), mag), tiny, normal), wi_set(0x7f));
        const wi code = wi_pick(wild, wi_set(0x7f), c);
        wi_put_bytes(p, wi_or(code, sign));
        return wi_eq(code, wi_set(0x7f));
    }
    default: wf_store(p, v); return wild;
    }
}

#endif
