/* SPDX-License-Identifier: Apache-2.0
 *
 * eval.h: logits, taps, perplexity and KL divergence. Ownership: results released with mz_text_release. */
#ifndef MIZAN_EVAL_H
#define MIZAN_EVAL_H

#include <mizan/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void mz_progress_fn(void *user, uint64_t done, uint64_t total);

/* Writes the logits of every position as NPY f32 [n, n_vocab] to logits_path and, when taps_dir is not NULL, each tap as
 * taps_dir/<layer>.<name>.npy [n, width]; in strips, so memory does not grow with n. Either may be NULL. */
MZ_API mz_status mz_eval_logits(mz_engine *e, const int32_t *ids, size_t n, const char *logits_path, const char *taps_dir, mz_err *err);

/* Perplexity of a text in non-overlapping windows of ctx tokens (BOS on each if the tokenizer adds one; every later token
 * scored; nats), and, with a second engine or an NPY of logits as the reference, KL(reference || model) on the same
 * positions. JSON: {"tokens","perplexity","nll","kl":{"mean","median","p99","p999","max"},"top1_agreement"}. */
typedef struct mz_eval_text_options {
    int64_t ctx_tok;            /* window, 0: 512 */
    mz_engine *against;         /* reference engine, or NULL */
    const char *against_logits; /* NPY of reference logits [rows, n_vocab] in window order, or NULL */
    mz_progress_fn *progress;
    void *progress_user;
} mz_eval_text_options;
MZ_API mz_status mz_eval_text(mz_engine *e, const char *text, size_t n, const mz_eval_text_options *o, char **json, mz_err *err);

#ifdef __cplusplus
}
#endif
#endif
