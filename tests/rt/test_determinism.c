/* SPDX-License-Identifier: Apache-2.0
 * The determinism contract: the same logits, bit for bit, whatever the threads, chunks, neighbours, history, executor
 * or kernel set. The oracle is one token at a time on the reference executor.
 * Usage: test_determinism MODEL... */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mizan/mizan.h>

#define N_TOK  150 /* passes two page borders */
#define N_LONG 530 /* passes the border of a partial of keys */

static const char *const *model_path;
static int n_model;

static int32_t nth_id(int i, int32_t n_vocab)
{
    return (int32_t)(((unsigned)i * 2654435761u >> 7) % (unsigned)n_vocab);
}

static mz_engine *open_engine(const char *path, const mz_engine_options *o)
{
    mz_engine *e = NULL;
    mz_err err = {0};
    if (mz_engine_open(path, o, &e, &err) != MZ_OK) fail_msg("%s", err.text);
    return e;
}

static void sync_to(mz_session *s, const int32_t *ids, size_t n)
{
    mz_err err = {0};
    if (mz_session_sync(s, ids, n, NULL, &err) != MZ_OK) fail_msg("%s", err.text);
}

static mz_session *open_session(mz_engine *e)
{
    mz_session *s = NULL;
    mz_err err = {0};
    if (mz_session_create(e, &s, &err) != MZ_OK) fail_msg("%s", err.text);
    return s;
}

/* Logits of every position when tokens come one by one on the reference executor. */
typedef struct oracle {
    int32_t n_vocab, n, *ids;
    float *logits; /* [n, n_vocab] */
} oracle;

static oracle make_oracle(const char *path, int n, const char *kv)
{
    mz_engine_options o = mz_engine_options_default();
    o.executor = "reference";
    o.kv = kv;
    o.ctx_tok = n;
    mz_engine *e = open_engine(path, &o);
    mz_session *s = open_session(e);
    oracle r = {.n_vocab = mz_engine_get_info(e).n_vocab, .n = n};
    r.ids = calloc((size_t)n, sizeof *r.ids);
    r.logits = calloc((size_t)n * (size_t)r.n_vocab, sizeof *r.logits);
    for (int i = 0; i < n; i++) {
        r.ids[i] = nth_id(i, r.n_vocab);
        mz_err err = {0};
        if (mz_step(e, &s, &r.ids[i], 1, &err) != MZ_OK) fail_msg("%s", err.text);
        memcpy(r.logits + (size_t)i * (size_t)r.n_vocab, mz_session_logits(s), (size_t)r.n_vocab * sizeof(float));
    }
    mz_session_close(s);
    mz_engine_close(e);
    return r;
}

static void free_oracle(oracle *r)
{
    free(r->ids);
    free(r->logits);
}

static void expect_row(const oracle *r, int i, const float *got, const char *what)
{
    assert_non_null(got);
    if (memcmp(got, r->logits + (size_t)i * (size_t)r->n_vocab, (size_t)r->n_vocab * sizeof(float)) != 0)
        fail_msg("logits after token %d differ: %s", i, what);
}

/* All ways of reaching the same sequence on one engine configuration. */
static void check_engine(const oracle *r, const char *path, const mz_engine_options *options)
{
    char what[160];
    mz_engine_options o = *options;
    o.ctx_tok = r->n;
    o.n_session = 3;
    mz_engine *e = open_engine(path, &o);
    mz_engine_info info = mz_engine_get_info(e);
    mz_session *s = open_session(e), *other = open_session(e), *third = open_session(e);
    int half = r->n / 2;
    (void)snprintf(what, sizeof what, "isa %s, executor %s, %d threads, chunk %d, kv %s", info.isa, info.executor, info.n_thread,
                   (int)info.chunk_tok, info.kv);

    sync_to(s, r->ids, (size_t)r->n);
    expect_row(r, r->n - 1, mz_session_logits(s), what);

    /* neighbours at other depths in the same step, holding other tokens */
    mz_err err = {0};
    int32_t strange[3] = {1, 2, 3};
    sync_to(other, strange, 3);
    sync_to(third, r->ids + 1, (size_t)half);
    assert_int_equal(mz_session_rewind(s, (size_t)half, &err), MZ_OK);
    assert_null(mz_session_logits(s));
    for (int i = half; i < half + 3; i++) {
        mz_session *in_step[3] = {other, s, third};
        int32_t ids[3] = {strange[i % 3], r->ids[i], r->ids[i + 1]};
        assert_int_equal(mz_step(e, in_step, ids, 3, &err), MZ_OK);
        expect_row(r, i, mz_session_logits(s), what);
    }

    /* a prefix hit, a rewind past an own change, and a repeat */
    size_t cached = 0;
    int32_t *changed = malloc((size_t)r->n * sizeof *changed);
    memcpy(changed, r->ids, (size_t)r->n * sizeof *changed);
    changed[half - 2] = (changed[half - 2] + 1) % r->n_vocab;
    sync_to(s, changed, (size_t)half + 5);
    assert_int_equal(mz_session_sync(s, r->ids, (size_t)r->n, &cached, &err), MZ_OK);
    assert_int_equal(cached, half - 2);
    expect_row(r, r->n - 1, mz_session_logits(s), what);
    assert_int_equal(mz_session_sync(s, r->ids, (size_t)r->n, &cached, &err), MZ_OK);
    assert_int_equal(cached, r->n);
    expect_row(r, r->n - 1, mz_session_logits(s), what);
    free(changed);
    mz_session_close(third);
    mz_session_close(other);
    mz_session_close(s);
    mz_engine_close(e);
}

