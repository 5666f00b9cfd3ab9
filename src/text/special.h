/* SPDX-License-Identifier: Apache-2.0
 *
 * special.h: finding the written forms of added tokens ("<|im_end|>") in text.
 *
 * The longest form at each place wins, as in Hugging Face tokenizers. One pass; cost does not grow with
 * the number of forms. Ownership: strings belong to the caller. Threading: immutable once built. */
#ifndef MZ_TEXT_SPECIAL_H
#define MZ_TEXT_SPECIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fmt/gguf.h" /* mz_str */

typedef struct mz_special_form {
    mz_str s; /* not empty */
    int32_t id;
} mz_special_form;

typedef struct mz_special {
    mz_special_form *form; /* [n], sorted by bytes */
    size_t n;
    uint32_t first[257]; /* forms that begin with byte c: first[c] .. first[c+1] */
} mz_special;

/* Takes form (from mz_calloc) over, also on failure. Of equal strings the lowest id stays. */
void mz_special_build(mz_special *sp, mz_special_form *form, size_t n);
void mz_special_done(mz_special *sp);
/* The longest form that s [n] begins with: its index, *len bytes; -1 when there is none. */
int32_t mz_special_match(const mz_special *sp, const char *s, size_t n, size_t *len);
/* True when s [n >= 1] is a proper beginning of some form. */
bool mz_special_is_beginning(const mz_special *sp, const char *s, size_t n);

#endif
