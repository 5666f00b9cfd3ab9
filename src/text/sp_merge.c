/* SPDX-License-Identifier: Apache-2.0 */
#include "sp_merge.h"

#include <string.h>

/* Up to this many symbols a scan for the best pair beats a heap. */
#define SHORT_WORD 32

/* A symbol is text[at .. at + len); len 0: merged into its left neighbour. */
typedef struct mz_sp_symbol {
    uint32_t at, len;
    int32_t prev, next; /* -1: none */
    bool frozen;        /* a user-defined piece */
} symbol;

typedef struct mz_sp_offer {
    float score;
    int32_t left;
    uint32_t size; /* of both together: another size means the offer is out of date */
} offer;

enum { MEMO_BITS = 12, MEMO_WORD = 24, MEMO_IDS = 6 };
typedef struct mz_sp_word {
    uint8_t n, n_id; /* n 0: free */
    char s[MEMO_WORD];
    int32_t id[MEMO_IDS];
} word;

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xFF51AFD7ED558CCDu;
    return x ^ x >> 33;
}

/* A character as a number: its bytes. */
static uint32_t char_at(const char *s, size_t n, size_t *len)
{
    uint32_t c = 0;
    size_t l = mz_sp_char_len(*s);
    *len = l < n ? l : n;
    memcpy(&c, s, *len);
    return c;
}

static size_t pair_bit(uint32_t a, uint32_t b)
{
    return (size_t)(mix((uint64_t)a << 32 | b) & (((uint64_t)1 << MZ_SP_JOINT_BITS) - 1));
}

static bool is_joint(const mz_sp *sp, uint32_t a, uint32_t b)
{
    size_t bit = pair_bit(a, b);
    return sp->joint[bit / 64] >> (bit % 64) & 1;
}

/* True when s could be the last merge of two symbols: each part is one character or a piece. */
static bool reachable(const mz_sp *sp, mz_str s)
{
    size_t first, last;
    (void)char_at(s.s, s.n, &first);
    if (first == s.n) return false;
    for (size_t i = first; i < s.n; i += last) {
        (void)char_at(s.s + i, s.n - i, &last);
        bool left = i == first || mz_bpe_find(&sp->piece, s.s, i) >= 0;
        if (left && (i + last == s.n || mz_bpe_find(&sp->piece, s.s + i, s.n - i) >= 0)) return true;
    }
    return false;
}

mz_status mz_sp_merge_prepare(mz_sp *sp, mz_err *err)
{
    mz_status st = MZ_OK;
    sp->joint = mz_calloc(((size_t)1 << MZ_SP_JOINT_BITS) / 64, sizeof *sp->joint);
    if (!sp->joint) MZ_FAIL(MZ_ENOMEM, err, "no memory for the vocabulary's pieces");
    for (int32_t id = 0; id < sp->piece.n_vocab; id++) {
        mz_str s = sp->piece.sym[id];
        size_t len;
        if (!s.s) continue;
        uint32_t before = char_at(s.s, s.n, &len);
        for (size_t i = len; i < s.n; i += len) {
            uint32_t c = char_at(s.s + i, s.n - i, &len);
            size_t bit = pair_bit(before, c);
            sp->joint[bit / 64] |= (uint64_t)1 << (bit % 64);
            before = c;
        }
        if (sp->kind[id] == MZ_TOKEN_UNUSED && reachable(sp, s)) sp->resegments = true;
    }
out:
    return st;
}

void mz_sp_merger_done(mz_sp_merger *m)
{
    mz_free(m->sym);
    mz_free(m->heap);
    mz_free(m->split);
    mz_free(m->memo);
    *m = (mz_sp_merger){0};
}

