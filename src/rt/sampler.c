/* SPDX-License-Identifier: Apache-2.0
 *
 * sampler.c: the filters of sample.h in their fixed order.
 *
 * Definitions the header leaves open:
 * - A logit that is NaN or infinite (after bias and penalties) takes no part.
 * - With temp > 0 the weight of a token is exp((logit - highest) / temp), in f32 with the exp of base/fmath.h; sums are f64.
 * - Order of tokens: higher logit first, then lower id. top-p keeps the token that crosses p. The first token is always kept.
 * - The draw takes u = mz_rng_uniform(seed, i_out) and walks the kept tokens until their weights exceed u * sum: best first
 *   when top-k or top-p is on, by ascending id otherwise. */
#include <math.h>
#include <string.h>

#include <mizan/sample.h>

#include "base/err.h"
#include "base/fmath.h"
#include "base/mem.h"
#include "base/rng.h"

struct mz_sampler {
    mz_sample_options o; /* o.bias points at our copy */
    mz_logit_bias *bias;
    int32_t n_vocab;
    float *logit;          /* [n_vocab] after bias and penalties */
    float *weight;         /* [n_vocab] of cand[i], or of token i when nothing is sorted */
    int32_t *cand;         /* [n_vocab] heap, then the chosen ones */
    uint32_t *n_in_window; /* [n_vocab] occurrences that repetition sees */
    uint32_t *n_generated; /* [n_vocab] */
    int32_t *window;       /* [repeat_last_n] ring; NULL when all tokens count */
    size_t window_len, window_at;
};

mz_sample_options mz_sample_options_default(void)
{
    return (mz_sample_options){.temp = 0.8f, .top_k = 40, .top_p = 0.95f, .min_p = 0.05f, .repeat_penalty = 1, .repeat_last_n = 64};
}

static mz_status check_options(const mz_sample_options *o, int32_t n_vocab, mz_err *err)
{
    mz_status st = MZ_OK;
    if (n_vocab < 1) MZ_FAIL(MZ_EINVAL, err, "a vocabulary of %d tokens cannot be sampled from", n_vocab);
    /* Written so that NaN fails too. */
    if (!(o->temp >= 0 && o->temp <= 1e6f)) MZ_FAIL(MZ_EINVAL, err, "temp is %g, expected 0 to 1e6", (double)o->temp);
    if (o->top_k < 0) MZ_FAIL(MZ_EINVAL, err, "top_k is %d, expected 0 (off) or more", o->top_k);
    if (!(o->top_p >= 0 && o->top_p <= 1)) MZ_FAIL(MZ_EINVAL, err, "top_p is %g, expected 0 to 1", (double)o->top_p);
    if (!(o->min_p >= 0 && o->min_p <= 1)) MZ_FAIL(MZ_EINVAL, err, "min_p is %g, expected 0 to 1", (double)o->min_p);
    if (!(o->repeat_penalty >= 1e-6f && o->repeat_penalty <= 1e6f))
        MZ_FAIL(MZ_EINVAL, err, "repeat_penalty is %g, expected 1e-6 to 1e6 (1 is off)", (double)o->repeat_penalty);
    if (o->repeat_last_n < -1 || o->repeat_last_n > 1 << 24)
        MZ_FAIL(MZ_EINVAL, err, "repeat_last_n is %d, expected -1 (all) to %d", o->repeat_last_n, 1 << 24);
    if (!(fabsf(o->presence_penalty) <= 1e6f) || !(fabsf(o->frequency_penalty) <= 1e6f))
        MZ_FAIL(MZ_EINVAL, err, "presence and frequency penalty are %g and %g, expected -1e6 to 1e6", (double)o->presence_penalty,
                (double)o->frequency_penalty);
    for (size_t i = 0; i < o->n_bias; i++) {
        if (o->bias[i].id < 0 || o->bias[i].id >= n_vocab)
            MZ_FAIL(MZ_EINVAL, err, "logit bias names token %d, the vocabulary has 0 to %d", o->bias[i].id, n_vocab - 1);
        if (!(fabsf(o->bias[i].value) <= 1e6f) && o->bias[i].value != -INFINITY)
            MZ_FAIL(MZ_EINVAL, err, "logit bias of token %d is %g, expected -1e6 to 1e6 or -infinity", o->bias[i].id,
                    (double)o->bias[i].value);
    }
out:
    return st;
}

