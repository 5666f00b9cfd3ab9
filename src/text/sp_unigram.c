/* SPDX-License-Identifier: Apache-2.0 */
#include "sp_unigram.h"

#include <float.h>

#define UNKNOWN_PENALTY 10.0f
/* Past this sums start from 0 again: floats would no longer tell pieces apart in a long text. */
#define RESET_AT 100000.0f

static bool in_lattice(const mz_sp *sp, int32_t id)
{
    return sp->kind[id] == MZ_TOKEN_NORMAL || sp->kind[id] == MZ_TOKEN_USER;
}

mz_status mz_sp_unigram_prepare(mz_sp *sp, const mz_str *bytes, int32_t n_vocab, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t total = 0;
    sp->min_score = FLT_MAX;
    for (int32_t id = 0; id < n_vocab; id++) {
        if (in_lattice(sp, id)) total += bytes[id].n;
        if (sp->kind[id] != MZ_TOKEN_NORMAL) continue;
        if (sp->score[id] < sp->min_score) sp->min_score = sp->score[id];
    }
    MZ_TRY(mz_sp_trie_init(&sp->trie, total, err));
    for (int32_t id = 0; id < n_vocab; id++) {
        if (sp->kind[id] == MZ_TOKEN_NORMAL) mz_sp_trie_put(&sp->trie, bytes[id], id);
    }
    for (size_t i = 0; i < sp->user.n; i++) mz_sp_trie_put(&sp->trie, sp->user.form[i].s, sp->user.form[i].id);
out:
    return st;
}

/* The best way to a place: its score, where its last piece starts (-1: none yet), and that piece (-1: an unknown character). */
typedef struct node {
    float score;
    int32_t from, id;
} node;

static void offer(node *to, float score, size_t from, int32_t id)
{
    if (to->from == -1 || score > to->score) *to = (node){score, (int32_t)from, id};
}

/* User-defined pieces win against everything but longer ones. */
static float score_of(const mz_sp *sp, int32_t id, size_t n_bytes)
{
    return sp->kind[id] == MZ_TOKEN_USER ? (float)(0.1 * (double)(n_bytes - 1)) : sp->score[id];
}

static void forward(const mz_sp *sp, const char *text, size_t n, const size_t *guard, size_t n_guard, node *best)
{
    const float unknown = sp->min_score - UNKNOWN_PENALTY;
    size_t i_guard = 0, len, frontier = 0;
    for (size_t at = 0; at < n; at += len) {
        float so_far = best[at].score;
        bool whole_char = false;
        if (so_far < -RESET_AT || so_far > RESET_AT) {
            for (size_t i = at; i <= frontier; i++) best[i].score -= so_far;
            so_far = 0;
        }
        len = mz_sp_char_len(text[at]);
        if (len > n - at) len = n - at;
        while (i_guard < n_guard && guard[i_guard] < at) i_guard++;
        bool guarded = i_guard < n_guard && guard[i_guard] == at;
        uint32_t k = 0;
        for (size_t i = at; i < n; i++) {
            if ((k = mz_sp_trie_step(&sp->trie, k, (unsigned char)text[i])) == 0) break;
            int32_t id = sp->trie.id[k];
            if (id < 0 || (guarded && sp->kind[id] == MZ_TOKEN_USER)) continue;
            if (i + 1 > frontier) frontier = i + 1;
            offer(&best[i + 1], score_of(sp, id, i + 1 - at) + so_far, at, id);
            whole_char = whole_char || i + 1 - at == len;
        }
        if (whole_char) continue;
        if (at + len > frontier) frontier = at + len;
        offer(&best[at + len], unknown + so_far, at, -1);
    }
}

mz_status mz_sp_unigram(const mz_sp *sp, const char *text, size_t n, const size_t *guard, size_t n_guard, mz_sp_emit emit, void *user,
                        mz_err *err)
{
    mz_status st = MZ_OK;
    node *best = NULL;
    if (n == 0) return MZ_OK;
    if (n > MZ_SP_MAX_BYTES)
        MZ_FAIL(MZ_ELIMIT, err, "the text has %zu bytes; a unigram tokenizer takes up to %zu at once", n, MZ_SP_MAX_BYTES);
    if (!(best = mz_calloc(n + 1, sizeof *best))) MZ_FAIL(MZ_ENOMEM, err, "no memory to tokenize a text of %zu bytes", n);
    for (size_t i = 0; i <= n; i++) best[i].from = -1;
    forward(sp, text, n, guard, n_guard, best);
    /* Turn the links round: from each end to the next one. */
    int32_t next = -1;
    for (int32_t end = (int32_t)n; end > 0;) {
        int32_t from = best[end].from;
        best[end].from = next;
        next = end;
        end = from;
    }
    for (int32_t at = 0, end = next; end >= 0; at = end, end = best[end].from)
        MZ_TRY(emit(user, best[end].id, (mz_str){text + at, (size_t)(end - at)}, err));
out:
    mz_free(best);
    return st;
}
