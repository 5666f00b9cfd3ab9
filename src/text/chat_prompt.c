/* SPDX-License-Identifier: Apache-2.0 */
#include "chat_prompt.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#include "utf8.h"

#define MAX_JSON_BYTES ((size_t)64 << 20)
#define MAX_DEPTH      100
/* The 32 noncharacters U+FDD0..U+FDEF, EF B7 90..AF: no letter, no space, in no published template. */
#define MARK_0   "\xEF\xB7"
#define MARK_LEN 3

void mz_chat_done(mz_chat *c)
{
    mz_buf_free(&c->text);
    mz_free(c->guard);
    *c = (mz_chat){0};
}

/* A list or object that a template prints goes through repr(), which spells noncharacters as \ufdd0..\ufdef. The number of the
 * one spelled in front of p (its u), or -1. */
static int spelled_mark(const char *p, const char *end)
{
    static const char hex[] = "0123456789abcdef";
    if (end - p < 5 || memcmp(p, "ufd", 3) != 0 || (p[3] != 'd' && p[3] != 'e') || p[4] == '\0') return -1;
    const char *digit = strchr(hex, p[4]);
    return digit ? (p[3] == 'd' ? 0 : 16) + (int)(digit - hex) : -1;
}

/* Bit i: the text contains noncharacter i, itself or spelled. */
static uint32_t marks_in(const char *s, size_t n)
{
    uint32_t used = 0;
    const char *end = s + n, *p = s;
    while ((p = memmem(p, (size_t)(end - p), MARK_0, 2))) {
        p += 2;
        if (p < end && (unsigned char)*p >= 0x90 && (unsigned char)*p <= 0xAF) used |= 1u << ((unsigned char)*p - 0x90);
    }
    for (p = s; (p = memmem(p, (size_t)(end - p), "\\ufd", 4)); p += 4) {
        int i = spelled_mark(p + 1, end);
        if (i >= 0) used |= 1u << i;
    }
    return used;
}

static mz_status survey(const json_t *j, int depth, uint32_t *used, mz_err *err)
{
    mz_status st = MZ_OK;
    if (depth > MAX_DEPTH) MZ_FAIL(MZ_ELIMIT, err, "the chat JSON is nested deeper than %d levels", MAX_DEPTH);
    if (json_is_string(j)) {
        *used |= marks_in(json_string_value(j), json_string_length(j));
    } else if (json_is_array(j)) {
        for (size_t i = 0; i < json_array_size(j); i++) MZ_TRY(survey(json_array_get(j, i), depth + 1, used, err));
    } else if (json_is_object(j)) {
        json_t *at = (json_t *)j; /* jansson's iterators are not const-correct */
        for (void *it = json_object_iter(at); it; it = json_object_iter_next(at, it)) {
            *used |= marks_in(json_object_iter_key(it), json_object_iter_key_len(it));
            MZ_TRY(survey(json_object_iter_value(it), depth + 1, used, err));
        }
    }
out:
    return st;
}

typedef struct marker {
    const mz_tokenizer *t;
    char mark[MARK_LEN + 1];
    size_t n_marked;
} marker;

static bool is_blank(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strchr(" \t\r\n\v\f", s[i]) || s[i] == 0) return false;
    }
    return true;
}

/* own_words: what the model itself said earlier; there <think> and its like are structure, not disguise. */
static bool wants_mark(const marker *m, const char *s, size_t n, bool own_words)
{
    size_t len;
    int32_t id;
    if (mz_tokenizer_looks_special(m->t, s, n, &len, &id) && !(own_words && mz_tokenizer_is_paired(m->t, id))) return true;
    return !isalnum((unsigned char)*s) && mz_tokenizer_begins_special(m->t, s, n) && !is_blank(s, n);
}

/* Keys and roles are what templates look up and compare; a plain word there is never disguise. */
static bool is_word(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isalnum((unsigned char)s[i]) && s[i] != '_' && s[i] != '-') return false;
    }
    return true;
}

