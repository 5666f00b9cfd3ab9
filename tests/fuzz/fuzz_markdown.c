/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_markdown.c: the way of a model's bytes to a terminal: filter, reasoning, Markdown. The first byte says how the text is cut.
 * Whatever comes: only harmless characters in whole characters come out, and the same for another cut. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* They belong to the binary, not to the library. */
#include "cli/clean.c"
#include "cli/markdown.c"
#include "cli/markdown_span.c"
#include "cli/reasoning.c"
#include "cli/chars.h"

typedef struct sink {
    mz_markdown md;
    char *text; /* styles and bytes */
    size_t n, cap;
    unsigned style;
} sink;

static void demand(int ok)
{
    if (!ok) abort();
}

static void add_byte(sink *k, char c)
{
    if (k->n == k->cap) {
        k->cap = k->cap ? k->cap * 2 : 1024;
        k->text = realloc(k->text, k->cap);
        demand(k->text != NULL);
    }
    k->text[k->n++] = c;
}

static void take(void *user, unsigned style, const char *s, size_t n)
{
    sink *k = user;
    demand(n > 0 && style < 256);
    for (size_t i = 0, len; i < n; i += len) {
        len = mz_char_len(s + i, n - i);
        demand(len > 0);
        uint32_t c = mz_char_value(s + i, len);
        demand(!mz_char_is_control(c) || c == '\n' || c == '\t');
    }
    if (style != k->style) { /* styles only where they change: pieces may be cut anywhere */
        add_byte(k, '\0');
        add_byte(k, (char)style);
        k->style = style;
    }
    for (size_t i = 0; i < n; i++) add_byte(k, s[i]);
}

static void part(void *user, mz_part p, const char *s, size_t n)
{
    sink *k = user;
    if (p == MZ_PART_ANSWER)
        mz_markdown_add(&k->md, s, n);
    else
        take(k, p == MZ_PART_REASONING ? MZ_STYLE_DIM : 0, s, n);
}

static void render(sink *k, const uint8_t *data, size_t size, size_t piece)
{
    mz_clean c = {0};
    mz_reasoning r;
    char *out = malloc(MZ_CLEAN_ROOM(piece));
    demand(out != NULL);
    mz_markdown_init(&k->md, take, k);
    mz_reasoning_begin(&r, NULL, 0);
    for (size_t i = 0; i < size; i += piece) {
        size_t n = size - i < piece ? size - i : piece;
        mz_reasoning_add(&r, out, mz_clean_add(&c, (const char *)data + i, n, out), part, k);
    }
    mz_reasoning_add(&r, out, mz_clean_end(&c, out), part, k);
    mz_reasoning_end(&r, part, k);
    mz_markdown_end(&k->md);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sink a = {0}, b = {0};
    if (size < 2) return 0;
    render(&a, data + 1, size - 1, size);
    render(&b, data + 1, size - 1, 1 + data[0] % 40u);
    demand(a.n == b.n && (a.n == 0 || memcmp(a.text, b.text, a.n) == 0));
    free(a.text);
    free(b.text);
    return 0;
}
