/* SPDX-License-Identifier: Apache-2.0
 * The table of families, and the steps every family shares around its build. */
#include <stdio.h>
#include <string.h>

#include "model/bind.h"

static const mz_family family_table[] = {
    {"gemma2", mz_family_gemma2}, {"gemma3", mz_family_gemma3}, {"llama", mz_family_llama},
    {"qwen2", mz_family_qwen2},   {"qwen3", mz_family_qwen3},   {"smollm3", mz_family_smollm3},
};

#define N_FAMILY (sizeof family_table / sizeof family_table[0])

/* All tensors must have been used: a weight passed over in silence gives a wrong model. */
static mz_status check_all_used(const mz_bind *b)
{
    for (uint64_t i = 0; i < b->g->n_tensor; i++)
        if (!b->used[i])
            return mz_err_set(b->err, MZ_ESUPPORT,
                              "tensor %s is not part of family %s as mizan knows it, so the model would not be run as meant",
                              b->g->tensor[i].name, b->arch);
    return MZ_OK;
}

static const mz_family *find_family(const mz_gguf *g, char arch[64], mz_err *err)
{
    mz_str s = {0};
    if (mz_gguf_get_str(g, "general.architecture", true, &s, err) != MZ_OK) return NULL;
    if (s.n >= 64) s.n = 63;
    memcpy(arch, s.s, s.n);
    arch[s.n] = '\0';
    for (size_t i = 0; i < N_FAMILY; i++)
        if (strcmp(family_table[i].arch, arch) == 0) return &family_table[i];
    char known[160] = "";
    size_t at = 0;
    for (size_t i = 0; i < N_FAMILY && at < sizeof known; i++)
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", family_table[i].arch);
    (void)mz_err_set(err, MZ_ESUPPORT, "architecture '%s' is not known; mizan runs: %s", arch, known);
    return NULL;
}

static void count_params(mz_model *m, const mz_gguf *g)
{
    for (uint64_t i = 0; i < g->n_tensor; i++) m->n_param += g->tensor[i].n_elem;
    m->n_param_active = m->n_param;
}

mz_status mz_model_build(const mz_gguf *g, bool taps, mz_model **out, mz_err *err)
{
    mz_status st = MZ_OK;
    char arch[64];
    mz_model *m = NULL;
    mz_bind b = {.g = g, .arch = arch, .err = err};
    *out = NULL;
    const mz_family *f = find_family(g, arch, err);
    if (!f) {
        st = err && err->status != MZ_OK ? err->status : MZ_EFORMAT;
        goto out;
    }
    m = mz_calloc(1, sizeof *m);
    b.used = mz_calloc(g->n_tensor + 1, sizeof *b.used);
    if (m) m->prog = mz_prog_create(taps);
    if (!m || !b.used || !m->prog) MZ_FAIL(MZ_ENOMEM, err, "out of memory while building the model");
    b.m = m;
    b.p = m->prog;
    m->family = f->arch;
    MZ_TRY(f->build(&b));
    /* Builders go quiet then, and a weight they could not add would look like one they do not know. */
    if (m->prog->out_of_memory) MZ_FAIL(MZ_ENOMEM, err, "out of memory while building the model");
    MZ_TRY(check_all_used(&b));
    MZ_TRY(mz_prog_check(m->prog, err));
    count_params(m, g);
    *out = m;
    m = NULL;
out:
    mz_free(b.used);
    mz_model_free(m);
    return st;
}

void mz_model_free(mz_model *m)
{
    if (!m) return;
    mz_prog_free(m->prog);
    mz_free(m);
}
