/* SPDX-License-Identifier: Apache-2.0
 *
 * oom_sweep.c: lets each single allocation of a task fail in turn: load a model, make a session, run a prompt, open a
 * text, render a chat. Every such run must end with MZ_ENOMEM (or do without) and one sentence, give everything
 * back, and leave the library able to do the task right afterwards, with the same bits.
 *
 *     oom_sweep engine MODEL.gguf        oom_sweep text MODEL.gguf        oom_sweep inspect MODEL.gguf
 *
 * Threading and ownership: one thread drives; whatever a task opens it closes, also when it fails. */
#include <mizan/mizan.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"

/* One task: leaves a fingerprint of its result in *sum. */
typedef mz_status task_fn(const char *path, uint64_t *sum, mz_err *err);

static uint64_t mix(uint64_t sum, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) sum = (sum ^ p[i]) * 0x100000001b3u; /* FNV-1a */
    return sum;
}

static mz_status task_engine(const char *path, uint64_t *sum, mz_err *err)
{
    static const int32_t ids[] = {1, 5, 2, 7, 3, 9, 4, 8};
    mz_engine_options o = mz_engine_options_default();
    o.n_thread = 2;
    o.ctx_tok = 64;
    o.chunk_tok = 4;
    mz_engine *e = NULL;
    mz_session *s = NULL;
    mz_status rc = mz_engine_open(path, &o, &e, err);
    if (rc == MZ_OK) rc = mz_session_create(e, &s, err);
    if (rc == MZ_OK) rc = mz_session_sync(s, ids, sizeof ids / sizeof ids[0], NULL, err);
    int32_t next = 6;
    if (rc == MZ_OK) rc = mz_step(e, &s, &next, 1, err);
    if (rc == MZ_OK) *sum = mix(*sum, mz_session_logits(s), sizeof(float) * (size_t)mz_engine_get_info(e).n_vocab);
    mz_session_close(s);
    mz_engine_close(e);
    return rc;
}

static mz_status task_text(const char *path, uint64_t *sum, mz_err *err)
{
    static const char prompt[] = "Hello, 2+2 = مرحبا\n";
    static const char chat[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";
    mz_text *t = NULL;
    int32_t *ids = NULL;
    char *bytes = NULL, *turn = NULL;
    size_t n_ids = 0, n = 0;
    mz_status rc = mz_text_open(path, &t, err);
    if (rc == MZ_OK) rc = mz_text_encode(t, prompt, sizeof prompt - 1, MZ_TEXT_BOS, &ids, &n_ids, err);
    if (rc == MZ_OK) rc = mz_text_decode(t, ids, n_ids, true, &bytes, &n, err);
    if (rc == MZ_OK) *sum = mix(mix(*sum, ids, n_ids * sizeof ids[0]), bytes, n);
    if (rc == MZ_OK && mz_text_has_template(t)) {
        rc = mz_text_render_chat(t, chat, sizeof chat - 1, 0, &turn, &n, err);
        if (rc == MZ_OK) *sum = mix(*sum, turn, n);
    }
    mz_text_release(turn);
    mz_text_release(bytes);
    mz_text_release(ids);
    mz_text_close(t);
    return rc;
}

static mz_status task_inspect(const char *path, uint64_t *sum, mz_err *err)
{
    mz_checkpoint *c = NULL;
    char *json = NULL, *program = NULL;
    mz_status rc = mz_checkpoint_open(path, &c, err);
    if (rc == MZ_OK) rc = mz_checkpoint_describe(c, NULL, 128, &json, err);
    if (rc == MZ_OK) rc = mz_checkpoint_program(c, &program, err);
    if (rc == MZ_OK) *sum = mix(mix(*sum, json, strlen(json)), program, strlen(program));
    mz_text_release(program);
    mz_text_release(json);
    mz_checkpoint_close(c);
    return rc;
}

static const struct {
    const char *name;
    task_fn *run;
} tasks[] = {{"engine", task_engine}, {"text", task_text}, {"inspect", task_inspect}};

enum { DENSE = 600, MAX_BAD = 10 };

/* jansson 2.14 reports a failed allocation of its lexer as a syntax error; nobody behind it can tell. */
static bool is_jansson_mistake(mz_status rc, const mz_err *err)
{
    return rc == MZ_EINVAL && strstr(err->text, "the chat is not valid JSON: line 1, ") == err->text;
}

/* All of the first DENSE allocations, then ever larger strides: late ones are repetitions (one a token, one a tensor). */
static uint64_t next_point(uint64_t n)
{
    return n < DENSE ? n + 1 : n + n / 60;
}

int main(int argc, char **argv)
{
    task_fn *run = NULL;
    for (size_t i = 0; argc == 3 && i < sizeof tasks / sizeof tasks[0]; i++)
        if (strcmp(argv[1], tasks[i].name) == 0) run = tasks[i].run;
    if (!run) {
        fprintf(stderr, "usage: %s engine|text|inspect MODEL.gguf\n", argv[0]);
        return 2;
    }
    mz_err err = {MZ_OK, ""};
    uint64_t want = 0, sum = 0;
    bool failed;
    /* Twice: what the first run leaves behind for good (tables filled once, caches of the C library) is no leak. */
    for (int i = 0; i < 2; i++) {
        oom_open(0, false);
        mz_status rc = run(argv[2], &want, &err);
        uint64_t n = oom_close(&failed);
        if (rc != MZ_OK) {
            fprintf(stderr, "%s: the task fails with all memory there: %s\n", argv[1], err.text);
            return 1;
        }
        fprintf(stderr, "%s: %llu allocations\n", argv[1], (unsigned long long)n);
        if (n == 0) return fprintf(stderr, "no allocation was seen, so none can fail\n"), 1;
        if (i == 0) want = 0;
    }
    int n_bad = 0;
    uint64_t n_run = 0, n_enomem = 0;
    for (int for_good = 0; for_good < 2; for_good++) {
        for (uint64_t nth = 1; n_bad < MAX_BAD; nth = next_point(nth)) {
            int64_t live = oom_live();
            const char *bad = NULL;
            err = (mz_err){MZ_OK, ""};
            sum = 0;
            oom_open(nth, for_good != 0);
            mz_status rc = run(argv[2], &sum, &err);
            oom_close(&failed);
            n_run++;
            if (rc == MZ_ENOMEM) n_enomem++;
            if (rc != MZ_OK && !failed)
                bad = "failed although nothing was refused";
            else if (rc != MZ_OK && rc != MZ_ENOMEM && !is_jansson_mistake(rc, &err))
                bad = "another status than out of memory";
            else if (rc != MZ_OK && err.text[0] == '\0')
                bad = "no sentence";
            else if (rc == MZ_OK && sum != want)
                bad = "succeeded with another result";
            else if (oom_live() != live)
                bad = "memory left behind";
            if (bad) {
                n_bad++;
                fprintf(stderr, "allocation %llu refused%s: %s (status %d, live %+lld): %s\n", (unsigned long long)nth,
                        for_good ? " and all after" : "", bad, (int)rc, (long long)(oom_live() - live), err.text);
            }
            if (!failed) break;
        }
    }
    fprintf(stderr, "%llu runs, %llu ended with out of memory, %d bad\n", (unsigned long long)n_run, (unsigned long long)n_enomem, n_bad);
    return n_bad == 0 && n_enomem > 0 ? 0 : 1;
}
