/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "text/tokenizer.h"
#include "tiny_sp.h"

static mz_status make(sp_options o, mz_tokenizer **out, mz_err *err)
{
    tv_bytes b = sp_build(o);
    mz_gguf *g = NULL;
    mz_status st = mz_gguf_open_memory(b.data, b.n, &g, err);
    if (st == MZ_OK) st = mz_tokenizer_from_gguf(g, out, err);
    mz_gguf_close(g);
    free(b.data); /* nothing may point into the file afterwards */
    return st;
}

static mz_tokenizer *make_ok(sp_options o)
{
    mz_tokenizer *t = NULL;
    mz_err err = {0};
    if (make(o, &t, &err) != MZ_OK || !t) fail_msg("%s", err.text);
    return t;
}

static void expect(const mz_tokenizer *t, const char *text, size_t n, unsigned flags, const int32_t *want, size_t n_want)
{
    mz_buf b = {0};
    mz_err err = {0};
    if (mz_tokenizer_encode(t, text, n, flags, &b, &err) != MZ_OK) fail_msg("%s", err.text);
    if (b.len / sizeof *want != n_want || (n_want && memcmp(b.data, want, n_want * sizeof *want) != 0)) {
        const int32_t *got = (const int32_t *)(const void *)b.data;
        for (size_t i = 0; i < b.len / sizeof *got; i++) print_message("%d ", got[i]);
        fail_msg("(%zu ids) of '%s'", b.len / sizeof *got, text);
    }
    mz_buf_free(&b);
}
#define EXPECT(t, text, flags, ...) \
    expect(t, text, sizeof text - 1, flags, (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

static void decodes(const mz_tokenizer *t, const int32_t *ids, size_t n, bool special, const char *want)
{
    mz_buf b = {0};
    mz_err err = {0};
    if (mz_tokenizer_decode(t, ids, n, special, &b, &err) != MZ_OK) fail_msg("%s", err.text);
    assert_string_equal(b.data ? b.data : "", want);
    mz_buf_free(&b);
}
#define DECODES(t, special, want, ...) \
    decodes(t, (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t), special, want)
#define BYTE(b) (SP_BYTES + (b))

static void merges_by_score(void **state)
{
    (void)state;
    sp_options o = SP_DEFAULT;
    mz_tokenizer *t = make_ok(o); /* without the key a space is put in front */
    assert_string_equal(mz_tokenizer_model_name(t), "llama");
    EXPECT(t, "a", 0, SP_SPACE_A);
    /* "ba" is unused yet has the best score: it merges and comes apart again, and "ab" never gets its turn. */
    EXPECT(t, "ab", 0, SP_SPACE, SP_AB);
    EXPECT(t, "abab", 0, SP_SPACE_A, SP_B, SP_A, SP_B);
    EXPECT(t, " a", 0, SP_TWO_SPACES, SP_A);
    EXPECT(t, "c", 0, SP_SPACE, BYTE('c'));
    EXPECT(t, "\xD9\x85\xD9\x86", 0, SP_SPACE, SP_MEEM, BYTE(0xD9), BYTE(0x86));
    EXPECT(t, "a", MZ_ENCODE_BOS, SP_BOS, SP_SPACE_A);
    expect(t, "", 0, MZ_ENCODE_BOS, (const int32_t[]){SP_BOS}, 1);
    expect(t, "", 0, 0, NULL, 0);
    mz_tokenizer_free(t);
    o.prefix = 0;
    t = make_ok(o);
    EXPECT(t, "a", 0, SP_A);
    EXPECT(t, " a", 0, SP_SPACE_A);
    EXPECT(t, "a   a", 0, SP_A, SP_TWO_SPACES, SP_SPACE_A);
    EXPECT(t, "a\xE2\x96\x81", 0, SP_A, SP_SPACE); /* a literal mark is a space */
    mz_tokenizer_free(t);
}

static void best_path(void **state)
{
    (void)state;
    sp_options o = SP_DEFAULT;
    o.model = "t5";
    o.bytes = 0;
    mz_tokenizer *t = make_ok(o);
    EXPECT(t, "abab", 0, SP_SPACE, SP_ABAB);
    EXPECT(t, "  a  a ", 0, SP_SPACE_A, SP_SPACE_A); /* spaces in excess go: T5's default */
    EXPECT(t, "ccc", 0, SP_SPACE, SP_UNK);           /* a run of unknown characters is one token */
    EXPECT(t, "cac", 0, SP_SPACE, SP_UNK, SP_A, SP_UNK);
    EXPECT(t, "a", MZ_ENCODE_BOS, SP_SPACE_A, SP_EOS);
    EXPECT(t, "<think>a", 0, SP_SPACE, SP_THINK, SP_A);
    EXPECT(t,
           "\xFF"
           "a",
           0, SP_SPACE, SP_UNK, SP_A);
    mz_tokenizer_free(t);
}

static void character_map(void **state)
{
    (void)state;
    uint8_t map[2048];
    sp_options o = SP_DEFAULT;
    o.map = map;
    o.n_map = sp_charsmap(map);
    o.prefix = 0;
    mz_tokenizer *t = make_ok(o);
    EXPECT(t, "x", 0, SP_AB);
    EXPECT(t, "ayb", 0, SP_AB);
    expect(t, "y", 1, 0, NULL, 0);
    mz_tokenizer_free(t);
}

static void user_pieces(void **state)
{
    (void)state;
    sp_options o = SP_DEFAULT;
    o.prefix = 0;
    mz_tokenizer *t = make_ok(o);
    EXPECT(t, "a</s>a", 0, SP_A, SP_STRIKE, SP_A);
    assert_false(mz_tokenizer_is_stop(t, SP_STRIKE));
    assert_true(mz_tokenizer_is_stop(t, SP_EOS));
    assert_true(mz_tokenizer_is_stop(t, SP_TURN_END));
    /* Typed as user-defined by an old conversion, and yet no part of any text. */
    assert_int_equal(mz_tokenizer_kind(t, SP_TURN), MZ_TOKEN_CONTROL);
    EXPECT(t, "<start_of_turn>", MZ_ENCODE_SPECIAL, SP_TURN);
    EXPECT(t, "a<end_of_turn> a", MZ_ENCODE_SPECIAL, SP_A, SP_TURN_END, SP_SPACE_A);
    EXPECT(t, "<s>", MZ_ENCODE_SPECIAL, SP_BOS);
    EXPECT(t, "<s>", 0, BYTE('<'), BYTE('s'), BYTE('>'));
    EXPECT(t, "<|role|>", 0, SP_ROLE);
    static const size_t guard[] = {0, 9};
    static const int32_t want[] = {BYTE('<'), BYTE('|'), BYTE('r'), BYTE('o'), BYTE('l'), BYTE('e'), BYTE('|'),
                                   BYTE('>'), SP_SPACE,  BYTE('<'), BYTE('s'), BYTE('>'), SP_BOS,    SP_ROLE};
    static const char text[] = "<|role|> <s><s><|role|>";
    mz_buf b = {0};
    mz_err err = {0};
    assert_int_equal(mz_tokenizer_encode_guarded(t, text, sizeof text - 1, MZ_ENCODE_SPECIAL, guard, 2, &b, &err), MZ_OK);
    assert_int_equal(b.len, sizeof want);
    assert_memory_equal(b.data, want, sizeof want);
    mz_buf_free(&b);
    assert_true(mz_tokenizer_is_paired(t, SP_THINK));
    mz_tokenizer_free(t);
    o.model = "t5";
    o.trim = 0;
    t = make_ok(o);
    assert_int_equal(mz_tokenizer_encode_guarded(t, text, sizeof text - 1, MZ_ENCODE_SPECIAL, guard, 2, &b, &err), MZ_OK);
    assert_int_equal(b.len, sizeof want);
    assert_memory_equal(b.data, want, sizeof want);
    mz_buf_free(&b);
    mz_tokenizer_free(t);
}

static void decoding(void **state)
{
    (void)state;
    sp_options o = SP_DEFAULT;
    mz_tokenizer *t = make_ok(o);
    DECODES(t, false, "a", SP_SPACE_A);
    DECODES(t, false, "a a", SP_SPACE_A, SP_SPACE_A);
    DECODES(t, false, " a", SP_SPACE, SP_SPACE_A);
    DECODES(t, false, "a a", SP_BOS, SP_SPACE_A, SP_EOS, SP_SPACE_A);
    DECODES(t, true, "<s>a<eos>a", SP_BOS, SP_SPACE_A, SP_EOS, SP_SPACE_A); /* as it was encoded */
    DECODES(t, false, "\xD9\x85", BYTE(0xD9), BYTE(0x85));
    DECODES(t, false, " a", BYTE(' '), SP_A);
    DECODES(t, false, "a \xE2\x81\x87 ", SP_SPACE_A, SP_UNK);
    DECODES(t, true, "a<unk>", SP_SPACE_A, SP_UNK);
    assert_int_equal(mz_tokenizer_piece(t, SP_SPACE_A, false).n, 2); /* continuing a text, the space belongs to it */
    mz_buf b = {0};
    mz_err err = {0};
    assert_int_equal(mz_tokenizer_decode(t, (const int32_t[]){SP_BYTES + 256}, 1, false, &b, &err), MZ_EINVAL);
    mz_buf_free(&b);
    mz_tokenizer_free(t);
    o.prefix = 0;
    t = make_ok(o);
    DECODES(t, false, " a", SP_SPACE_A);
    mz_tokenizer_free(t);
    o.prefix = 1;
    o.trim = 1;
    t = make_ok(o);
    DECODES(t, false, "a", SP_SPACE, SP_SPACE_A);
    mz_tokenizer_free(t);
}

/* Any bytes come back where bytes have pieces and nothing is trimmed. */
static void bytes_survive(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        sp_options o = SP_DEFAULT;
        o.model = k & 1 ? "t5" : "llama";
        o.prefix = k >> 1;
        o.trim = 0;
        mz_tokenizer *t = make_ok(o);
        uint32_t seed = 7;
        for (size_t round = 0; round < 400; round++) {
            char s[97];
            size_t n = round % sizeof s;
            for (size_t i = 0; i < n; i++) {
                seed = seed * 1664525u + 1013904223u;
                s[i] = (char)(seed >> 24);
                if (round & 1 && i % 3) s[i] = "abab  \xD9\x85\xE2\x82\xAC<s>\xF0z"[seed >> 24 & 15];
            }
            mz_buf ids = {0}, back = {0};
            mz_err err = {0};
            if (mz_tokenizer_encode(t, s, n, 0, &ids, &err) != MZ_OK) fail_msg("%s", err.text);
            if (mz_tokenizer_decode(t, (const int32_t *)(const void *)ids.data, ids.len / 4, true, &back, &err) != MZ_OK)
                fail_msg("%s", err.text);
            assert_int_equal(back.len, n);
            if (n) assert_memory_equal(back.data, s, n);
            mz_buf_free(&ids);
            mz_buf_free(&back);
        }
        mz_tokenizer_free(t);
    }
}

/* A megabyte without a place to cut; the time limit of the test is the check. */
static void hostile_lengths(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        sp_options o = SP_DEFAULT;
        o.model = k ? "t5" : "llama";
        o.prefix = 0;
        mz_tokenizer *t = make_ok(o);
        size_t n = (size_t)1 << 20;
        char *s = malloc(n);
        assert_non_null(s);
        static const char *const unit[] = {"a", "ab", "ba ", "\xFF", "\xD9\x85"};
        for (size_t u = 0; u < 5; u++) {
            size_t len = strlen(unit[u]);
            for (size_t i = 0; i < n; i++) s[i] = unit[u][i % len];
            mz_buf b = {0};
            mz_err err = {0};
            assert_int_equal(mz_tokenizer_encode(t, s, n, 0, &b, &err), MZ_OK);
            assert_true(b.len >= n / 4);
            mz_buf_free(&b);
        }
        free(s);
        mz_tokenizer_free(t);
    }
}

