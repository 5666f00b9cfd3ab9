/* SPDX-License-Identifier: Apache-2.0
 *
 * utf8.h: decoding UTF-8 defensively, and streaming bytes out so that no character is ever split.
 *
 * Pure functions over caller-owned memory; any thread. */
#ifndef MZ_TEXT_UTF8_H
#define MZ_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one code point of s [n > 0 bytes] into *cp and returns its length 1..4. An ill-formed
 * sequence (overlong, surrogate, past U+10FFFF, cut) gives *cp = -1 and the length of its maximal
 * ill-formed part (Unicode 15, section 3.9, table 3-7), at least 1. */
size_t mz_utf8_decode(const char *s, size_t n, int32_t *cp);
/* Writes cp (a scalar value) to out [4]; returns its length. */
size_t mz_utf8_encode(int32_t cp, char *out);
bool mz_utf8_is_valid(const char *s, size_t n);
/* Length of the longest well-formed prefix. */
size_t mz_utf8_valid_prefix(const char *s, size_t n);
/* How many bytes at the end of s [n] begin a character that more bytes could complete: 0..3. */
size_t mz_utf8_incomplete_tail(const char *s, size_t n);

/* Streaming detokenisation: bytes go in as tokens arrive, whole characters come out. Zero-initialise. */
typedef struct mz_utf8_stream {
    char held[4];
    size_t n_held;
} mz_utf8_stream;

/* Adds s [n]; writes to out (capacity n + 4) all bytes that cannot be the middle of a character still to come
 * and returns their count. Ill-formed bytes pass through unchanged: what comes out, with the final
 * flush, is exactly what went in. */
size_t mz_utf8_stream_add(mz_utf8_stream *u, const char *s, size_t n, char *out);
/* Writes what is held (at most 3 bytes) to out [4] and returns the count; for the end of the answer. */
size_t mz_utf8_stream_flush(mz_utf8_stream *u, char *out);

#endif