mz_status mz_sampler_create(const mz_sample_options *o, int32_t n_vocab, mz_sampler **out, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_sampler *s = NULL;
    *out = NULL;
    MZ_TRY(check_options(o, n_vocab, err));
    s = mz_calloc(1, sizeof *s);
    if (!s) MZ_FAIL(MZ_ENOMEM, err, "out of memory for a sampler");
    s->o = *o;
    s->n_vocab = n_vocab;
    size_t n = (size_t)n_vocab;
    s->bias = mz_calloc(o->n_bias, sizeof *s->bias);
    s->logit = mz_calloc(n, sizeof *s->logit);
    s->weight = mz_calloc(n, sizeof *s->weight);
    s->cand = mz_calloc(n, sizeof *s->cand);
    s->n_in_window = mz_calloc(n, sizeof *s->n_in_window);
    s->n_generated = mz_calloc(n, sizeof *s->n_generated);
    if (o->repeat_last_n > 0) s->window = mz_calloc((size_t)o->repeat_last_n, sizeof *s->window);
    if (!s->bias || !s->logit || !s->weight || !s->cand || !s->n_in_window || !s->n_generated || (o->repeat_last_n > 0 && !s->window))
        MZ_FAIL(MZ_ENOMEM, err, "out of memory for a sampler of %d tokens", n_vocab);
    if (o->n_bias) memcpy(s->bias, o->bias, o->n_bias * sizeof *s->bias);
    s->o.bias = s->bias;
    *out = s;
    s = NULL;
out:
    mz_sampler_free(s);
    return st;
}

void mz_sampler_free(mz_sampler *s)
{
    if (!s) return;
    mz_free(s->bias);
    mz_free(s->logit);
    mz_free(s->weight);
    mz_free(s->cand);
    mz_free(s->n_in_window);
    mz_free(s->n_generated);
    mz_free(s->window);
    mz_free(s);
}

static void remember(mz_sampler *s, int32_t id)
{
    if (s->o.repeat_last_n == 0) return;
    if (s->window) {
        size_t size = (size_t)s->o.repeat_last_n;
        if (s->window_len == size)
            s->n_in_window[s->window[s->window_at]]--;
        else
            s->window_len++;
        s->window[s->window_at] = id;
        s->window_at = (s->window_at + 1) % size;
    }
    s->n_in_window[id]++;
}

mz_status mz_sampler_prime(mz_sampler *s, const int32_t *ids, size_t n, mz_err *err)
{
    mz_status st = MZ_OK;
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= s->n_vocab)
            MZ_FAIL(MZ_EINVAL, err, "token %zu is %d, the vocabulary has 0 to %d", i, ids[i], s->n_vocab - 1);
    for (size_t i = 0; i < n; i++) remember(s, ids[i]);
out:
    return st;
}

static void apply_penalties(mz_sampler *s, const float *logits)
{
    float *x = s->logit;
    memcpy(x, logits, (size_t)s->n_vocab * sizeof *x);
    for (size_t i = 0; i < s->o.n_bias; i++) x[s->bias[i].id] += s->bias[i].value;
    float r = s->o.repeat_penalty, p = s->o.presence_penalty, f = s->o.frequency_penalty;
    if (r != 1)
        for (int32_t i = 0; i < s->n_vocab; i++)
            if (s->n_in_window[i]) x[i] = x[i] > 0 ? x[i] / r : x[i] * r;
    if (p != 0 || f != 0)
        for (int32_t i = 0; i < s->n_vocab; i++)
            if (s->n_generated[i]) x[i] -= (float)s->n_generated[i] * f + p;
}

