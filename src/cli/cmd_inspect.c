/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char *name_of(const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "name"));
    return name ? name : "-";
}

/* Prints any JSON value as text: objects as "key: value" lines, scalars as they are. Strings come
 * from the file and are made harmless. */
static void print_value(const char *key, const json_t *v, int indent)
{
    const char *name;
    json_t *item;
    size_t i;
    char *shown = NULL;
    if (json_is_object(v)) {
        mz_cli_outf("%*s%s:\n", indent, "", key);
        json_object_foreach((json_t *)(uintptr_t)v, name, item) print_value(name, item, indent + 2);
        return;
    }
    mz_cli_outf("%*s%s:", indent, "", key);
    for (int pad = (int)strlen(key) + indent; pad < 24; pad++) mz_cli_out(" ", 1);
    mz_cli_out(" ", 1);
    switch (json_typeof(v)) {
    case JSON_STRING: {
        size_t n;
        shown = mz_cli_visible(json_string_value(v), json_string_length(v), &n);
        mz_cli_out(shown, n);
        break;
    }
    case JSON_INTEGER: {
        json_int_t x = json_integer_value(v);
        char text[32];
        mz_cli_outf("%lld", (long long)x);
        if (strstr(key, "bytes") && x >= 1024) mz_cli_outf("  (%s)", mz_cli_bytes_text((double)x, text));
        break;
    }
    case JSON_REAL: mz_cli_outf("%g", json_real_value(v)); break;
    case JSON_TRUE: mz_cli_outf("yes"); break;
    case JSON_FALSE: mz_cli_outf("no"); break;
    case JSON_NULL: mz_cli_outf("-"); break;
    case JSON_ARRAY:
        json_array_foreach((json_t *)(uintptr_t)v, i, item)
        {
            if (json_is_string(item))
                mz_cli_outf("%s%s", i ? ", " : "", json_string_value(item));
            else if (json_is_integer(item))
                mz_cli_outf("%s%lld", i ? ", " : "", (long long)json_integer_value(item));
            else if (json_is_object(item)) /* a kernel set */
                mz_cli_outf("%s%s%s", i ? ", " : "", name_of(item),
                            json_is_false(json_object_get(item, "runs")) ? " (not on this processor)" : "");
        }
        break;
    case JSON_OBJECT: break;
    }
    mz_cli_out("\n", 1);
    free(shown);
}

static void print_formats(const json_t *formats)
{
    const char *name;
    json_t *bytes;
    char text[32];
    mz_cli_outf("formats:\n");
    json_object_foreach((json_t *)(uintptr_t)formats, name, bytes)
        mz_cli_outf("  %-8s %15lld bytes  (%s)\n", name, (long long)json_integer_value(bytes),
                    mz_cli_bytes_text((double)json_integer_value(bytes), text));
}

static void print_description(const json_t *doc)
{
    const char *name;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)doc, name, v)
    {
        if (strcmp(name, "formats") == 0 && json_is_object(v))
            print_formats(v);
        else
            print_value(name, v, 0);
    }
}

static json_t *tensor_list(const mz_checkpoint *c)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < mz_checkpoint_n_tensor(c); i++) {
        mz_tensor_info t = mz_checkpoint_tensor(c, i);
        json_t *shape = json_array();
        for (uint32_t d = t.n_dim; shape && d > 0; d--) (void)json_array_append_new(shape, json_integer(t.dim[d - 1]));
        (void)json_array_append_new(list, json_pack("{s:o,s:s,s:o,s:I}", "name", mz_cli_json_bytes(t.name, strlen(t.name)), "type", t.type,
                                                    "shape", shape, "bytes", (json_int_t)t.n_bytes));
    }
    return list;
}

static void print_tensors(const mz_checkpoint *c)
{
    size_t width = 0;
    for (size_t i = 0; i < mz_checkpoint_n_tensor(c); i++) {
        size_t n = strlen(mz_checkpoint_tensor(c, i).name);
        if (n > width) width = n;
    }
    if (width > 60) width = 60;
    for (size_t i = 0; i < mz_checkpoint_n_tensor(c); i++) {
        mz_tensor_info t = mz_checkpoint_tensor(c, i);
        char shape[96];
        int n_shape = 0;
        size_t n;
        char *name = mz_cli_visible(t.name, strlen(t.name), &n);
        shape[0] = '\0';
        for (uint32_t d = t.n_dim; d > 0; d--)
            n_shape +=
                snprintf(shape + n_shape, sizeof shape - (size_t)n_shape, "%s%lld", d == t.n_dim ? "" : " x ", (long long)t.dim[d - 1]);
        mz_cli_out(name, n);
        mz_cli_outf("%*s  %-7s %-20s %14llu\n", n < width ? (int)(width - n) : 0, "", t.type, shape, (unsigned long long)t.n_bytes);
        free(name);
    }
}

