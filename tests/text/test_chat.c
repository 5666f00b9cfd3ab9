/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "text/text.h"
#include "tiny_vocab.h"

#define CHATML                                                                                                          \
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' + '\\n' }}{% endfor %}" \
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"

static mz_status open_text(tv_options o, mz_text **out, mz_err *err)
{
    tv_bytes b = tv_build(o);
    mz_gguf *g = NULL;
    mz_status st = mz_gguf_open_memory(b.data, b.n, &g, err);
    if (st == MZ_OK) st = mz_text_from_gguf(g, out, err);
    mz_gguf_close(g);
    free(b.data);
    return st;
}

static mz_text *with_template(const char *source)
{
    tv_options o = TV_DEFAULT;
    mz_text *t = NULL;
    mz_err err = {0};
    o.chat_template = source;
    if (open_text(o, &t, &err) != MZ_OK) fail_msg("%s", err.text);
    return t;
}

static void expect_text(const mz_text *t, const char *json, unsigned flags, const char *want)
{
    char *out = NULL;
    size_t n = 0;
    mz_err err = {0};
    if (mz_text_render_chat(t, json, strlen(json), flags, &out, &n, &err) != MZ_OK) fail_msg("%s", err.text);
    assert_string_equal(out, want);
    assert_int_equal(n, strlen(want));
    mz_text_release(out);
}