/* True when token a comes before token b. */
static inline bool before(const float *x, int32_t a, int32_t b)
{
    return x[a] > x[b] || (x[a] == x[b] && a < b);
}

/* Heaps of tokens: with `last` the root is the one that comes last, else the one that comes first. */
static void sift_down(const float *x, int32_t *heap, size_t n, size_t i, bool last)
{
    int32_t id = heap[i];
    for (;;) {
        size_t c = 2 * i + 1;
        if (c >= n) break;
        if (c + 1 < n && before(x, heap[c + 1], heap[c]) != last) c++;
        if (before(x, heap[c], id) == last) break;
        heap[i] = heap[c];
        i = c;
    }
    heap[i] = id;
}

/* The first k of the finite logits, sorted, in cand; returns how many. */
static size_t take_top_k(mz_sampler *s, size_t k)
{
    const float *x = s->logit;
    int32_t *heap = s->cand;
    size_t n = 0;
    for (int32_t id = 0; id < s->n_vocab; id++) {
        if (!isfinite(x[id])) continue;
        if (n < k) {
            heap[n++] = id;
            if (n == k)
                for (size_t i = n / 2; i-- > 0;) sift_down(x, heap, n, i, true);
        } else if (before(x, id, heap[0])) {
            heap[0] = id;
            sift_down(x, heap, n, 0, true);
        }
    }
    if (n < k)
        for (size_t i = n / 2; i-- > 0;) sift_down(x, heap, n, i, true);
    for (size_t m = n; m > 1; m--) { /* the root comes last: swap it to the end */
        int32_t id = heap[0];
        heap[0] = heap[m - 1];
        heap[m - 1] = id;
        sift_down(x, heap, m - 1, 0, true);
    }
    return n;
}

static int32_t first_token(const mz_sampler *s)
{
    int32_t best = -1;
    for (int32_t id = 0; id < s->n_vocab; id++)
        if (isfinite(s->logit[id]) && (best < 0 || s->logit[id] > s->logit[best])) best = id;
    return best;
}

/* Weight of logit x; u is exactly 1 for the highest. The difference comes first, so that a tiny temperature cannot overflow. */
static inline float weight_of(const mz_sampler *s, float x, float highest)
{
    return mz_expf((x - highest) / s->o.temp);
}

/* min-p and the draw over n tokens whose weights are in s->weight; the index of the drawn one. */
static size_t draw(const mz_sampler *s, size_t n, uint64_t i_out)
{
    const float *w = s->weight;
    double sum = 0, at = 0;
    size_t drawn = 0;
    float least = s->o.min_p;
    for (size_t i = 0; i < n; i++)
        if (w[i] >= least) sum += (double)w[i];
    double goal = mz_rng_uniform(s->o.seed, i_out) * sum;
    for (size_t i = 0; i < n; i++) {
        if (w[i] < least || w[i] == 0) continue;
        drawn = i; /* the last one with weight, should rounding keep the sum below the goal */
        at += (double)w[i];
        if (at > goal) break;
    }
    return drawn;
}

/* Sorted tokens: top-k, then top-p. */
static int32_t pick_sorted(mz_sampler *s, size_t k, uint64_t i_out)
{
    size_t n = take_top_k(s, k), kept = 0;
    float highest = s->logit[s->cand[0]];
    double sum = 0, reached = 0;
    for (size_t i = 0; i < n; i++) {
        s->weight[i] = weight_of(s, s->logit[s->cand[i]], highest);
        sum += (double)s->weight[i];
    }
    if (s->o.top_p < 1) do
            reached += (double)s->weight[kept++];
        while (kept < n && reached < (double)s->o.top_p * sum);
    else
        kept = n;
    return s->cand[draw(s, kept, i_out)];
}

/* All tokens take part in the softmax, but top-p usually keeps few of them: tokens leave a heap in order until p is
 * reached, which spares sorting the whole vocabulary. */
