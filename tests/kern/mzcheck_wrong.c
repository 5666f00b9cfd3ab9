/* SPDX-License-Identifier: Apache-2.0
 *
 * mzcheck_wrong.c: deliberately wrong kernels, one fault each. `mzcheck --self-test` demands that the
 * check of each fails; a check that lets one through proves nothing. */
#include <math.h>
#include <string.h>

#include "kern/ref/ref_common.h"
#include "mzcheck.h"

/* Q8_0 with the chain over blocks run from the last block to the first. */
static void q8_0_backwards(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0,
                           int64_t out1)
{
    int64_t n_blk = mz_q8_n_blk(w->n_in);
    for (int64_t o = out0; o < out1; o++) {
        for (int64_t t = 0; t < n_tok; t++) {
            const uint8_t *xt = (const uint8_t *)x + (size_t)t * x_bytes;
            float acc = 0.0f;
            for (int64_t b = n_blk - 1; b >= 0; b--) {
                const uint8_t *blk = w->data + (size_t)o * w->row_bytes + 34 * b;
                int32_t sum = 0;
                for (int i = 0; i < 32; i++) sum += (int8_t)blk[2 + i] * mz_q8_q(xt)[32 * b + i];
                acc = fmaf((float)sum, mz_f16_to_f32(mz_load_u16(blk)) * mz_q8_d(xt, n_blk)[b], acc);
            }
            y[t * ldy + o] = acc;
        }
    }
}
static void spoil_q8_0_order(mz_kern *k)
{
    k->matmul[MZ_DTYPE_Q8_0][MZ_LAYOUT_ROWS].fn = q8_0_backwards;
}

/* F32 as one chain instead of 16 lanes. */
static void f32_one_chain(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0,
                          int64_t out1)
{
    for (int64_t o = out0; o < out1; o++) {
        for (int64_t t = 0; t < n_tok; t++) {
            const float *xt = (const float *)(const void *)((const uint8_t *)x + (size_t)t * x_bytes);
            float acc = 0.0f, wi;
            for (int64_t i = 0; i < w->n_in; i++) {
                memcpy(&wi, w->data + (size_t)o * w->row_bytes + 4 * i, sizeof wi);
                acc = fmaf(wi, xt[i], acc);
            }
            y[t * ldy + o] = acc;
        }
    }
}
static void spoil_f32_order(mz_kern *k)
{
    k->matmul[MZ_DTYPE_F32][MZ_LAYOUT_ROWS].fn = f32_one_chain;
}

/* Q4_0 with activations pre-multiplied: the same number, rounded once more. */
static void q4_0_rounds_twice(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0,
                              int64_t out1)
{
    int64_t n_blk = mz_q8_n_blk(w->n_in);
    for (int64_t o = out0; o < out1; o++) {
        for (int64_t t = 0; t < n_tok; t++) {
            const uint8_t *xt = (const uint8_t *)x + (size_t)t * x_bytes;
            float acc = 0.0f;
            for (int64_t b = 0; b < n_blk; b++) {
                const uint8_t *blk = w->data + (size_t)o * w->row_bytes + 18 * b;
                int32_t sum = 0;
                for (int i = 0; i < 16; i++) {
                    sum += ((blk[2 + i] & 15) - 8) * mz_q8_q(xt)[32 * b + i];
                    sum += ((blk[2 + i] >> 4) - 8) * mz_q8_q(xt)[32 * b + 16 + i];
                }
                acc = acc + (float)sum * (mz_f16_to_f32(mz_load_u16(blk)) * mz_q8_d(xt, n_blk)[b]);
            }
            y[t * ldy + o] = acc;
        }
    }
}
static void spoil_q4_0_fma(mz_kern *k)
{
    k->matmul[MZ_DTYPE_Q4_0][MZ_LAYOUT_ROWS].fn = q4_0_rounds_twice;
}

/* Q5_0 that writes one output past its slice. */
static void q5_0_writes_past(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0,
                             int64_t out1)
{
    mz_ref_matmul_q5_0(w, x, x_bytes, n_tok, y, ldy, out0, out1);
    if (n_tok > 1 && out1 == w->n_out && ldy > out1) y[out1] = 0.0f;
}
static void spoil_q5_0_padding(mz_kern *k)
{
    k->matmul[MZ_DTYPE_Q5_0][MZ_LAYOUT_ROWS].fn = q5_0_writes_past;
}

