/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/conversation.h"

#include <stdlib.h>
#include <string.h>

static mz_status fail(mz_err *err, mz_status status, const char *path, const char *what)
{
    err->status = status;
    (void)snprintf(err->text, sizeof err->text, "%s%s%s", path ? path : "", path ? ": " : "", what);
    return status;
}

json_t *mz_conversation_new(const char *system)
{
    json_t *messages = json_array();
    if (messages && system && *system && !mz_conversation_add(messages, "system", system, strlen(system))) {
        json_decref(messages);
        return NULL;
    }
    return messages;
}

bool mz_conversation_add(json_t *messages, const char *role, const char *content, size_t n)
{
    return json_array_append_new(messages, json_pack("{s:s,s:o}", "role", role, "content", mz_cli_json_bytes(content, n))) == 0;
}

const char *mz_conversation_system(const json_t *messages)
{
    const json_t *first = json_array_get(messages, 0);
    const char *role = json_string_value(json_object_get(first, "role"));
    return role && strcmp(role, "system") == 0 ? json_string_value(json_object_get(first, "content")) : NULL;
}

bool mz_conversation_set_system(json_t *messages, const char *system)
{
    if (mz_conversation_system(messages)) (void)json_array_remove(messages, 0);
    if (!system || !*system) return true;
    json_t *m = json_pack("{s:s,s:o}", "role", "system", "content", mz_cli_json_bytes(system, strlen(system)));
    return json_array_insert_new(messages, 0, m) == 0;
}

/* {"messages": […]}, to be freed; NULL when memory is out. */
static char *to_text(const json_t *messages)
{
    json_t *doc = json_object();
    if (doc) (void)json_object_set(doc, "messages", (json_t *)(uintptr_t)messages);
    char *text = json_object_size(doc) ? json_dumps(doc, 0) : NULL;
    json_decref(doc);
    return text;
}

/* Text of one token; NULL for a control token, which only its own id stands for. */
static const char *plain_piece(const mz_text *t, int32_t id, size_t *n)
{
    size_t n_shown = 0;
    const char *piece = mz_text_piece(t, id, false, n), *shown = mz_text_piece(t, id, true, &n_shown);
    return piece && shown && *n == n_shown && *n > 0 ? piece : NULL;
}

/* The same text begins at a [n_a] and b [n_b] in different tokens: how many of each it takes until both end a token at the same
 * byte. False when the texts differ first. */
static bool same_text(const mz_text *t, const int32_t *a, size_t n_a, const int32_t *b, size_t n_b, size_t *used_a, size_t *used_b)
{
    const char *s = NULL, *r = NULL;
    size_t n_s = 0, n_r = 0, i = 0, j = 0;
    do {
        if (n_s == 0 && (i == n_a || !(s = plain_piece(t, a[i++], &n_s)))) return false;
        if (n_r == 0 && (j == n_b || !(r = plain_piece(t, b[j++], &n_r)))) return false;
        size_t n = n_s < n_r ? n_s : n_r;
        if (memcmp(s, r, n) != 0) return false;
        s += n;
        r += n;
        n_s -= n;
        n_r -= n;
    } while (n_s > 0 || n_r > 0);
    *used_a = i;
    *used_b = j;
    return true;
}

/* Room for all of both; the result's length. */
static size_t keep_held(const mz_text *t, const int32_t *held, size_t n_held, const int32_t *ids, size_t n, int32_t *out)
{
    size_t i = 0, j = 0, used_i, used_j;
    while (i < n_held && j < n) {
        if (held[i] == ids[j]) {
            used_i = used_j = 1;
        } else if (!same_text(t, held + i, n_held - i, ids + j, n - j, &used_i, &used_j)) {
            break;
        }
        memcpy(out + i, held + i, used_i * sizeof *out);
        i += used_i;
        j += used_j;
    }
    memcpy(out + i, ids + j, (n - j) * sizeof *out);
    return i + n - j;
}

mz_status mz_conversation_encode(const mz_text *t, const mz_session *s, json_t *messages, int32_t **ids, size_t *n, mz_err *err)
{
    int32_t *encoded = NULL;
    size_t n_encoded = 0, n_held = s ? mz_session_len(s) : 0;
    char *text = to_text(messages);
    if (!text) return fail(err, MZ_ENOMEM, NULL, "out of memory");
    mz_status st = mz_text_encode_chat(t, text, strlen(text), MZ_TEXT_BOS, &encoded, &n_encoded, err);
    free(text);
    if (st == MZ_OK) {
        *ids = mz_cli_alloc(n_held + n_encoded, sizeof **ids);
        *n = keep_held(t, s ? mz_session_ids(s) : NULL, n_held, encoded, n_encoded, *ids);
    }
    mz_text_release(encoded);
    return st;
}

mz_status mz_conversation_save(const mz_session *s, const json_t *messages, const char *path, mz_err *err)
{
    char *text = to_text(messages);
    if (!text) return fail(err, MZ_ENOMEM, path, "out of memory");
    mz_status st = mz_session_save(s, path, text, strlen(text), err);
    free(text);
    return st;
}

static bool is_conversation(const json_t *messages)
{
    size_t i;
    json_t *m;
    if (!json_is_array(messages)) return false;
    json_array_foreach((json_t *)(uintptr_t)messages, i,
                       m) if (!json_is_string(json_object_get(m, "role")) || !json_is_string(json_object_get(m, "content"))) return false;
    return true;
}

mz_status mz_conversation_load(mz_session *s, json_t **messages, const char *path, mz_err *err)
{
    char *note = NULL;
    size_t n = 0;
    json_error_t e;
    mz_status st = mz_session_load(s, path, &note, &n, err);
    if (st != MZ_OK) return st;
    json_t *doc = json_loadb(note, n, JSON_ALLOW_NUL, &e), *list = json_object_get(doc, "messages");
    mz_text_release(note);
    if (is_conversation(list)) {
        json_decref(*messages);
        *messages = json_incref(list);
    } else {
        st = fail(err, MZ_EFORMAT, path, "the session file holds no conversation; another program made it");
        (void)mz_session_rewind(s, 0, NULL);
    }
    json_decref(doc);
    return st;
}
