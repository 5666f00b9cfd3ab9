/* SPDX-License-Identifier: Apache-2.0
 *
 * test_jinja.c: renders every case of golden.json and compares it with jinja2's result byte for byte.
 *   test_jinja golden.json    runs the tests
 *   test_jinja --serve        renders {"template","context","now"} lines from standard input (for compare_templates.py) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "text/template.h"

static const char *golden_path;

static mz_status render(const json_t *c, const mz_template_limits *lim, mz_buf *out, mz_err *err)
{
    mz_template *t = NULL;
    const json_t *src = json_object_get(c, "template");
    mz_status st = mz_template_parse(json_string_value(src), json_string_length(src), &t, err);
    if (st == MZ_OK)
        st = mz_template_render(t, json_object_get(c, "context"), lim, json_integer_value(json_object_get(c, "now")), out, err);
    mz_template_free(t);
    return st;
}

static void show(const char *what, const char *s, size_t n)
{
    fprintf(stderr, "#   %s: ", what);
    for (size_t i = 0; i < n && i < 3000; i++) {
        if (s[i] == '\n')
            fputs("\\n", stderr);
        else
            fputc(s[i], stderr);
    }
    fputc('\n', stderr);
}

/* A case names its context, and a template used by many cases, by their keys in the file. */
static bool check(const json_t *all, json_t *c)
{
    json_t *src = json_object_get(c, "template"), *ctx = json_object_get(c, "context");
    if (json_is_object(src)) src = json_object_get(json_object_get(all, "templates"), json_string_value(json_object_get(src, "name")));
    ctx = json_object_get(json_object_get(all, "contexts"), json_string_value(ctx));
    assert_true(json_is_string(src) && json_is_object(ctx));
    assert_int_equal(json_object_set(c, "template", src) | json_object_set(c, "context", ctx) |
                         json_object_set(c, "now", json_object_get(all, "now")),
                     0);
    mz_buf out = {0};
    mz_err err = {0};
    mz_status st = render(c, NULL, &out, &err);
    const json_t *want = json_object_get(c, "output"), *message = json_object_get(c, "message");
    bool ok;
    if (want)
        ok = st == MZ_OK && out.len == json_string_length(want) && memcmp(out.data ? out.data : "", json_string_value(want), out.len) == 0;
    else
        ok = st != MZ_OK && st != MZ_ELIMIT && st != MZ_ENOMEM && (!message || strstr(err.text, json_string_value(message)));
    if (!ok) {
        fprintf(stderr, "# case %s\n", json_string_value(json_object_get(c, "name")));
        show("template", json_string_value(json_object_get(c, "template")), json_string_length(json_object_get(c, "template")));
        if (want)
            show("expected", json_string_value(want), json_string_length(want));
        else
            fprintf(stderr, "#   expected an error%s%s\n", message ? " with: " : "", message ? json_string_value(message) : "");
        if (st == MZ_OK)
            show("found   ", out.data ? out.data : "", out.len);
        else
            fprintf(stderr, "#   error %d: %s\n", st, err.text);
    }
    mz_buf_free(&out);
    return ok;
}

static void test_golden(void **state)
{
    json_error_t je;
    json_t *all = json_load_file(golden_path, JSON_ALLOW_NUL, &je), *cases, *c;
    size_t i, bad = 0;
    (void)state;
    if (!all) fail_msg("%s: %s", golden_path, je.text);
    cases = json_object_get(all, "cases");
    assert_true(json_array_size(cases) > 300);
    json_array_foreach(cases, i, c) bad += !check(all, c);
    if (bad) fail_msg("%zu of %zu cases differ from jinja2", bad, json_array_size(cases));
    json_decref(all);
}

static mz_status run(const char *src, const mz_template_limits *lim, mz_buf *out, mz_err *err)
{
    json_t *c = json_pack("{s:s, s:{s:[i,i,i]}}", "template", src, "context", "l", 1, 2, 3);
    assert_non_null(c);
    mz_status st = render(c, lim, out, err);
    json_decref(c);
    return st;
}

/* Templates that would run, grow or nest without end. Each must stop by its limits: the number of steps bounds the time, so
 * no clock is needed here. An eighth of the default limits keeps the test short. */
