/* SPDX-License-Identifier: Apache-2.0
 *
 * generate.h: one answer of a session, streamed; shared by `run -p` and the chat. */
#ifndef MZ_CLI_GENERATE_H
#define MZ_CLI_GENERATE_H

#include "cli/cli.h"
#include "cli/screen.h"

typedef struct mz_cli_generator { /* what stays the same between answers */
    mz_engine *engine;
    mz_session *session;
    const mz_text *text;      /* NULL: ids only */
    mz_sample_options sample; /* bias is owned here */
    mz_logit_bias *bias;
    const mz_cli_args *args;
    const volatile int *cancel; /* set: the answer ends after the current token; may be NULL */
    mz_screen *screen;          /* where the text is shown as it comes; NULL: nowhere */
} mz_cli_generator;

typedef struct mz_cli_answer { /* one answer; release with mz_cli_answer_free */
    mz_answer *answer;         /* ids and text */
    mz_finish finish;          /* MZ_FINISH_NONE: cancelled */
    json_t *logprobs;          /* NULL unless asked for */
    size_t n_prompt, n_cached, n_generated;
    double prefill_ms, decode_ms;
} mz_cli_answer;

/* MZ_EXIT_DONE, or says what is wrong. Call mz_cli_generator_free in either case. */
int mz_cli_generator_init(mz_cli_generator *g, mz_engine *e, const mz_cli_args *a);
void mz_cli_generator_free(mz_cli_generator *g);

/* Takes the sampling settings of g->args anew. */
void mz_cli_generator_set(mz_cli_generator *g);

/* Answers the prompt; the screen is left open (mz_screen_end). MZ_ECANCEL when stopped during the prompt. */
mz_status mz_cli_generate(mz_cli_generator *g, const int32_t *ids, size_t n, mz_cli_answer *out, mz_err *err);
void mz_cli_answer_free(mz_cli_answer *r);
/* Prompt and answer speed on standard error. */
void mz_cli_answer_report(const mz_cli_answer *r);

/* The last bytes of the prompt's text, as far as they fit; how many. */
size_t mz_cli_prompt_end(const mz_text *t, const int32_t *ids, size_t n, char *out, size_t room);

/* The chat; takes the conversation so far (NULL: memory was out). Exit status. */
int mz_cli_chat(mz_cli_generator *g, json_t *messages);

#endif
