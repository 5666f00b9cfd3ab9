/* SPDX-License-Identifier: Apache-2.0
 *
 * GGUF files that are wrong, each in one way: the status, and a sentence that names the culprit. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "gguf_build.h"

/* Opens the bytes, which must fail with `want` and a sentence that holds both texts; frees them. */
static void refuse(gb *b, mz_status want, const char *text1, const char *text2)
{
    mz_gguf *g = (mz_gguf *)b;
    mz_err err = {0};
    uint8_t *copy = malloc(b->n ? b->n : 1); /* of exact size: a read past it is seen */
    if (b->n) memcpy(copy, b->p, b->n);
    mz_status st = mz_gguf_open_memory(copy, b->n, &g, &err);
    if (st != want || err.status != want) fail_msg("status %d, expected %d (%s)", st, want, err.text);
    if (!strstr(err.text, text1) || !strstr(err.text, text2)) fail_msg("expected '%s' and '%s' in: %s", text1, text2, err.text);
    assert_null(g);
    assert_int_equal(mz_gguf_open_memory(copy, b->n, &g, NULL), want);
    free(copy);
    free(b->p);
    *b = (gb){0};
}

static void test_not_gguf(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *text;
    } files[] = {
        {"GGUX....................", "47 47 55 58"},
        {"GGX", "not a GGUF file"},
        {"", "empty"},
        {"version https://git-lfs.github.com/spec/v1\noid", "Git LFS"},
        {"<!DOCTYPE html><html>", "web page"},
        {"tjgg\x03", "GGJT"},
        {"GG", "incomplete"},
        {"GGUF\x03", "incomplete"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        gb b = {0};
        gb_bytes(&b, files[i].bytes, strlen(files[i].bytes));
        refuse(&b, MZ_EFORMAT, files[i].text, "");
    }
}

static void test_version(void **state)
{
    (void)state;
    static const struct {
        uint32_t version;
        const char *text;
    } files[] = {{0, "version 0"},           {1, "version 1"},           {4, "version 4"},
                 {0x03000000, "big-endian"}, {0x02000000, "big-endian"}, {0x30003, "196611"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        gb b = {0};
        gb_header(&b, files[i].version, 0, 0);
        refuse(&b, MZ_ESUPPORT, files[i].text,
               files[i].version & 0xFFFF || files[i].version == 0 ? "mizan reads versions 2 and 3" : "little-endian");
    }
}

static void test_counts(void **state)
{
    (void)state;
    static const uint64_t absurd[] = {1, 1000000, UINT64_MAX, INT64_MAX, UINT64_MAX / 14 + 2, UINT64_MAX / 33 + 2};
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
        gb b = {0};
        char number[32];
        (void)snprintf(number, sizeof number, "%llu", (unsigned long long)absurd[i]);
        gb_header(&b, 3, 0, absurd[i]);
        refuse(&b, MZ_EFORMAT, number, "keys");
        gb_header(&b, 3, absurd[i], 0);
        refuse(&b, MZ_EFORMAT, number, "tensors");
    }
    gb b = {0};
    gb_header(&b, 3, 2, 1); /* room for one tensor beside the key, not for two */
    gb_kv_u32(&b, "k", 0);
    gb_tensor(&b, "a", 1, 1, 0, MZ_DTYPE_I8, 0);
    gb_bytes(&b, "1234567890", 10);
    refuse(&b, MZ_EFORMAT, "2 tensors", "cut short");
}

/* A file with n keys is begun; room is added behind so that counts are believable. */
static void refuse_kv(gb *b, mz_status want, const char *text1, const char *text2)
{
    for (int i = 0; i < 64; i++) gb_int(b, 0xEE, 1);
    refuse(b, want, text1, text2);
}