static void test_hostile(void **state)
{
    static const char *const hostile[] = {
        "{% for i in range(10**9) %}x{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% endfor %}",
        "{% macro f(n) %}{{ f(n) }}{{ f(n) }}{% endmacro %}{{ f(1) }}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        "{% set ns = namespace(s='x' * 1000) %}{% for i in range(99999) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
        "{% set ns = namespace(s=[0]) %}{% for i in range(99999) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
        "{% set ns = namespace(s=[0]) %}{% for i in range(99999) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}",
        "{{ 'x' * 10**12 }}",
        "{{ [0] * 10**12 }}",
        "{{ ('x' * 10000)|replace('x', 'y' * 100000) }}",
        "{{ ('x' * 1000000)|replace('', 'y' * 1000) }}",
        "{{ '%99999999999d' % 1 }}",
        "{{ '{:99999999999}'.format(1) }}",
        "{{ 'x'|center(10**12) }}",
        "{{ 'x'.ljust(10**12) }}",
        "{{ 'x'|indent(10**12, true) }}",
        "{{ l|batch(10**12, 0)|list }}",
        "{{ l|slice(10**12)|list }}",
        "{% for x in l recursive %}{{ loop(l) }}{% endfor %}",
        "{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}",
        "{% set ns = namespace() %}{% set ns.m = l|map('upper') %}{% for i in range(99999) %}{% set ns.m = ns.m|map('upper') %}{% endfor "
        "%}{{ ns.m|list }}",
        "{{ range(99999)|map('string')|sort|map('list')|map('sort')|map('join', 'abcdefgh' * 1000)|join }}",
        "{% set ns = namespace(d={}) %}{% for i in range(99999) %}{% set ns.d = dict(ns.d, **{i|string: i}) %}{% endfor %}",
        "{% for i in range(99999) %}{{ ('x' * 1000000).find('y') }}{% endfor %}",
        "{% for i in range(99999) %}{{ ('x' * 1000000) in ['y'] }}{% endfor %}",
        "{% for i in range(99999) %}{% if ('\xd8\xa7' * 1000000)[999999] %}{% endif %}{% endfor %}",
        "{% for i in range(99999) %}{{ ('x' * 100000)|upper|length }}{% endfor %}",
        "{{ l|tojson(indent=10**9) }}",
        "{% for i in range(99999) %}{{ ('\xd8\xa7' * 100000)|upper|length }}{% endfor %}",
        "{% set x = 'a ' * 100000 %}{% for i in range(99999) %}{{ x.split()|length }}{% endfor %}",
        "{% set x = 'ab' * 100000 %}{% for i in range(99999) %}{{ x.rfind('c') }}{{ x.rsplit('c')|length }}{% endfor %}",
        "{% set x = 'a' * 1000000 %}{{ x.rfind('a' * 500000 ~ 'b') }}",
        "{% set x = 'ab' * 100000 %}{% for i in range(99999) %}{{ x.strip(x) }}{% endfor %}",
        "{% set x = '\xd8\xa7' * 100000 %}{% for i in range(99999) %}{{ x[::-1]|length }}{% endfor %}",
        "{% set x = '\xd8\xa7' * 100000 %}{% for i in range(99999) %}{{ x.isalpha() }}{{ x is lower }}{% endfor %}",
        "{% set x = range(99999)|list %}{% for i in range(99999) %}{{ x == x[:] }}{{ x.count(1) }}{% endfor %}",
        "{% set x = 'a\n' * 100000 %}{% for i in range(99999) %}{{ x.splitlines()|length }}{{ x|tojson|length }}{{ x|e|length }}{% endfor "
        "%}",
    };
    mz_template_limits lim = mz_template_limits_default;
    (void)state;
    lim.n_step /= 8;
    lim.memory_bytes /= 8;
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        mz_buf out = {0};
        mz_err err = {0};
        mz_status st = run(hostile[i], &lim, &out, &err);
        if (st != MZ_ELIMIT) fail_msg("case %zu: status %d (%s): %s", i, st, err.text, hostile[i]);
        assert_int_equal(out.len, 0);
        mz_buf_free(&out);
    }
}