static void left_out_keys(void **state)
{
    (void)state;
    sp_options o = SP_DEFAULT;
    o.kinds = o.ids = 0;
    mz_tokenizer *t = make_ok(o);
    assert_int_equal(mz_tokenizer_bos(t), 1);
    assert_int_equal(mz_tokenizer_eos(t), 2);
    assert_true(mz_tokenizer_adds_bos(t));
    assert_true(mz_tokenizer_is_stop(t, 2));
    assert_int_equal(mz_tokenizer_kind(t, BYTE(0)), MZ_TOKEN_BYTE);
    assert_int_equal(mz_tokenizer_kind(t, SP_UNK), MZ_TOKEN_UNKNOWN);
    mz_tokenizer_free(t);
    o.model = "t5";
    t = make_ok(o);
    assert_int_equal(mz_tokenizer_bos(t), -1);
    assert_int_equal(mz_tokenizer_eos(t), 1);
    assert_false(mz_tokenizer_adds_bos(t));
    mz_tokenizer_free(t);
}

static void refuse(sp_options o, const char *sentence)
{
    mz_tokenizer *t = (mz_tokenizer *)&o;
    mz_err err = {0};
    assert_int_equal(make(o, &t, &err), MZ_EFORMAT);
    assert_null(t);
    assert_string_equal(err.text, sentence);
}

