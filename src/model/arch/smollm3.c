/* SPDX-License-Identifier: Apache-2.0
 * Family `smollm3`: Llama whose every fourth layer rotates nothing ("NoPE", Yang et al. 2025, arXiv 2501.18795). The files do not
 * say which layers these are. Rows of q and k are permuted as in family llama, those of unrotated layers too, where it is
 * without effect. */
#include "model/blocks/decoder.h"

mz_status mz_family_smollm3(mz_bind *b)
{
    mz_status st = MZ_OK;
    mz_decoder d;
    mz_rope rope;
    MZ_TRY(mz_decoder_read(b, &d));
    MZ_TRY(mz_bind_no_windows(b));
    MZ_TRY(mz_decoder_begin(b, &d));
    MZ_TRY(mz_block_rope_table(b, d.d_head, true, &rope));
    d.period = 4;
    d.usual.rope = &rope;
    MZ_TRY(mz_decoder_end(b, &d));
out:
    return st;
}