/* Q5_1 that reads a few bytes past its last block. */
static void q5_1_reads_past(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0,
                            int64_t out1)
{
    mz_ref_matmul_q5_1(w, x, x_bytes, n_tok, y, ldy, out0, out1);
    if (n_tok > 0 && out1 == w->n_out) (void)*(const volatile uint8_t *)(w->data + (size_t)out1 * w->row_bytes + 3);
}
static void spoil_q5_1_reads(mz_kern *k)
{
    k->matmul[MZ_DTYPE_Q5_1][MZ_LAYOUT_ROWS].fn = q5_1_reads_past;
}

/* Q4_1 that accumulates 16-bit sums: right except for the largest operands. */
static void q4_1_saturates(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0,
                           int64_t out1)
{
    int64_t n_blk = mz_q8_n_blk(w->n_in);
    for (int64_t o = out0; o < out1; o++) {
        for (int64_t t = 0; t < n_tok; t++) {
            const uint8_t *xt = (const uint8_t *)x + (size_t)t * x_bytes;
            float acc = 0.0f;
            for (int64_t b = 0; b < n_blk; b++) {
                const uint8_t *blk = w->data + (size_t)o * w->row_bytes + 20 * b;
                int32_t sum = 0;
                for (int i = 0; i < 16; i++) {
                    sum += (blk[4 + i] & 15) * mz_q8_q(xt)[32 * b + i];
                    sum += (blk[4 + i] >> 4) * mz_q8_q(xt)[32 * b + 16 + i];
                }
                sum = sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum;
                float da = mz_q8_d(xt, n_blk)[b];
                const int16_t *s = mz_q8_s(xt, n_blk) + 2 * b;
                acc = fmaf((float)sum, mz_f16_to_f32(mz_load_u16(blk)) * da, acc);
                acc = fmaf((float)(s[0] + s[1]), mz_f16_to_f32(mz_load_u16(blk + 2)) * da, acc);
            }
            y[t * ldy + o] = acc;
        }
    }
}
static void spoil_q4_1_width(mz_kern *k)
{
    k->matmul[MZ_DTYPE_Q4_1][MZ_LAYOUT_ROWS].fn = q4_1_saturates;
}

/* Quantisation that rounds ties away from zero. */
static void quantise_half_away(const float *x, int64_t n, void *y)
{
    mz_ref_quantise_row(x, n, y);
    int64_t n_blk = mz_q8_n_blk(n);
    int8_t *q = y;
    int16_t *s = (int16_t *)(void *)((uint8_t *)y + 36 * n_blk);
    for (int64_t i = 0; i < n; i++) {
        float d = mz_q8_d(y, n_blk)[i / 32], amax = 0.0f;
        for (int64_t j = i / 32 * 32; j < n && j < i / 32 * 32 + 32; j++) amax = fabsf(x[j]) > amax ? fabsf(x[j]) : amax;
        if (!(d > 0.0f)) continue;
        int c = (int)roundf(x[i] * (127.0f / amax));
        s[i / 16] = (int16_t)(s[i / 16] + c - q[i]);
        q[i] = (int8_t)c;
    }
}
static void spoil_quantise(mz_kern *k)
{
    k->quantise_row = quantise_half_away;
}

static void rms_norm_one_chain(const float *x, const float *w, int64_t n, float eps, float *y)
{
    float acc = 0.0f;
    for (int64_t i = 0; i < n; i++) acc = fmaf(x[i], x[i], acc);
    float inv = 1.0f / sqrtf(acc / (float)n + eps);
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * inv * (w ? w[i] : 1.0f);
}
static void spoil_rms_norm(mz_kern *k)
{
    k->rms_norm = rms_norm_one_chain;
}

/* Right unless y aliases u. */
static void glu_two_passes(mz_glu kind, const float *g, const float *u, int64_t n, float *y)
{
    mz_ref_glu(kind, g, NULL, n, y);
    for (int64_t i = 0; u && i < n; i++) y[i] = y[i] * u[i];
}
static void spoil_glu_alias(mz_kern *k)
{
    k->glu = glu_two_passes;
}

/* libm's exp: nearly always the same number. */
static void exp_libm(const float *x, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = (float)exp((double)x[i]);
}
static void spoil_exp(mz_kern *k)
{
    k->exp = exp_libm;
}

