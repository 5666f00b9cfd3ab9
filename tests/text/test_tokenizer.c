/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "text/pretok_names.h"
#include "text/tokenizer.h"
#include "tiny_vocab.h"

static mz_status make(tv_options o, mz_tokenizer **out, mz_err *err)
{
    tv_bytes b = tv_build(o);
    mz_gguf *g = NULL;
    mz_status st = mz_gguf_open_memory(b.data, b.n, &g, err);
    if (st == MZ_OK) st = mz_tokenizer_from_gguf(g, out, err);
    mz_gguf_close(g);
    free(b.data); /* nothing may point into the file afterwards */
    return st;
}

static mz_tokenizer *make_ok(tv_options o)
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
    assert_int_equal(b.len / sizeof *want, n_want);
    if (n_want) assert_memory_equal(b.data, want, n_want * sizeof *want);
    mz_buf_free(&b);
}
#define EXPECT(t, text, flags, ...) \
    expect(t, text, sizeof text - 1, flags, (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

static void merges_by_rank(void **state)
{
    (void)state;
    mz_tokenizer *t = make_ok(TV_DEFAULT);
    assert_int_equal(mz_tokenizer_n_vocab(t), TV_N);
    assert_string_equal(mz_tokenizer_model_name(t), "gpt2/gpt-2");
    EXPECT(t, "hello", 0, TV_HELLO);
    EXPECT(t, "hell", 0, TV_HELL);
    EXPECT(t, "hel", 0, TV_HE, 'l');
    EXPECT(t, "hello world", 0, TV_HELLO, TV_SPACE_W, 'o', 'r', 'l', 'd');
    EXPECT(t, "aaaaa", 0, TV_AAAA, 'a');
    EXPECT(t, "aaa", 0, TV_AA, 'a'); /* equal ranks: leftmost first */
    EXPECT(t, "ime", 0, TV_IM, 'e'); /* the lower rank first, not the longer */
    EXPECT(t, "\r\n", 0, TV_CRLF);
    EXPECT(t, "xyz", 0, 'x', 'y', 'z'); /* merges into what the vocabulary lacks come apart again */
    EXPECT(t, "\xD9\x85", 0, 0xD9, 0x85);
    expect(t, "", 0, 0, NULL, 0);
    expect(t, "", 0, MZ_ENCODE_BOS, NULL, 0); /* the file asks for none */
    mz_tokenizer_free(t);
}

/* The heap and the scan give the same; lengths around their border and far beyond. */
static void long_words(void **state)
{
    (void)state;
    mz_tokenizer *t = make_ok(TV_DEFAULT);
    static const size_t length[] = {38, 39, 40, 41, 42, 43, 44, 1000, 1 << 20};
    for (size_t i = 0; i < sizeof length / sizeof length[0]; i++) {
        mz_buf b = {0};
        mz_err err = {0};
        char *s = malloc(length[i]);
        assert_non_null(s);
        memset(s, 'a', length[i]);
        assert_int_equal(mz_tokenizer_encode(t, s, length[i], 0, &b, &err), MZ_OK);
        size_t n = b.len / sizeof(int32_t);
        assert_int_equal(n, length[i] / 4 + (length[i] % 4 ? (length[i] % 4 == 3 ? 2 : 1) : 0));
        for (size_t k = 0; k < length[i] / 4; k++) {
            int32_t id;
            memcpy(&id, b.data + k * sizeof id, sizeof id);
            assert_int_equal(id, TV_AAAA);
        }
        mz_buf_free(&b);
        free(s);
    }
    mz_tokenizer_free(t);
}

static void special_tokens(void **state)
{
    (void)state;
    mz_tokenizer *t = make_ok(TV_DEFAULT);
    EXPECT(t, "<s>", 0, '<', 's', '>');
    EXPECT(t, "<s>", MZ_ENCODE_SPECIAL, TV_BOS);
    EXPECT(t, "<|im_end|>", 0, '<', '|', TV_IM, '_', 'e', 'n', 'd', '|', '>');
    EXPECT(t, "a<|im_end|>b", MZ_ENCODE_SPECIAL, 'a', TV_IM_END, 'b');
    EXPECT(t, "<<|im_end|>", MZ_ENCODE_SPECIAL, '<', TV_IM_END);
    EXPECT(t, "<|im_en", MZ_ENCODE_SPECIAL, '<', '|', TV_IM, '_', 'e', 'n');
    EXPECT(t, "<think>x</think>", 0, TV_THINK, 'x', TV_THINK_END);  /* user-defined: in any text */
    EXPECT(t, "     a", 0, TV_FOUR_SPACES, ' ', 'a');               /* the longest at each place */
    EXPECT(t, "[PAD]", MZ_ENCODE_SPECIAL, '[', 'P', 'A', 'D', ']'); /* unused: never */
    /* At a token the text is cut: no lookahead sees past it. */
    EXPECT(t, " <think>", 0, ' ', TV_THINK);
    assert_true(mz_tokenizer_is_stop(t, TV_IM_END));
    assert_false(mz_tokenizer_is_stop(t, TV_BOS));
    assert_false(mz_tokenizer_is_stop(t, TV_HELLO));
    assert_false(mz_tokenizer_is_stop(t, -1));
    assert_false(mz_tokenizer_is_stop(t, TV_N));
    assert_int_equal(mz_tokenizer_bos(t), TV_BOS);
    assert_int_equal(mz_tokenizer_eos(t), TV_IM_END);
    assert_int_equal(mz_tokenizer_piece(t, TV_IM_END, false).n, 0);
    assert_int_equal(mz_tokenizer_piece(t, TV_IM_END, true).n, 10);
    assert_int_equal(mz_tokenizer_piece(t, TV_THINK, false).n, 7);
    assert_memory_equal(mz_tokenizer_piece(t, TV_SPACE_W, false).s, " w", 2);
    assert_memory_equal(mz_tokenizer_written(t, TV_SPACE_W).s, "\xC4\xA0w", 3);
    mz_tokenizer_free(t);
}

static void guards_hold_tokens_back(void **state)
{
    (void)state;
    mz_tokenizer *t = make_ok(TV_DEFAULT);
    static const char text[] = "<s><s>hello<s>";
    static const size_t guard[] = {3};
    static const int32_t want[] = {TV_BOS, '<', 's', '>', TV_HELLO, TV_BOS};
    mz_buf b = {0};
    mz_err err = {0};
    assert_int_equal(mz_tokenizer_encode_guarded(t, text, sizeof text - 1, MZ_ENCODE_SPECIAL, guard, 1, &b, &err), MZ_OK);
    assert_int_equal(b.len, sizeof want);
    assert_memory_equal(b.data, want, sizeof want);
    mz_buf_free(&b);
    size_t len = 0;
    int32_t id = 0;
    assert_true(mz_tokenizer_looks_special(t, "<s>x", 4, &len, &id));
    assert_int_equal(len, 3);
    assert_int_equal(id, TV_BOS);
    assert_true(mz_tokenizer_looks_special(t, "<|role|>", 8, &len, &id)); /* a role mark, though user-defined */
    assert_false(mz_tokenizer_looks_special(t, "<think>", 7, &len, &id));
    assert_true(mz_tokenizer_begins_special(t, "<|im_", 5));
    assert_false(mz_tokenizer_begins_special(t, "<|im_end|>", 10));
    assert_true(mz_tokenizer_is_paired(t, TV_THINK));
    assert_true(mz_tokenizer_is_paired(t, TV_THINK_END));
    assert_false(mz_tokenizer_is_paired(t, TV_IM_END));
    mz_tokenizer_free(t);
}

static void bos_rules(void **state)
{
    (void)state;
    tv_options o = TV_DEFAULT;
    o.add_bos = 1;
    mz_tokenizer *t = make_ok(o);
    assert_true(mz_tokenizer_adds_bos(t));
    EXPECT(t, "he", MZ_ENCODE_BOS, TV_BOS, TV_HE);
    EXPECT(t, "<s>he", MZ_ENCODE_BOS | MZ_ENCODE_SPECIAL, TV_BOS, TV_BOS, TV_HE); /* as the caller wrote it */
    EXPECT(t, "he", 0, TV_HE);
    mz_tokenizer_free(t);
    o.add_bos = -1;
    o.pre = "llama-bpe"; /* a Llama 3 file may lack the key: on */
    t = make_ok(o);
    assert_true(mz_tokenizer_adds_bos(t));
    mz_tokenizer_free(t);
    o.add_bos = 0;
    t = make_ok(o);
    assert_false(mz_tokenizer_adds_bos(t));
    mz_tokenizer_free(t);
}

/* Llama 3 takes a whole piece that is an entry before any merging; no merge makes "ime". */
static void whole_pieces(void **state)
{
    (void)state;
    tv_options o = TV_DEFAULT;
    mz_tokenizer *t = make_ok(o);
    EXPECT(t, "ime", 0, TV_IM, 'e');
    mz_tokenizer_free(t);
    o.pre = "llama-bpe";
    t = make_ok(o);
    EXPECT(t, "ime", 0, TV_IME);
    EXPECT(t, "imex", 0, TV_IM, 'e', 'x');
    EXPECT(t, "<s>", 0, '<', 's', '>'); /* but never a control token */
    mz_tokenizer_free(t);
}

static void any_bytes_survive(void **state)
{
    (void)state;
    static const char *const pre[] = {"gpt-2", "smollm", "llama-bpe", "deepseek-v3", "gpt-4o", "kimi-k2", "default", "deepseek-llm"};
    uint32_t seed = 1;
    for (size_t p = 0; p < sizeof pre / sizeof pre[0]; p++) {
        tv_options o = TV_DEFAULT;
        o.pre = pre[p];
        mz_tokenizer *t = make_ok(o);
        for (size_t round = 0; round < 300; round++) {
            char s[97];
            size_t n = round % sizeof s;
            for (size_t i = 0; i < n; i++) {
                seed = seed * 1664525u + 1013904223u;
                s[i] = (char)(seed >> 24);
                if (round & 1 && i % 3) s[i] = "hello <|im_end|>\r\n\xE2\x82\xAC"[seed >> 24 & 15];
            }
            mz_buf ids = {0}, back = {0};
            mz_err err = {0};
            if (mz_tokenizer_encode(t, s, n, round & 2 ? MZ_ENCODE_SPECIAL : 0, &ids, &err) != MZ_OK) fail_msg("%s: %s", pre[p], err.text);
            for (size_t i = 0; i < ids.len; i += sizeof(int32_t)) {
                int32_t id;
                memcpy(&id, ids.data + i, sizeof id);
                mz_str piece = mz_tokenizer_piece(t, id, true);
                assert_true(mz_buf_add(&back, piece.s, piece.n));
            }
            assert_int_equal(back.len, n);
            if (n) assert_memory_equal(back.data, s, n);
            mz_buf_free(&ids);
            mz_buf_free(&back);
        }
        mz_tokenizer_free(t);
    }
}

static void missing_byte(void **state)
{
    (void)state;
    tv_options o = TV_DEFAULT;
    o.without_byte = 'q';
    mz_tokenizer *t = make_ok(o);
    mz_buf b = {0};
    mz_err err = {0};
    assert_int_equal(mz_tokenizer_encode(t, "aq", 2, 0, &b, &err), MZ_EINVAL);
    assert_non_null(strstr(err.text, "0x71"));
    mz_buf_free(&b);
    EXPECT(t, "hello", 0, TV_HELLO);
    mz_tokenizer_free(t);
}

static void refuse(tv_options o, mz_status want, const char *word)
{
    mz_tokenizer *t = (mz_tokenizer *)&o;
    mz_err err = {0};
    assert_int_equal(make(o, &t, &err), want);
    assert_null(t);
    if (!strstr(err.text, word)) fail_msg("no '%s' in: %s", word, err.text);
}

static void unusable_files(void **state)
{
    (void)state;
    tv_options o = TV_DEFAULT;
    o.pre = "no-such-pre";
    refuse(o, MZ_ESUPPORT, "no-such-pre");
    o = TV_DEFAULT;
    o.model = "bert";
    refuse(o, MZ_ESUPPORT, "'bert'");
    o.model = "none";
    mz_tokenizer *t = (mz_tokenizer *)&o;
    mz_err err = {0};
    assert_int_equal(make(o, &t, &err), MZ_OK);
    assert_null(t);
    o = TV_DEFAULT;
    o.bad = 1;
    refuse(o, MZ_EFORMAT, "token_type");
    o.bad = 2;
    refuse(o, MZ_EFORMAT, "merges[4]");
    o.bad = 3;
    refuse(o, MZ_EFORMAT, "tokenizer.ggml.tokens");
}

/* Every name of the table compiles, and cuts without gap or overlap (counted by survival of the text). */
static void every_pre_tokeniser(void **state)
{
    (void)state;
    static const char text[] = "Hello, WORLD's 12345 \xD9\x85\xD8\xB1\xD8\xAD\xD8\xA8\xD8\xA7 \xE4\xBD\xA0\xE5\xA5\xBD\r\n\n  "
                               "\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD x_y\t!!";
    size_t n_name = 0;
    for (const mz_pretok_entry *e; (e = mz_pretok_at(n_name)); n_name++) {
        tv_options o = TV_DEFAULT;
        o.pre = e->name;
        mz_tokenizer *t = make_ok(o);
        mz_buf ids = {0}, back = {0};
        mz_err err = {0};
        if (mz_tokenizer_encode(t, text, sizeof text - 1, 0, &ids, &err) != MZ_OK) fail_msg("%s: %s", e->name, err.text);
        for (size_t i = 0; i < ids.len; i += sizeof(int32_t)) {
            int32_t id;
            memcpy(&id, ids.data + i, sizeof id);
            mz_str piece = mz_tokenizer_piece(t, id, true);
            assert_true(mz_buf_add(&back, piece.s, piece.n));
        }
        assert_int_equal(back.len, sizeof text - 1);
        assert_memory_equal(back.data, text, back.len);
        mz_buf_free(&ids);
        mz_buf_free(&back);
        mz_tokenizer_free(t);
    }
    assert_true(n_name >= 60);
}

/* The Unicode traps of pretok.c: U+180E is no space, U+0085 is; Kimi keeps Han apart. Lengths of the pieces. */
typedef struct lengths {
    size_t n, len[16];
} lengths;

static mz_status note(void *user, size_t at, size_t n, mz_err *err)
{
    lengths *l = user;
    (void)at;
    (void)err;
    if (l->n < 16) l->len[l->n] = n;
    l->n++;
    return MZ_OK;
}

static void cuts(void **state)
{
    (void)state;
    static const struct {
        const char *pre, *text;
        size_t n, len[8];
    } c[] = {
        {"gpt-2", "a  b", 3, {1, 1, 2}},
        {"gpt-2", "a\xE1\xA0\x8E", 2, {1, 3}},
        {"gpt-2", "!\xE1\xA0\x8E", 1, {4}},
        {"gpt-2", "!\xC2\x85", 2, {1, 2}},
        {"smollm", "x12", 3, {1, 1, 1}},
        {"llama-bpe", "1234", 2, {3, 1}},
        {"llama-bpe", "I'M", 2, {1, 2}},
        {"qwen2", "1234", 4, {1, 1, 1, 1}},
        {"gpt-4o", "fooBAR's", 2, {3, 5}},
        {"gpt-4o",
         "\xE4\xB8\xAD"
         "ABC",
         2,
         {3, 3}},
        {"tekken", "HTMLParser", 1, {10}},
        {"kimi-k2",
         "a\xE4\xB8\xAD\xE4\xB8\xAD"
         "b",
         3,
         {1, 6, 1}},
        {"gpt-4o",
         "a\xE4\xB8\xAD\xE4\xB8\xAD"
         "b",
         1,
         {8}},
        {"deepseek-v3", "1234\xE4\xB8\xAD\xE3\x81\x82 .foo", 5, {3, 1, 6, 2, 3}},
    };
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        mz_pretok *p = NULL;
        mz_pretok_scratch *s = NULL;
        mz_pretok_traits traits;
        mz_err err = {0};
        lengths l = {0};
        assert_int_equal(mz_pretok_create(c[i].pre, strlen(c[i].pre), &p, &traits, &err), MZ_OK);
        assert_int_equal(mz_pretok_scratch_create(p, &s, &err), MZ_OK);
        assert_int_equal(mz_pretok_split(p, s, c[i].text, strlen(c[i].text), note, &l, &err), MZ_OK);
        if (l.n != c[i].n || memcmp(l.len, c[i].len, l.n * sizeof l.len[0]) != 0) fail_msg("%s cuts case %zu otherwise", c[i].pre, i);
        mz_pretok_scratch_free(s);
        mz_pretok_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_by_rank),          cmocka_unit_test(long_words),   cmocka_unit_test(special_tokens),
        cmocka_unit_test(guards_hold_tokens_back), cmocka_unit_test(bos_rules),    cmocka_unit_test(whole_pieces),
        cmocka_unit_test(any_bytes_survive),       cmocka_unit_test(missing_byte), cmocka_unit_test(unusable_files),
        cmocka_unit_test(every_pre_tokeniser),     cmocka_unit_test(cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