/* A long conversation stays far within the default limits. */
static void test_long_chat(void **state)
{
    json_error_t je;
    json_t *all = json_load_file(golden_path, JSON_ALLOW_NUL, &je), *messages = json_array();
    static const char *const names[] = {"SmolLM2", "own"};
    mz_template_limits lim = mz_template_limits_default;
    (void)state;
    lim.n_step /= 20;
    lim.memory_bytes /= 20;
    assert_non_null(all);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(json_array_append_new(
                             messages, json_pack("{s:s, s:s}", "role", i % 2 ? "assistant" : "user", "content", "some words of an answer")),
                         0);
    for (size_t i = 0; i < 2; i++) {
        mz_buf out = {0};
        mz_err err = {0};
        json_t *c = json_pack("{s:O, s:{s:O}}", "template", json_object_get(json_object_get(all, "templates"), names[i]), "context",
                              "messages", messages);
        if (render(c, &lim, &out, &err) != MZ_OK) fail_msg("%s", err.text);
        assert_true(out.len > 30000);
        mz_buf_free(&out);
        json_decref(c);
    }
    json_decref(messages);
    json_decref(all);
}

static void nest(mz_buf *b, const char *open, const char *mid, const char *close, int n)
{
    for (int i = 0; i < n; i++) assert_true(mz_buf_add(b, open, strlen(open)));
    assert_true(mz_buf_add(b, mid, strlen(mid)));
    for (int i = 0; i < n; i++) assert_true(mz_buf_add(b, close, strlen(close)));
}

static void test_deep_source(void **state)
{
    static const struct {
        const char *begin, *open, *mid, *close, *end;
    } deep[] = {
        {"{{", "(", "1", ")", "}}"},          {"{{", "[", "1", "]", "}}"},           {"{{", "-", "1", "", "}}"},
        {"{{", "not ", "1", "", "}}"},        {"{{", "{1:", "1", "}", "}}"},         {"", "{% if 1 %}", "x", "{% endif %}", ""},
        {"{{ l", ".a", "", "", "}}"},         {"{{ l", "|list", "", "", "}}"},       {"{{ l", "[0]", "", "", "}}"},
        {"{{ l", "()", "", "", "}}"},         {"{{", "1 if 1 else ", "1", "", "}}"}, {"", "{% for i in l %}", "x", "{% endfor %}", ""},
        {"{% set ", "(", "a", ")", " = 1 %}"}};
    (void)state;
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        mz_buf src = {0}, out = {0};
        mz_err err = {0};
        assert_true(mz_buf_add(&src, deep[i].begin, strlen(deep[i].begin)));
        nest(&src, deep[i].open, deep[i].mid, deep[i].close, 20000);
        assert_true(mz_buf_add(&src, deep[i].end, strlen(deep[i].end)));
        mz_status st = run(src.data, NULL, &out, &err);
        if (st != MZ_ELIMIT) fail_msg("case %zu: status %d: %s", i, st, err.text);
        mz_buf_free(&src);
        mz_buf_free(&out);
    }
}

/* A long chain of one operator is not deep. */
static void test_long_chain(void **state)
{
    mz_buf src = {0}, out = {0};
    mz_err err = {0};
    (void)state;
    assert_true(mz_buf_add(&src, "{{ 0", 4));
    for (int i = 0; i < 5000; i++) assert_true(mz_buf_add(&src, " + 1", 4));
    assert_true(mz_buf_add(&src, " }}", 3));
    if (run(src.data, NULL, &out, &err) != MZ_OK) fail_msg("%s", err.text);
    assert_string_equal(out.data, "5000");
    mz_buf_free(&src);
    mz_buf_free(&out);
}

static void test_limits(void **state)
{
    mz_buf out = {0};
    mz_err err = {0};
    mz_template_limits lim = mz_template_limits_default;
    (void)state;
    lim.output_bytes = 10;
    assert_int_equal(run("0123456789", &lim, &out, &err), MZ_OK);
    out.len = 0;
    assert_int_equal(run("01234567890", &lim, &out, &err), MZ_ELIMIT);
    lim = mz_template_limits_default;
    lim.n_step = 5;
    assert_int_equal(run("{{ 1 }}", &lim, &out, &err), MZ_ELIMIT);
    lim = mz_template_limits_default;
    lim.depth = 3;
    assert_int_equal(run("{{ [[[[1]]]] }}", &lim, &out, &err), MZ_ELIMIT);
    lim = mz_template_limits_default;
    lim.memory_bytes = 4000;
    assert_int_equal(run("{{ range(99999)|list }}", &lim, &out, &err), MZ_ELIMIT);
    mz_buf_free(&out);
}

