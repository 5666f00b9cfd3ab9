/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(sizeof(XXH64_state_t) <= sizeof(mz_hash), "mz_hash holds the state");

void mz_hash_begin(mz_hash *h)
{
    (void)XXH64_reset((XXH64_state_t *)(void *)h, 0);
}

/* Not inlined: gcc 12 warns of bounds inside xxhash.h once it knows that n is 8. */
__attribute__((noinline)) void mz_hash_add(mz_hash *h, const void *data, size_t n)
{
    if (n) (void)XXH64_update((XXH64_state_t *)(void *)h, data, n);
}

void mz_hash_add_u64(mz_hash *h, uint64_t x)
{
    uint8_t b[8];
    for (int i = 0; i < 8; i++) b[i] = (uint8_t)(x >> (8 * i));
    mz_hash_add(h, b, sizeof b);
}

uint64_t mz_hash_end(const mz_hash *h)
{
    return XXH64_digest((const XXH64_state_t *)(const void *)h);
}

uint64_t mz_hash_bytes(const void *data, size_t n)
{
    return n ? XXH64(data, n, 0) : XXH64("", 0, 0);
}
