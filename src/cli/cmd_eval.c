/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/cli.h"

#define TEXT_LIMIT ((size_t)1 << 30)

static int check_usage(const mz_cli_args *a)
{
    if (!a->ids == !a->text_file) return mz_cli_usage("eval: give either --ids or --text");
    if (a->ids && a->against) return mz_cli_usage("eval: --against goes with --text");
    if (a->ids && a->ctx) return mz_cli_usage("eval: -c is the window of --text and does not go with --ids");
    if (a->ids && !a->logits && !a->taps) return mz_cli_usage("eval: --ids needs --logits or --taps, where the values go");
    if (a->text_file && (a->logits || a->taps)) return mz_cli_usage("eval: --logits and --taps go with --ids");
    if (a->text_file && a->ctx == 1) return mz_cli_usage("eval: -c: a window needs at least 2 tokens");
    return MZ_EXIT_DONE;
}

/* Each tap is an open file until the end: a deep model has more of them than the usual limit on open files. */
static void allow_many_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit); /* should it fail, opening says so */
}

static int eval_ids(const mz_cli_args *a)
{
    mz_err err = {0};
    mz_engine *e = NULL;
    int32_t *ids = NULL;
    size_t n = 0;
    double load_ms;
    int status;
    if (!mz_cli_get_ids(a->ids, &ids, &n, &status)) return status;
    status = MZ_EXIT_FAILED;
    mz_engine_options o = mz_engine_options_default();
    o.ctx_tok = (int64_t)n;
    o.taps = a->taps != NULL;
    if (o.taps) allow_many_files();
    if (!mz_cli_open_engine(a, a->model, o, &e, &load_ms)) goto out;
    int32_t n_vocab = mz_engine_get_info(e).n_vocab;
    if (mz_eval_logits(e, ids, n, a->logits, a->taps, &err) != MZ_OK) {
        (void)mz_cli_fail_err(&err);
        goto out;
    }
    status = MZ_EXIT_DONE;
    if (a->json) {
        json_t *doc = json_pack("{s:I,s:i}", "tokens", (json_int_t)n, "vocab_size", n_vocab);
        if (doc && a->logits) (void)json_object_set_new(doc, "logits", mz_cli_json_bytes(a->logits, strlen(a->logits)));
        if (doc && a->taps) (void)json_object_set_new(doc, "taps", mz_cli_json_bytes(a->taps, strlen(a->taps)));
        status = mz_cli_out_json(doc);
    }
out:
    mz_engine_close(e);
    free(ids);
    return status;
}

static double get(const json_t *doc, const char *key)
{
    return json_number_value(json_object_get(doc, key));
}

static int print_text_result(const mz_cli_args *a, const char *json)
{
    if (a->json) {
        mz_cli_out(json, strlen(json));
        mz_cli_out("\n", 1);
        return mz_cli_out_end(MZ_EXIT_DONE);
    }
    json_t *doc = json_loads(json, 0, NULL);
    if (!doc) return mz_cli_fail("the result could not be read back");
    mz_cli_outf("tokens scored  %.0f\nperplexity     %.4f\nnll            %.6f nats per token\n", get(doc, "tokens"),
                get(doc, "perplexity"), get(doc, "nll"));
    const json_t *kl = json_object_get(doc, "kl");
    if (json_is_object(kl))
        mz_cli_outf("KL divergence  mean %.6f, median %.6f, 99 %% %.6f, 99.9 %% %.6f, max %.6f nats\nsame top token %.2f %%\n",
                    get(kl, "mean"), get(kl, "median"), get(kl, "p99"), get(kl, "p999"), get(kl, "max"), 100 * get(doc, "top1_agreement"));
    json_decref(doc);
    return mz_cli_out_end(MZ_EXIT_DONE);
}

/* An NPY file starts with these six bytes; anything else is taken for a model. */
static bool is_npy(const char *path)
{
    char magic[6] = {0};
    FILE *f = fopen(path, "re");
    bool yes = f && fread(magic, 1, sizeof magic, f) == sizeof magic && memcmp(magic, "\x93NUMPY", 6) == 0;
    if (f) (void)fclose(f);
    return yes;
}

static int eval_text(const mz_cli_args *a)
{
    mz_err err = {0};
    mz_engine *e = NULL, *ref = NULL;
    char *text = NULL, *json = NULL;
    size_t n = 0;
    double load_ms;
    int status = MZ_EXIT_FAILED;
    mz_cli_progress progress;
    mz_eval_text_options o = {.ctx_tok = a->ctx ? a->ctx : 512, .progress = mz_cli_progress_step, .progress_user = &progress};
    mz_engine_options eo = mz_engine_options_default();
    eo.ctx_tok = o.ctx_tok;
    if (!mz_cli_read_file(a->text_file, TEXT_LIMIT, &text, &n)) goto out;
    if (!mz_cli_open_engine(a, a->model, eo, &e, &load_ms)) goto out;
    if (a->against && is_npy(a->against))
        o.against_logits = a->against;
    else if (a->against && !mz_cli_open_engine(a, a->against, eo, &ref, &load_ms))
        goto out;
    o.against = ref;
    mz_cli_progress_start(&progress, "scoring", false, a->quiet);
    mz_status st = mz_eval_text(e, text, n, &o, &json, &err);
    mz_cli_progress_end(&progress);
    status = st == MZ_OK ? print_text_result(a, json) : mz_cli_fail_err(&err);
out:
    mz_text_release(json);
    mz_engine_close(ref);
    mz_engine_close(e);
    free(text);
    return status;
}

int mz_cli_eval(const mz_cli_args *a)
{
    int status = check_usage(a);
    if (status != MZ_EXIT_DONE) return status;
    return a->ids ? eval_ids(a) : eval_text(a);
}
