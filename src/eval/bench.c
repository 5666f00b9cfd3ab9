/* SPDX-License-Identifier: Apache-2.0
 *
 * bench.c: prefill and decode speed with the bound beside each figure.
 *
 * The bound of a test is the speed at which the slower of two would run were nothing else in the way:
 *   memory   every weight a step touches once per step, and the state of each sequence held at that point once per
 *            step, at the measured read bandwidth;
 *   compute  the multiplications by weights, at the measured f32 peak for float formats, and for the others at the measured
 *            rate of the model's own kernels out of cache.
 * Attention's arithmetic, norms and the rest are left out, which makes the bound higher, never lower. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>
#include <mizan/bench.h>

#include "base/err.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/workers.h"
#include "eval/machine.h"

typedef struct bench {
    mz_engine *e;
    const mz_bench_options *o;
    mz_engine_info info;
    mz_machine machine;
    mz_session **session; /* [n_session] */
    int64_t n_session;
    int32_t *ids;  /* [longest] the sequence every session holds a prefix of */
    double *speed; /* [repeats] */
    int repeats;
    uint64_t n_syscall, n_alloc; /* in the decode steps of the test under way */
    uint64_t n_done, n_total;
    json_t *results;
} bench;

static double now_s(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Brings the first n sessions to exactly the first `depth` ids. */
static mz_status hold(bench *b, int64_t n, int64_t depth, mz_err *err)
{
    mz_status st = MZ_OK;
    for (int64_t i = 0; i < n; i++) {
        if (depth > 0)
            MZ_TRY(mz_session_sync(b->session[i], b->ids, (size_t)depth, NULL, err));
        else
            MZ_TRY(mz_session_rewind(b->session[i], 0, err));
    }
out:
    return st;
}

/* Seconds for n_tok tokens more in each of n sessions: in one prefill, or one step after the other. */
static mz_status run_once(bench *b, bool prefill, int64_t n, int64_t depth, int64_t n_tok, double *spent_s, mz_err *err)
{
    mz_status st = MZ_OK;
    int32_t *next = NULL;
    MZ_TRY(hold(b, n, depth, err));
    if (!prefill) {
        next = mz_calloc((size_t)n, sizeof *next);
        if (!next) MZ_FAIL(MZ_ENOMEM, err, "out of memory in the benchmark");
    }
    double t0 = now_s();
    if (prefill) {
        MZ_TRY(mz_session_sync(b->session[0], b->ids, (size_t)(depth + n_tok), NULL, err));
    } else {
        uint64_t n_syscall = mz_workers_syscalls(), n_alloc = mz_mem_guard_violations();
        for (int64_t t = 0; t < n_tok; t++) {
            for (int64_t i = 0; i < n; i++) next[i] = b->ids[depth + t];
            MZ_TRY(mz_step(b->e, b->session, next, (int)n, err));
        }
        b->n_syscall += mz_workers_syscalls() - n_syscall;
        b->n_alloc += mz_mem_guard_violations() - n_alloc;
    }
    *spent_s = now_s() - t0;
out:
    mz_free(next);
    return st;
}

/* Tokens per second that memory and arithmetic would allow. */
static double bound(const bench *b, bool prefill, int64_t n, int64_t depth, int64_t n_tok, const char **by)
{
    int64_t chunk = prefill ? b->info.chunk_tok : 1, n_step = (n_tok + chunk - 1) / chunk;
    double state = 0;
    for (int64_t i = 0; i < n_step; i++) {
        int64_t end = (i + 1) * chunk < n_tok ? (i + 1) * chunk : n_tok;
        state += (double)n * mz_machine_state_bytes(b->e, depth + end);
    }
    double memory_s = ((double)n_step * (double)b->info.weight_step_bytes + state) / b->machine.read_bytes_per_s;
    double compute_s = (double)n * (double)n_tok * b->machine.token_s + (prefill ? 1 : (double)n * (double)n_tok) * b->machine.logit_s;
    *by = memory_s >= compute_s ? "memory" : "compute";
    return (double)n * (double)n_tok / (memory_s >= compute_s ? memory_s : compute_s);
}

static mz_status run_test(bench *b, bool prefill, int64_t n, int64_t depth, int64_t n_tok, mz_err *err)
{
    mz_status st = MZ_OK;
    for (int r = -1; r < b->repeats; r++) { /* the first run warms up and is not counted */
        double spent_s = 0;
        if (r == 0) b->n_syscall = b->n_alloc = 0;
        MZ_TRY(run_once(b, prefill, n, depth, n_tok, &spent_s, err));
        if (r >= 0) b->speed[r] = (double)n * (double)n_tok / (spent_s > 1e-9 ? spent_s : 1e-9);
        b->n_done++;
        if (b->o->progress) b->o->progress(b->o->progress_user, b->n_done, b->n_total);
    }
    qsort(b->speed, (size_t)b->repeats, sizeof *b->speed, compare_double);
    size_t half = (size_t)b->repeats / 2;
    double median = b->repeats % 2 ? b->speed[half] : (b->speed[half - 1] + b->speed[half]) / 2;
    json_t *row = json_pack("{s:s,s:I,s:I,s:I,s:{s:f,s:f,s:f}}", "test", prefill ? "prefill" : "decode", "tokens", (json_int_t)n_tok,
                            "depth", (json_int_t)depth, "batch", (json_int_t)n, "tok_s", "median", median, "min", b->speed[0], "max",
                            b->speed[b->repeats - 1]);
    if (row && !prefill) {
        double n_counted = (double)n * (double)n_tok * b->repeats;
        if (json_object_set_new(row, "syscalls_per_tok", json_real((double)b->n_syscall / n_counted)) != 0 ||
            json_object_set_new(row, "allocs_per_tok", json_real((double)b->n_alloc / n_counted)) != 0) {
            json_decref(row);
            row = NULL;
        }
    }
    if (!row || json_array_append_new(b->results, row) != 0) MZ_FAIL(MZ_ENOMEM, err, "out of memory in the benchmark");
out:
    return st;
}

static int64_t row_int(const json_t *row, const char *key)
{
    return json_integer_value(json_object_get(row, key));
}

/* The machine is measured before and after the tests and the better figure counts: a neighbour's load must not make a
 * bound that the model then passes. */
static mz_status add_bounds(bench *b, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_machine after;
    size_t i;
    json_t *row;
    MZ_TRY(mz_machine_measure(b->e, &after, err));
    if (after.read_bytes_per_s > b->machine.read_bytes_per_s) b->machine.read_bytes_per_s = after.read_bytes_per_s;
    if (after.fma_per_s > b->machine.fma_per_s) b->machine.fma_per_s = after.fma_per_s;
    if (after.flop_per_s > b->machine.flop_per_s) {
        b->machine.flop_per_s = after.flop_per_s;
        b->machine.token_s = after.token_s;
        b->machine.logit_s = after.logit_s;
    }
    json_array_foreach(b->results, i, row)
    {
        const char *by;
        bool prefill = strcmp(json_string_value(json_object_get(row, "test")), "prefill") == 0;
        double limit = bound(b, prefill, row_int(row, "batch"), row_int(row, "depth"), row_int(row, "tokens"), &by);
        if (json_object_set_new(row, "bound_tok_s", json_real(limit)) != 0 || json_object_set_new(row, "bound_by", json_string(by)) != 0)
            MZ_FAIL(MZ_ENOMEM, err, "out of memory in the benchmark");
    }
out:
    return st;
}

static mz_status check_options(bench *b, int64_t *longest, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_bench_options *o = b->o;
    int64_t n_tok = o->prefill_tok > o->decode_tok ? o->prefill_tok : o->decode_tok;
    if (o->prefill_tok < 0 || o->decode_tok < 0 || n_tok < 1) MZ_FAIL(MZ_EINVAL, err, "neither prefill nor decode tokens to measure");
    if (o->n_depth < 1 || o->n_batch < 1) MZ_FAIL(MZ_EINVAL, err, "no depth or no batch size to measure at");
    if (o->repeats < 0 || o->repeats > 100000) MZ_FAIL(MZ_EINVAL, err, "%d repeats asked for, expected 1 to 100000", o->repeats);
    b->repeats = o->repeats ? o->repeats : 5;
    for (size_t i = 0; i < o->n_depth; i++) {
        if (o->depth[i] < 0 || o->depth[i] > b->info.ctx_tok - n_tok)
            MZ_FAIL(MZ_EINVAL, err, "depth %lld and %lld tokens more do not fit the context of %lld", (long long)o->depth[i],
                    (long long)n_tok, (long long)b->info.ctx_tok);
        if (o->depth[i] + n_tok > *longest) *longest = o->depth[i] + n_tok;
    }
    b->n_session = 1;
    for (size_t i = 0; i < o->n_batch; i++) {
        if (o->batch[i] < 1 || o->batch[i] > 1 << 16)
            MZ_FAIL(MZ_EINVAL, err, "batch of %lld asked for, expected 1 to 65536", (long long)o->batch[i]);
        if (o->batch[i] > b->n_session && o->decode_tok > 0) b->n_session = o->batch[i];
    }
    b->n_total = (o->n_depth * (o->prefill_tok > 0) + o->n_depth * o->n_batch * (o->decode_tok > 0)) * ((uint64_t)b->repeats + 1);
out:
    return st;
}

static mz_status prepare(bench *b, mz_err *err)
{
    mz_status st = MZ_OK;
    int64_t longest = 0;
    MZ_TRY(check_options(b, &longest, err));
    b->ids = mz_calloc((size_t)longest, sizeof *b->ids);
    b->speed = mz_calloc((size_t)b->repeats, sizeof *b->speed);
    b->session = mz_calloc((size_t)b->n_session, sizeof *b->session);
    b->results = json_array();
    if (!b->ids || !b->speed || !b->session || !b->results) MZ_FAIL(MZ_ENOMEM, err, "out of memory in the benchmark");
    for (int64_t i = 0; i < longest; i++) b->ids[i] = (int32_t)(mz_rng_uniform(1, (uint64_t)i) * b->info.n_vocab);
    for (int64_t i = 0; i < b->n_session; i++) MZ_TRY(mz_session_create(b->e, &b->session[i], err));
    MZ_TRY(mz_machine_measure(b->e, &b->machine, err));
out:
    return st;
}

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static mz_status make_json(bench *b, char **json, mz_err *err)
{
    json_t *doc =
        json_pack("{s:O,s:{s:s,s:i,s:s,s:s,s:s,s:f,s:f,s:f,s:s,s:s,s:s,s:s}}", "results", b->results, "machine", "cpu", b->machine.cpu,
                  "threads", b->info.n_thread, "isa", b->info.isa, "executor", b->info.executor, "kv", b->info.kv, "bandwidth_gbps",
                  b->machine.read_bytes_per_s * 1e-9, "peak_gops", b->machine.flop_per_s * 1e-9, "fma_gflops", b->machine.fma_per_s * 1e-9,
                  "peak_of", b->machine.main_format, "governor", b->machine.governor, "compiler", COMPILER, "version", mz_version());
    *json = mz_json_text(doc, JSON_REAL_PRECISION(8));
    json_decref(doc);
    return *json ? MZ_OK : mz_err_set(err, MZ_ENOMEM, "out of memory for the result");
}

mz_status mz_bench_run(mz_engine *e, const mz_bench_options *o, char **json, mz_err *err)
{
    mz_status st = MZ_OK;
    bench b = {.e = e, .o = o, .info = mz_engine_get_info(e)};
    *json = NULL;
    MZ_TRY(prepare(&b, err));
    for (size_t d = 0; d < o->n_depth && o->prefill_tok > 0; d++) MZ_TRY(run_test(&b, true, 1, o->depth[d], o->prefill_tok, err));
    for (size_t d = 0; d < o->n_depth && o->decode_tok > 0; d++)
        for (size_t i = 0; i < o->n_batch; i++) MZ_TRY(run_test(&b, false, o->batch[i], o->depth[d], o->decode_tok, err));
    MZ_TRY(add_bounds(&b, err));
    MZ_TRY(make_json(&b, json, err));
out:
    for (int64_t i = 0; b.session && i < b.n_session; i++) mz_session_close(b.session[i]);
    mz_free(b.session);
    mz_free(b.ids);
    mz_free(b.speed);
    json_decref(b.results);
    return st;
}
