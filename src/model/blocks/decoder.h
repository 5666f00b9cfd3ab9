/* SPDX-License-Identifier: Apache-2.0
 *
 * decoder.h: the skeleton that dense families share: embedding, layers of grouped-query attention and a gated
 * feed-forward around one residual stream, final norm, head. A family file fills in the struct and says what differs.
 * Internal to model/. Nothing here is kept: the program owns what is emitted. */
#ifndef MZ_MODEL_DECODER_H
#define MZ_MODEL_DECODER_H

#include "model/blocks/blocks.h"

/* What one layer may have other than its neighbour. */
typedef struct mz_layer_kind {
    const mz_rope *rope; /* NULL: queries and keys carry no position */
    int64_t window;      /* 0: sees all earlier positions */
} mz_layer_kind;

typedef struct mz_decoder {
    /* from the file */
    float eps;
    int64_t d_head, d_value;
    float attn_scale; /* 1 / sqrt(d_head) unless the file or the family says otherwise */
    /* from the family; zero means absent, embed_scale 1 */
    float attn_softcap, final_softcap, embed_scale;
    bool qk_norm;   /* blk.N.attn_q_norm and attn_k_norm, over each head */
    bool post_norm; /* blk.N.post_attention_norm and post_ffw_norm, on what joins the residual stream */
    mz_glu act;
    int64_t period; /* > 0: layer i is of kind `nth` when (i + 1) % period == 0 */
    mz_layer_kind usual, nth;
    /* working state */
    int embed, x, delta;
    mz_act normed;
} mz_decoder;

/* Reads the keys that all families share and sets the rest to its defaults; also fills b->m. */
mz_status mz_decoder_read(mz_bind *b, mz_decoder *d) MZ_MUST_USE;
/* Emits the embedding; then the family emits its rotation tables; then the layers and the head follow. */
mz_status mz_decoder_begin(mz_bind *b, mz_decoder *d) MZ_MUST_USE;
mz_status mz_decoder_end(mz_bind *b, mz_decoder *d) MZ_MUST_USE;

#endif
