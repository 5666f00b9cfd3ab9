/* SPDX-License-Identifier: Apache-2.0
 *
 * test_race.c: a short run of everything that happens on several threads, small enough for the thread sanitizer, whose
 * silence is the point; the equality demanded here is demanded at length by test_determinism. Kernels are the reference
 * ones: only those are instrumented.
 * Usage: test_race MODEL... */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include <mizan/mizan.h>

enum { N_TOK = 24, N_STEP = 3 };

static const char *const *model_path;
static int n_model;

/* A prompt in chunks, then steps of two sessions; the logits of the first session's last step, for the caller to free.
 * NULL: something failed (no assertions here: it also runs outside the test's thread). */
static float *run_model(const char *path, int n_thread, int32_t *n_vocab)
{
    mz_engine_options o = mz_engine_options_default();
    o.isa = "ref";
    o.n_thread = n_thread;
    o.ctx_tok = 64;
    o.chunk_tok = 10;
    o.n_session = 2;
    mz_engine *e = NULL;
    mz_session *s[2] = {NULL, NULL};
    int32_t ids[N_TOK], next[2];
    float *logits = NULL;
    bool ok = mz_engine_open(path, &o, &e, NULL) == MZ_OK;
    for (int i = 0; ok && i < 2; i++) ok = mz_session_create(e, &s[i], NULL) == MZ_OK;
    if (!ok) goto out;
    *n_vocab = mz_engine_get_info(e).n_vocab;
    for (int i = 0; i < N_TOK; i++) ids[i] = (i * 7 + 3) % *n_vocab;
    ok = mz_session_sync(s[0], ids, N_TOK, NULL, NULL) == MZ_OK && mz_session_sync(s[1], ids, 5, NULL, NULL) == MZ_OK;
    for (int i = 0; ok && i < N_STEP; i++) {
        next[0] = i + 1;
        next[1] = i + 2;
        ok = mz_step(e, s, next, 2, NULL) == MZ_OK;
    }
    size_t bytes = (size_t)*n_vocab * sizeof *logits;
    if (ok) logits = malloc(bytes);
    if (logits) memcpy(logits, mz_session_logits(s[0]), bytes);
out:
    mz_session_close(s[1]);
    mz_session_close(s[0]);
    mz_engine_close(e);
    return logits;
}

static void test_team_sizes(void **state)
{
    (void)state;
    for (int m = 0; m < n_model; m++) {
        int32_t n_vocab = 0;
        float *one = run_model(model_path[m], 1, &n_vocab);
        assert_non_null(one);
        for (int n_thread = 2; n_thread <= 4; n_thread++) {
            float *many = run_model(model_path[m], n_thread, &n_vocab);
            assert_non_null(many);
            assert_memory_equal(one, many, (size_t)n_vocab * sizeof *one);
            free(many);
        }
        free(one);
    }
}

static void *run_beside(void *arg)
{
    int32_t n_vocab;
    return run_model(arg, 2, &n_vocab);
}

/* Engines are independent: two at once, each with its team, opened at the same moment. */
static void test_two_engines(void **state)
{
    (void)state;
    int32_t n_vocab = 0;
    float *alone = run_model(model_path[0], 1, &n_vocab);
    assert_non_null(alone);
    pthread_t t[2];
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&t[i], NULL, run_beside, (void *)(uintptr_t)model_path[0]), 0);
    for (int i = 0; i < 2; i++) {
        void *got = NULL;
        assert_int_equal(pthread_join(t[i], &got), 0);
        assert_non_null(got);
        assert_memory_equal(alone, got, (size_t)n_vocab * sizeof *alone);
        free(got);
    }
    free(alone);
}

int main(int argc, char **argv)
{
    model_path = (const char *const *)argv + 1;
    n_model = argc - 1;
    if (n_model < 1) return 2;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_team_sizes), cmocka_unit_test(test_two_engines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
