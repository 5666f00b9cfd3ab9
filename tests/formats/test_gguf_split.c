/* SPDX-License-Identifier: Apache-2.0
 *
 * Split GGUF files on disk: NAME-00001-of-0000N.gguf and what can be wrong between the parts. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "gguf_build.h"
#include "gguf_walk.h"

static char dir[64];

static const char *path_of(const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void save(gb *b, const char *name)
{
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b->p, 1, b->n, f), b->n);
    assert_int_equal(fclose(f), 0);
    free(b->p);
    *b = (gb){0};
}

/* One part: its number and the number of parts as it states them, its tensors' names, and how many
 * tensors it says all parts have. Tensor data is the part's number. */
typedef struct part {
    uint32_t no, count;
    int n_total;
    const char *tensor[2];
} part;

static gb build(const part *p)
{
    gb b = {0};
    uint64_t n = (p->tensor[0] != NULL) + (p->tensor[1] != NULL);
    gb_header(&b, 3, n, p->no == 0 ? 4 : 3);
    gb_kv_int(&b, "split.no", MZ_GGUF_U16, p->no, 2);
    gb_kv_int(&b, "split.count", MZ_GGUF_U16, p->count, 2);
    gb_kv_int(&b, "split.tensors.count", MZ_GGUF_I32, (uint64_t)p->n_total, 4);
    if (p->no == 0) gb_kv_str(&b, "general.architecture", "test");
    for (uint64_t i = 0; i < n; i++) gb_tensor(&b, p->tensor[i], 1, 4, 0, MZ_DTYPE_I8, 32 * i);
    gb_pad(&b, 32);
    for (uint64_t i = 0; i < n * 32; i++) gb_int(&b, p->no, 1);
    return b;
}

/* Writes a right model of three parts, five tensors. */
static const part right[3] = {{0, 3, 5, {"a", "b"}}, {1, 3, 5, {"c", "d"}}, {2, 3, 5, {"e", NULL}}};

static void save_part(const part *p, const char *name)
{
    gb b = build(p);
    save(&b, name);
}

static void save_right(void)
{
    save_part(&right[0], "m-00001-of-00003.gguf");
    save_part(&right[1], "m-00002-of-00003.gguf");
    save_part(&right[2], "m-00003-of-00003.gguf");
}

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/mizan-split-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf",
                                        "renamed.gguf",          "m-00001-of-00004.gguf", "m-00001-of-00001.gguf"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) (void)unlink(path_of(names[i]));
    return rmdir(dir);
}

static void refuse(const char *name, mz_status want, const char *text1, const char *text2)
{
    mz_gguf *g = NULL;
    mz_err err = {0};
    mz_status st = mz_gguf_open(path_of(name), &g, &err);
    if (st != want) fail_msg("status %d, expected %d (%s)", st, want, err.text);
    if (!strstr(err.text, text1) || !strstr(err.text, text2)) fail_msg("expected '%s' and '%s' in: %s", text1, text2, err.text);
    assert_non_null(strstr(err.text, dir)); /* the file is named, once */
    assert_null(strstr(strstr(err.text, dir) + 1, "gguf: /tmp"));
    assert_null(g);
}

static void test_right(void **state)
{
    (void)state;
    save_right();
    mz_gguf *g = NULL;
    mz_err err = {0};
    if (mz_gguf_open(path_of("m-00001-of-00003.gguf"), &g, &err) != MZ_OK) fail_msg("%s", err.text);
    assert_int_equal(g->n_part, 3);
    assert_int_equal(g->n_tensor, 5);
    assert_int_equal(g->n_kv, 4);
    assert_int_equal(g->file_bytes, g->part[0].size + g->part[1].size + g->part[2].size);
    for (int i = 0; i < 5; i++) {
        const mz_gguf_tensor *t = &g->tensor[i];
        char name[2] = {(char)('a' + i), 0};
        assert_string_equal(t->name, name);
        assert_ptr_equal(mz_gguf_find_tensor(g, name), t);
        assert_int_equal(t->i_part, i / 2);
        assert_ptr_equal(t->data, g->part[i / 2].data + t->file_offset);
        assert_int_equal(t->data[0], i / 2);
    }
    gguf_walk(g);
    mz_gguf_close(g);
}

