/* SPDX-License-Identifier: Apache-2.0 */
#include "json_text.h"

#include <stdbool.h>

#include "mem.h"

typedef struct sink {
    mz_buf text;
    bool failed; /* stays set: jansson forgets some failures */
} sink;

static int add(const char *data, size_t n, void *user)
{
    sink *s = user;
    if (!s->failed && !mz_buf_add(&s->text, data, n)) s->failed = true;
    return s->failed ? -1 : 0;
}

char *mz_json_text(const json_t *doc, size_t flags)
{
    sink s = {0};
    if (doc && json_dump_callback(doc, add, &s, flags) == 0 && !s.failed) return s.text.data;
    mz_buf_free(&s.text);
    return NULL;
}
