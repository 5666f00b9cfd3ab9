/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_template.c: the two calls of template.h. */
#include <string.h>

#include "text/jinja_ast.h"
#include "text/utf8.h"

/* A thousand messages with tools take some hundred thousand steps; a hostile template is stopped within a second. */
const mz_template_limits mz_template_limits_default = {
    .n_step = 20000000, .depth = 200, .output_bytes = (size_t)16 << 20, .memory_bytes = (size_t)256 << 20};

enum { SOURCE_BYTES_MAX = 1 << 20 };

/* jinja2 reads \r\n and \r as \n and drops one newline at the end. */
static void copy_source(mz_template *t, const char *src, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (src[i] == '\r' && i + 1 < n && src[i + 1] == '\n') continue;
        t->src[k++] = src[i] == '\r' ? '\n' : src[i];
    }
    if (k && t->src[k - 1] == '\n') k--;
    t->src[k] = '\0';
    t->n_src = k;
}

mz_status mz_template_parse(const char *src, size_t n, mz_template **out, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_jparse p = {.err = err};
    mz_template *t = NULL;
    *out = NULL;
    if (n > SOURCE_BYTES_MAX) MZ_FAIL(MZ_ELIMIT, err, "the chat template has %zu bytes; at most %d are accepted", n, SOURCE_BYTES_MAX);
    if (!mz_utf8_is_valid(src, n)) MZ_FAIL(MZ_EFORMAT, err, "the chat template is not valid UTF-8");
    t = mz_calloc(1, sizeof *t);
    if (!t || !(t->src = mz_calloc(n + 1, 1))) MZ_FAIL(MZ_ENOMEM, err, "out of memory for a chat template of %zu bytes", n);
    copy_source(t, src, n);
    p.t = t;
    if (!mz_j_lex(&p) || !mz_j_parse_template(&p)) {
        st = p.status;
        goto out;
    }
    *out = t;
out:
    mz_free(p.atom);
    if (t) {
        mz_free(t->tok);
        t->tok = NULL;
    }
    if (st != MZ_OK) mz_template_free(t);
    return st;
}

void mz_template_free(mz_template *t)
{
    if (!t) return;
    mz_free(t->tok);
    mz_free(t->src);
    mz_arena_free(&t->arena);
    mz_free(t);
}

mz_status mz_template_render(const mz_template *t, const json_t *context, const mz_template_limits *limits, int64_t now_unix_s, mz_buf *out,
                             mz_err *err)
{
    const mz_template_limits *lim = limits ? limits : &mz_template_limits_default;
    mz_jst st = {.t = t,
                 .err = err,
                 .status = MZ_OK,
                 .fuel = lim->n_step,
                 .depth_max = lim->depth,
                 .out_limit = lim->output_bytes,
                 .now_s = now_unix_s,
                 .out = out,
                 .out_base = out->len,
                 .arena = {.limit_bytes = lim->memory_bytes}};
    mz_jscope root = {0};
    mz_jv globals;
    st.scope = &root;
    bool ok = mz_j_dict(&st, &globals) && mz_j_globals(&st, globals.d);
    st.globals = ok ? globals.d : NULL;
    if (ok && context) {
        const char *key;
        size_t n;
        json_t *val;
        json_object_keylen_foreach((json_t *)(uintptr_t)context, key, n, val)
        {
            mz_jv k, v;
            ok = ok && mz_j_str_borrow(&st, key, n, &k) && mz_j_from_json(&st, val, &v) && mz_j_dict_set(&st, globals.d, k, v);
        }
    }
    if (ok) ok = mz_j_exec(&st, t->body) != MZ_J_FAILED;
    if (!ok) {
        out->len = st.out_base;
        if (out->data) out->data[out->len] = '\0';
    }
    mz_arena_free(&st.arena);
    return ok ? MZ_OK : st.status;
}