/* split.count 1 is an ordinary file, whatever its name. */
static void test_single(void **state)
{
    (void)state;
    const part p = {0, 1, 1, {"a", NULL}};
    static const char *const names[] = {"m-00001-of-00001.gguf", "renamed.gguf"};
    for (int i = 0; i < 2; i++) {
        save_part(&p, names[i]);
        mz_gguf *g = NULL;
        assert_int_equal(mz_gguf_open(path_of(names[i]), &g, NULL), MZ_OK);
        assert_int_equal(g->n_part, 1);
        mz_gguf_close(g);
    }
}

static void test_not_first(void **state)
{
    (void)state;
    save_right();
    refuse("m-00002-of-00003.gguf", MZ_EINVAL, "part 2", "m-00001-of-00003.gguf");
    save_part(&right[2], "renamed.gguf");
    refuse("renamed.gguf", MZ_EINVAL, "part 3 of 3", "open the first part");
}

static void test_missing_part(void **state)
{
    (void)state;
    save_right();
    assert_int_equal(unlink(path_of("m-00003-of-00003.gguf")), 0);
    refuse("m-00001-of-00003.gguf", MZ_EIO, "part 3 of 3", "m-00003-of-00003.gguf: cannot open");
}

static void test_wrong_name(void **state)
{
    (void)state;
    save_part(&right[0], "renamed.gguf");
    refuse("renamed.gguf", MZ_EINVAL, "first of 3 parts", "NAME-00001-of-00003.gguf");
    save_part(&right[0], "m-00001-of-00004.gguf");
    refuse("m-00001-of-00004.gguf", MZ_EINVAL, "first of 3 parts", "NAME-00001-of-00003.gguf");
    save_part(&right[0], "m-00002-of-00003.gguf");
    refuse("m-00002-of-00003.gguf", MZ_EINVAL, "first of 3 parts", "NAME-00001-of-00003.gguf");
}

static void test_mixed_up(void **state)
{
    (void)state;
    save_right();
    save_part(&right[2], "m-00002-of-00003.gguf");
    refuse("m-00001-of-00003.gguf", MZ_EFORMAT, "m-00002-of-00003.gguf", "split.no 2");
    const part other_count = {1, 4, 5, {"c", "d"}};
    save_part(&other_count, "m-00002-of-00003.gguf");
    refuse("m-00001-of-00003.gguf", MZ_EFORMAT, "m-00002-of-00003.gguf", "split.count 4");
    gb no_keys = {0};
    gb_header(&no_keys, 3, 0, 0);
    save(&no_keys, "m-00002-of-00003.gguf");
    refuse("m-00001-of-00003.gguf", MZ_EFORMAT, "m-00002-of-00003.gguf", "split.no 0");
}

static void test_tensor_count(void **state)
{
    (void)state;
    save_right();
    const part p = {0, 3, 6, {"a", "b"}};
    save_part(&p, "m-00001-of-00003.gguf");
    refuse("m-00001-of-00003.gguf", MZ_EFORMAT, "split.tensors.count is 6", "5 tensors");
}

static void test_tensor_twice(void **state)
{
    (void)state;
    save_right();
    const part p = {2, 3, 5, {"b", NULL}};
    save_part(&p, "m-00003-of-00003.gguf");
    refuse("m-00001-of-00003.gguf", MZ_EFORMAT, "\"b\" is there twice", "parts");
}

/* A defect inside a later part names that part's file. */
static void test_cut_part(void **state)
{
    (void)state;
    save_right();
    gb b = build(&right[1]);
    b.n -= 40;
    save(&b, "m-00002-of-00003.gguf");
    refuse("m-00001-of-00003.gguf", MZ_EFORMAT, "m-00002-of-00003.gguf: the file ends", "incomplete");
}

static void test_memory(void **state)
{
    (void)state;
    mz_gguf *g = NULL;
    mz_err err = {0};
    for (int i = 0; i < 2; i++) {
        gb b = build(&right[i]);
        assert_int_equal(mz_gguf_open_memory(b.p, b.n, &g, &err), MZ_EINVAL);
        assert_non_null(strstr(err.text, "one of 3 parts"));
        free(b.p);
    }
}

int main(void)
{
#define ON_DISK(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ON_DISK(test_right),      ON_DISK(test_single),          ON_DISK(test_not_first),    ON_DISK(test_missing_part),
        ON_DISK(test_wrong_name), ON_DISK(test_mixed_up),        ON_DISK(test_tensor_count), ON_DISK(test_tensor_twice),
        ON_DISK(test_cut_part),   cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("gguf-split", tests, NULL, NULL);
}
