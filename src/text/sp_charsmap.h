/* SPDX-License-Identifier: Apache-2.0
 *
 * sp_charsmap.h: SentencePiece's precompiled normalisation rules (NFKC and the like): the longest rule at a place replaces text.
 *
 *      0        4              4 + size                      n
 *     +--------+--------------+-----------------------------+
 *     |u32 size| double array | replacements, each ended \0 |     size: a multiple of 1024
 *     +--------+--------------+-----------------------------+
 *
 * A unit of the double array (Darts-clone) is a u32: bits 0-7 and 31 label, bit 8 "a value follows", bits 9-30 offset to the
 * children. Ownership: the bytes are copied. Threading: immutable once read. */
#ifndef MZ_TEXT_SP_CHARSMAP_H
#define MZ_TEXT_SP_CHARSMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fmt/gguf.h" /* mz_str */

typedef struct mz_sp_charsmap {
    uint32_t *unit; /* [n_unit]; NULL: no rules */
    size_t n_unit;
    char *text; /* [n_text], the last byte 0 */
    size_t n_text;
} mz_sp_charsmap;

mz_status mz_sp_charsmap_read(mz_sp_charsmap *m, const uint8_t *data, size_t n, mz_err *err) MZ_MUST_USE;
void mz_sp_charsmap_done(mz_sp_charsmap *m);
/* The longest rule that s [n] begins with: its length, *to what replaces it; 0 when there is none. */
size_t mz_sp_charsmap_match(const mz_sp_charsmap *m, const char *s, size_t n, mz_str *to);

#endif