static void test_metadata(void **state)
{
    (void)state;
    gb b = {0};
    gb_header(&b, 3, 0, 1);
    gb_key(&b, "odd.type", 13);
    refuse_kv(&b, MZ_EFORMAT, "odd.type", "13");
    gb_header(&b, 3, 0, 1);
    gb_kv_array(&b, "odd.elem", 99, 1);
    refuse_kv(&b, MZ_EFORMAT, "odd.elem", "99");
    gb_header(&b, 3, 0, 1);
    gb_kv_array(&b, "nested", MZ_GGUF_ARRAY, 1);
    refuse_kv(&b, MZ_ESUPPORT, "nested", "array of arrays");
    gb_header(&b, 3, 0, 1);
    gb_kv_int(&b, "flag", MZ_GGUF_BOOL, 2, 1);
    refuse_kv(&b, MZ_EFORMAT, "flag", "expected 0 or 1");
    gb_header(&b, 3, 0, 1);
    gb_kv_array(&b, "flags", MZ_GGUF_BOOL, 3);
    gb_int(&b, 0x050001, 3);
    refuse_kv(&b, MZ_EFORMAT, "flags", "element 2");
    gb_header(&b, 3, 0, 1);
    gb_kv_u32(&b, "", 1);
    refuse_kv(&b, MZ_EFORMAT, "key 1 of 1", "0 bytes");
    gb_header(&b, 3, 0, 1);
    gb_int(&b, 65536, 8);
    refuse_kv(&b, MZ_EFORMAT, "key 1 of 1", "65536 bytes");
    gb_header(&b, 3, 0, 1);
    gb_int(&b, UINT64_MAX, 8);
    refuse_kv(&b, MZ_EFORMAT, "key 1 of 1", "18446744073709551615");
    gb_header(&b, 3, 0, 3);
    gb_kv_u32(&b, "same.key", 1);
    gb_kv_u32(&b, "other.key", 1);
    gb_kv_str(&b, "same.key", "x");
    refuse_kv(&b, MZ_EFORMAT, "same.key", "twice");
    gb_header(&b, 3, 0, 1);
    gb_key(&b, "long.text", MZ_GGUF_STRING);
    gb_int(&b, UINT64_MAX - 3, 8);
    refuse_kv(&b, MZ_EFORMAT, "long.text", "incomplete");
    gb_header(&b, 3, 0, 1);
    gb_kv_array(&b, "long.array", MZ_GGUF_U64, UINT64_MAX / 8 + 2);
    refuse_kv(&b, MZ_EFORMAT, "long.array", "incomplete");
    gb_header(&b, 3, 0, 1);
    gb_kv_array(&b, "long.tokens", MZ_GGUF_STRING, UINT64_MAX);
    refuse_kv(&b, MZ_EFORMAT, "long.tokens", "incomplete");
    gb_header(&b, 3, 0, 1);
    gb_kv_array(&b, "long.bytes", MZ_GGUF_I8, 66);
    refuse_kv(&b, MZ_EFORMAT, "long.bytes", "incomplete");
}

static void test_alignment(void **state)
{
    (void)state;
    static const uint32_t wrong[] = {0, 1, 4, 12, 33, 0xFFFFFFFF, 0x80000001};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gb b = {0};
        gb_header(&b, 3, 0, 1);
        gb_kv_u32(&b, "general.alignment", wrong[i]);
        refuse_kv(&b, MZ_EFORMAT, "general.alignment", "power of two");
    }
    gb b = {0};
    gb_header(&b, 3, 0, 1);
    gb_kv_str(&b, "general.alignment", "32");
    refuse_kv(&b, MZ_EFORMAT, "general.alignment", "string");
}

/* A file with the one tensor given, and plenty of data behind. */
static void refuse_tensor(const char *name, uint32_t n_dim, uint64_t d0, uint64_t d1, uint32_t type, uint64_t offset, mz_status want,
                          const char *text)
{
    gb b = {0};
    gb_header(&b, 3, 1, 0);
    gb_tensor(&b, name, n_dim, d0, d1, type, offset);
    gb_pad(&b, 32);
    gb_data(&b, 1024);
    refuse(&b, want, name, text);
}

