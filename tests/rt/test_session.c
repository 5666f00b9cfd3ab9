/* SPDX-License-Identifier: Apache-2.0
 * Engine and session behaviour at the edges: limits, refusals, failures that leave a session usable, memory.
 * Usage: test_session MODEL */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mizan/mizan.h>

static const char *path;

static mz_engine *must_open(const mz_engine_options *o)
{
    mz_engine *e = NULL;
    mz_err err = {0};
    if (mz_engine_open(path, o, &e, &err) != MZ_OK) fail_msg("%s", err.text);
    return e;
}

static mz_session *must_create(mz_engine *e)
{
    mz_session *s = NULL;
    mz_err err = {0};
    if (mz_session_create(e, &s, &err) != MZ_OK) fail_msg("%s", err.text);
    return s;
}

static void expect_refused(const mz_engine_options *o, mz_status want, const char *word)
{
    mz_engine *e = NULL;
    mz_err err = {0};
    assert_int_equal(mz_engine_open(path, o, &e, &err), want);
    assert_null(e);
    if (!strstr(err.text, word)) fail_msg("'%s' does not mention '%s'", err.text, word);
}

static void test_options(void **state)
{
    (void)state;
    const mz_engine_options d = mz_engine_options_default();
    mz_engine_options o = d;
    o.kv = "f8";
    expect_refused(&o, MZ_EINVAL, "f8");
    o = d;
    o.executor = "tiles";
    expect_refused(&o, MZ_EINVAL, "tiles");
    o = d;
    o.isa = "vax";
    expect_refused(&o, MZ_EINVAL, "vax");
    o = d;
    o.n_thread = 100000;
    expect_refused(&o, MZ_EINVAL, "threads");
    o = d;
    o.memory_bytes = 1000;
    expect_refused(&o, MZ_ENOMEM, "1000");
}

static void test_memory_budget(void **state)
{
    (void)state;
    mz_engine_options o = mz_engine_options_default();
    o.chunk_tok = 16;
    mz_engine *e = must_open(&o);
    mz_engine_info full = mz_engine_get_info(e);
    mz_engine_close(e);
    assert_int_equal(full.ctx_tok, full.model_ctx_tok);
    /* The default context shrinks to the budget; a stated one is refused with the context that would fit. */
    o.memory_bytes = full.weight_bytes + full.buffer_bytes + 128 * full.state_bytes_per_tok;
    e = must_open(&o);
    mz_engine_info small = mz_engine_get_info(e);
    mz_engine_close(e);
    assert_int_equal(small.ctx_tok, 128);
    assert_true(small.weight_bytes + small.buffer_bytes + small.state_pool_bytes <= o.memory_bytes);
    o.ctx_tok = 200;
    expect_refused(&o, MZ_ENOMEM, "128");
}

static void test_limits(void **state)
{
    (void)state;
    mz_engine_options o = mz_engine_options_default();
    o.ctx_tok = 20;
    mz_engine *e = must_open(&o);
    mz_session *s = must_create(e), *second = NULL;
    mz_err err = {0};
    int32_t ids[21] = {0}, out_of_range[2] = {1, 1 << 20}, negative[1] = {-1};
    assert_int_equal(mz_session_create(e, &second, &err), MZ_ENOMEM);
    assert_null(second);
    assert_int_equal(mz_session_sync(s, ids, 21, NULL, &err), MZ_ERANGE);
    assert_non_null(strstr(err.text, "20"));
    assert_int_equal(mz_session_sync(s, out_of_range, 2, NULL, &err), MZ_EINVAL);
    assert_int_equal(mz_session_sync(s, negative, 1, NULL, &err), MZ_EINVAL);
    assert_int_equal(mz_session_sync(s, ids, 0, NULL, &err), MZ_EINVAL);
    assert_int_equal(mz_session_len(s), 0);
    assert_int_equal(mz_session_sync(s, ids, 20, NULL, &err), MZ_OK);
    assert_int_equal(mz_step(e, &s, ids, 1, &err), MZ_ERANGE);
    assert_int_equal(mz_session_len(s), 20);
    assert_int_equal(mz_session_rewind(s, 21, &err), MZ_EINVAL);
    assert_int_equal(mz_session_rewind(s, 0, &err), MZ_OK);
    assert_int_equal(mz_session_sync(s, ids, 1, NULL, &err), MZ_OK);
    mz_session *twice[2] = {s, s};
    assert_int_equal(mz_step(e, twice, ids, 2, &err), MZ_EINVAL);
    mz_session_close(s);
    s = must_create(e); /* closing gave the place and the pages back */
    assert_int_equal(mz_session_sync(s, ids, 20, NULL, &err), MZ_OK);
    mz_session_close(s);
    mz_engine_close(e);
}

