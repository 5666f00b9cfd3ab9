/* SPDX-License-Identifier: Apache-2.0
 *
 * GGUF bytes: open, then read every key through every typed accessor, look up every name, and decode
 * the first and last block of each tensor. */
#include <stddef.h>
#include <stdint.h>

#include "../formats/gguf_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mz_gguf *g = NULL;
    mz_err err = {0};
    mz_status st = mz_gguf_open_memory(data, size, &g, &err);
    if ((st == MZ_OK) != (g != NULL)) abort();
    if (st != MZ_OK && (err.status != st || err.text[0] == '\0')) abort();
    if (g) (void)gguf_walk(g);
    mz_gguf_close(g);
    return 0;
}
