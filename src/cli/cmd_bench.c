/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static double get(const json_t *doc, const char *key)
{
    return json_number_value(json_object_get(doc, key));
}

static const char *get_str(const json_t *doc, const char *key)
{
    const char *s = json_string_value(json_object_get(doc, key));
    return s ? s : "-";
}

static int print_table(const char *json)
{
    json_t *doc = json_loads(json, 0, NULL), *row;
    size_t i;
    if (!doc) return mz_cli_fail("the result could not be read back");
    mz_cli_outf("%-8s %7s %7s %6s %12s %12s %12s %12s  %-16s %s\n", "test", "tokens", "depth", "batch", "tok/s", "least", "most",
                "bound tok/s", "bound by", "syscalls, allocations per token");
    json_array_foreach(json_object_get(doc, "results"), i, row)
    {
        const json_t *s = json_object_get(row, "tok_s");
        double median = get(s, "median"), bound = get(row, "bound_tok_s");
        char by[32], calls[64] = "-";
        (void)snprintf(by, sizeof by, "%s (%.0f %%)", get_str(row, "bound_by"), bound > 0 ? 100 * median / bound : 0);
        if (json_object_get(row, "syscalls_per_tok"))
            (void)snprintf(calls, sizeof calls, "%.2f, %.2f", get(row, "syscalls_per_tok"), get(row, "allocs_per_tok"));
        mz_cli_outf("%-8s %7.0f %7.0f %6.0f %12.1f %12.1f %12.1f %12.1f  %-16s %s\n", get_str(row, "test"), get(row, "tokens"),
                    get(row, "depth"), get(row, "batch"), median, get(s, "min"), get(s, "max"), bound, by, calls);
    }
    const json_t *m = json_object_get(doc, "machine");
    mz_cli_outf("\n%s, %.0f threads, kernels %s, %.1f GB/s read, %.0f GOP/s (%s), %.0f GFLOP/s f32\n", get_str(m, "cpu"), get(m, "threads"),
                get_str(m, "isa"), get(m, "bandwidth_gbps"), get(m, "peak_gops"), get_str(m, "peak_of"), get(m, "fma_gflops"));
    mz_cli_outf("mizan %s, %s, executor %s, kv %s, clock governor %s\n", get_str(m, "version"), get_str(m, "compiler"),
                get_str(m, "executor"), get_str(m, "kv"), get_str(m, "governor"));
    json_decref(doc);
    return mz_cli_out_end(MZ_EXIT_DONE);
}

static int64_t most(const mz_cli_ints *list, int64_t absent)
{
    int64_t v = list->n ? list->v[0] : absent;
    for (size_t i = 1; i < list->n; i++)
        if (list->v[i] > v) v = list->v[i];
    return v;
}

int mz_cli_bench(const mz_cli_args *a)
{
    static const int64_t depth_absent[] = {0}, batch_absent[] = {1};
    mz_err err = {0};
    mz_engine *e = NULL;
    char *json = NULL;
    double load_ms;
    mz_cli_progress progress;
    if (a->prefill == 0 && a->decode == 0) return mz_cli_usage("bench: --prefill 0 and --decode 0 leave nothing to measure");
    int64_t longest = most(&a->depth, 0) + (a->prefill > a->decode ? a->prefill : a->decode) + 1;
    if (a->ctx && a->ctx < longest)
        return mz_cli_usage("bench: -c %lld is too short, the longest test needs %lld tokens", (long long)a->ctx, (long long)longest);
    mz_engine_options eo = mz_engine_options_default();
    eo.ctx_tok = a->ctx ? a->ctx : longest;
    eo.n_session = (int)most(&a->batch, 1);
    if (!mz_cli_open_engine(a, a->model, eo, &e, &load_ms)) return MZ_EXIT_FAILED;
    mz_bench_options o = {.prefill_tok = a->prefill,
                          .decode_tok = a->decode,
                          .depth = a->depth.n ? a->depth.v : depth_absent,
                          .n_depth = a->depth.n ? a->depth.n : 1,
                          .batch = a->batch.n ? a->batch.v : batch_absent,
                          .n_batch = a->batch.n ? a->batch.n : 1,
                          .repeats = (int)a->repeats,
                          .progress = mz_cli_progress_step,
                          .progress_user = &progress};
    mz_cli_progress_start(&progress, "measuring", false, a->quiet);
    mz_status st = mz_bench_run(e, &o, &json, &err);
    mz_cli_progress_end(&progress);
    int status;
    if (st != MZ_OK) {
        status = mz_cli_fail_err(&err);
    } else if (a->json) {
        mz_cli_out(json, strlen(json));
        mz_cli_out("\n", 1);
        status = mz_cli_out_end(MZ_EXIT_DONE);
    } else {
        status = print_table(json);
    }
    mz_text_release(json);
    mz_engine_close(e);
    return status;
}