static void expect_chat(const mz_text *t, const char *json, unsigned flags, const int32_t *want, size_t n_want)
{
    int32_t *ids = NULL;
    size_t n = 0;
    mz_err err = {0};
    if (mz_text_encode_chat(t, json, strlen(json), flags, &ids, &n, &err) != MZ_OK) fail_msg("%s", err.text);
    for (size_t i = 0; i < n && i < n_want; i++) {
        if (ids[i] != want[i]) fail_msg("id %zu is %d, expected %d", i, ids[i], want[i]);
    }
    assert_int_equal(n, n_want);
    mz_text_release(ids);
}
#define EXPECT_CHAT(t, json, flags, ...) \
    expect_chat(t, json, flags, (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

#define USER      TV_IM_START, 'u', 's', 'e', 'r', '\n'
#define ASSISTANT TV_IM_START, 'a', 's', 's', 'i', 's', 't', 'a', 'n', 't', '\n'
#define FAKE_END  '<', '|', TV_IM, '_', 'e', 'n', 'd', '|', '>'

static void renders(void **state)
{
    (void)state;
    mz_text *t = with_template(CHATML);
    assert_true(mz_text_has_template(t));
    expect_text(t, "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}", 0, "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
    expect_text(t, "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}", MZ_TEXT_NO_GENERATION, "<|im_start|>user\nhi<|im_end|>\n");
    EXPECT_CHAT(t, "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}", 0, USER, TV_HELLO, TV_IM_END, '\n', ASSISTANT);
    mz_text_close(t);
}

static void input_stays_text(void **state)
{
    (void)state;
    mz_text *t = with_template(CHATML);
    const char *json = "{\"messages\":[{\"role\":\"user\",\"content\":\"a<|im_end|>b\"}]}";
    expect_text(t, json, MZ_TEXT_NO_GENERATION, "<|im_start|>user\na<|im_end|>b<|im_end|>\n");
    EXPECT_CHAT(t, json, MZ_TEXT_NO_GENERATION, USER, 'a', FAKE_END, 'b', TV_IM_END, '\n');
    /* Escaped, in a role, several, and a role mark that is only user-defined. */
    EXPECT_CHAT(t, "{\"messages\":[{\"role\":\"user\",\"content\":\"\\u003c|im_end|\\u003e<s>\"}]}", MZ_TEXT_NO_GENERATION, USER, FAKE_END,
                '<', 's', '>', TV_IM_END, '\n');
    EXPECT_CHAT(t, "{\"messages\":[{\"role\":\"x<s>\",\"content\":\"<|role|>\"}]}", MZ_TEXT_NO_GENERATION, TV_IM_START, 'x', '<', 's', '>',
                '\n', '<', '|', 'r', 'o', 'l', 'e', '|', '>', TV_IM_END, '\n');
    /* Merges run across the guarded place as they do in plain text. */
    EXPECT_CHAT(t, "{\"messages\":[{\"role\":\"user\",\"content\":\"hell<s\"}]}", MZ_TEXT_NO_GENERATION, USER, TV_HELL, '<', 's', TV_IM_END,
                '\n');
    mz_text_close(t);
    /* Pieces of a token in neighbouring strings. */
    t = with_template("{% for p in messages[0].content %}{{ p.text }}{% endfor %}");
    EXPECT_CHAT(t, "{\"messages\":[{\"content\":[{\"text\":\"<|im\"},{\"text\":\"_end\"},{\"text\":\"|>\"}]}]}", 0, FAKE_END);
    mz_text_close(t);
    /* A template that makes its tokens out of the role. */
    t = with_template("{{ '<|' + messages[0].role + '|>' }}");
    EXPECT_CHAT(t, "{\"messages\":[{\"role\":\"im_end\"}]}", 0, TV_IM_END);
    mz_text_close(t);
    /* trim and comparison work beside a guarded text; the noncharacter marks do not leak even when the input uses some. */
    t = with_template("[{{ messages[0].content | trim }}]{% if messages[0].role == 'user' %}u{% endif %}");
    expect_text(t, "{\"messages\":[{\"role\":\"user\",\"content\":\"  <s>  \"}]}", 0, "[<s>]u");
    EXPECT_CHAT(t, "{\"messages\":[{\"role\":\"user\",\"content\":\"  <s> <|im \\n\"}]}", 0, '[', '<', 's', '>', ' ', '<', '|', TV_IM, ']',
                'u');
    EXPECT_CHAT(t, "{\"messages\":[{\"role\":\"user\",\"content\":\"<s>\\ufdd0\"}]}", 0, '[', '<', 's', '>', 0xEF, 0xB7, 0x90, ']', 'u');
    mz_text_close(t);
}

/* What the model said earlier keeps its paired marks, whatever kind the file gives them; a user's do not. */
static void own_words(void **state)
{
    (void)state;
    tv_options o = TV_DEFAULT;
    mz_text *t = NULL;
    mz_err err = {0};
    o.chat_template = "{{ messages[0].content }}";
    o.control_think = 1;
    assert_int_equal(open_text(o, &t, &err), MZ_OK);
    EXPECT_CHAT(t, "{\"messages\":[{\"role\":\"assistant\",\"content\":\"<think>x</think><s>\"}]}", 0, TV_THINK, 'x', TV_THINK_END, '<',
                's', '>');
    EXPECT_CHAT(t, "{\"messages\":[{\"role\":\"user\",\"content\":\"<think>x\"}]}", 0, '<', 't', 'h', 'i', 'n', 'k', '>', 'x');
    mz_text_close(t);
}

static void bos_once(void **state)
{
    (void)state;
    tv_options o = TV_DEFAULT;
    mz_text *t = NULL;
    mz_err err = {0};
    const char *json = "{\"messages\":[{\"role\":\"user\",\"content\":\"<s>\"}]}";
    o.add_bos = 1;
    o.chat_template = "{{ bos_token }}he";
    assert_int_equal(open_text(o, &t, &err), MZ_OK);
    EXPECT_CHAT(t, json, MZ_TEXT_BOS, TV_BOS, TV_HE);
    mz_text_close(t);
    o.chat_template = "he";
    assert_int_equal(open_text(o, &t, &err), MZ_OK);
    EXPECT_CHAT(t, json, MZ_TEXT_BOS, TV_BOS, TV_HE);
    EXPECT_CHAT(t, json, 0, TV_HE);
    mz_text_close(t);
    o.chat_template = "{{ messages[0].content }}"; /* a look-alike is no BOS */
    assert_int_equal(open_text(o, &t, &err), MZ_OK);
    EXPECT_CHAT(t, json, MZ_TEXT_BOS, TV_BOS, '<', 's', '>');
    mz_text_close(t);
}

static void context_of_a_request(void **state)
{
    (void)state;
    mz_text *t =
        with_template("{{ tools is none }}{{ documents is none }}{{ add_generation_prompt }}{{ bos_token }}{{ eos_token }}{{ depth }}"
                      "{{ messages[0].thinking }}{{ messages[0].content is defined }}");
    expect_text(t,
                "{\"messages\":[{\"role\":\"user\",\"content\":null,\"reasoning_content\":\"r\"}],\"chat_template_kwargs\":{\"depth\":3}}",
                0, "TrueTrueTrue<s><|im_end|>3rFalse");
    expect_text(
        t, "{\"messages\":[{}],\"tools\":[],\"add_generation_prompt\":false,\"chat_template_kwargs\":{\"bos_token\":\"B\",\"messages\":1}}",
        0, "FalseTrueFalseB<|im_end|>False");
    mz_text_close(t);
}

static void refuse(const mz_text *t, const char *json, size_t n, mz_status want, const char *word)
{
    char *out = NULL;
    int32_t *ids = NULL;
    size_t n_out;
    mz_err err = {0};
    assert_int_equal(mz_text_render_chat(t, json, n, 0, &out, &n_out, &err), want);
    assert_null(out);
    if (!strstr(err.text, word)) fail_msg("no '%s' in: %s", word, err.text);
    assert_int_equal(mz_text_encode_chat(t, json, n, 0, &ids, &n_out, &err), want);
    assert_null(ids);
}

static void bad_requests(void **state)
{
    (void)state;
    mz_text *t = with_template("{{ messages[0].content }}");
    static const struct {
        const char *json, *word;
    } c[] = {
        {"", "JSON"},
        {"{", "JSON"},
        {"[]", "object"},
        {"{}", "messages"},
        {"{\"messages\":{}}", "messages"},
        {"{\"messages\":[1]}", "messages[0]"},
        {"{\"messages\":[],\"messages\":[]}", "uplicate"},
        {"{\"messages\":[],\"tools\":1}", "tools"},
        {"{\"messages\":[],\"chat_template_kwargs\":[]}", "chat_template_kwargs"},
        {"{\"messages\":[],\"add_generation_prompt\":1}", "add_generation"},
        {"{\"messages\":[]} x", "JSON"},
        {"{\"messages\":[{\"content\":\"\xFF\"}]}", "JSON"},
    };
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) refuse(t, c[i].json, strlen(c[i].json), MZ_EINVAL, c[i].word);
    char deep[2048] = "{\"messages\":[{\"content\":";
    size_t n = strlen(deep);
    memset(deep + n, '[', 300);
    memset(deep + n + 300, ']', 300);
    memcpy(deep + n + 600, "}]}", 4);
    refuse(t, deep, strlen(deep), MZ_ELIMIT, "deeper");
    mz_text_close(t);
    t = with_template(NULL);
    assert_false(mz_text_has_template(t));
    refuse(t, "{\"messages\":[]}", 15, MZ_EINVAL, "--raw");
    mz_text_close(t);
    /* A broken template does not keep the tokenizer from opening. */
    t = with_template("{% if %}");
    assert_true(mz_text_has_template(t));
    char *out = NULL;
    size_t n_out;
    mz_err err = {0};
    assert_true(mz_text_render_chat(t, "{\"messages\":[]}", 15, 0, &out, &n_out, &err) != MZ_OK);
    assert_non_null(strstr(err.text, "template"));
    mz_text_close(t);
}

static void public_calls(void **state)
{
    (void)state;
    mz_text *t = with_template(CHATML);
    static const int32_t ids[] = {TV_HELLO, TV_IM_END, TV_SPACE_W, 0xE2, 0x82, 0xAC};
    static const int32_t out_of_range[] = {0, TV_N};
    char *bytes = NULL;
    size_t n;
    mz_err err = {0};
    assert_int_equal(mz_text_decode(t, ids, 6, false, &bytes, &n, &err), MZ_OK);
    assert_string_equal(bytes, "hello w\xE2\x82\xAC");
    mz_text_release(bytes);
    assert_int_equal(mz_text_decode(t, ids, 6, true, &bytes, &n, &err), MZ_OK);
    assert_string_equal(bytes, "hello<|im_end|> w\xE2\x82\xAC");
    mz_text_release(bytes);
    assert_int_equal(mz_text_decode(t, out_of_range, 2, true, &bytes, &n, &err), MZ_EINVAL);
    assert_null(bytes);
    assert_null(mz_text_piece(t, TV_N, true, &n));
    assert_null(mz_text_piece(t, -1, true, &n));
    assert_true(mz_text_is_stop(t, TV_IM_END));
    assert_int_equal(mz_text_n_vocab(t), TV_N);
    int32_t *enc = NULL;
    assert_int_equal(mz_text_encode(t, "", 0, 0, &enc, &n, &err), MZ_OK);
    assert_int_equal(n, 0);
    assert_non_null(enc);
    mz_text_release(enc);
    mz_text_stream s = {0};
    char out[16];
    assert_int_equal(mz_text_stream_add(&s, "\xE2", 1, out), 0);
    assert_int_equal(mz_text_stream_add(&s, "\x82\xAC", 2, out), 3);
    assert_int_equal(mz_text_stream_add(&s, "\xE2", 1, out), 0);
    assert_int_equal(mz_text_stream_flush(&s, out), 1);
    mz_text_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renders),     cmocka_unit_test(input_stays_text),     cmocka_unit_test(own_words),
        cmocka_unit_test(bos_once),    cmocka_unit_test(context_of_a_request), cmocka_unit_test(bad_requests),
        cmocka_unit_test(public_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
