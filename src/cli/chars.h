/* SPDX-License-Identifier: Apache-2.0
 *
 * chars.h: the little about UTF-8 that the command line needs by itself. Pure functions. */
#ifndef MZ_CLI_CHARS_H
#define MZ_CLI_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Length of the well-formed UTF-8 sequence at s [n >= 1], 0 when there is none (Unicode 15, table 3-7). */
static inline size_t mz_char_len(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) return 1;
    size_t len = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || len > n) return 0;
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return len;
}

/* True when s [n < 4] may become a well-formed sequence by more bytes. */
static inline bool mz_char_is_begun(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    if (n == 0 || n > 3 || s[0] < 0xC2 || s[0] > 0xF4) return false;
    char full[4] = {0};
    size_t len = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (n >= len) return false;
    memcpy(full, text, n);
    /* The second byte may be any of 0x80, 0x90, 0xA0 upwards, depending on the first: one of them fits if any does. */
    for (size_t i = n; i < len; i++) full[i] = (char)0x80;
    if (n == 1) full[1] = (char)(s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80);
    return mz_char_len(full, len) == len;
}

/* Code point of a well-formed sequence of len bytes. */
static inline uint32_t mz_char_value(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    if (len == 1) return s[0];
    uint32_t c = s[0] & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++) c = c << 6 | (s[i] & 0x3F);
    return c;
}

/* Writes c (a Unicode scalar value) to out [4]; the bytes written. */
static inline size_t mz_char_put(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)((0xF00u >> len & 0xF0u) | c);
    return len;
}

/* What can steer a terminal or reorder the text around it: C0 and C1 controls, DEL, bidi embeddings, overrides and isolates. */
static inline bool mz_char_is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

#endif
