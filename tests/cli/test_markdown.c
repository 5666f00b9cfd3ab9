/* SPDX-License-Identifier: Apache-2.0
 * What the Markdown renderer and the filter for terminals make of texts, in one piece and cut anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/chars.h"
#include "cli/clean.h"
#include "cli/markdown.h"

/* Styled text in one line: {b:bold}. */
typedef struct sink {
    char text[8192];
    size_t n;
    unsigned style;
} sink;

static void add(sink *k, const char *s, size_t n)
{
    assert_true(k->n + n < sizeof k->text);
    memcpy(k->text + k->n, s, n);
    k->n += n;
    k->text[k->n] = '\0';
}

static void set_style(sink *k, unsigned style)
{
    static const char letters[] = "biusdchm";
    if (style == k->style) return;
    if (k->style) add(k, "}", 1);
    k->style = style;
    if (!style) return;
    add(k, "{", 1);
    for (int i = 0; i < 8; i++)
        if (style & 1u << i) add(k, &letters[i], 1);
    add(k, ":", 1);
}

static void take(void *user, unsigned style, const char *s, size_t n)
{
    sink *k = user;
    assert_true(n > 0);
    for (size_t i = 0, len; i < n; i += len) assert_true((len = mz_char_len(s + i, n - i)) > 0);
    set_style(k, style);
    add(k, s, n);
}

static const char *render(const char *text, size_t n, size_t piece)
{
    static sink k;
    mz_markdown m;
    k = (sink){0};
    mz_markdown_init(&m, take, &k);
    for (size_t i = 0; i < n;) {
        size_t len = n - i < piece ? n - i : piece;
        while (i + len < n && ((unsigned char)text[i + len] & 0xC0) == 0x80) len++;
        mz_markdown_add(&m, text + i, len);
        i += len;
    }
    mz_markdown_end(&m);
    set_style(&k, 0);
    return k.text;
}

static const struct {
    const char *text, *want;
} cases[] = {
    {"plain text\nsecond line", "plain text\nsecond line"},
    {"**bold** and *italic* and ***both***", "{b:bold} and {i:italic} and {bi:both}"},
    {"__bold__ and _italic_ and ~~gone~~", "{b:bold} and {i:italic} and {s:gone}"},
    {"**bold *with italic* inside**", "{b:bold }{bi:with italic}{b: inside}"},
    {"a `code *span*` and ``a ` b``", "a {c:code *span*} and {c:a ` b}"},
    {"`` `x` ``", "{c:`x`}"},
    {"**bold `code` b**", "{b:bold }{bc:code}{b: b}"},
    /* What might be something else stays. */
    {"2 * 3 * 4 and 2**3**4 and a*b*c", "2 * 3 * 4 and 2**3**4 and a*b*c"},
    {"snake_case_name and __init__.py", "snake_case_name and {b:init}.py"},
    {"**never closed", "**never closed"},
    {"**closed on\nthe next line**", "**closed on\nthe next line**"},
    {"`open", "`open"},
    {"a ~ b ~~ c", "a ~ b ~~ c"},
    {"****", "{d:****}"},
    {"\\( x_1 * y_2 \\) \\[ z \\]", "\\( x_1 * y_2 \\) \\[ z \\]"},
    {"\\*not italic\\* \\`x\\` a\\\\b", "*not italic* `x` a\\\\b"},
    {"[1] and [ ] and [x", "[1] and [ ] and [x"},
    {"**\xE9\x87\x8D\xE8\xA6\x81**\xE3\x81\xA7\xE3\x81\x99", "{b:\xE9\x87\x8D\xE8\xA6\x81}\xE3\x81\xA7\xE3\x81\x99"},
    {"\xD9\x85**\xD9\x87\xD9\x85**\xD8\xA7", "\xD9\x85{b:\xD9\x87\xD9\x85}\xD8\xA7"},
    /* Lines. */
    {"# Title\ntext", "{d:# }{h:Title}\ntext"},
    {"### A *b* `c`\n", "{d:### }{h:A }{ih:b}{h: }{ch:c}\n"},
    {"#hashtag and ####### seven", "#hashtag and ####### seven"},
    {"####### seven", "####### seven"},
    {"- one\n* two\n+ three\n  - four", "{m:\xE2\x80\xA2} one\n{m:\xE2\x80\xA2} two\n{m:+} three\n  {m:\xE2\x80\xA2} four"},
    {"-no list\n*it* is\n-5 degrees", "-no list\n{i:it} is\n-5 degrees"},
    {"1. one\n12) two\n3.14 is no list\n2024 neither", "{m:1.} one\n{m:12)} two\n3.14 is no list\n2024 neither"},
    {"> quoted\n> - list", "{d:>} quoted\n{d:>} {m:\xE2\x80\xA2} list"},
    {"---\n***\n_ _\n--", "{d:---}\n{d:***}\n_ _\n--"},
    {"- [ ] task\n- [x] done", "{m:\xE2\x80\xA2} [ ] task\n{m:\xE2\x80\xA2} [x] done"},
    {"| a | **b** |\n|---|:-:|\n| 1 | 2 |\n\na | b", "{d:|} a {d:|} {b:b} {d:|}\n{d:|}---{d:|}:-:{d:|}\n{d:|} 1 {d:|} 2 {d:|}\n\na | b"},
    {"see [the docs](http://x.y/a_(b)) now", "see {u:the docs}{d: (http://x.y/a_(b))} now"},
    {"[http://x](http://x)", "{u:http://x}"},
    {"[**b**](u)", "{bu:b}{d: (u)}"},
    {"![alt](u)", "!{u:alt}{d: (u)}"},
    /* Code blocks. */
    {"```python\na = b * c * d  # **x**\n```\nafter *i*", "{d:```python}\n{c:a = b * c * d  # **x**}\n{d:```}\nafter {i:i}"},
    {"````\n```\n````\n", "{d:````}\n{c:```}\n{d:````}\n"},
    {"~~~\n```\n~~~ \nx", "{d:~~~}\n{c:```}\n{d:~~~ }\nx"},
    {"  ```c\n  x;\n  ```\n", "{d:  ```c}\n{c:  x;}\n{d:  ```}\n"},
    {"```\nnever closed *x*", "{d:```}\n{c:never closed *x*}"},
    {"```\ncode\n```", "{d:```}\n{c:code}\n{d:```}"},
    {"```inline``` code", "{c:inline} code"},
    {"```\n\n   \n``` x\n```\n", "{d:```}\n\n{c:   }\n{c:``` x}\n{d:```}\n"},
    {"", ""},
    {"\n\n", "\n\n"},
    {"   ", "   "},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t piece = 1; piece < 60; piece++) {
            const char *got = render(cases[i].text, strlen(cases[i].text), piece);
            if (strcmp(got, cases[i].want) != 0)
                fail_msg("'%s' in pieces of %zu:\n got '%s'\nwant '%s'", cases[i].text, piece, got, cases[i].want);
        }
}

