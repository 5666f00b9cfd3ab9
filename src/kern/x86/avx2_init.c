/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2_init.c: fills the "avx2" set: the kernels of this folder over a copy of the reference. */
#include "kern/kern.h"

void mz_kern_init_avx2(mz_kern *k)
{
    k->name = "avx2";
}