static bool mark_bytes(marker *m, const char *s, size_t n, bool own_words, mz_buf *out)
{
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        if (((unsigned char)s[i] & 0xC0) == 0x80 || !wants_mark(m, s + i, n - i, own_words)) continue;
        if (!mz_buf_add(out, s + from, i - from) || !mz_buf_add(out, m->mark, MARK_LEN)) return false;
        from = i;
        m->n_marked++;
    }
    return mz_buf_add(out, s + from, n - from);
}

static bool says_assistant(const json_t *message)
{
    const char *role = json_string_value(json_object_get(message, "role"));
    return role && (strcmp(role, "assistant") == 0 || strcmp(role, "model") == 0);
}

/* A copy with marks; NULL when memory is out. Depth is bounded by survey. */
static json_t *mark_tree(marker *m, const json_t *j, bool own_words)
{
    mz_buf b = {0};
    json_t *out = NULL;
    if (json_is_string(j)) {
        if (mark_bytes(m, json_string_value(j), json_string_length(j), own_words, &b)) out = json_stringn(b.data ? b.data : "", b.len);
    } else if (json_is_array(j)) {
        out = json_array();
        for (size_t i = 0; out && i < json_array_size(j); i++) {
            if (json_array_append_new(out, mark_tree(m, json_array_get(j, i), own_words)) != 0) {
                json_decref(out);
                out = NULL;
            }
        }
    } else if (json_is_object(j)) {
        json_t *at = (json_t *)j;
        out = json_object();
        own_words = own_words || says_assistant(j);
        for (void *it = json_object_iter(at); out && it; it = json_object_iter_next(at, it)) {
            b.len = 0;
            const char *key = json_object_iter_key(it);
            size_t n_key = json_object_iter_key_len(it);
            json_t *value = json_object_iter_value(it);
            bool looked_up = (strcmp(key, "role") == 0 || strcmp(key, "type") == 0) && json_is_string(value) &&
                             is_word(json_string_value(value), json_string_length(value));
            bool added = is_word(key, n_key) ? mz_buf_add(&b, key, n_key) : mark_bytes(m, key, n_key, own_words, &b);
            if (!added || json_object_setn_new(out, b.data ? b.data : "", b.len,
                                               looked_up ? json_incref(value) : mark_tree(m, value, own_words)) != 0) {
                json_decref(out);
                out = NULL;
            }
        }
    } else {
        out = json_incref((json_t *)j);
    }
    mz_buf_free(&b);
    return out;
}