/* Random texts of markers: whatever the pieces, the same comes out, and without styles nothing but markers is missing. */
static void test_pieces_do_not_matter(void **state)
{
    (void)state;
    static const char *const words[] = {"**",
                                        "*",
                                        "_",
                                        "`",
                                        "``",
                                        "```",
                                        "~~",
                                        "[",
                                        "](u)",
                                        "]",
                                        "a",
                                        "b c",
                                        " ",
                                        "\n",
                                        "# ",
                                        "- ",
                                        "1. ",
                                        "|",
                                        "\\",
                                        "\xC3\xA9",
                                        "> ",
                                        "---",
                                        "\xE4\xB8\x96",
                                        "~~~",
                                        "    ",
                                        "0123456789012345678901234567890123456789"};
    uint32_t seed = 12345;
    static char text[2000], first[sizeof((sink *)0)->text];
    for (int round = 0; round < 4000; round++) {
        size_t n = 0, n_words = 1 + (unsigned)round % 60;
        for (size_t i = 0; i < n_words; i++) {
            seed = seed * 1664525u + 1013904223u;
            const char *w = words[(seed >> 8) % (sizeof words / sizeof words[0])];
            memcpy(text + n, w, strlen(w));
            n += strlen(w);
        }
        (void)strcpy(first, render(text, n, n));
        static const size_t pieces[] = {1, 2, 3, 7, 64};
        for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
            if (strcmp(render(text, n, pieces[i]), first) != 0) {
                text[n] = '\0';
                fail_msg("'%s' in pieces of %zu: '%s', whole '%s'", text, pieces[i], render(text, n, pieces[i]), first);
            }
    }
}