/* `text` is JSON made by the library; takes it. */
static json_t *parse_owned(char *text)
{
    json_error_t e;
    json_t *doc = text ? json_loads(text, JSON_ALLOW_NUL, &e) : NULL;
    mz_text_release(text);
    return doc;
}

static int inspect_model(const mz_cli_args *a, const mz_checkpoint *c)
{
    mz_err err = {0};
    char *json = NULL, *program = NULL;
    if (a->tensor) {
        if (mz_checkpoint_write_npy(c, a->tensor, a->npy, &err) != MZ_OK) return mz_cli_fail_err(&err);
        return MZ_EXIT_DONE;
    }
    bool only_part = (a->tensors || a->program) && a->memory_tok == 0 && !a->json; /* the parts asked for, without the summary */
    if (a->program && mz_checkpoint_program(c, &program, &err) != MZ_OK) return mz_cli_fail_err(&err);
    if (!only_part && mz_checkpoint_describe(c, a->kv, a->memory_tok, &json, &err) != MZ_OK) {
        mz_text_release(program);
        return mz_cli_fail_err(&err);
    }
    int status;
    json_t *doc = parse_owned(json);
    if (!only_part && !doc) {
        status = mz_cli_fail("%s: the description could not be read back", a->model);
    } else if (a->json) {
        if (a->tensors) (void)json_object_set_new(doc, "tensors", tensor_list(c));
        if (a->program) (void)json_object_set_new(doc, "program", mz_cli_json_bytes(program, strlen(program)));
        status = mz_cli_out_json(json_incref(doc));
    } else {
        if (doc) print_description(doc);
        if (a->tensors) print_tensors(c);
        if (a->program) mz_cli_out_text(program, strlen(program));
        status = mz_cli_out_end(MZ_EXIT_DONE);
    }
    json_decref(doc);
    mz_text_release(program);
    return status;
}

static int inspect_cpu(const mz_cli_args *a)
{
    mz_err err = {0};
    char *json = NULL;
    if (mz_cpu_describe(a->isa, &json, &err) != MZ_OK) return mz_cli_fail_err(&err);
    json_t *doc = parse_owned(json);
    if (!doc) return mz_cli_fail("the description of the processor could not be read back");
    if (a->json) return mz_cli_out_json(doc);
    const char *name;
    json_t *v;
    json_object_foreach(doc, name, v)
    {
        if (strcmp(name, "kernels") != 0 || !json_is_object(v)) {
            print_value(name, v, 0);
            continue;
        }
        const char *format;
        json_t *k;
        mz_cli_outf("%-10s %-24s %s\n", "format", "one row", "many rows");
        json_object_foreach(v, format, k)
        {
            const char *one = json_string_value(json_object_get(k, "one")), *many = json_string_value(json_object_get(k, "many"));
            mz_cli_outf("%-10s %-24s %s\n", format, one ? one : "-", many ? many : "-");
        }
    }
    json_decref(doc);
    return mz_cli_out_end(MZ_EXIT_DONE);
}

int mz_cli_inspect(const mz_cli_args *a)
{
    mz_err err = {0};
    mz_checkpoint *c = NULL;
    if (a->cpu) {
        if (a->model || a->tensors || a->program || a->memory_tok || a->tensor || a->npy)
            return mz_cli_usage("inspect: --cpu describes the processor and takes no model and nothing but --isa and --json");
        return inspect_cpu(a);
    }
    if (a->isa) return mz_cli_usage("inspect: --isa goes with --cpu");
    if (!a->tensor != !a->npy) return mz_cli_usage("inspect: --tensor NAME and --npy OUT go together");
    if (a->tensor && (a->tensors || a->program || a->memory_tok || a->json))
        return mz_cli_usage("inspect: --tensor does not go with --tensors, --program, --memory or --json");
    if (mz_checkpoint_open(a->model, &c, &err) != MZ_OK) return mz_cli_fail_err(&err);
    int status = inspect_model(a, c);
    mz_checkpoint_close(c);
    return status;
}
