/* SPDX-License-Identifier: Apache-2.0
 * Session files: what is loaded continues bit for bit without computing anything; every wrong file is one sentence and leaves
 * the session as it was. Usage: test_session_file MODEL OTHER_MODEL */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <mizan/mizan.h>

#include "base/hash.h"
#include "rt/session_header.h"

static const char *model, *other_model;
static char dir[] = "/tmp/mizan-session-XXXXXX", file[64], cut_file[64];

static mz_engine *must_open(const char *path, const char *kv, int64_t ctx, int n_session)
{
    mz_engine *e = NULL;
    mz_err err = {0};
    mz_engine_options o = mz_engine_options_default();
    o.kv = kv;
    o.ctx_tok = ctx;
    o.n_session = n_session;
    if (mz_engine_open(path, &o, &e, &err) != MZ_OK) fail_msg("%s", err.text);
    return e;
}

static mz_session *must_create(mz_engine *e)
{
    mz_session *s = NULL;
    mz_err err = {0};
    if (mz_session_create(e, &s, &err) != MZ_OK) fail_msg("%s", err.text);
    return s;
}

static void must(mz_status st, const mz_err *err)
{
    if (st != MZ_OK) fail_msg("%s", err->text);
}

static void sequence(int32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++) ids[i] = (int32_t)((i * 37 + 11) % 97);
}

static size_t read_all(const char *path, uint8_t **out)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    size_t n = (size_t)ftell(f);
    rewind(f);
    *out = malloc(n + 1);
    assert_non_null(*out);
    assert_int_equal(fread(*out, 1, n, f), n);
    (void)fclose(f);
    return n;
}

