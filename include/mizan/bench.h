/* SPDX-License-Identifier: Apache-2.0
 *
 * bench.h: speed of a loaded model with the physical bound beside each figure. */
#ifndef MIZAN_BENCH_H
#define MIZAN_BENCH_H

#include <mizan/engine.h>
#include <mizan/eval.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mz_bench_options {
    int64_t prefill_tok, decode_tok; /* 0: leave that test out */
    const int64_t *depth;            /* [n_depth] tokens already held when timing starts */
    size_t n_depth;
    const int64_t *batch; /* [n_batch] sessions in one decode step */
    size_t n_batch;
    int repeats; /* 0: 5 */
    mz_progress_fn *progress;
    void *progress_user;
} mz_bench_options;

/* The engine must have been opened with n_session >= the largest batch and ctx_tok >= depth + tokens.
 * JSON: {"results":[{"test","tokens","depth","batch","tok_s":{"median","min","max"},"bound_tok_s","bound_by",
 * decode only: "syscalls_per_tok","allocs_per_tok"}],"machine":{"cpu","threads","isa","executor","kv","bandwidth_gbps","peak_gops",
 * "peak_of","fma_gflops","governor","compiler","version"}}, described in docs/bench.md. */
MZ_API mz_status mz_bench_run(mz_engine *e, const mz_bench_options *o, char **json, mz_err *err);

#ifdef __cplusplus
}
#endif
#endif
