/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define TEXT_LIMIT ((size_t)1 << 30)

static int print_ids(const mz_cli_args *a, const mz_text *t, const int32_t *ids, size_t n, const char *rendered, size_t n_rendered)
{
    if (!a->json) {
        for (size_t i = 0; i < n; i++) mz_cli_outf("%s%d", i ? "," : "", ids[i]);
        mz_cli_out("\n", 1);
        return mz_cli_out_end(MZ_EXIT_DONE);
    }
    json_t *list = json_array(), *pieces = json_array();
    for (size_t i = 0; i < n && list && pieces; i++) {
        size_t n_piece = 0;
        const char *piece = mz_text_piece(t, ids[i], true, &n_piece);
        (void)json_array_append_new(list, json_integer(ids[i]));
        (void)json_array_append_new(pieces, mz_cli_json_bytes(piece ? piece : "", piece ? n_piece : 0));
    }
    json_t *doc = json_pack("{s:o,s:o}", "ids", list, "pieces", pieces);
    if (doc && rendered) (void)json_object_set_new(doc, "text", mz_cli_json_bytes(rendered, n_rendered));
    return mz_cli_out_json(doc);
}

static int tokenize_chat(const mz_cli_args *a, const mz_text *t, const char *json, size_t n)
{
    mz_err err = {0};
    char *text = NULL;
    int32_t *ids = NULL;
    size_t n_text = 0, n_ids = 0;
    int status = MZ_EXIT_FAILED;
    unsigned flags = a->no_generation_prompt ? MZ_TEXT_NO_GENERATION : 0;
    mz_status st = MZ_OK;
    if (a->as_text || a->json) st = mz_text_render_chat(t, json, n, flags, &text, &n_text, &err);
    if (st == MZ_OK && (a->json || !a->as_text))
        st = mz_text_encode_chat(t, json, n, flags | (a->no_bos ? 0 : MZ_TEXT_BOS), &ids, &n_ids, &err);
    if (st != MZ_OK) {
        (void)mz_cli_fail_err(&err);
    } else if (a->as_text && !a->json) {
        mz_cli_out_text(text, n_text);
        status = mz_cli_out_end(MZ_EXIT_DONE);
    } else {
        status = print_ids(a, t, ids, n_ids, text, n_text);
    }
    mz_text_release(text);
    mz_text_release(ids);
    return status;
}

int mz_cli_tokenize(const mz_cli_args *a)
{
    mz_err err = {0};
    mz_text *t = NULL;
    char *file = NULL;
    int32_t *ids = NULL;
    size_t n = 0, n_ids = 0;
    int status = MZ_EXIT_FAILED;
    if ((a->prompt != NULL) + (a->file != NULL) + (a->chat != NULL) > 1)
        return mz_cli_usage("tokenize: -p, -f and --chat exclude each other");
    if (a->as_text && !a->chat) return mz_cli_usage("tokenize: --text needs --chat");
    if (a->no_generation_prompt && !a->chat) return mz_cli_usage("tokenize: --no-generation-prompt needs --chat");
    if (a->chat && a->special) return mz_cli_usage("tokenize: --special does not go with --chat");
    if (mz_text_open(a->model, &t, &err) != MZ_OK) return mz_cli_fail_err(&err);
    const char *path = a->chat ? a->chat : a->file ? a->file : a->prompt ? NULL : "-";
    if (path && !mz_cli_read_file(path, TEXT_LIMIT, &file, &n)) goto out;
    if (a->chat) {
        status = tokenize_chat(a, t, file, n);
        goto out;
    }
    unsigned flags = (a->no_bos ? 0 : MZ_TEXT_BOS) | (a->special ? MZ_TEXT_SPECIAL : 0);
    const char *text = path ? file : a->prompt;
    if (mz_text_encode(t, text, path ? n : strlen(text), flags, &ids, &n_ids, &err) != MZ_OK)
        (void)mz_cli_fail_err(&err);
    else
        status = print_ids(a, t, ids, n_ids, NULL, 0);
out:
    mz_text_release(ids);
    free(file);
    mz_text_close(t);
    return status;
}

int mz_cli_detokenize(const mz_cli_args *a)
{
    mz_err err = {0};
    mz_text *t = NULL;
    int32_t *ids = NULL;
    char *bytes = NULL;
    size_t n_ids = 0, n = 0;
    int status;
    if (!a->ids) return mz_cli_usage("detokenize: no --ids given");
    if (!mz_cli_get_ids(a->ids, &ids, &n_ids, &status)) return status;
    if (mz_text_open(a->model, &t, &err) != MZ_OK || mz_text_decode(t, ids, n_ids, a->special, &bytes, &n, &err) != MZ_OK) {
        status = mz_cli_fail_err(&err);
    } else {
        mz_cli_out_text(bytes, n);
        status = mz_cli_out_end(MZ_EXIT_DONE);
    }
    mz_text_release(bytes);
    mz_text_close(t);
    free(ids);
    return status;
}