/* A marker that is never closed must not hold the text up for long. */
static void test_holds_little(void **state)
{
    (void)state;
    static const char *const starts[] = {"**", "`", "[", "```", "   ", "~~~", "[a](", "---"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        sink *k = calloc(1, sizeof *k);
        mz_markdown m;
        size_t n_in = strlen(starts[i]);
        assert_non_null(k);
        mz_markdown_init(&m, take, k);
        mz_markdown_add(&m, starts[i], n_in);
        for (int j = 0; j < 1500; j++, n_in++) {
            mz_markdown_add(&m, starts[i][0] == '-' || starts[i][0] == ' ' ? " " : "x", 1);
            size_t n_marks = 0; /* "{c:" and the like of the sink */
            for (size_t c = 0; c < k->n; c++) n_marks += k->text[c] == '{' ? 3 : k->text[c] == '}';
            if (n_in > k->n - n_marks + MZ_MARKDOWN_SPAN + 4) fail_msg("'%s': %zu bytes in, %zu out", starts[i], n_in, k->n);
        }
        free(k);
    }
}

static const char *clean(const char *s, size_t n, size_t piece)
{
    static char out[MZ_CLEAN_ROOM(4096)];
    mz_clean c = {0};
    size_t n_out = 0;
    for (size_t i = 0; i < n; i += piece) n_out += mz_clean_add(&c, s + i, n - i < piece ? n - i : piece, out + n_out);
    n_out += mz_clean_end(&c, out + n_out);
    out[n_out] = '\0';
    return out;
}

static void test_clean(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } t[] = {{"plain\ttext\n", "plain\ttext\n"},
             {"\033[31mred\033]0;x\007", "^[[31mred^[]0;x^G"},
             {"a\r\nb\rc\r", "a\nb^Mc^M"},
             {"\177\001", "^?^A"},
             {"\xC2\x9B"
              "31m \xC2\xA0",
              "\\u009b31m \xC2\xA0"},
             {"\xE2\x80\xAE"
              "abc\xE2\x80\xAC \xE2\x81\xA6 \xE2\x80\x8F",
              "\\u202eabc\\u202c \\u2066 \xE2\x80\x8F"},
             {"\xFF\xC0\x80 \xED\xA0\x80 \xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD "
                                                            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
             {"\xE4\xB8\x96\xF0\x9F\x8E\x88", "\xE4\xB8\x96\xF0\x9F\x8E\x88"},
             {"\xE4\xB8", "\xEF\xBF\xBD\xEF\xBF\xBD"},
             {"\xE4\xB8\033[m", "\xEF\xBF\xBD\xEF\xBF\xBD^[[m"},
             {"\xE2\x80\xE2\x80\xAE", "\xEF\xBF\xBD\xEF\xBF\xBD\\u202e"}};
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
        for (size_t piece = 1; piece < 8; piece++) assert_string_equal(clean(t[i].text, strlen(t[i].text), piece), t[i].want);
    /* Random bytes: only harmless characters come out, the same for all cuts, within the promised room. */
    uint32_t seed = 7;
    char bytes[300], whole[MZ_CLEAN_ROOM(300) + 1];
    for (int round = 0; round < 3000; round++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 1664525u + 1013904223u;
            static const unsigned char often[] = {0xC2, 0x9B, 0xE2, 0x80, 0xAE, 0x81, 0xA6, 0x1B, 0xF0, 0x9F, '\r', '\n'};
            bytes[i] = (char)(seed >> 30 ? often[(seed >> 8) % sizeof often] : seed >> 16);
        }
        (void)strcpy(whole, clean(bytes, sizeof bytes, sizeof bytes));
        for (size_t i = 0, len, n = strlen(whole); i < n; i += len) {
            assert_true((len = mz_char_len(whole + i, n - i)) > 0);
            uint32_t c = mz_char_value(whole + i, len);
            assert_true(!mz_char_is_control(c) || c == '\n' || c == '\t');
        }
        for (size_t piece = 1; piece < 6; piece++) assert_string_equal(clean(bytes, sizeof bytes, piece), whole);
    }
}

static void test_chars(void **state)
{
    (void)state;
    char s[4];
    for (uint32_t c = 0; c < 0x110000; c += c < 0x3000 ? 1 : 61) {
        if (c >= 0xD800 && c < 0xE000) continue;
        size_t n = mz_char_put(c, s);
        assert_int_equal(mz_char_len(s, n), n);
        assert_int_equal(mz_char_value(s, n), c);
        for (size_t k = 1; k < n; k++) {
            assert_true(mz_char_is_begun(s, k));
            assert_int_equal(mz_char_len(s, k), 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_pieces_do_not_matter),
                                       cmocka_unit_test(test_holds_little), cmocka_unit_test(test_clean), cmocka_unit_test(test_chars)};
    return cmocka_run_group_tests_name("markdown", tests, NULL, NULL);
}