static mz_status parse_request(const char *json, size_t n, json_t **out, mz_err *err)
{
    mz_status st = MZ_OK;
    json_error_t why;
    *out = NULL;
    if (n > MAX_JSON_BYTES) MZ_FAIL(MZ_ELIMIT, err, "the chat JSON has %zu bytes; at most %zu are taken", n, MAX_JSON_BYTES);
    json_t *root = json_loadb(json, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    if (!root) {
        /* No text: jansson could not even begin, which is for want of memory too. */
        if (json_error_code(&why) == json_error_out_of_memory || why.text[0] == '\0')
            MZ_FAIL(MZ_ENOMEM, err, "no memory for the chat JSON");
        MZ_FAIL(MZ_EINVAL, err, "the chat is not valid JSON: line %d, column %d: %s", why.line, why.column, why.text);
    }
    *out = root;
    if (!json_is_object(root)) MZ_FAIL(MZ_EINVAL, err, "the chat JSON is no object; expected {\"messages\":[...]}");
    json_t *messages = json_object_get(root, "messages");
    if (!json_is_array(messages)) MZ_FAIL(MZ_EINVAL, err, "the chat JSON has no array \"messages\"");
    for (size_t i = 0; i < json_array_size(messages); i++) {
        if (!json_is_object(json_array_get(messages, i))) MZ_FAIL(MZ_EINVAL, err, "messages[%zu] of the chat JSON is no object", i);
    }
    static const char *const shape[][2] = {{"tools", "array"}, {"documents", "array"}, {"chat_template_kwargs", "object"}};
    for (size_t i = 0; i < 3; i++) {
        const json_t *j = json_object_get(root, shape[i][0]);
        bool right = i < 2 ? json_is_array(j) : json_is_object(j);
        if (j && !json_is_null(j) && !right) MZ_FAIL(MZ_EINVAL, err, "\"%s\" of the chat JSON is no %s", shape[i][0], shape[i][1]);
    }
    const json_t *add = json_object_get(root, "add_generation_prompt");
    if (add && !json_is_boolean(add)) MZ_FAIL(MZ_EINVAL, err, "\"add_generation_prompt\" of the chat JSON is neither true nor false");
out:
    if (st != MZ_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return st;
}

/* As transformers does before rendering: a key without a value is no key, and reasoning goes by both its names. */
static int tidy_message(json_t *message)
{
    void *next;
    int bad = 0;
    for (void *it = json_object_iter(message); it; it = next) {
        next = json_object_iter_next(message, it);
        if (json_is_null(json_object_iter_value(it))) {
            bad |= json_object_deln(message, json_object_iter_key(it), json_object_iter_key_len(it));
        }
    }
    json_t *reasoning = json_object_get(message, "reasoning_content");
    if (reasoning && !json_object_get(message, "thinking")) bad |= json_object_set(message, "thinking", reasoning);
    return bad;
}

static int set_token(json_t *context, const char *name, const mz_tokenizer *t, int32_t id)
{
    if (id < 0) return 0;
    mz_str s = mz_tokenizer_written(t, id);
    if (!mz_utf8_is_valid(s.s, s.n)) return 0;
    return json_object_set_new(context, name, json_stringn(s.s, s.n));
}

static int set_or_none(json_t *context, const char *name, json_t *request)
{
    json_t *j = json_object_get(request, name);
    return j ? json_object_set(context, name, j) : json_object_set_new(context, name, json_null());
}

/* Globals in the order in which one may hide another: special tokens, the request's own, what is fixed. */
static mz_status build_context(json_t *request, const mz_tokenizer *t, bool generation, json_t **out, mz_err *err)
{
    mz_status st = MZ_OK;
    int bad = 0;
    json_t *context = json_object();
    *out = context;
    if (!context) MZ_FAIL(MZ_ENOMEM, err, "no memory for the chat");
    bad |= set_token(context, "bos_token", t, mz_tokenizer_bos(t));
    bad |= set_token(context, "eos_token", t, mz_tokenizer_eos(t));
    json_t *more = json_object_get(request, "chat_template_kwargs");
    if (json_is_object(more)) bad |= json_object_update(context, more);
    json_t *messages = json_object_get(request, "messages");
    for (size_t i = 0; i < json_array_size(messages); i++) bad |= tidy_message(json_array_get(messages, i));
    bad |= json_object_set(context, "messages", messages);
    bad |= set_or_none(context, "tools", request);
    bad |= set_or_none(context, "documents", request);
    const json_t *add = json_object_get(request, "add_generation_prompt");
    bad |= json_object_set_new(context, "add_generation_prompt", json_boolean(generation && !json_is_false(add)));
    if (bad) MZ_FAIL(MZ_ENOMEM, err, "no memory for the chat");
out:
    return st;
}

/* The first mark in [p, end): where it starts, and *n_mark its bytes. A spelled mark starts at some backslash before its u: text
 * printed k times over has 2^(k-1) of them for the mark, behind a multiple of 2^k for the backslashes that stood before it. */
static const char *find_mark(const char *p, const char *end, const char *mark, size_t *n_mark)
{
    const char *raw = memmem(p, (size_t)(end - p), mark, MARK_LEN), *limit = raw ? raw : end;
    int want = (unsigned char)mark[2] - 0x90;
    *n_mark = MARK_LEN;
    for (const char *at = p; (at = memmem(at, (size_t)(limit - at), "\\ufd", 4)); at += 4) {
        if (spelled_mark(at + 1, end) != want) continue;
        size_t n_slash = 1;
        while (at > p && at[-1] == '\\') {
            at--;
            n_slash++;
        }
        size_t n_own = n_slash & (~n_slash + 1); /* lowest set bit */
        *n_mark = n_own + 5;
        return at + n_slash - n_own;
    }
    return raw;
}

/* Takes the marks out of marked and notes their places. */
static mz_status unmark(const mz_buf *marked, const char *mark, size_t n_max, mz_chat *out, mz_err *err)
{
    mz_status st = MZ_OK;
    const char *p = marked->data, *end = p + marked->len;
    size_t cap = n_max;
    out->guard = mz_calloc(cap, sizeof *out->guard);
    if (!out->guard) MZ_FAIL(MZ_ENOMEM, err, "no memory for the chat");
    while (p < end) {
        size_t n_mark;
        const char *hit = find_mark(p, end, mark, &n_mark);
        if (!mz_buf_add(&out->text, p, (size_t)((hit ? hit : end) - p))) MZ_FAIL(MZ_ENOMEM, err, "no memory for the chat");
        if (!hit) break;
        if (out->n_guard == cap) { /* a template may print a message more than once */
            size_t *more = mz_realloc(out->guard, cap *= 2, sizeof *more);
            if (!more) MZ_FAIL(MZ_ENOMEM, err, "no memory for the chat");
            out->guard = more;
        }
        out->guard[out->n_guard++] = out->text.len;
        p = hit + n_mark;
    }
out:
    return st;
}

static mz_status render_guarded(const mz_template *tmpl, const mz_tokenizer *t, json_t *request, uint32_t used, bool generation,
                                int64_t now, mz_chat *out, mz_err *err)
{
    mz_status st = MZ_OK;
    marker m = {.t = t};
    json_t *marked = NULL, *context = NULL;
    mz_buf text = {0};
    unsigned free_mark = 0;
    while (free_mark < 32 && used >> free_mark & 1) free_mark++;
    if (free_mark == 32) MZ_FAIL(MZ_EINVAL, err, "the chat uses all of the noncharacters U+FDD0 to U+FDEF, of which one must be free");
    memcpy(m.mark, MARK_0, 2);
    m.mark[2] = (char)(0x90 + free_mark);
    if (!(marked = mark_tree(&m, request, false))) MZ_FAIL(MZ_ENOMEM, err, "no memory for the chat");
    if (m.n_marked == 0) goto out; /* nothing to guard: the plain rendering will do */
    MZ_TRY(build_context(marked, t, generation, &context, err));
    MZ_TRY(mz_template_render(tmpl, context, &mz_template_limits_default, now, &text, err));
    MZ_TRY(unmark(&text, m.mark, m.n_marked, out, err));
out:
    json_decref(marked);
    json_decref(context);
    mz_buf_free(&text);
    return st;
}

mz_status mz_chat_render(const mz_template *tmpl, mz_str source, const mz_tokenizer *t, const char *json, size_t n, bool generation,
                         bool guarded, mz_chat *out, mz_err *err)
{
    mz_status st = MZ_OK;
    json_t *request = NULL, *context = NULL;
    uint32_t used = marks_in(source.s, source.n);
    int64_t now = (int64_t)time(NULL);
    *out = (mz_chat){0};
    MZ_TRY(parse_request(json, n, &request, err));
    MZ_TRY(survey(request, 0, &used, err));
    if (guarded) MZ_TRY(render_guarded(tmpl, t, request, used, generation, now, out, err));
    if (out->n_guard == 0) {
        out->text.len = 0;
        MZ_TRY(build_context(request, t, generation, &context, err));
        MZ_TRY(mz_template_render(tmpl, context, &mz_template_limits_default, now, &out->text, err));
    }
out:
    json_decref(request);
    json_decref(context);
    if (st != MZ_OK) mz_chat_done(out);
    return st;
}
