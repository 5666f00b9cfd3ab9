/* SPDX-License-Identifier: Apache-2.0
 * Families `qwen3` (Qwen Team 2025, arXiv 2505.09388: q and k normed over each head, no biases) and `qwen2` (Qwen2, Qwen2.5: biases
 * on q, k and v, no such norms). Norm weights are plain w. Rotation pairs are (i, i + d/2), as published. */
#include "model/blocks/decoder.h"

static mz_status build(mz_bind *b, bool qk_norm)
{
    mz_status st = MZ_OK;
    mz_decoder d;
    mz_rope rope;
    MZ_TRY(mz_decoder_read(b, &d));
    MZ_TRY(mz_bind_no_windows(b));
    d.qk_norm = qk_norm;
    MZ_TRY(mz_decoder_begin(b, &d));
    MZ_TRY(mz_block_rope_table(b, d.d_head, false, &rope));
    d.usual.rope = &rope;
    MZ_TRY(mz_decoder_end(b, &d));
out:
    return st;
}

mz_status mz_family_qwen3(mz_bind *b)
{
    return build(b, true);
}

mz_status mz_family_qwen2(mz_bind *b)
{
    return build(b, false);
}
