/* SPDX-License-Identifier: Apache-2.0
 *
 * sp_trie.h: all pieces that a text begins with, one hash probe a byte.
 *
 * Ownership: keys are not kept. Threading: immutable once built. */
#ifndef MZ_TEXT_SP_TRIE_H
#define MZ_TEXT_SP_TRIE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fmt/gguf.h" /* mz_str */

typedef struct mz_sp_trie {
    struct mz_sp_edge *edge; /* [n_slot] open addressing, key: parent and byte */
    size_t n_slot;
    int32_t *id; /* [n_node] -1: no piece ends here; node 0 is the root */
    uint32_t n_node, cap_node;
    uint32_t first[256]; /* children of the root; 0: none */
} mz_sp_trie;

/* Room for keys of n_bytes in all. */
mz_status mz_sp_trie_init(mz_sp_trie *t, size_t n_bytes, mz_err *err) MZ_MUST_USE;
void mz_sp_trie_done(mz_sp_trie *t);
/* s is not empty. Of equal keys the last one stays. */
void mz_sp_trie_put(mz_sp_trie *t, mz_str s, int32_t id);
/* The node below `node` along c; 0 when there is none. */
uint32_t mz_sp_trie_step(const mz_sp_trie *t, uint32_t node, unsigned char c);

#endif
