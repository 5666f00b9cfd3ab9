/* SPDX-License-Identifier: Apache-2.0
 *
 * hash.h: XXH64, to notice damaged files and to tell files apart. Not a cryptographic hash: whoever
 * wants two files with one hash can make them.
 *
 * Threading: a state belongs to one thread at a time. Ownership: plain memory of the caller. */
#ifndef MZ_BASE_HASH_H
#define MZ_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct mz_hash {
    uint64_t state[12];
} mz_hash;

void mz_hash_begin(mz_hash *h);
void mz_hash_add(mz_hash *h, const void *data, size_t n);
void mz_hash_add_u64(mz_hash *h, uint64_t x); /* as eight little-endian bytes */
uint64_t mz_hash_end(const mz_hash *h);       /* the state may still be added to */
uint64_t mz_hash_bytes(const void *data, size_t n);

#endif
