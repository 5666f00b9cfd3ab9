/* SPDX-License-Identifier: Apache-2.0
 *
 * table.c: the kernel sets compiled in, which of them this processor runs, and choosing one by name. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "kern/kern.h"

/* A set that starts from the reference, and whether this processor runs it. Its init function is compiled for the set's
 * instructions too, so it may be called only where they run. */
typedef struct offer {
    const char *name;
    void (*init)(mz_kern *k);
    bool (*runs)(void);
} offer;

#if defined(__x86_64__)
/* __builtin_cpu_supports also asks the system whether it saves the wide registers; clang 14 does not know the name
 * "f16c", which is bit 29 of ecx of leaf 1. */
static bool runs_avx2(void)
{
    unsigned a, b, c, d;
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __get_cpuid(1, &a, &b, &c, &d) && (c >> 29 & 1);
}
#ifdef MZ_EMULATED
/* A test's build: the AVX-512 files speak AVX2 there (tests/kern/emulated_avx512.h). */
#define runs_avx512     runs_avx2
#define runs_avx512vnni runs_avx2
#else
static bool runs_avx512(void)
{
    return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
static bool runs_avx512vnni(void)
{
    return runs_avx512() && __builtin_cpu_supports("avx512vnni");
}
#endif
static const offer offers[] = {
    {"avx2", mz_kern_init_avx2, runs_avx2}, {"avx512", mz_avx512_init, runs_avx512}, {"avx512vnni", mz_avx512vnni_init, runs_avx512vnni}};
#elif defined(__aarch64__)
static bool runs_neon_dot(void)
{
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
}
static bool runs_neon_i8mm(void)
{
    return runs_neon_dot() && (getauxval(AT_HWCAP2) & HWCAP2_I8MM);
}
static const offer offers[] = {{"neon_dot", mz_neon_dot_init, runs_neon_dot}, {"neon_i8mm", mz_neon_i8mm_init, runs_neon_i8mm}};
#else
static const offer offers[1];
#endif
#define N_OFFERS ((int)(sizeof offers / sizeof *offers))

/* The once-filled table: the only mutable globals of the library's numeric code. */
static mz_kern built[N_OFFERS];
static const mz_kern *sets[1 + N_OFFERS];
static int n_sets;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void)
{
    sets[n_sets++] = &mz_kern_ref;
    for (int i = 0; i < N_OFFERS && offers[i].init; i++) {
        built[i] = mz_kern_ref;
        built[i].name = offers[i].name;
        if (offers[i].runs()) offers[i].init(&built[i]);
        sets[n_sets++] = &built[i];
    }
}

const mz_kern *const *mz_kern_list(int *n)
{
    (void)pthread_once(&once, fill);
    *n = n_sets;
    return sets;
}

bool mz_kern_runs(const mz_kern *k)
{
    for (int i = 0; i < N_OFFERS; i++)
        if (k == &built[i]) return offers[i].runs();
    return k == &mz_kern_ref;
}

mz_status mz_kern_get(const char *isa, const mz_kern **out, mz_err *err)
{
    mz_status st = MZ_OK;
    int n;
    const mz_kern *const *list = mz_kern_list(&n);
    *out = NULL;
    if (isa == NULL) {
        for (int i = n - 1; i >= 0 && *out == NULL; i--)
            if (mz_kern_runs(list[i])) *out = list[i];
        return MZ_OK; /* "ref" runs everywhere */
    }
    char names[128] = "";
    for (int i = 0; i < n; i++) {
        size_t used = strlen(names);
        (void)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", list[i]->name);
        if (strcmp(list[i]->name, isa) != 0) continue;
        if (!mz_kern_runs(list[i]))
            MZ_FAIL(MZ_ESUPPORT, err, "this processor cannot run the kernel set \"%s\"; leave the choice to mizan, or take \"ref\"", isa);
        *out = list[i];
    }
    if (*out == NULL) MZ_FAIL(MZ_EINVAL, err, "unknown kernel set \"%s\"; this build has: %s", isa, names);
out:
    return st;
}
