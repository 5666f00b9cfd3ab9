/* SPDX-License-Identifier: Apache-2.0
 * Which kernel runs for which format on this processor. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <mizan/engine.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "kern/kern.h"

static json_t *describe_sets(void)
{
    json_t *sets = json_array();
    int n;
    const mz_kern *const *list = mz_kern_list(&n);
    for (int i = 0; i < n; i++)
        (void)json_array_append_new(sets, json_pack("{s:s, s:b}", "name", list[i]->name, "runs", (int)mz_kern_runs(list[i])));
    return sets;
}

static json_t *describe_kernels(const mz_kern *k)
{
    static const char *const layout_name[MZ_LAYOUT_COUNT] = {"rows", "panel8"};
    json_t *kernels = json_object();
    for (uint32_t t = 0; t < MZ_DTYPE_COUNT; t++) {
        mz_layout layout = k->pack[t] ? MZ_LAYOUT_PANEL8 : MZ_LAYOUT_ROWS;
        const mz_matmul_kernel *m = &k->matmul[t][layout];
        if (!m->fn) continue;
        (void)json_object_set_new(kernels, mz_dtype_get(t)->name,
                                  json_pack("{s:s, s:s, s:s}", "one", m->name_one, "many", m->name_many, "layout", layout_name[layout]));
    }
    return kernels;
}

mz_status mz_cpu_describe(const char *isa, char **json, mz_err *err)
{
    const mz_kern *k;
    *json = NULL;
    mz_status st = mz_kern_get(isa, &k, err);
    if (st != MZ_OK) return st;
    json_t *root = json_pack("{s:s, s:o, s:o}", "isa", k->name, "sets", describe_sets(), "kernels", describe_kernels(k));
    if (root) *json = mz_json_text(root, JSON_INDENT(2));
    json_decref(root);
    return *json ? MZ_OK : mz_err_set(err, MZ_ENOMEM, "out of memory while describing the processor");
}