static mz_status reserve(mz_sp_merger *m, size_t n_sym, mz_err *err)
{
    mz_status st = MZ_OK;
    if (m->cap_sym < n_sym) {
        size_t cap = n_sym + n_sym / 2 + SHORT_WORD;
        symbol *more = mz_realloc(m->sym, cap, sizeof *more);
        if (!more) MZ_FAIL(MZ_ENOMEM, err, "no memory to tokenize a word of %zu characters", n_sym);
        m->sym = more;
        m->cap_sym = cap;
    }
    /* n - 1 offers at first; each merge takes one away and makes at most two. */
    if (n_sym > SHORT_WORD && m->cap_heap < 2 * n_sym) {
        offer *more = mz_realloc(m->heap, 2 * n_sym, sizeof *more);
        if (!more) MZ_FAIL(MZ_ENOMEM, err, "no memory to tokenize a word of %zu characters", n_sym);
        m->heap = more;
        m->cap_heap = 2 * n_sym;
    }
out:
    return st;
}

/* Whether the symbols left and right merge; notes how an unused piece came about. */
static bool pair_score(const mz_sp *sp, mz_sp_merger *m, const char *text, int32_t left, int32_t right, float *score)
{
    if (left < 0 || right < 0 || m->sym[left].frozen || m->sym[right].frozen) return false;
    int32_t id = mz_bpe_find(&sp->piece, text + m->sym[left].at, (size_t)m->sym[left].len + m->sym[right].len);
    if (id < 0 || id >= sp->piece.n_vocab) return false;
    *score = sp->score[id];
    if (m->split && sp->kind[id] == MZ_TOKEN_UNUSED) m->split[id] = (int32_t)m->sym[left].len;
    return true;
}

static void join(mz_sp_merger *m, int32_t left, int32_t right)
{
    symbol *l = &m->sym[left], *r = &m->sym[right];
    l->len += r->len;
    l->next = r->next;
    if (r->next >= 0) m->sym[r->next].prev = left;
    r->len = 0;
}

/* What merging a symbol with the one behind it is worth is kept beside it; NONE where it does not merge. */
static void merge_short(const mz_sp *sp, mz_sp_merger *m, const char *text, size_t n)
{
    float score[SHORT_WORD];
    bool can[SHORT_WORD];
    for (size_t i = 0; i < n; i++) can[i] = pair_score(sp, m, text, (int32_t)i, m->sym[i].next, &score[i]);
    for (;;) {
        int32_t best = -1;
        for (int32_t i = 0; i >= 0; i = m->sym[i].next) {
            if (can[i] && (best < 0 || score[i] > score[best])) best = i;
        }
        if (best < 0) break;
        join(m, best, m->sym[best].next);
        int32_t prev = m->sym[best].prev;
        if (prev >= 0) can[prev] = pair_score(sp, m, text, prev, best, &score[prev]);
        can[best] = pair_score(sp, m, text, best, m->sym[best].next, &score[best]);
    }
}

static bool before(const offer *x, const offer *y)
{
    return x->score > y->score || (!(x->score < y->score) && x->left < y->left);
}