static void test_tensor(void **state)
{
    (void)state;
    refuse_tensor("dims.none", 0, 0, 0, MZ_DTYPE_F32, 0, MZ_EFORMAT, "0 dimensions");
    refuse_tensor("dims.five", 5, 1, 1, MZ_DTYPE_F32, 0, MZ_EFORMAT, "5 dimensions");
    refuse_tensor("dims.many", 0xFFFFFFFF >> 28, 1, 1, MZ_DTYPE_F32, 0, MZ_EFORMAT, "15 dimensions");
    refuse_tensor("dim.zero", 2, 4, 0, MZ_DTYPE_F32, 0, MZ_EFORMAT, "dimension 1 is 0");
    refuse_tensor("dim.zero0", 1, 0, 0, MZ_DTYPE_F32, 0, MZ_EFORMAT, "dimension 0 is 0");
    refuse_tensor("dim.negative", 2, 4, UINT64_MAX, MZ_DTYPE_F32, 0, MZ_EFORMAT, "2^63");
    refuse_tensor("dim.product", 2, UINT64_C(1) << 32, UINT64_C(1) << 31, MZ_DTYPE_I8, 0, MZ_EFORMAT, "2^63");
    refuse_tensor("dim.bytes", 2, UINT64_C(1) << 31, UINT64_C(1) << 31, MZ_DTYPE_F64, 0, MZ_EFORMAT, "2^64 bytes");
    refuse_tensor("dim.block", 2, 48, 2, MZ_DTYPE_Q8_0, 0, MZ_EFORMAT, "multiple of 32, the block of Q8_0");
    refuse_tensor("dim.super", 1, 128, 0, MZ_DTYPE_Q4_K, 0, MZ_EFORMAT, "multiple of 256, the block of Q4_K");
    refuse_tensor("type.removed", 1, 32, 0, 4, 0, MZ_ESUPPORT, "type number 4,");
    refuse_tensor("type.removed", 1, 32, 0, 36, 0, MZ_ESUPPORT, "type number 36,");
    refuse_tensor("type.next", 1, 32, 0, MZ_DTYPE_COUNT, 0, MZ_ESUPPORT, "type number 43,");
    refuse_tensor("type.max", 1, 32, 0, UINT32_MAX, 0, MZ_ESUPPORT, "type number 4294967295,");
    refuse_tensor("offset.odd", 1, 1, 0, MZ_DTYPE_F32, 8, MZ_EFORMAT, "multiple of the alignment 32");
    refuse_tensor("offset.max", 1, 1, 0, MZ_DTYPE_F32, UINT64_MAX - 31, MZ_EFORMAT, "do not fit");
    refuse_tensor("offset.far", 1, 1, 0, MZ_DTYPE_F32, UINT64_C(1) << 40, MZ_EFORMAT, "far outside");
    refuse_tensor("data.cut", 1, 257, 0, MZ_DTYPE_F32, 0, MZ_EFORMAT,
                  "the file ends at byte 1088, tensor \"data.cut\" needs it to reach byte 1092");
}

static void test_names(void **state)
{
    (void)state;
    gb b = {0};
    char name[129];
    memset(name, 'n', sizeof name);
    gb_header(&b, 3, 1, 0);
    gb_str_n(&b, name, 128);
    refuse_kv(&b, MZ_EFORMAT, "tensor 1 of 1", "128 bytes, expected 1 to 127");
    gb_header(&b, 3, 1, 0);
    gb_tensor(&b, "", 1, 1, 0, MZ_DTYPE_I8, 0);
    refuse_kv(&b, MZ_EFORMAT, "tensor 1 of 1", "0 bytes");
    gb_header(&b, 3, 1, 0);
    gb_str_n(&b, "in\0side", 7);
    refuse_kv(&b, MZ_EFORMAT, "\"in", "zero byte");
    gb_header(&b, 3, 3, 0);
    gb_tensor(&b, "same.name", 1, 1, 0, MZ_DTYPE_I8, 0);
    gb_tensor(&b, "other", 1, 1, 0, MZ_DTYPE_I8, 32);
    gb_tensor(&b, "same.name", 1, 1, 0, MZ_DTYPE_I8, 64);
    gb_pad(&b, 32);
    gb_data(&b, 128);
    refuse(&b, MZ_EFORMAT, "same.name", "twice");
    gb_header(&b, 3, 1, 0); /* 127 bytes are well */
    gb_str_n(&b, name, 127);
    gb_int(&b, 1, 4);
    gb_int(&b, 1, 8);
    gb_int(&b, MZ_DTYPE_I8, 4);
    gb_int(&b, 0, 8);
    gb_pad(&b, 32);
    gb_data(&b, 1);
    mz_gguf *g;
    assert_int_equal(mz_gguf_open_memory(b.p, b.n, &g, NULL), MZ_OK);
    mz_gguf_close(g);
    free(b.p);
}

