/* SPDX-License-Identifier: Apache-2.0
 *
 * wrong_wide.c: kernels of src/kern/wide with one word of the vocabulary replaced, for `mzcheck --self-test`: a set's own
 * source, compiled as the set is, and wrong in the last bit. */
#include "kern/wide/wide.h"

/* Low-bit products whose multiply-add rounds twice. */
#define wf_fma(a, b, c) wf_add(wf_mul(a, b), c)
#include "kern/wide/wide_block.c"
#include "kern/wide/wide_tile.c"
#undef wf_fma

/* Float products whose lanes are summed in ascending order. */
static float tree_in_a_row(wf v)
{
    float lane[16], sum = 0.0f;
    wf_store(lane, v);
    for (int i = 0; i < 16; i++) sum += lane[i];
    return sum;
}
#define wf_tree(v) tree_in_a_row(v)
#define tile       tile_float
#include "kern/wide/wide_float.c"

void W(spoil_fma)(mz_kern *k);
void W(spoil_fma)(mz_kern *k)
{
    k->matmul[MZ_DTYPE_Q4_0][MZ_LAYOUT_PANEL8].fn = W(q4_0);
    k->pack[MZ_DTYPE_Q4_0] = mz_panel_pack;
}

void W(spoil_tree)(mz_kern *k);
void W(spoil_tree)(mz_kern *k)
{
    k->matmul[MZ_DTYPE_F16][MZ_LAYOUT_ROWS].fn = W(f16);
}