static void write_all(const char *path, const uint8_t *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* A session of n tokens is saved, loaded by another engine, and both go on: the same bits. */
static void check_round_trip(const char *kv, size_t n, bool rewound)
{
    enum { MOST = 300, MORE = 5 };
    int32_t ids[MOST];
    size_t n_note = 0, n_cached = 0;
    char *note = NULL;
    mz_err err = {0};
    sequence(ids, MOST);
    mz_engine *a = must_open(model, kv, MOST, 1), *b = must_open(model, kv, MOST + 100, 2);
    mz_session *s = must_create(a), *t = must_create(b), *u = must_create(b);
    must(mz_session_sync(u, ids + 3, 70, NULL, &err), &err); /* other pages are in use already */
    must(mz_session_sync(s, ids, n + (rewound ? 9 : 0), NULL, &err), &err);
    if (rewound) must(mz_session_rewind(s, n, &err), &err);
    must(mz_session_save(s, file, "a\0b", 3, &err), &err);
    must(mz_session_sync(t, ids + 1, 20, NULL, &err), &err); /* what was there goes */
    must(mz_session_load(t, file, &note, &n_note, &err), &err);
    assert_int_equal(n_note, 3);
    assert_memory_equal(note, "a\0b", 4);
    mz_text_release(note);
    assert_int_equal(mz_session_len(t), n);
    assert_memory_equal(mz_session_ids(t), ids, n * sizeof *ids);
    size_t logit_bytes = (size_t)mz_engine_get_info(a).n_vocab * sizeof(float);
    if (rewound) {
        assert_null(mz_session_logits(t));
    } else {
        must(mz_session_sync(t, ids, n, &n_cached, &err), &err);
        assert_int_equal(n_cached, n);
        assert_memory_equal(mz_session_logits(t), mz_session_logits(s), logit_bytes);
    }
    must(mz_session_sync(s, ids, n + MORE, NULL, &err), &err);
    must(mz_session_sync(t, ids, n + MORE, &n_cached, &err), &err);
    assert_int_equal(n_cached, n);
    assert_memory_equal(mz_session_logits(t), mz_session_logits(s), logit_bytes);
    must(mz_step(b, &t, &ids[n + MORE], 1, &err), &err);
    must(mz_step(a, &s, &ids[n + MORE], 1, &err), &err);
    assert_memory_equal(mz_session_logits(t), mz_session_logits(s), logit_bytes);
    mz_session_close(t);
    mz_session_close(u);
    mz_session_close(s);
    mz_engine_close(b);
    mz_engine_close(a);
}

static void test_round_trip(void **state)
{
    (void)state;
    const char *kv[] = {"f32", "f16", "bf16", "fp8"};
    for (int i = 0; i < 4; i++)
        for (size_t n = 1; n <= 200; n = n == 1 ? 63 : n == 63 ? 64 : n == 64 ? 65 : n + 135) check_round_trip(kv[i], n, i == 0);
}

static void test_empty_and_private(void **state)
{
    (void)state;
    mz_err err = {0};
    int32_t ids[130];
    uint8_t *x, *y;
    struct stat sb;
    mz_engine *e = must_open(model, "f16", 200, 2);
    mz_session *s = must_create(e), *t = must_create(e);
    must(mz_session_save(s, file, NULL, 0, &err), &err);
    assert_int_equal(stat(file, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0600);
    sequence(ids, 130);
    must(mz_session_sync(s, ids, 10, NULL, &err), &err);
    must(mz_session_load(s, file, NULL, NULL, &err), &err);
    assert_int_equal(mz_session_len(s), 0);
    /* What another session or a rewound sequence left behind in a page does not get into the file. */
    must(mz_session_sync(t, ids, 5, NULL, &err), &err);
    must(mz_session_save(t, file, NULL, 0, &err), &err);
    size_t n = read_all(file, &x);
    must(mz_session_sync(s, ids + 50, 80, NULL, &err), &err);
    must(mz_session_rewind(s, 0, &err), &err);
    must(mz_session_rewind(t, 0, &err), &err);
    must(mz_session_sync(t, ids + 9, 60, NULL, &err), &err);
    must(mz_session_sync(t, ids, 5, NULL, &err), &err);
    must(mz_session_save(t, file, NULL, 0, &err), &err);
    assert_int_equal(read_all(file, &y), n);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
    mz_session_close(s);
    mz_session_close(t);
    mz_engine_close(e);
}

/* Refused with the sentence, and the session still holds what it held. */
static void refuse(mz_session *s, const char *path, mz_status want, const char *word)
{
    mz_err err = {0};
    char *note = NULL;
    size_t len = mz_session_len(s), n_note;
    assert_int_equal(mz_session_load(s, path, &note, &n_note, &err), want);
    assert_null(note);
    if (!strstr(err.text, word) || !strstr(err.text, path)) fail_msg("'%s' does not mention '%s' and '%s'", err.text, word, path);
    assert_int_equal(mz_session_len(s), len);
}

static void test_refusals(void **state)
{
    (void)state;
    mz_err err = {0};
    int32_t ids[100];
    uint8_t *x;
    mz_session_header h;
    mz_session_places p;
    sequence(ids, 100);
    mz_engine *e = must_open(model, "f16", 200, 1);
    mz_session *s = must_create(e);
    must(mz_session_sync(s, ids, 100, NULL, &err), &err);
    must(mz_session_save(s, file, "note", 4, &err), &err);
    mz_engine *narrow = must_open(model, "fp8", 200, 1), *small = must_open(model, "f16", 99, 1),
              *stranger = must_open(other_model, "f16", 200, 1);
    mz_session *t = must_create(narrow), *u = must_create(small), *v = must_create(stranger);
    must(mz_session_sync(u, ids, 7, NULL, &err), &err);
    refuse(t, file, MZ_ESUPPORT, "--kv f16");
    refuse(u, file, MZ_ERANGE, "100 tokens");
    refuse(v, file, MZ_ESUPPORT, "another model");
    refuse(s, dir, MZ_EINVAL, "directory");
    refuse(s, "/dev/null", MZ_EINVAL, "regular");
    refuse(s, "/tmp/no-such-session-file", MZ_EIO, "cannot open");
    assert_int_equal(mz_session_save(s, "/tmp/no/such/folder/x", NULL, 0, &err), MZ_EIO);

    size_t n = read_all(file, &x);
    assert_int_equal(mz_session_header_read(x, MZ_SESSION_HEADER_BYTES, n, &h, &p, &err), MZ_OK);
    for (size_t len = 0; len < n; len += len < 140 ? 1 : 997) {
        write_all(cut_file, x, len);
        refuse(s, cut_file, MZ_EFORMAT, ".");
    }
    for (size_t at = 0; at < n; at += at < 140 ? 1 : 1009) { /* one flipped bit anywhere */
        x[at] ^= 4;
        write_all(cut_file, x, n);
        refuse(s, cut_file, at >= 8 && at < 12 ? MZ_ESUPPORT : MZ_EFORMAT, at >= 8 && at < 12 ? "version" : ".");
        x[at] ^= 4;
    }
    x = realloc(x, n + 1);
    assert_non_null(x);
    write_all(cut_file, x, n + 1); /* something appended */
    refuse(s, cut_file, MZ_EFORMAT, "bytes");
    /* Headers with a right checksum and wild sizes: refused by comparing with the file, before anything is allocated. */
    const uint64_t wild[] = {UINT64_MAX, INT64_MAX, (uint64_t)1 << 40, (uint64_t)1 << 62, 0, 101};
    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++)
        for (int field = 0; field < 4; field++) {
            mz_session_header w = h;
            if (field == 0) w.n_tok = wild[i];
            if (field == 1) w.note_bytes = wild[i];
            if (field == 2) w.state_bytes = wild[i];
            if (field == 3) w.n_vocab = (uint32_t)wild[i];
            if ((field == 1 || field == 0) && wild[i] == 101) continue; /* fits into the padding, or is too long for nobody */
            mz_session_header_write(&w, x);
            write_all(cut_file, x, n);
            refuse(s, cut_file, MZ_EFORMAT, ".");
        }
    /* An id outside the vocabulary, with right checksums: found while reading, and the session is empty then. */
    x[p.ids + 3] = 0x7f;
    h.body_hash = mz_hash_bytes(x + MZ_SESSION_HEADER_BYTES, n - MZ_SESSION_HEADER_BYTES);
    mz_session_header_write(&h, x);
    write_all(cut_file, x, n);
    assert_int_equal(mz_session_load(s, cut_file, NULL, NULL, &err), MZ_EFORMAT);
    assert_non_null(strstr(err.text, "vocabulary"));
    assert_int_equal(mz_session_len(s), 0);
    free(x);
    must(mz_session_load(s, file, NULL, NULL, &err), &err); /* still fine after all this */
    mz_session_close(s);
    mz_session_close(t);
    mz_session_close(u);
    mz_session_close(v);
    mz_engine_close(e);
    mz_engine_close(narrow);
    mz_engine_close(small);
    mz_engine_close(stranger);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_empty_and_private),
                                       cmocka_unit_test(test_refusals)};
    if (argc != 3 || !mkdtemp(dir)) {
        fprintf(stderr, "usage: %s MODEL OTHER_MODEL\n", argv[0]);
        return 2;
    }
    model = argv[1];
    other_model = argv[2];
    (void)snprintf(file, sizeof file, "%s/a.session", dir);
    (void)snprintf(cut_file, sizeof cut_file, "%s/b.session", dir);
    int rc = cmocka_run_group_tests_name("session_file", tests, NULL, NULL);
    (void)unlink(file);
    (void)unlink(cut_file);
    (void)rmdir(dir);
    return rc;
}