static mz_status compare_rows(void *user, int64_t row0, int64_t n_row, int64_t width, const float *rows, mz_err *err)
{
    const oracle *r = user;
    (void)err;
    assert_int_equal(width, r->n_vocab);
    for (int64_t i = 0; i < n_row; i++) expect_row(r, (int)(row0 + i), rows + i * width, "scoring");
    return MZ_OK;
}

static void check_scoring(const oracle *r, const char *path, const mz_engine_options *options)
{
    mz_engine *e = open_engine(path, options);
    mz_session *s = open_session(e);
    mz_err err = {0};
    assert_int_equal(mz_session_score(s, r->ids, (size_t)r->n, compare_rows, (void *)(uintptr_t)r, NULL, NULL, &err), MZ_OK);
    mz_session_close(s);
    mz_engine_close(e);
}

static void test_all_ways(void **state)
{
    (void)state;
    static const char *const isa[] = {"ref", NULL};
    static const int threads[] = {1, 2, 3, 8};
    static const int64_t chunk[] = {1, 7, 64, 512};
    for (int m = 0; m < n_model; m++) {
        oracle r = make_oracle(model_path[m], N_TOK, "f16");
        mz_engine_options o = mz_engine_options_default();
        for (size_t i = 0; i < 2; i++)
            for (size_t t = 0; t < 4; t++) {
                o.isa = isa[i];
                o.n_thread = threads[t];
                o.chunk_tok = chunk[(t + i) % 4];
                check_engine(&r, model_path[m], &o);
            }
        o = mz_engine_options_default();
        for (size_t c = 0; c < 4; c++) {
            o.chunk_tok = chunk[c];
            check_engine(&r, model_path[m], &o);
        }
        o = mz_engine_options_default();
        check_scoring(&r, model_path[m], &o);
        o.executor = "reference";
        check_engine(&r, model_path[m], &o);
        free_oracle(&r);
    }
}

static void test_kv_formats(void **state)
{
    (void)state;
    static const char *const kv[] = {"f32", "bf16", "fp8"};
    for (size_t i = 0; i < 3; i++) {
        oracle r = make_oracle(model_path[0], N_TOK, kv[i]);
        mz_engine_options o = mz_engine_options_default();
        o.kv = kv[i];
        o.n_thread = 2;
        check_engine(&r, model_path[0], &o);
        free_oracle(&r);
    }
}

static void test_long(void **state)
{
    (void)state;
    oracle r = make_oracle(model_path[0], N_LONG, "f16");
    mz_engine_options o = mz_engine_options_default();
    o.n_thread = 3;
    o.chunk_tok = 100;
    check_engine(&r, model_path[0], &o);
    free_oracle(&r);
}

/* The comparison itself must be able to fail: another KV format gives other bits. */
static void test_control(void **state)
{
    (void)state;
    oracle a = make_oracle(model_path[0], 40, "f16"), b = make_oracle(model_path[0], 40, "fp8");
    assert_memory_not_equal(a.logits, b.logits, (size_t)a.n * (size_t)a.n_vocab * sizeof(float));
    free_oracle(&a);
    free_oracle(&b);
}

int main(int argc, char **argv)
{
    model_path = (const char *const *)argv + 1;
    n_model = argc - 1;
    if (n_model < 1) return 2;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_control), cmocka_unit_test(test_all_ways), cmocka_unit_test(test_kv_formats),
                                       cmocka_unit_test(test_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