static int32_t pick_top_p(mz_sampler *s, float highest, uint64_t i_out)
{
    const float *x = s->logit;
    int32_t *heap = s->cand;
    size_t n = 0, kept = 0;
    double sum = 0, reached = 0;
    for (int32_t id = 0; id < s->n_vocab; id++)
        if (isfinite(x[id])) {
            heap[n++] = id;
            sum += (double)weight_of(s, x[id], highest);
        }
    for (size_t i = n / 2; i-- > 0;) sift_down(x, heap, n, i, false);
    size_t left = n;
    do { /* the kept tokens gather at the end of the array, the best one last */
        int32_t id = heap[0];
        heap[0] = heap[--left];
        if (left) sift_down(x, heap, left, 0, false);
        heap[left] = id;
        s->weight[kept] = weight_of(s, x[id], highest);
        reached += (double)s->weight[kept++];
    } while (left && reached < (double)s->o.top_p * sum);
    return heap[n - 1 - draw(s, kept, i_out)];
}

static int32_t pick_all(mz_sampler *s, float highest, uint64_t i_out)
{
    for (int32_t id = 0; id < s->n_vocab; id++) s->weight[id] = isfinite(s->logit[id]) ? weight_of(s, s->logit[id], highest) : 0;
    return (int32_t)draw(s, (size_t)s->n_vocab, i_out);
}

mz_status mz_sampler_pick(mz_sampler *s, const float *logits, uint64_t i_out, int32_t *id, mz_err *err)
{
    mz_status st = MZ_OK;
    if (!logits) MZ_FAIL(MZ_EINVAL, err, "there are no logits to pick from; hold at least one token first");
    apply_penalties(s, logits);
    int32_t first = first_token(s), picked;
    if (first < 0)
        MZ_FAIL(MZ_ERANGE, err, "none of the %d logits is finite after bias and penalties, so no token can be picked", s->n_vocab);
    float highest = s->logit[first];
    if (s->o.temp == 0)
        picked = first;
    else if (s->o.top_k > 0 && s->o.top_k < s->n_vocab)
        picked = pick_sorted(s, (size_t)s->o.top_k, i_out);
    else if (s->o.top_p < 1)
        picked = pick_top_p(s, highest, i_out);
    else
        picked = pick_all(s, highest, i_out);
    remember(s, picked);
    s->n_generated[picked]++;
    *id = picked;
out:
    return st;
}

/* ---- log probabilities ------------------------------------------------------------------------ */

/* NaN comes last, as in every top-k of mizan. */
static bool logit_before(float a, int32_t id_a, float b, int32_t id_b)
{
    if (isnan(a) || isnan(b)) return isnan(a) == isnan(b) ? id_a < id_b : isnan(b);
    return a > b || (a == b && id_a < id_b);
}

void mz_logprobs(const float *logits, int32_t n_vocab, int32_t id, double *logprob, int32_t k, int32_t *top_ids, double *top_logprobs)
{
    float highest = -INFINITY;
    double sum = 0;
    int32_t n_top = 0;
    for (int32_t i = 0; i < n_vocab; i++)
        if (logits[i] > highest) highest = logits[i];
    for (int32_t i = 0; i < n_vocab; i++) sum += mz_exp((double)logits[i] - (double)highest);
    double log_sum = (double)highest + mz_log(sum);
    *logprob = id >= 0 && id < n_vocab ? (double)logits[id] - log_sum : (double)NAN;
    for (int32_t i = 0; i < n_vocab; i++) { /* insertion keeps the k best sorted; k is small */
        int32_t at = n_top < k ? n_top : k;
        while (at > 0 && logit_before(logits[i], i, logits[top_ids[at - 1]], top_ids[at - 1])) at--;
        if (at >= k) continue;
        if (n_top < k) n_top++;
        memmove(top_ids + at + 1, top_ids + at, (size_t)(n_top - 1 - at) * sizeof *top_ids);
        top_ids[at] = i;
    }
    for (int32_t i = 0; i < k; i++) {
        if (i >= n_top) top_ids[i] = -1;
        top_logprobs[i] = i < n_top ? (double)logits[top_ids[i]] - log_sum : -INFINITY;
    }
}
