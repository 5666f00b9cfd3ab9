/* SPDX-License-Identifier: Apache-2.0
 *
 * sample.h: from logits to a token id, and from token ids to an answer's text.
 *
 * Order of the filters (fixed): logit bias, repetition penalty, frequency and presence penalty; then, if temp is 0, the
 * highest logit (lowest id on ties). Otherwise: temperature, top-k, softmax, top-p, min-p, renormalise, draw.
 * Randomness is a counter RNG keyed by (seed, output index): a draw does not depend on neighbours or history.
 * Ownership: creator's. Threading: one sampler or generation, one thread at a time. */
#ifndef MIZAN_SAMPLE_H
#define MIZAN_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mizan/status.h>
#include <mizan/text.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mz_logit_bias {
    int32_t id;
    float value; /* added to the logit; -INFINITY forbids the token */
} mz_logit_bias;

typedef struct mz_sample_options {
    float temp;                                /* 0: greedy */
    int32_t top_k;                             /* 0: off */
    float top_p;                               /* 1: off */
    float min_p;                               /* 0: off; relative to the most likely token */
    float repeat_penalty;                      /* 1: off; divides positive, multiplies negative logits of seen tokens */
    int32_t repeat_last_n;                     /* how many tokens back (prompt included) repetition looks; -1: all */
    float presence_penalty, frequency_penalty; /* 0: off; count generated tokens only */
    uint64_t seed;
    const mz_logit_bias *bias; /* [n_bias], copied at creation */
    size_t n_bias;
} mz_sample_options;

MZ_API mz_sample_options mz_sample_options_default(void); /* temp 0.8, top-k 40, top-p 0.95, min-p 0.05, penalties off, seed 0 */

typedef struct mz_sampler mz_sampler;
/* MZ_EINVAL names an option out of range. */
MZ_API mz_status mz_sampler_create(const mz_sample_options *o, int32_t n_vocab, mz_sampler **out, mz_err *err);
MZ_API void mz_sampler_free(mz_sampler *s);
/* Tells the sampler of tokens that are already there (the prompt). */
MZ_API mz_status mz_sampler_prime(mz_sampler *s, const int32_t *ids, size_t n, mz_err *err);
/* Picks the token number i_out (0-based) of the answer from logits [n_vocab] and remembers it. Allocates nothing.
 * MZ_ERANGE when no token has a finite logit. */
MZ_API mz_status mz_sampler_pick(mz_sampler *s, const float *logits, uint64_t i_out, int32_t *id, mz_err *err);

/* log-softmax of raw logits: *logprob of id, and the top k (ids and values, best first). k may be 0. */
MZ_API void mz_logprobs(const float *logits, int32_t n_vocab, int32_t id, double *logprob, int32_t k, int32_t *top_ids,
                        double *top_logprobs);

/* One answer: turns picked ids into text that is safe to show, ends at stop ids, stop strings and the length limit. */
typedef struct mz_answer mz_answer;
typedef struct mz_answer_options {
    int64_t n_max;           /* most tokens; < 0: no limit */
    const char *const *stop; /* [n_stop] strings that end the answer and are not shown */
    size_t n_stop;
    const int32_t *stop_ids; /* besides the model's own */
    size_t n_stop_ids;
    bool ignore_eos;   /* do not end at the model's own stop ids */
    bool show_special; /* write control tokens into the text */
} mz_answer_options;

typedef enum mz_finish { MZ_FINISH_NONE = 0, MZ_FINISH_STOP, MZ_FINISH_LENGTH } mz_finish;

/* text may be NULL (a model without a tokenizer): then there is no text and no stop string. */
MZ_API mz_status mz_answer_create(const mz_text *text, const mz_answer_options *o, mz_answer **out, mz_err *err);
MZ_API void mz_answer_free(mz_answer *a);
/* Adds one id. *delta [*n] are new bytes ready to show (whole characters; nothing that may still become a stop
 * string), owned by a until the next call. */
MZ_API mz_status mz_answer_add(mz_answer *a, int32_t id, const char **delta, size_t *n, mz_finish *finish, mz_err *err);
/* What was held back, when the caller ends the answer itself. */
MZ_API mz_status mz_answer_flush(mz_answer *a, const char **delta, size_t *n, mz_err *err);
/* All ids (a stop id is not among them) and all text so far. */
MZ_API const int32_t *mz_answer_ids(const mz_answer *a, size_t *n);
MZ_API const char *mz_answer_text(const mz_answer *a, size_t *n);

#ifdef __cplusplus
}
#endif
#endif
