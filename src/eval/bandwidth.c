/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/bandwidth.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define PASSES      9
#define LEAST_BYTES ((size_t)256 << 20)
#define HUGE_BYTES  ((size_t)2 << 20)
#define LINE        64   /* bytes */
#define AHEAD       2048 /* bytes asked for before they are read, as the kernels do */
#define STRIPE      ((size_t)4 << 20)

typedef uint64_t words __attribute__((vector_size(16))); /* every processor has these */

typedef struct read_job {
    uint8_t *data;
    size_t bytes; /* a multiple of STRIPE */
    bool fill;
    atomic_uint_fast64_t sum; /* keeps the reads from being optimised away */
} read_job;

static words sum_stripe(const uint8_t *p, size_t bytes)
{
    words s[4] = {{0}};
    for (size_t at = 0; at < bytes; at += LINE) {
        const words *w = (const words *)(const void *)(p + at);
        __builtin_prefetch(p + at + AHEAD); /* past the end it is only a hint */
        for (int u = 0; u < 4; u++) s[u] += w[u];
    }
    return s[0] + s[1] + s[2] + s[3];
}

/* One stretch a member: the order in which hardware reads best, and no contest for a counter. */
static void read_share(void *arg, int i, int n_member)
{
    read_job *j = arg;
    size_t n = j->bytes / STRIPE, begin = n * (size_t)i / (size_t)n_member, end = n * ((size_t)i + 1) / (size_t)n_member;
    uint8_t *p = j->data + begin * STRIPE;
    if (j->fill) { /* pages come to the member that reads them */
        memset(p, 1, (end - begin) * STRIPE);
        return;
    }
    words s = sum_stripe(p, (end - begin) * STRIPE);
    atomic_fetch_add_explicit(&j->sum, s[0] + s[1], memory_order_relaxed);
}

static double now_s(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

mz_status mz_bandwidth_measure(mz_team *team, double *bytes_per_s, mz_err *err)
{
    long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE), pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t bytes = l3 > 0 ? (size_t)l3 * 4 : 0, most = pages > 0 && page > 0 ? (size_t)pages / 4 * (size_t)page : LEAST_BYTES;
    if (bytes < LEAST_BYTES) bytes = LEAST_BYTES;
    if (bytes > most) bytes = most;
    bytes &= ~(STRIPE - 1);
    if (bytes < STRIPE) bytes = STRIPE;
    uint8_t *block = mz_reserve(bytes + HUGE_BYTES);
    if (!block) return mz_err_set(err, MZ_ENOMEM, "%zu bytes to measure the memory's speed could not be had", bytes);
    read_job job = {.data = block + (HUGE_BYTES - (uintptr_t)block % HUGE_BYTES) % HUGE_BYTES, .bytes = bytes, .fill = true};
    (void)madvise(job.data, bytes, MADV_HUGEPAGE); /* as the weights are */
    mz_team_run(team, read_share, &job);
    job.fill = false;
    *bytes_per_s = 0;
    for (int i = 0; i < PASSES; i++) {
        double t0 = now_s();
        mz_team_run(team, read_share, &job);
        double rate = (double)bytes / (now_s() - t0);
        if (rate > *bytes_per_s) *bytes_per_s = rate;
    }
    mz_unreserve(block, bytes + HUGE_BYTES);
    return MZ_OK;
}
