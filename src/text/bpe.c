/* SPDX-License-Identifier: Apache-2.0 */
#include "bpe.h"

#include <string.h>

#include "utf8.h"

#define NO_PAIR UINT64_MAX
/* Below this length a scan for the lowest rank beats a heap. */
#define SHORT_WORD 40
#define MAX_PIECE  ((size_t)1 << 26)

/* The finaliser of MurmurHash3: the low bits of the result depend on every bit of x. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xFF51AFD7ED558CCDu;
    x ^= x >> 33;
    x *= 0xC4CEB9FE1A85EC53u;
    return x ^ x >> 33;
}

static uint64_t hash_bytes(const char *s, size_t n)
{
    uint64_t h = n * 0x9E3779B97F4A7C15u, w;
    for (; n >= 8; s += 8, n -= 8) {
        memcpy(&w, s, 8);
        h = mix(h ^ w);
    }
    w = 0;
    if (n) memcpy(&w, s, n);
    return mix(h ^ w);
}

static size_t slots_for(size_t n)
{
    size_t slots = 64;
    while (slots < 2 * n) slots *= 2;
    return slots;
}

mz_status mz_bpe_init(mz_bpe *b, int32_t n_vocab, size_t n_merge, mz_err *err)
{
    mz_status st = MZ_OK;
    *b = (mz_bpe){.n_vocab = n_vocab, .n_sym = n_vocab, .cap_sym = n_vocab + 256};
    b->n_slot = slots_for((size_t)b->cap_sym);
    b->n_pair_slot = slots_for(n_merge);
    b->sym = mz_calloc((size_t)b->cap_sym, sizeof *b->sym);
    b->slot = mz_calloc(b->n_slot, sizeof *b->slot);
    b->pair = mz_calloc(b->n_pair_slot, sizeof *b->pair);
    if (!b->sym || !b->slot || !b->pair) MZ_FAIL(MZ_ENOMEM, err, "no memory for a vocabulary of %d entries", n_vocab);
    for (size_t i = 0; i < b->n_pair_slot; i++) b->pair[i].key = NO_PAIR;
out:
    if (st != MZ_OK) mz_bpe_done(b);
    return st;
}

void mz_bpe_done(mz_bpe *b)
{
    mz_free(b->sym);
    mz_free(b->slot);
    mz_free(b->pair);
    *b = (mz_bpe){0};
}

/* The slot that holds these bytes, or the free one where they belong. The table is never full. */
static mz_bpe_slot *slot_of(const mz_bpe *b, const char *s, size_t n, uint32_t *tag)
{
    uint64_t h = hash_bytes(s, n);
    *tag = (uint32_t)(h >> 32);
    for (size_t i = h & (b->n_slot - 1);; i = (i + 1) & (b->n_slot - 1)) {
        mz_bpe_slot *x = &b->slot[i];
        if (x->sym1 == 0) return x;
        if (x->tag != *tag) continue;
        const mz_str *t = &b->sym[x->sym1 - 1];
        if (t->n == n && memcmp(t->s, s, n) == 0) return x;
    }
}

void mz_bpe_expect(const mz_bpe *b, mz_str bytes)
{
    __builtin_prefetch(&b->slot[hash_bytes(bytes.s, bytes.n) & (b->n_slot - 1)]);
}

int32_t mz_bpe_find(const mz_bpe *b, const char *s, size_t n)
{
    uint32_t tag;
    return slot_of(b, s, n, &tag)->sym1 - 1;
}

bool mz_bpe_put(mz_bpe *b, int32_t id, mz_str bytes)
{
    uint32_t tag;
    mz_bpe_slot *x = slot_of(b, bytes.s, bytes.n, &tag);
    if (x->sym1) return false;
    b->sym[id] = bytes;
    *x = (mz_bpe_slot){id + 1, tag};
    return true;
}

static bool grow(mz_bpe *b)
{
    int32_t cap = b->cap_sym + b->cap_sym / 2;
    if (cap > INT32_MAX / 4) return false;
    mz_str *sym = mz_realloc(b->sym, (size_t)cap, sizeof *sym);
    if (!sym) return false;
    b->sym = sym;
    b->cap_sym = cap;
    size_t n_slot = slots_for((size_t)cap);
    if (n_slot == b->n_slot) return true;
    mz_bpe_slot *old = b->slot, *fresh = mz_calloc(n_slot, sizeof *fresh);
    size_t n_old = b->n_slot;
    uint32_t tag;
    if (!fresh) return false;
    b->slot = fresh;
    b->n_slot = n_slot;
    for (size_t i = 0; i < n_old; i++) {
        if (old[i].sym1) *slot_of(b, sym[old[i].sym1 - 1].s, sym[old[i].sym1 - 1].n, &tag) = old[i];
    }
    mz_free(old);
    return true;
}