static void top_k_later_index(const float *x, int64_t n, int64_t k, int32_t *ids)
{
    mz_ref_top_k(x, n, k, ids);
    for (int64_t i = 0; i + 1 < k; i++) {
        if (x[ids[i]] != x[ids[i + 1]]) continue;
        int32_t swap = ids[i];
        ids[i] = ids[i + 1];
        ids[i + 1] = swap;
    }
}
static void spoil_top_k(mz_kern *k)
{
    k->top_k = top_k_later_index;
}

/* Changes its input, then puts out the right answer. */
static void add_eats_input(const float *a, const float *b, int64_t n, float *y)
{
    mz_ref_add(a, b, n, y);
    if (n > 0 && y != b) ((float *)(uintptr_t)b)[n - 1] = 0.0f;
}
static void spoil_add(mz_kern *k)
{
    k->add = add_eats_input;
}

/* One ulp off where there are two partials, as another merge order gives. */
static void attend_other_partials(const mz_attend_args *a, const float *q, int64_t ldq, int64_t n_q, int64_t pos0, int64_t i_head_kv,
                                  float *o, int64_t ldo, float *scratch)
{
    mz_ref_attend(a, q, ldq, n_q, pos0, i_head_kv, o, ldo, scratch);
    for (int64_t t = 0; t < n_q; t++)
        if (pos0 + t >= MZ_ATTEND_PART && a->window == 0)
            for (int64_t d = 0; d < a->d_v; d++) o[t * ldo + d] = o[t * ldo + d] * (1.0f + 0x1p-23f);
}
static void spoil_attend(mz_kern *k)
{
    k->attend = attend_other_partials;
}

/* Weighs keys a query must not see with +0 instead of skipping them: NaN in an unused slot leaks. */
static void attend_multiplies_hidden(const mz_attend_args *a, const float *q, int64_t ldq, int64_t n_q, int64_t pos0, int64_t i_head_kv,
                                     float *o, int64_t ldo, float *scratch)
{
    mz_ref_attend(a, q, ldq, n_q, pos0, i_head_kv, o, ldo, scratch);
    for (int64_t t = 0; t < n_q; t++) {
        int64_t next = pos0 + t + 1;
        if (next % MZ_PAGE_TOK == 0) continue;
        const uint8_t *v = a->pool + (size_t)a->page[next / MZ_PAGE_TOK] * a->page_bytes + a->v_offset;
        int64_t at = (i_head_kv * MZ_PAGE_TOK + next % MZ_PAGE_TOK) * a->d_v;
        for (int64_t d = 0; d < a->d_v; d++) {
            float vd = 0.0f;
            if (a->kv == MZ_KV_F16) vd = mz_f16_to_f32(mz_load_u16(v + 2 * (at + d)));
            o[t * ldo + d] = fmaf(0.0f, vd, o[t * ldo + d]);
        }
    }
}
static void spoil_attend_hidden(mz_kern *k)
{
    k->attend = attend_multiplies_hidden;
}

static void rope_rounds_apart(float *x, int64_t n_head, int64_t d, int64_t n_rot, const float *cs, bool interleaved)
{
    for (int64_t h = 0; h < n_head; h++) {
        for (int64_t i = 0; i < n_rot / 2; i++) {
            float *pa = x + h * d + (interleaved ? 2 * i : i), *pb = x + h * d + (interleaved ? 2 * i + 1 : i + n_rot / 2);
            float a = *pa, b = *pb, c = cs[2 * i], s = cs[2 * i + 1];
            *pa = a * c - b * s;
            *pb = b * c + a * s;
        }
    }
}
static void spoil_rope(mz_kern *k)
{
    k->rope = rope_rounds_apart;
}

static bool kv_store_is_content(const mz_attend_args *a, uint8_t *pool, int64_t pos, const float *k, const float *v)
{
    (void)mz_ref_kv_store(a, pool, pos, k, v);
    return true;
}
static void spoil_kv_store(mz_kern *k)
{
    k->kv_store = kv_store_is_content;
}