static void test_cancel(void **state)
{
    (void)state;
    mz_engine_options o = mz_engine_options_default();
    o.chunk_tok = 4;
    mz_engine *e = must_open(&o);
    mz_session *s = must_create(e);
    volatile int flag = 1;
    int32_t ids[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    mz_err err = {0};
    mz_session_set_cancel(s, &flag);
    assert_int_equal(mz_session_sync(s, ids, 8, NULL, &err), MZ_ECANCEL);
    flag = 0;
    assert_int_equal(mz_session_sync(s, ids, 8, NULL, &err), MZ_OK);
    assert_non_null(mz_session_logits(s));
    mz_session_close(s);
    mz_engine_close(e);
}

typedef struct tap_log {
    char names[4096];
} tap_log;

static mz_status note_tap(void *user, int layer, const char *name, int64_t row0, int64_t n_row, int64_t width, const float *rows,
                          mz_err *err)
{
    tap_log *log = user;
    (void)err;
    assert_true(n_row > 0 && width > 0);
    assert_true(rows[0] == rows[0]);
    size_t at = strlen(log->names);
    if (row0 == 0) (void)snprintf(log->names + at, sizeof log->names - at, "%d.%s ", layer, name);
    return MZ_OK;
}

static mz_status refuse_tap(void *user, int layer, const char *name, int64_t row0, int64_t n_row, int64_t width, const float *rows,
                            mz_err *err)
{
    (void)user, (void)layer, (void)name, (void)row0, (void)n_row, (void)width, (void)rows;
    (void)snprintf(err->text, sizeof err->text, "no more");
    return MZ_EIO;
}

static void test_taps(void **state)
{
    (void)state;
    mz_engine_options o = mz_engine_options_default();
    mz_engine *e = must_open(&o);
    mz_session *s = must_create(e);
    mz_err err = {0};
    int32_t ids[3] = {3, 1, 2};
    tap_log log = {{0}};
    assert_int_equal(mz_session_score(s, ids, 3, NULL, NULL, note_tap, &log, &err), MZ_EINVAL);
    mz_session_close(s);
    mz_engine_close(e);
    o.taps = true;
    e = must_open(&o);
    s = must_create(e);
    assert_int_equal(mz_session_score(s, ids, 3, NULL, NULL, note_tap, &log, &err), MZ_OK);
    assert_int_equal(strncmp(log.names, "0.embed 0.attn_in 0.attn_out 0.ffn_out 0.resid 1.attn_in ", 57), 0);
    assert_non_null(strstr(log.names, "-1.norm "));
    assert_int_equal(mz_session_score(s, ids, 3, NULL, NULL, refuse_tap, NULL, &err), MZ_EIO);
    assert_string_equal(err.text, "no more");
    mz_session_close(s);
    mz_engine_close(e);
}

static void test_describe(void **state)
{
    (void)state;
    mz_checkpoint *c = NULL;
    mz_err err = {0};
    char *text = NULL;
    if (mz_checkpoint_open(path, &c, &err) != MZ_OK) fail_msg("%s", err.text);
    assert_int_equal(mz_checkpoint_describe(c, "f32", 100, &text, &err), MZ_OK);
    static const char *const keys[] = {"\"family\": \"llama\"", "\"bytes_per_token\"", "\"by_kind\"",
                                       "\"formats\"",           "\"total_bytes\"",     "\"runnable\": true"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (!strstr(text, keys[i])) fail_msg("%s is not in %s", keys[i], text);
    mz_text_release(text);
    assert_int_equal(mz_checkpoint_program(c, &text, &err), MZ_OK);
    assert_non_null(strstr(text, "attend"));
    mz_text_release(text);
    assert_int_equal(mz_checkpoint_write_npy(c, "no such tensor", "/nonexistent/x.npy", &err), MZ_EINVAL);
    assert_int_equal(mz_checkpoint_write_npy(c, "token_embd.weight", "/nonexistent/x.npy", &err), MZ_EIO);
    mz_checkpoint_close(c);
    assert_int_equal(mz_cpu_describe(NULL, &text, &err), MZ_OK);
    assert_non_null(strstr(text, "\"Q4_1\""));
    mz_text_release(text);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    path = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_options), cmocka_unit_test(test_memory_budget),
                                       cmocka_unit_test(test_limits),  cmocka_unit_test(test_cancel),
                                       cmocka_unit_test(test_taps),    cmocka_unit_test(test_describe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
