/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_npy.c: reading reference logits. What is accepted lies wholly inside the file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "eval/npy_map.h"

static void demand(int ok)
{
    if (!ok) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mz_npy_map m = {0};
    mz_err err = {0};
    if (mz_npy_map_parse(data, size, &m, &err) != MZ_OK) {
        demand(err.text[0] != '\0');
        return 0;
    }
    demand(m.n_row >= 0 && m.n_col >= 0 && m.data >= data && m.data <= data + size);
    demand((uint64_t)m.n_row * (uint64_t)m.n_col * 4 == (uint64_t)(data + size - m.data));
    if (m.n_row == 0 || m.n_col == 0) return 0;
    float *row = malloc((size_t)m.n_col * sizeof *row);
    demand(row != NULL);
    mz_npy_map_row(&m, m.n_row - 1, row);
    free(row);
    return 0;
}