/* Wrong references, for the checks in double. */
static void q6_k_scaled(const mz_weight *w, const void *x, size_t x_bytes, int64_t n_tok, float *y, int64_t ldy, int64_t out0, int64_t out1)
{
    mz_ref_matmul_q6_k(w, x, x_bytes, n_tok, y, ldy, out0, out1);
    for (int64_t t = 0; t < n_tok; t++)
        for (int64_t o = out0; o < out1; o++) y[t * ldy + o] *= 1.0001f;
}
static void spoil_q6_k_value(mz_kern *k)
{
    k->matmul[MZ_DTYPE_Q6_K][MZ_LAYOUT_ROWS].fn = q6_k_scaled;
}
static void attend_other_scale(const mz_attend_args *a, const float *q, int64_t ldq, int64_t n_q, int64_t pos0, int64_t i_head_kv, float *o,
                               int64_t ldo, float *scratch)
{
    mz_attend_args b = *a;
    b.scale = a->scale * 1.001f;
    mz_ref_attend(&b, q, ldq, n_q, pos0, i_head_kv, o, ldo, scratch);
}
static void spoil_attend_value(mz_kern *k)
{
    k->attend = attend_other_scale;
}

/* Sets whose own sources were compiled with a fault (wrong_wide.c): MZC_WRONG_SETS is SET(a) SET(b) …. */
#ifdef MZC_WRONG_SETS
#define SET(name) void mz_wrong_##name##_spoil_fma(mz_kern *k), mz_wrong_##name##_spoil_tree(mz_kern *k);
MZC_WRONG_SETS
#undef SET
#endif

static const mzc_wrong wrong[] = {{"matmul Q8_0 with blocks in descending order", check_matmul, MZ_DTYPE_Q8_0, false, spoil_q8_0_order},
                                  {"matmul F32 as one chain", check_matmul, MZ_DTYPE_F32, false, spoil_f32_order},
                                  {"matmul Q4_0 without fused multiply-add", check_matmul, MZ_DTYPE_Q4_0, false, spoil_q4_0_fma},
                                  {"matmul Q4_1 with 16-bit saturation", check_matmul, MZ_DTYPE_Q4_1, false, spoil_q4_1_width},
                                  {"matmul Q5_0 writing between rows", check_matmul, MZ_DTYPE_Q5_0, false, spoil_q5_0_padding},
                                  {"matmul Q5_1 reading past the weights", check_matmul, MZ_DTYPE_Q5_1, true, spoil_q5_1_reads},
                                  {"quantise_row with ties away from zero", check_quantise_row, MZ_DTYPE_F32, false, spoil_quantise},
                                  {"rms_norm as one chain", check_rms_norm, MZ_DTYPE_F32, false, spoil_rms_norm},
                                  {"glu that forgets aliasing", check_glu, MZ_DTYPE_F32, false, spoil_glu_alias},
                                  {"exp of libm", check_exp, MZ_DTYPE_F32, false, spoil_exp},
                                  {"top_k with ties in descending index", check_top_k, MZ_DTYPE_F32, false, spoil_top_k},
                                  {"add that changes an input", check_add, MZ_DTYPE_F32, false, spoil_add},
                                  {"rope without fused multiply-add", check_rope, MZ_DTYPE_F32, false, spoil_rope},
                                  {"attend one ulp off past the first partial", check_attend, MZ_DTYPE_F32, false, spoil_attend},
                                  {"attend that multiplies hidden slots by zero", check_attend, MZ_DTYPE_F32, false, spoil_attend_hidden},
                                  {"kv_store that never reports overflow", check_kv_store, MZ_DTYPE_F32, false, spoil_kv_store},
                                  {"a reference Q6_K off by 1e-4", check_double_matmul, MZ_DTYPE_Q6_K, false, spoil_q6_k_value},
                                  {"a reference attend with a wrong scale", check_double_attend, MZ_DTYPE_F32, false, spoil_attend_value},
#ifdef MZC_WRONG_SETS
#define SET(name)                                                                                                        \
    {#name ": matmul Q4_0 without fused multiply-add", check_matmul, MZ_DTYPE_Q4_0, false, mz_wrong_##name##_spoil_fma}, \
        {#name ": matmul F16 whose lanes are summed in a row", check_matmul, MZ_DTYPE_F16, false, mz_wrong_##name##_spoil_tree},
                                  MZC_WRONG_SETS
#undef SET
#endif
};

const mzc_wrong *mzc_wrong_list(int *n)
{
    *n = (int)(sizeof wrong / sizeof *wrong);
    return wrong;
}
