/* SPDX-License-Identifier: Apache-2.0
 *
 * blocks.h: the parts that families share, as functions that emit ops. Internal to model/.
 *
 * An activation is a float buffer together with its quantised form; mz_block_linear quantises at most once
 * per new content (mz_block_touch says that the content changed). */
#ifndef MZ_MODEL_BLOCKS_H
#define MZ_MODEL_BLOCKS_H

#include "model/bind.h"

typedef struct mz_act {
    int f32, q8; /* buffer numbers; q8 is made when first needed */
    bool q8_is_fresh;
    const char *q8_name;
} mz_act;

mz_act mz_block_act(mz_bind *b, const char *name, const char *q8_name, mz_rows rows, int64_t width);
static inline void mz_block_touch(mz_act *a)
{
    a->q8_is_fresh = false;
}

/* out = weight · a (+ bias number, -1: none). */
void mz_block_linear(mz_bind *b, int layer, mz_act *a, int weight, int bias, int out);
/* out = rms_norm(in; weight), each of the n_head pieces of a row apart; out may be in. Whoever wraps out in an mz_act touches it. */
void mz_block_norm(mz_bind *b, int layer, int in, int weight, float eps, int64_t n_head, int out);
void mz_block_add(mz_bind *b, int layer, int in, int in2, int out);
void mz_block_tap(mz_bind *b, int layer, int in, const char *name);

/* Rotation frequencies of one model, and the per-step table made from them. */
typedef struct mz_rope {
    int64_t n_rot;
    bool interleaved;
    int table; /* buffer [n_rot]: cos, sin pairs */
} mz_rope;

/* Reads rope.* keys and the optional rope_freqs tensor; emits the table op. n_rot <= d_head. */
mz_status mz_block_rope_table(mz_bind *b, int64_t d_head, bool interleaved, mz_rope *out) MZ_MUST_USE;
/* A table named `name` without any of these keys: base^(-2i / n_rot), base > 1. */
mz_status mz_block_rope_plain(mz_bind *b, const char *name, float base, int64_t n_rot, bool interleaved, mz_rope *out) MZ_MUST_USE;
void mz_block_rope(mz_bind *b, int layer, const mz_rope *r, int x, int64_t n_head, int64_t d_head);

/* Grouped-query attention with its projections: attn_in [d_model] -> out [d_model]. */
typedef struct mz_gqa {
    int64_t n_head, n_head_kv, d_head, d_value, window;
    float scale, softcap;
    bool has_norms; /* q and k are normed over each head, with eps, before they are rotated */
    float eps;
    int q, k, v;  /* scratch buffers, wide enough for every layer that shares them */
    mz_act mixed; /* attention output before the output projection */
} mz_gqa;

void mz_block_gqa_buffers(mz_bind *b, mz_gqa *a);
/* rope NULL: nothing is rotated. */
mz_status mz_block_gqa(mz_bind *b, int layer, mz_gqa *a, const mz_rope *rope, mz_act *in, int64_t d_model, int out) MZ_MUST_USE;

/* Gated feed-forward: out = down · (act(gate · in) * (up · in)). */
typedef struct mz_ffn {
    int64_t d_ff;
    mz_glu act;
    int gate, up;
    mz_act hidden;
} mz_ffn;

void mz_block_ffn_buffers(mz_bind *b, mz_ffn *f);
mz_status mz_block_ffn(mz_bind *b, int layer, mz_ffn *f, mz_act *in, int64_t d_model, int out) MZ_MUST_USE;

#endif
