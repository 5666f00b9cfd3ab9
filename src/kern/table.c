/* SPDX-License-Identifier: Apache-2.0
 *
 * table.c: the kernel sets compiled in, which of them this processor runs, and choosing one by name. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "kern/kern.h"

#define MAX_SETS 8

/* The once-filled table: the only mutable globals of the library's numeric code. */
static mz_kern built[MAX_SETS];
static const mz_kern *sets[MAX_SETS];
static int n_sets;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void)
{
    sets[n_sets++] = &mz_kern_ref;
#if defined(__x86_64__)
    built[n_sets] = mz_kern_ref;
    mz_kern_init_avx2(&built[n_sets]);
    sets[n_sets] = &built[n_sets];
    n_sets++;
#endif
}

#if defined(__x86_64__)
static bool runs_avx2(void)
{
    /* __builtin_cpu_supports also asks the system whether it saves the wide registers; clang 14 does not know
     * the name "f16c", which is bit 29 of ecx of leaf 1. */
    unsigned a, b, c, d;
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __get_cpuid(1, &a, &b, &c, &d) && (c >> 29 & 1);
}
#endif

const mz_kern *const *mz_kern_list(int *n)
{
    (void)pthread_once(&once, fill);
    *n = n_sets;
    return sets;
}

bool mz_kern_runs(const mz_kern *k)
{
#if defined(__x86_64__)
    if (strcmp(k->name, "avx2") == 0) return runs_avx2();
#endif
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
