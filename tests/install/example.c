/* SPDX-License-Identifier: Apache-2.0
 *
 * example.c: a whole program on libmizan: continues a text greedily by 16 tokens.
 *     cc example.c $(pkg-config --cflags --libs mizan) -o example && ./example model.gguf "Once upon a time" */
#include <mizan/mizan.h>

#include <stdio.h>
#include <string.h>

enum { N_NEW = 16 };

static int32_t best(const float *logits, int32_t n_vocab)
{
    int32_t id = 0;
    for (int32_t i = 1; i < n_vocab; i++)
        if (logits[i] > logits[id]) id = i;
    return id;
}

int main(int argc, char **argv)
{
    if (argc != 3) return fprintf(stderr, "usage: %s MODEL TEXT\n", argv[0]), 2;
    mz_err err = {MZ_OK, ""};
    mz_engine *engine = NULL;
    mz_session *session = NULL;
    int32_t *ids = NULL;
    size_t n_ids = 0;
    mz_engine_options options = mz_engine_options_default();
    options.ctx_tok = 512;
    mz_status rc = mz_engine_open(argv[1], &options, &engine, &err);
    if (rc == MZ_OK) rc = mz_session_create(engine, &session, &err);
    const mz_text *text = rc == MZ_OK ? mz_engine_text(engine) : NULL;
    if (rc == MZ_OK) rc = mz_text_encode(text, argv[2], strlen(argv[2]), MZ_TEXT_BOS, &ids, &n_ids, &err);
    if (rc == MZ_OK) rc = mz_session_sync(session, ids, n_ids, NULL, &err);
    for (int i = 0; rc == MZ_OK && i < N_NEW; i++) {
        int32_t id = best(mz_session_logits(session), mz_engine_get_info(engine).n_vocab);
        if (mz_text_is_stop(text, id)) break;
        size_t n;
        const char *piece = mz_text_piece(text, id, false, &n);
        fwrite(piece, 1, n, stdout);
        rc = mz_step(engine, &session, &id, 1, &err);
    }
    if (rc == MZ_OK)
        putchar('\n');
    else
        fprintf(stderr, "%s\n", err.text);
    mz_text_release(ids);
    mz_session_close(session);
    mz_engine_close(engine);
    return rc == MZ_OK ? 0 : 1;
}
