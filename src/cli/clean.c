/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/clean.h"

#include <stdio.h>

#include "cli/chars.h"

static size_t put_char(mz_clean *c, const char *s, size_t len, char *out)
{
    uint32_t value = mz_char_value(s, len);
    size_t n = 0;
    char hex[8];
    if (c->has_cr) {
        c->has_cr = false;
        if (value != '\n') n += (size_t)(memcpy(out, "^M", 2), 2);
    }
    if (value == '\r') {
        c->has_cr = true;
    } else if (!mz_char_is_control(value) || value == '\n' || value == '\t') {
        memcpy(out + n, s, len);
        n += len;
    } else if (value < 0x80) {
        out[n++] = '^';
        out[n++] = (char)(value ^ 0x40);
    } else {
        (void)snprintf(hex, sizeof hex, "\\u%04x", value & 0xFFFF);
        memcpy(out + n, hex, 6);
        n += 6;
    }
    return n;
}

static size_t put_bad(mz_clean *c, char *out)
{
    return put_char(c, "\xEF\xBF\xBD", 3, out);
}

size_t mz_clean_add(mz_clean *c, const char *s, size_t n, char *out)
{
    size_t n_out = 0;
    for (size_t i = 0; i < n;) {
        if (c->n_held > 0) { /* byte by byte until the character is whole or cannot become one */
            c->held[c->n_held++] = s[i];
            if (mz_char_is_begun(c->held, c->n_held)) {
                i++;
            } else if (mz_char_len(c->held, c->n_held) == c->n_held) {
                n_out += put_char(c, c->held, c->n_held, out + n_out);
                c->n_held = 0;
                i++;
            } else { /* this byte starts anew */
                for (size_t k = 1; k < c->n_held; k++) n_out += put_bad(c, out + n_out);
                c->n_held = 0;
            }
            continue;
        }
        size_t len = mz_char_len(s + i, n - i);
        if (len > 0) {
            n_out += put_char(c, s + i, len, out + n_out);
            i += len;
        } else if (n - i < 4 && mz_char_is_begun(s + i, n - i)) {
            memcpy(c->held, s + i, n - i);
            c->n_held = n - i;
            i = n;
        } else {
            n_out += put_bad(c, out + n_out);
            i++;
        }
    }
    return n_out;
}

size_t mz_clean_end(mz_clean *c, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_held; i++) n += put_bad(c, out + n);
    if (c->has_cr) n += (size_t)(memcpy(out + n, "^M", 2), 2);
    *c = (mz_clean){0};
    return n;
}
