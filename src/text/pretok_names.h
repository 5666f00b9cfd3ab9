/* SPDX-License-Identifier: Apache-2.0
 *
 * pretok_names.h: the table of pre-tokenisers: names, patterns, traits.
 *
 * What it is not: it compiles nothing (pretok.c). Static data; any thread. */
#ifndef MZ_TEXT_PRETOK_NAMES_H
#define MZ_TEXT_PRETOK_NAMES_H

#include <stddef.h>

#include "pretok.h"

#define MZ_PRETOK_MAX_STAGE 6

typedef struct mz_pretok_entry {
    const char *name;
    int recipe;
    mz_pretok_traits traits;
} mz_pretok_entry;

/* NULL when the name is not in the table. */
const mz_pretok_entry *mz_pretok_find(const char *name, size_t n);
/* The i-th entry, NULL past the end (for tests and listings). */
const mz_pretok_entry *mz_pretok_at(size_t i);
/* Patterns of a recipe, at most MZ_PRETOK_MAX_STAGE, ended by NULL. */
const char *const *mz_pretok_stages(int recipe);

#endif