static void unusable_files(void **state)
{
    (void)state;
    static const char *const sentence[SPB_N] = {
        [SPB_NO_SCORES] = "the file names a SentencePiece tokenizer but has no tokenizer.ggml.scores",
        [SPB_SCORE_TYPE] = "tokenizer.ggml.scores is a i32; an array of f32 is needed",
        [SPB_FEW_SCORES] = "tokenizer.ggml.scores has 273 entries for 274 tokens",
        [SPB_NAN] = "tokenizer.ggml.scores[7] is no finite number",
        [SPB_INFINITE] = "tokenizer.ggml.scores[7] is no finite number",
        [SPB_FEW_KINDS] = "tokenizer.ggml.token_type has 273 entries for 274 tokens",
        [SPB_KIND_7] = "tokenizer.ggml.token_type[7] is 7; the types are 1 to 6",
        [SPB_KIND_0] = "tokenizer.ggml.token_type[7] is 0; the types are 1 to 6",
        [SPB_NO_BYTE] = "the vocabulary has 255 byte pieces but no <0x41>; all 256 are needed",
        [SPB_TWICE_BYTE] = "tokens 83 and 84 are both the byte piece <0x42>",
        [SPB_ODD_BYTE] = "token 83 has the type of a byte piece but is not spelled <0x00> to <0xFF>",
        [SPB_EMPTY] = "token 8 is an empty piece",
        [SPB_TWICE] = "tokens 6 and 8 are the same piece 'a'",
        [SPB_NO_UNK] = "the vocabulary has neither byte pieces nor an unknown token",
    };
    sp_options o = SP_DEFAULT;
    for (int bad = SPB_NONE + 1; bad < SPB_N; bad++) {
        o.bad = (sp_bad)bad;
        o.bytes = bad != SPB_NO_UNK;
        o.model = bad & 1 ? "t5" : "llama";
        refuse(o, sentence[bad]);
    }
    uint8_t map[2048];
    o = SP_DEFAULT;
    o.map = map;
    o.n_map = sp_charsmap(map);
    map[o.n_map - 1] = 'z';
    refuse(o, "tokenizer.ggml.precompiled_charsmap does not end its last replacement with a zero byte");
    map[o.n_map - 1] = 0;
    map[0] = 1;
    refuse(o, "tokenizer.ggml.precompiled_charsmap says that its double array has 1025 bytes; a multiple of 1024 is needed");
    map[0] = 0;
    map[1] = 8;
    refuse(o, "tokenizer.ggml.precompiled_charsmap says that its double array has 2048 bytes; only 1028 follow");
    o.n_map = 3;
    refuse(o, "tokenizer.ggml.precompiled_charsmap has 3 bytes; a length, a double array and text are needed");
}

