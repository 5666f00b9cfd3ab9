/* SPDX-License-Identifier: Apache-2.0
 * Family `llama`: Llama 1–3.x, SmolLM2, and others that publish as this architecture (Touvron et al. 2023, arXiv 2302.13971).
 * GGUF stores q and k rows permuted so that rotation pairs are neighbours (2i, 2i+1). */
#include "model/blocks/decoder.h"

mz_status mz_family_llama(mz_bind *b)
{
    mz_status st = MZ_OK;
    mz_decoder d;
    mz_rope rope;
    MZ_TRY(mz_decoder_read(b, &d));
    MZ_TRY(mz_bind_i64(b, "attention.sliding_window", false, 0, INT32_MAX, &d.usual.window));
    MZ_TRY(mz_decoder_begin(b, &d));
    MZ_TRY(mz_block_rope_table(b, d.d_head, true, &rope));
    d.usual.rope = &rope;
    MZ_TRY(mz_decoder_end(b, &d));
out:
    return st;
}