mz_status mz_bpe_intern(mz_bpe *b, mz_str bytes, int32_t *id, mz_err *err)
{
    mz_status st = MZ_OK;
    uint32_t tag;
    *id = mz_bpe_find(b, bytes.s, bytes.n);
    if (*id >= 0) return MZ_OK;
    if (b->n_sym == b->cap_sym && !grow(b)) MZ_FAIL(MZ_ENOMEM, err, "no memory for the tokenizer's symbols");
    *id = b->n_sym++;
    b->sym[*id] = bytes;
    mz_bpe_slot *x = slot_of(b, bytes.s, bytes.n, &tag);
    *x = (mz_bpe_slot){*id + 1, tag};
out:
    return st;
}

static mz_bpe_pair *pair_slot(const mz_bpe *b, int32_t left, int32_t right)
{
    uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    size_t i = mix(key) & (b->n_pair_slot - 1);
    while (b->pair[i].key != NO_PAIR && b->pair[i].key != key) i = (i + 1) & (b->n_pair_slot - 1);
    return &b->pair[i];
}

void mz_bpe_add_merge(mz_bpe *b, int32_t left, int32_t right, int32_t to, int32_t rank)
{
    mz_bpe_pair *p = pair_slot(b, left, right);
    if (p->key != NO_PAIR) return;
    *p = (mz_bpe_pair){(uint64_t)(uint32_t)left << 32 | (uint32_t)right, rank, to};
    b->n_pair++;
}

static const char every_byte[256] = {
#define B4(x)  (char)(x), (char)((x) + 1), (char)((x) + 2), (char)((x) + 3)
#define B16(x) B4(x), B4((x) + 4), B4((x) + 8), B4((x) + 12)
#define B64(x) B16(x), B16((x) + 16), B16((x) + 32), B16((x) + 48)
    B64(0), B64(64), B64(128), B64(192)};

mz_status mz_bpe_close(mz_bpe *b, mz_err *err)
{
    mz_status st = MZ_OK;
    for (size_t c = 0; c < 256; c++) MZ_TRY(mz_bpe_intern(b, (mz_str){every_byte + c, 1}, &b->byte_sym[c], err));
out:
    return st;
}

/* Rank of merging the neighbours `left right`, whose joint bytes are s [n]; INT32_MAX when they do not merge. */
static int32_t rank_of(const mz_bpe *b, int32_t left, int32_t right, const char *s, size_t n, int32_t *to)
{
    if (b->rank_by_id) {
        *to = mz_bpe_find(b, s, n);
        return *to >= 0 && *to < b->n_vocab ? *to : INT32_MAX;
    }
    const mz_bpe_pair *p = pair_slot(b, left, right);
    *to = p->to;
    return p->key == NO_PAIR ? INT32_MAX : p->rank;
}

static size_t merge_short(const mz_bpe *b, const char *s, size_t n, int32_t *word)
{
    int32_t rank[SHORT_WORD], to[SHORT_WORD];
    uint8_t at[SHORT_WORD + 1];
    for (size_t i = 0; i < n; i++) {
        word[i] = b->byte_sym[(unsigned char)s[i]];
        at[i] = (uint8_t)i;
    }
    at[n] = (uint8_t)n;
    for (size_t i = 0; i + 1 < n; i++) rank[i] = rank_of(b, word[i], word[i + 1], s + i, 2, &to[i]);
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++) {
            if (rank[i] < rank[best]) best = i;
        }
        if (rank[best] == INT32_MAX) break;
        word[best] = to[best];
        n--;
        for (size_t i = best + 1; i < n; i++) {
            word[i] = word[i + 1];
            at[i] = at[i + 1];
            rank[i - 1] = rank[i];
            to[i - 1] = to[i];
        }
        at[n] = at[n + 1];
        if (best + 1 < n) rank[best] = rank_of(b, word[best], word[best + 1], s + at[best], (size_t)(at[best + 2] - at[best]), &to[best]);
        if (best > 0) {
            rank[best - 1] = rank_of(b, word[best - 1], word[best], s + at[best - 1], (size_t)(at[best + 1] - at[best - 1]), &to[best - 1]);
        }
    }
    return n;
}

typedef struct heap_item {
    int32_t rank, at; /* order: rank, then place */
    int32_t left, right, to;
} heap_item;

static bool before(const heap_item *x, const heap_item *y)
{
    return x->rank != y->rank ? x->rank < y->rank : x->at < y->at;
}

