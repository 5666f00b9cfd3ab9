/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/message.h"

#include <string.h>

static size_t trimmed(const char *s, size_t n)
{
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t' || s[n - 1] == '\n')) n--;
    return n;
}

static bool is_quoted(const char *text, size_t n)
{
    return n >= 3 && memcmp(text, "\"\"\"", 3) == 0;
}

/* Whether a fence is open at the end. */
static bool in_fence(const char *text, size_t n)
{
    size_t open = 0;
    for (size_t i = 0; i <= n;) {
        const char *end = memchr(text + i, '\n', n - i);
        size_t len = end ? (size_t)(end - text) - i : n - i, run = 0;
        while (run < len && text[i + run] == '`') run++;
        if (open == 0 && run >= 3 && !memchr(text + i + run, '`', len - run))
            open = run;
        else if (open > 0 && run >= open && trimmed(text + i, len) == run)
            open = 0;
        i += len + 1;
    }
    return open > 0;
}

bool mz_message_goes_on(char *text, size_t *n)
{
    if (is_quoted(text, *n)) {
        size_t end = trimmed(text, *n);
        return !(end >= 6 && memcmp(text + end - 3, "\"\"\"", 3) == 0);
    }
    if (in_fence(text, *n)) return true;
    size_t slashes = 0;
    while (slashes < *n && text[*n - 1 - slashes] == '\\') slashes++;
    if (slashes % 2 == 0) return false;
    text[--*n] = '\0';
    return true;
}

void mz_message_unwrap(char *text, size_t *n)
{
    if (!is_quoted(text, *n)) return;
    size_t begin = 3, end = trimmed(text, *n);
    if (end >= 6 && memcmp(text + end - 3, "\"\"\"", 3) == 0) end -= 3;
    if (begin < end && text[begin] == '\n') begin++;
    if (end > begin && text[end - 1] == '\n') end--;
    memmove(text, text + begin, end - begin);
    *n = end - begin;
    text[*n] = '\0';
}