static void test_overlap(void **state)
{
    (void)state;
    static const uint64_t offset[][3] = {{0, 32, 192}, {0, 0, 96}, {96, 32, 0}, {128, 0, 32}};
    for (size_t i = 0; i < sizeof offset / sizeof *offset; i++) {
        gb b = {0};
        gb_header(&b, 3, 3, 0);
        gb_tensor(&b, "first", 1, 16, 0, MZ_DTYPE_F32, offset[i][0]);
        gb_tensor(&b, "second", 1, 17, 0, MZ_DTYPE_F32, offset[i][1]);
        gb_tensor(&b, "third", 1, 16, 0, MZ_DTYPE_F32, offset[i][2]);
        gb_pad(&b, 32);
        gb_data(&b, 512);
        refuse(&b, MZ_EFORMAT, "second", "overlap");
    }
}

/* Names from the file may hold terminal controls and broken UTF-8; sentences do not. */
static void test_printable(void **state)
{
    (void)state;
    gb b = {0};
    gb_header(&b, 3, 0, 1);
    gb_key(&b, "a\x1B[31m\xFF\xC3", 77);
    refuse_kv(&b, MZ_EFORMAT, "\"a?[31m??\"", "77");
}

/* Large files made of a hole: they cost their maker nothing and must cost the reader nothing. */
static void test_holes(void **state)
{
    (void)state;
    static const uint64_t count[][2] = {{0, 300000000}, {100000000, 0}, {100000000, 100000000}};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) {
        char path[] = "/tmp/mizan-hole-XXXXXX";
        int fd = mkstemp(path);
        gb b = {0};
        mz_gguf *g = NULL;
        mz_err err = {0};
        struct rusage before, after;
        gb_header(&b, 3, count[i][0], count[i][1]);
        assert_true(fd >= 0 && write(fd, b.p, b.n) == (ssize_t)b.n && ftruncate(fd, INT64_C(8) << 30) == 0);
        (void)getrusage(RUSAGE_SELF, &before);
        clock_t start = clock();
        assert_int_equal(mz_gguf_open(path, &g, &err), MZ_EFORMAT);
        (void)getrusage(RUSAGE_SELF, &after);
        assert_non_null(strstr(err.text, path));
        assert_true(clock() - start < CLOCKS_PER_SEC);
        assert_true(after.ru_maxrss - before.ru_maxrss < 64 * 1024);
        (void)close(fd);
        (void)unlink(path);
        free(b.p);
    }
}

static void test_no_file(void **state)
{
    (void)state;
    mz_gguf *g = NULL;
    mz_err err = {0};
    assert_int_equal(mz_gguf_open("/nonexistent/model.gguf", &g, &err), MZ_EIO);
    assert_non_null(strstr(err.text, "/nonexistent/model.gguf"));
    assert_null(g);
    assert_int_equal(mz_gguf_open("/tmp", &g, &err), MZ_EINVAL);
    assert_null(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_gguf),  cmocka_unit_test(test_version), cmocka_unit_test(test_counts),  cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_alignment), cmocka_unit_test(test_tensor),  cmocka_unit_test(test_names),   cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_printable), cmocka_unit_test(test_holes),   cmocka_unit_test(test_no_file),
    };
    return cmocka_run_group_tests_name("gguf-hostile", tests, NULL, NULL);
}
