/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/fma_peak.h"

#include <stdatomic.h>
#include <time.h>

#define CHAINS  12
#define TRIES   7
#define N_ROUND 200000

/* The instruction is spelled out: the build forbids contraction, so no expression becomes one. The processors without it
 * multiply and add, which is what float kernels for them do. The chains are twelve variables, for compilers keep an array in memory. */
#define CHAIN_BODY(type, step)                                                                           \
    type a = {0}, b = {0};                                                                               \
    a += 0.999f;                                                                                         \
    b += 0.001f;                                                                                         \
    type x0 = b, x1 = b, x2 = b, x3 = b, x4 = b, x5 = b, x6 = b, x7 = b, x8 = b, x9 = b, xa = b, xb = b; \
    for (int r = 0; r < N_ROUND; r++) {                                                                  \
        step(x0);                                                                                        \
        step(x1);                                                                                        \
        step(x2);                                                                                        \
        step(x3);                                                                                        \
        step(x4);                                                                                        \
        step(x5);                                                                                        \
        step(x6);                                                                                        \
        step(x7);                                                                                        \
        step(x8);                                                                                        \
        step(x9);                                                                                        \
        step(xa);                                                                                        \
        step(xb);                                                                                        \
    }                                                                                                    \
    x0 += x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + xa + xb;                                          \
    return x0[0]

typedef float f32x4 __attribute__((vector_size(16)));

#if defined(__x86_64__)
#define FMA_16(acc) __asm__ volatile("vfmadd132ps %1, %2, %0" : "+v"(acc) : "v"(a), "v"(b))
#define FMA_8(acc)  __asm__ volatile("vfmadd132ps %1, %2, %0" : "+x"(acc) : "x"(a), "x"(b))
typedef float f32x8 __attribute__((vector_size(32)));
typedef float f32x16 __attribute__((vector_size(64)));

__attribute__((target("avx512f"))) static float chains_16(void)
{
    CHAIN_BODY(f32x16, FMA_16);
}

__attribute__((target("avx2,fma"))) static float chains_8(void)
{
    CHAIN_BODY(f32x8, FMA_8);
}
#endif

#if defined(__aarch64__)
#define FMA_4(acc) __asm__ volatile("fmla %0.4s, %1.4s, %2.4s" : "+w"(acc) : "w"(a), "w"(b))
#else
#define FMA_4(acc) acc = acc * a + b
#endif

static float chains_4(void)
{
    CHAIN_BODY(f32x4, FMA_4);
}

typedef struct peak_job {
    float (*chains)(void);
    _Atomic float seen; /* keeps the work from being left out */
} peak_job;

static void run_chains(void *arg, int i, int n_member)
{
    peak_job *j = arg;
    (void)i, (void)n_member;
    atomic_store_explicit(&j->seen, j->chains(), memory_order_relaxed);
}

static double now_s(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

double mz_fma_peak_measure(mz_team *team)
{
    peak_job job = {.chains = chains_4};
    int n_lane = 4;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        job.chains = chains_16;
        n_lane = 16;
    } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        job.chains = chains_8;
        n_lane = 8;
    }
#endif
    double ops = 2.0 * CHAINS * N_ROUND * n_lane * mz_team_size(team), best = 0;
    for (int t = -1; t < TRIES; t++) { /* the first wakes the vector units and is not counted */
        double t0 = now_s();
        mz_team_run(team, run_chains, &job);
        double rate = ops / (now_s() - t0);
        if (t >= 0 && rate > best) best = rate;
    }
    return best;
}
