/* SPDX-License-Identifier: Apache-2.0
 *
 * bpe.h: byte pair merges over raw bytes, and GPT-2's spelling of bytes as printable characters.
 *
 * What it is not: it knows no special tokens and cuts no text; it merges within one piece.
 * Symbols 0..n_vocab-1 are vocabulary entries (of which only those put in with mz_bpe_put can come out);
 * symbols from n_vocab on are byte strings that merge rules mention but the vocabulary lacks.
 * Ownership: byte strings belong to the caller and outlive the table. Threading: immutable once built. */
#ifndef MZ_TEXT_BPE_H
#define MZ_TEXT_BPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "fmt/gguf.h" /* mz_str */

typedef struct mz_bpe_pair {
    uint64_t key; /* left << 32 | right; UINT64_MAX: free */
    int32_t rank, to;
} mz_bpe_pair;

typedef struct mz_bpe_slot {
    int32_t sym1; /* symbol + 1; 0: free */
    uint32_t tag; /* upper half of the hash: most foreign entries are passed over without touching their bytes */
} mz_bpe_slot;

typedef struct mz_bpe {
    mz_str *sym; /* [cap_sym] raw bytes; s == NULL for entries not put in */
    int32_t n_vocab, n_sym, cap_sym;
    mz_bpe_slot *slot; /* [n_slot] open addressing */
    size_t n_slot;
    mz_bpe_pair *pair; /* [n_pair_slot] */
    size_t n_pair, n_pair_slot;
    int32_t byte_sym[256];
    bool rank_by_id; /* no merge rules: two neighbours merge when their joint bytes are an entry, lower id first */
} mz_bpe;

/* Room for n_vocab entries, n_merge rules. */
mz_status mz_bpe_init(mz_bpe *b, int32_t n_vocab, size_t n_merge, mz_err *err) MZ_MUST_USE;
void mz_bpe_done(mz_bpe *b);
/* These bytes are going to be put or looked up soon: asks memory for their place. A large vocabulary's table is not in the cache. */
void mz_bpe_expect(const mz_bpe *b, mz_str bytes);
/* False when another entry already has these bytes (the first one stays). */
bool mz_bpe_put(mz_bpe *b, int32_t id, mz_str bytes);
/* The symbol of these bytes, -1 when there is none. */
int32_t mz_bpe_find(const mz_bpe *b, const char *s, size_t n);
/* The same, adding a symbol past the vocabulary when there is none. */
mz_status mz_bpe_intern(mz_bpe *b, mz_str bytes, int32_t *id, mz_err *err) MZ_MUST_USE;
/* A rule already present keeps its (lower) rank. */
void mz_bpe_add_merge(mz_bpe *b, int32_t left, int32_t right, int32_t to, int32_t rank);
/* After the entries: gives each byte its symbol. */
mz_status mz_bpe_close(mz_bpe *b, mz_err *err) MZ_MUST_USE;

/* Scratch of one thread. Zero-initialise; mz_bpe_scratch_done releases. */
typedef struct mz_bpe_scratch {
    int32_t *word; /* [cap] result of mz_bpe_merge, then working space behind */
    void *heap;
    size_t cap, cap_heap;
} mz_bpe_scratch;

void mz_bpe_scratch_done(mz_bpe_scratch *s);
/* Merges the bytes s [n >= 1]; the symbols stand in scratch->word [*n_word]. O(n log n). */
mz_status mz_bpe_merge(const mz_bpe *b, mz_bpe_scratch *scratch, const char *s, size_t n, size_t *n_word, mz_err *err) MZ_MUST_USE;

/* GPT-2's spelling: decodes text [n] to raw bytes at out [n]; false (out unspecified) when a character spells no byte. */
bool mz_bpe_unspell(const char *text, size_t n, char *out, size_t *n_out);

#endif