static void heap_push(heap_item *h, size_t *n, heap_item x)
{
    size_t i = (*n)++;
    while (i > 0 && before(&x, &h[(i - 1) / 2])) {
        h[i] = h[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    h[i] = x;
}

static heap_item heap_pop(heap_item *h, size_t *n)
{
    heap_item top = h[0], x = h[--*n];
    size_t i = 0;
    for (;;) {
        size_t c = 2 * i + 1;
        if (c >= *n) break;
        if (c + 1 < *n && before(&h[c + 1], &h[c])) c++;
        if (!before(&h[c], &x)) break;
        h[i] = h[c];
        i = c;
    }
    h[i] = x;
    return top;
}

/* A symbol lives at its first byte; next/prev link the living ones, n ends the chain. */
typedef struct chain {
    int32_t *word, *next, *prev;
    heap_item *heap;
    size_t n_heap;
} chain;

static void offer(const mz_bpe *b, chain *c, const char *s, size_t n, size_t at)
{
    size_t right = (size_t)c->next[at];
    if (right >= n) return;
    heap_item x = {.at = (int32_t)at, .left = c->word[at], .right = c->word[right]};
    x.rank = rank_of(b, x.left, x.right, s + at, (size_t)c->next[right] - at, &x.to);
    if (x.rank != INT32_MAX) heap_push(c->heap, &c->n_heap, x);
}

static size_t merge_long(const mz_bpe *b, mz_bpe_scratch *scratch, const char *s, size_t n)
{
    chain c = {scratch->word, scratch->word + n, scratch->word + 2 * n, scratch->heap, 0};
    for (size_t i = 0; i < n; i++) {
        c.word[i] = b->byte_sym[(unsigned char)s[i]];
        c.next[i] = (int32_t)i + 1;
        c.prev[i] = (int32_t)i - 1;
    }
    for (size_t i = 0; i + 1 < n; i++) offer(b, &c, s, n, i);
    while (c.n_heap) {
        heap_item x = heap_pop(c.heap, &c.n_heap);
        size_t at = (size_t)x.at, right = (size_t)c.next[at];
        /* Out of date when either side has changed since; a dead symbol is -1. */
        if (c.word[at] != x.left || right >= n || c.word[right] != x.right) continue;
        c.word[at] = x.to;
        c.word[right] = -1;
        c.next[at] = c.next[right];
        if ((size_t)c.next[at] < n) c.prev[c.next[at]] = x.at;
        if (c.prev[at] >= 0) offer(b, &c, s, n, (size_t)c.prev[at]);
        offer(b, &c, s, n, at);
    }
    size_t n_word = 0;
    for (size_t i = 0; i < n; i = (size_t)c.next[i]) c.word[n_word++] = c.word[i];
    return n_word;
}

void mz_bpe_scratch_done(mz_bpe_scratch *s)
{
    mz_free(s->word);
    mz_free(s->heap);
    *s = (mz_bpe_scratch){0};
}

mz_status mz_bpe_merge(const mz_bpe *b, mz_bpe_scratch *scratch, const char *s, size_t n, size_t *n_word, mz_err *err)
{
    mz_status st = MZ_OK;
    if (n > MAX_PIECE)
        MZ_FAIL(MZ_ELIMIT, err, "one word of the text has %zu bytes; the tokenizer takes words up to %zu bytes", n, MAX_PIECE);
    size_t need = 3 * n + SHORT_WORD;
    if (scratch->cap < need) {
        int32_t *word = mz_realloc(scratch->word, need, sizeof *word);
        if (!word) MZ_FAIL(MZ_ENOMEM, err, "no memory to tokenize a word of %zu bytes", n);
        scratch->word = word;
        scratch->cap = need;
    }
    if (n <= SHORT_WORD) {
        *n_word = merge_short(b, s, n, scratch->word);
        return MZ_OK;
    }
    /* n - 1 offers at first; each merge takes one away and makes at most two. */
    if (scratch->cap_heap < 2 * n) {
        void *heap = mz_realloc(scratch->heap, 2 * n, sizeof(heap_item));
        if (!heap) MZ_FAIL(MZ_ENOMEM, err, "no memory to tokenize a word of %zu bytes", n);
        scratch->heap = heap;
        scratch->cap_heap = 2 * n;
    }
    *n_word = merge_long(b, scratch, s, n);
out:
    return st;
}

/* GPT-2 writes the bytes 21-7E, A1-AC, AE-FF as the characters of the same number and the other 68, in
 * order, as U+0100 onwards. */
static int32_t byte_of(int32_t cp)
{
    if ((cp >= 0x21 && cp <= 0x7E) || (cp >= 0xA1 && cp <= 0xAC) || (cp >= 0xAE && cp <= 0xFF)) return cp;
    if (cp < 0x100 || cp > 0x143) return -1;
    cp -= 0x100;
    if (cp <= 0x20) return cp;
    if (cp <= 0x42) return cp - 0x21 + 0x7F;
    return 0xAD;
}

bool mz_bpe_unspell(const char *text, size_t n, char *out, size_t *n_out)
{
    size_t o = 0;
    for (size_t i = 0; i < n;) {
        int32_t cp, c;
        i += mz_utf8_decode(text + i, n - i, &cp);
        c = byte_of(cp);
        if (c < 0) return false;
        out[o++] = (char)c;
    }
    *n_out = o;
    return true;
}
