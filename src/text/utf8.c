/* SPDX-License-Identifier: Apache-2.0 */
#include "utf8.h"

#include <string.h>

/* Table 3-7 of Unicode 15: the range of the second byte depends on the first; later ones are 80..BF. */
static size_t lead(unsigned char c, unsigned char *lo, unsigned char *hi)
{
    *lo = 0x80;
    *hi = 0xBF;
    if (c < 0x80) return 1;
    if (c < 0xC2) return 0;
    if (c < 0xE0) return 2;
    if (c < 0xF0) {
        if (c == 0xE0) *lo = 0xA0;
        if (c == 0xED) *hi = 0x9F;
        return 3;
    }
    if (c > 0xF4) return 0;
    if (c == 0xF0) *lo = 0x90;
    if (c == 0xF4) *hi = 0x8F;
    return 4;
}

/* Length of the longest prefix of s that begins a well-formed sequence; *full tells whether it is complete. */
static size_t scan(const unsigned char *s, size_t n, bool *full)
{
    unsigned char lo, hi;
    size_t want = lead(s[0], &lo, &hi), i = 1;
    *full = false;
    if (want == 0) return 1;
    for (; i < want; i++) {
        if (i == n || s[i] < lo || s[i] > hi) return i;
        lo = 0x80;
        hi = 0xBF;
    }
    *full = true;
    return want;
}

size_t mz_utf8_decode(const char *s, size_t n, int32_t *cp)
{
    const unsigned char *u = (const unsigned char *)s;
    bool full;
    size_t len = scan(u, n, &full);
    if (!full) {
        *cp = -1;
        return len;
    }
    switch (len) {
    case 1: *cp = u[0]; break;
    case 2: *cp = (u[0] & 0x1F) << 6 | (u[1] & 0x3F); break;
    case 3: *cp = (u[0] & 0x0F) << 12 | (u[1] & 0x3F) << 6 | (u[2] & 0x3F); break;
    default: *cp = (u[0] & 0x07) << 18 | (u[1] & 0x3F) << 12 | (u[2] & 0x3F) << 6 | (u[3] & 0x3F); break;
    }
    return len;
}

size_t mz_utf8_encode(int32_t cp, char *out)
{
    uint32_t c = (uint32_t)cp;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

size_t mz_utf8_valid_prefix(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n) {
        uint64_t w;
        if (n - i >= sizeof w) {
            memcpy(&w, s + i, sizeof w);
            if (!(w & 0x8080808080808080u)) {
                i += sizeof w;
                continue;
            }
        }
        bool full;
        size_t len = scan((const unsigned char *)s + i, n - i, &full);
        if (!full) return i;
        i += len;
    }
    return n;
}

bool mz_utf8_is_valid(const char *s, size_t n)
{
    return mz_utf8_valid_prefix(s, n) == n;
}

size_t mz_utf8_incomplete_tail(const char *s, size_t n)
{
    size_t max = n < 3 ? n : 3;
    for (size_t back = 1; back <= max; back++) {
        unsigned char c = (unsigned char)s[n - back], lo, hi;
        if (c >= 0x80 && c < 0xC0) continue;
        bool full;
        if (lead(c, &lo, &hi) <= back) return 0;
        return scan((const unsigned char *)s + n - back, back, &full) == back ? back : 0;
    }
    return 0;
}

size_t mz_utf8_stream_add(mz_utf8_stream *u, const char *s, size_t n, char *out)
{
    size_t held = u->n_held;
    if (n == 0) return 0;
    memcpy(out, u->held, held);
    memcpy(out + held, s, n);
    size_t total = held + n, tail = mz_utf8_incomplete_tail(out, total);
    memcpy(u->held, out + total - tail, tail);
    u->n_held = tail;
    return total - tail;
}

size_t mz_utf8_stream_flush(mz_utf8_stream *u, char *out)
{
    size_t n = u->n_held;
    memcpy(out, u->held, n);
    u->n_held = 0;
    return n;
}