static void push(offer *h, size_t *n, offer x)
{
    size_t i = (*n)++;
    while (i > 0 && before(&x, &h[(i - 1) / 2])) {
        h[i] = h[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    h[i] = x;
}

static offer pop(offer *h, size_t *n)
{
    offer top = h[0], x = h[--*n];
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

static void make_offer(const mz_sp *sp, mz_sp_merger *m, const char *text, size_t *n_heap, int32_t left, int32_t right)
{
    offer x = {.left = left};
    if (!pair_score(sp, m, text, left, right, &x.score)) return;
    x.size = m->sym[left].len + m->sym[right].len;
    push(m->heap, n_heap, x);
}

static void merge_long(const mz_sp *sp, mz_sp_merger *m, const char *text, size_t n)
{
    size_t n_heap = 0;
    for (size_t i = 0; i + 1 < n; i++) make_offer(sp, m, text, &n_heap, (int32_t)i, (int32_t)i + 1);
    while (n_heap) {
        offer x = pop(m->heap, &n_heap);
        const symbol *l = &m->sym[x.left];
        if (l->len == 0 || l->next < 0 || l->len + m->sym[l->next].len != x.size) continue;
        join(m, x.left, l->next);
        make_offer(sp, m, text, &n_heap, l->prev, x.left);
        make_offer(sp, m, text, &n_heap, x.left, l->next);
    }
}

typedef struct sink {
    const mz_sp *sp;
    mz_sp_merger *m;
    mz_sp_emit emit;
    void *user;
} sink;

/* An unused piece comes apart into what it was last seen made of, again and again. */
static mz_status emit_symbol(const sink *k, const char *s, size_t n, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_buf todo = {0};
    mz_str x = {s, n};
    for (;;) {
        int32_t id = mz_bpe_find(&k->sp->piece, x.s, x.n), left;
        if (id >= k->sp->piece.n_vocab) id = -1;
        left = id >= 0 && k->m->split && k->sp->kind[id] == MZ_TOKEN_UNUSED ? k->m->split[id] : 0;
        if (left > 0) {
            mz_str right = {x.s + left, x.n - (size_t)left};
            if (!mz_buf_add(&todo, &right, sizeof right)) MZ_FAIL(MZ_ENOMEM, err, "no memory for the token ids");
            x.n = (size_t)left;
            continue;
        }
        MZ_TRY(k->emit(k->user, id, x, err));
        if (todo.len == 0) break;
        todo.len -= sizeof x;
        memcpy(&x, todo.data + todo.len, sizeof x);
    }
out:
    mz_buf_free(&todo);
    return st;
}

/* The user-defined piece at text + at, unless guarded; *i_guard only moves on. */
static int32_t user_piece(const mz_sp *sp, const char *text, size_t n, size_t at, const size_t *guard, size_t n_guard, size_t *i_guard,
                          size_t *len)
{
    unsigned char c = (unsigned char)text[at];
    if (sp->user.first[c] == sp->user.first[c + 1]) return -1;
    while (*i_guard < n_guard && guard[*i_guard] < at) ++*i_guard;
    if (*i_guard < n_guard && guard[*i_guard] == at) return -1;
    int32_t form = mz_special_match(&sp->user, text + at, n - at, len);
    return form < 0 ? -1 : sp->user.form[form].id;
}

static mz_status too_long(size_t n, mz_err *err)
{
    return mz_err_set(err, MZ_ELIMIT, "one word of the text has %zu bytes; the tokenizer takes words up to %zu bytes", n, MZ_SP_MAX_BYTES);
}

static mz_status merge_word(const sink *k, const char *s, size_t n, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_sp_merger *m = k->m;
    size_t n_sym = 0, len;
    if (n > MZ_SP_MAX_BYTES) return too_long(n, err);
    if (mz_sp_char_len(*s) >= n) return emit_symbol(k, s, n, err);
    MZ_TRY(reserve(m, n, err));
    for (size_t i = 0; i < n; i += len, n_sym++) {
        (void)char_at(s + i, n - i, &len);
        m->sym[n_sym] = (symbol){(uint32_t)i, (uint32_t)len, (int32_t)n_sym - 1, (int32_t)n_sym + 1, false};
    }
    m->sym[n_sym - 1].next = -1;
    if (n_sym <= SHORT_WORD)
        merge_short(k->sp, m, s, n_sym);
    else
        merge_long(k->sp, m, s, n_sym);
    for (int32_t i = 0; i >= 0; i = m->sym[i].next) MZ_TRY(emit_symbol(k, s + m->sym[i].at, m->sym[i].len, err));
out:
    return st;
}

/* Everything at once: how an unused piece comes apart may depend on another word. */
static mz_status merge_whole(const sink *k, const char *text, size_t n, const size_t *guard, size_t n_guard, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_sp_merger *m = k->m;
    size_t n_sym = 0, i_guard = 0, len;
    if (n > MZ_SP_MAX_BYTES) return too_long(n, err);
    if (!m->split && !(m->split = mz_calloc((size_t)k->sp->piece.n_vocab, sizeof *m->split)))
        MZ_FAIL(MZ_ENOMEM, err, "no memory to tokenize");
    memset(m->split, 0, (size_t)k->sp->piece.n_vocab * sizeof *m->split);
    MZ_TRY(reserve(m, n + SHORT_WORD, err)); /* so many that there is a heap */
    for (size_t i = 0; i < n; i += len, n_sym++) {
        bool frozen = user_piece(k->sp, text, n, i, guard, n_guard, &i_guard, &len) >= 0;
        if (!frozen) (void)char_at(text + i, n - i, &len);
        m->sym[n_sym] = (symbol){(uint32_t)i, (uint32_t)len, (int32_t)n_sym - 1, (int32_t)n_sym + 1, frozen};
    }
    m->sym[n_sym - 1].next = -1;
    merge_long(k->sp, m, text, n_sym);
    i_guard = 0;
    for (int32_t i = 0; i >= 0; i = m->sym[i].next) {
        const symbol *y = &m->sym[i];
        int32_t id = y->frozen ? user_piece(k->sp, text, n, y->at, guard, n_guard, &i_guard, &len) : -1;
        if (id >= 0) {
            MZ_TRY(k->emit(k->user, id, (mz_str){text + y->at, y->len}, err));
        } else {
            MZ_TRY(emit_symbol(k, text + y->at, y->len, err));
        }
    }
out:
    return st;
}

typedef struct recorder {
    const sink *k;
    word *w;
} recorder;

static mz_status record(void *user, int32_t id, mz_str s, mz_err *err)
{
    recorder *r = user;
    if (r->w->n_id < MEMO_IDS) r->w->id[r->w->n_id] = id;
    if (id < 0) r->w->n_id = MEMO_IDS; /* its characters are not kept */
    if (r->w->n_id <= MEMO_IDS) r->w->n_id++;
    return r->k->emit(r->k->user, id, s, err);
}

static mz_status merge_memo(const sink *k, const char *s, size_t n, mz_err *err)
{
    mz_status st = MZ_OK;
    uint64_t h = n, x = 0;
    if (n > MEMO_WORD || !k->m->use_memo) return merge_word(k, s, n, err);
    if (!k->m->memo && !(k->m->memo = mz_calloc((size_t)1 << MEMO_BITS, sizeof(word)))) MZ_FAIL(MZ_ENOMEM, err, "no memory to tokenize");
    for (size_t i = 0; i < n; i += sizeof x) {
        memcpy(&x, s + i, n - i < sizeof x ? n - i : sizeof x);
        h = mix(h ^ x) * 0x9E3779B97F4A7C15u;
    }
    word *w = &k->m->memo[h >> (64 - MEMO_BITS)];
    if (w->n == n && memcmp(w->s, s, n) == 0) {
        for (size_t i = 0; i < w->n_id; i++) MZ_TRY(k->emit(k->user, w->id[i], (mz_str){s, n}, err));
        return MZ_OK;
    }
    *w = (word){.n = (uint8_t)n};
    memcpy(w->s, s, n);
    recorder r = {k, w};
    sink rec = {k->sp, k->m, record, &r};
    st = merge_word(&rec, s, n, err);
    if (st != MZ_OK || w->n_id > MEMO_IDS) w->n = 0;
out:
    return st;
}

mz_status mz_sp_merge(const mz_sp *sp, mz_sp_merger *m, const char *text, size_t n, const size_t *guard, size_t n_guard, mz_sp_emit emit,
                      void *user, mz_err *err)
{
    mz_status st = MZ_OK;
    sink k = {sp, m, emit, user};
    size_t from = 0, i_guard = 0, len;
    uint32_t last = 0;
    if (n == 0) return MZ_OK;
    if (sp->resegments) return merge_whole(&k, text, n, guard, n_guard, err);
    for (size_t i = 0; i < n; i += len) {
        int32_t id = user_piece(sp, text, n, i, guard, n_guard, &i_guard, &len);
        uint32_t c = id < 0 ? char_at(text + i, n - i, &len) : 0;
        bool cut = id >= 0 || !is_joint(sp, last, c);
        if (cut && i > from) {
            MZ_TRY(merge_memo(&k, text + from, i - from, err));
            from = i;
        }
        last = c;
        if (id >= 0) {
            MZ_TRY(emit(user, id, (mz_str){text + i, len}, err));
            from = i + len;
        }
    }
    if (n > from) MZ_TRY(merge_memo(&k, text + from, n - from, err));
out:
    return st;
}