/* Offsets and values that point anywhere are read over. */
static void wild_charsmap(void **state)
{
    (void)state;
    uint8_t map[2048];
    uint32_t seed = 3;
    for (int round = 0; round < 200; round++) {
        sp_options o = SP_DEFAULT;
        o.map = map;
        o.n_map = sp_charsmap(map);
        for (size_t i = 4; i + 4 < o.n_map; i++) {
            seed = seed * 1664525u + 1013904223u;
            if (seed >> 28 < 8) map[i] = (uint8_t)(seed >> 16);
        }
        for (size_t i = 0; i < 256; i += 3) map[4 + 4 * i] = (uint8_t)i; /* labels that fit their places */
        mz_tokenizer *t = make_ok(o);
        mz_buf b = {0};
        mz_err err = {0};
        char all[512];
        for (size_t i = 0; i < sizeof all; i++) all[i] = (char)(i * 7);
        assert_int_equal(mz_tokenizer_encode(t, all, sizeof all, 0, &b, &err), MZ_OK);
        mz_buf_free(&b);
        mz_tokenizer_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_by_score), cmocka_unit_test(best_path),     cmocka_unit_test(character_map),
        cmocka_unit_test(user_pieces),     cmocka_unit_test(decoding),      cmocka_unit_test(bytes_survive),
        cmocka_unit_test(hostile_lengths), cmocka_unit_test(left_out_keys), cmocka_unit_test(unusable_files),
        cmocka_unit_test(wild_charsmap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
