/* SPDX-License-Identifier: Apache-2.0
 *
 * ref_topk.c: the k largest values of a row in one total order, so that ties never depend on the method. */
#include "kern/ref/ref_common.h"

/* True when value a at index i_a goes before value b at index i_b. */
static bool before(float a, int32_t i_a, float b, int32_t i_b)
{
    bool nan_a = a != a, nan_b = b != b;
    if (nan_a != nan_b) return nan_b;
    if (!nan_a && a != b) return a > b;
    return i_a < i_b;
}

/* Restores heap order below the root: a parent never goes before its child, so the root is the worst kept. */
static void sift_down(const float *x, int32_t *ids, int64_t len)
{
    for (int64_t at = 0;;) {
        int64_t c = 2 * at + 1;
        if (c >= len) break;
        if (c + 1 < len && before(x[ids[c]], ids[c], x[ids[c + 1]], ids[c + 1])) c++;
        if (!before(x[ids[at]], ids[at], x[ids[c]], ids[c])) break;
        int32_t swap = ids[at];
        ids[at] = ids[c];
        ids[c] = swap;
        at = c;
    }
}

void mz_ref_top_k_begin(const float *x, int64_t k, int32_t *ids)
{
    for (int32_t i = 0; i < (int32_t)k; i++) {
        int64_t at = i;
        for (; at > 0 && before(x[ids[(at - 1) / 2]], ids[(at - 1) / 2], x[i], i); at = (at - 1) / 2) ids[at] = ids[(at - 1) / 2];
        ids[at] = i;
    }
}

void mz_ref_top_k_offer(const float *x, int64_t k, int32_t *ids, int32_t i)
{
    if (!before(x[i], i, x[ids[0]], ids[0])) return;
    ids[0] = i;
    sift_down(x, ids, k);
}

void mz_ref_top_k_end(const float *x, int64_t k, int32_t *ids)
{
    /* Taking the worst off the heap to the end, again and again, leaves the best first. */
    for (int64_t len = k; len > 1;) {
        int32_t worst = ids[0];
        ids[0] = ids[--len];
        ids[len] = worst;
        sift_down(x, ids, len);
    }
}

void mz_ref_top_k(const float *x, int64_t n, int64_t k, int32_t *ids)
{
    assert(k >= 0 && k <= n && n <= INT32_MAX);
    if (k == 0) return;
    mz_ref_top_k_begin(x, k, ids);
    for (int32_t i = (int32_t)k; i < (int32_t)n; i++) mz_ref_top_k_offer(x, k, ids, i);
    mz_ref_top_k_end(x, k, ids);
}
