/* SPDX-License-Identifier: Apache-2.0 */
#include "sp_trie.h"

#include "base/mem.h"

struct mz_sp_edge {
    uint32_t parent, child; /* child 0: free */
    unsigned char c;
};

#define MAX_BYTES ((size_t)1 << 28)

mz_status mz_sp_trie_init(mz_sp_trie *t, size_t n_bytes, mz_err *err)
{
    mz_status st = MZ_OK;
    *t = (mz_sp_trie){.n_slot = 64, .n_node = 1};
    if (n_bytes > MAX_BYTES)
        MZ_FAIL(MZ_ELIMIT, err, "the vocabulary's pieces have %zu bytes in all; at most %zu are taken", n_bytes, MAX_BYTES);
    t->cap_node = (uint32_t)n_bytes + 1;
    while (t->n_slot < 2 * n_bytes) t->n_slot *= 2;
    t->edge = mz_calloc(t->n_slot, sizeof *t->edge);
    t->id = mz_calloc(t->cap_node, sizeof *t->id);
    if (!t->edge || !t->id) MZ_FAIL(MZ_ENOMEM, err, "no memory for the vocabulary's pieces (%zu bytes)", n_bytes);
    t->id[0] = -1;
out:
    if (st != MZ_OK) mz_sp_trie_done(t);
    return st;
}

void mz_sp_trie_done(mz_sp_trie *t)
{
    mz_free(t->edge);
    mz_free(t->id);
    *t = (mz_sp_trie){0};
}

static size_t slot_of(const mz_sp_trie *t, uint32_t node, unsigned char c)
{
    /* The finaliser of MurmurHash3. */
    uint64_t x = (uint64_t)node << 8 | c;
    x ^= x >> 33;
    x *= 0xFF51AFD7ED558CCDu;
    x ^= x >> 33;
    size_t i = (size_t)x & (t->n_slot - 1);
    while (t->edge[i].child && (t->edge[i].parent != node || t->edge[i].c != c)) i = (i + 1) & (t->n_slot - 1);
    return i;
}

uint32_t mz_sp_trie_step(const mz_sp_trie *t, uint32_t node, unsigned char c)
{
    return node == 0 ? t->first[c] : t->edge[slot_of(t, node, c)].child;
}

void mz_sp_trie_put(mz_sp_trie *t, mz_str s, int32_t id)
{
    uint32_t node = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.s[i];
        uint32_t next = mz_sp_trie_step(t, node, c);
        if (next == 0) {
            next = t->n_node++;
            t->id[next] = -1;
            if (node == 0)
                t->first[c] = next;
            else
                t->edge[slot_of(t, node, c)] = (struct mz_sp_edge){node, next, c};
        }
        node = next;
    }
    t->id[node] = id;
}