static void test_errors(void **state)
{
    static const struct {
        const char *src;
        mz_status st;
        const char *text;
    } cases[] = {
        {"a\n  {{ 1 + }}", MZ_EFORMAT, "line 2, column 10"},
        {"{{ x|nosuch }}", MZ_ESUPPORT, "unknown filter 'nosuch'"},
        {"{{ x is nosuch }}", MZ_ESUPPORT, "unknown test 'nosuch'"},
        {"{% nosuch %}", MZ_ESUPPORT, "unknown tag 'nosuch'"},
        {"{% include 'x' %}", MZ_ESUPPORT, "unknown tag 'include'"},
        {"{% if x %}", MZ_EFORMAT, "expected elif or else or endif"},
        {"{% for x in l %}{% endif %}", MZ_ESUPPORT, "unknown tag 'endif' (inside 'for')"},
        {"{{ 'abc }}", MZ_EFORMAT, "no closing"},
        {"{{ x", MZ_EFORMAT, "expected }}"},
        {"{# x", MZ_EFORMAT, "expected #}"},
        {"{{ raise_exception('say ' ~ 1) }}", MZ_EINVAL, "say 1"},
        {"{{ x.y }}", MZ_EINVAL, "'x' is undefined"},
        {"{{ l.y.z }}", MZ_EINVAL, "'list object' has no attribute 'y'"},
        {"{{ l.append(1) }}", MZ_EINVAL, "access to attribute 'append' of 'list' object is unsafe"},
        {"{{ ''.__class__.x }}", MZ_EINVAL, "access to attribute '__class__' of 'str' object is unsafe"},
        {"{{ 'a'.encode() }}", MZ_ESUPPORT, "encode"},
        {"{{ 99999999999999999999 }}", MZ_ESUPPORT, "64 bits"},
        {"{{ 9223372036854775807 + 1 }}", MZ_ESUPPORT, "64 bits"},
        {"\xff", MZ_EFORMAT, "UTF-8"},
        {"{{ \xd8\xa7 }}\n{{ \xd8\xa7.x }}", MZ_EINVAL, "line 2, column 5"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mz_buf out = {0};
        mz_err err = {0};
        mz_template *t = NULL;
        json_t *ctx = json_pack("{s:[i]}", "l", 1);
        assert_true(mz_buf_add(&out, "kept", 4));
        mz_status st = mz_template_parse(cases[i].src, strlen(cases[i].src), &t, &err);
        if (st == MZ_OK) st = mz_template_render(t, ctx, NULL, 0, &out, &err);
        if (st != cases[i].st || !strstr(err.text, cases[i].text)) fail_msg("%s: status %d: %s", cases[i].src, st, err.text);
        assert_string_equal(out.data, "kept");
        mz_template_free(t);
        json_decref(ctx);
        mz_buf_free(&out);
    }
}

static int serve(void)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    while ((n = getline(&line, &cap, stdin)) > 0) {
        json_error_t je;
        mz_buf out = {0};
        mz_err err = {0};
        json_t *c = json_loadb(line, (size_t)n, JSON_ALLOW_NUL, &je), *r;
        if (!c) return 1;
        mz_status st = render(c, NULL, &out, &err);
        r = st == MZ_OK ? json_pack("{s:s%}", "output", out.data ? out.data : "", out.len)
                        : json_pack("{s:s, s:i}", "error", err.text, "status", st);
        json_dumpf(r, stdout, JSON_COMPACT);
        putchar('\n');
        fflush(stdout);
        json_decref(r);
        json_decref(c);
        mz_buf_free(&out);
    }
    free(line);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--serve") == 0) return serve();
    if (argc != 2) return 2;
    golden_path = argv[1];
    setenv("TZ", "UTC", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden),     cmocka_unit_test(test_long_chat),
                                       cmocka_unit_test(test_hostile),    cmocka_unit_test(test_deep_source),
                                       cmocka_unit_test(test_long_chain), cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
