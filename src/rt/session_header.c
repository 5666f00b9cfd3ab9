/* SPDX-License-Identifier: Apache-2.0 */
#include "rt/session_header.h"

#include <string.h>

#include "base/hash.h"

/* The carriage return and the byte above 127 find copies that were "repaired" as text. */
static const uint8_t magic[8] = {0x89, 'M', 'Z', 'S', 'E', 'S', '\r', '\n'};

enum {
    AT_VERSION = 8,
    AT_BYTES = 12,
    AT_MODEL = 16,
    AT_LAYOUT = 24,
    AT_KV = 32,
    AT_FLAGS = 36,
    AT_N_TOK = 40,
    AT_NOTE = 48,
    AT_STATE = 56
};
enum { AT_N_VOCAB = 64, AT_FILE_BYTES = 72, AT_BODY_HASH = 80, AT_RESERVED = 88, AT_HEADER_HASH = 120 };
enum { FLAG_LOGITS = 1 };

static void put32(uint8_t *p, uint32_t x)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(x >> (8 * i));
}

static void put64(uint8_t *p, uint64_t x)
{
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)(x >> (8 * i));
}

static uint32_t get32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get64(const uint8_t *p)
{
    return get32(p) | (uint64_t)get32(p + 4) << 32;
}

/* *at += n, rounded up to a multiple of 8. */
static bool add_part(uint64_t *at, uint64_t n)
{
    if (n > INT64_MAX || *at > (uint64_t)INT64_MAX - n - 8) return false;
    *at = (*at + n + 7) & ~(uint64_t)7;
    return true;
}

bool mz_session_place(const mz_session_header *h, mz_session_places *out)
{
    uint64_t at = MZ_SESSION_HEADER_BYTES;
    out->note = at;
    if (!add_part(&at, h->note_bytes)) return false;
    out->ids = at;
    if (h->n_tok > INT32_MAX || !add_part(&at, h->n_tok * 4)) return false;
    out->logits = at;
    if (h->has_logits && !add_part(&at, (uint64_t)h->n_vocab * 4)) return false;
    out->state = at;
    if (!add_part(&at, h->state_bytes)) return false;
    out->end = at;
    return true;
}

void mz_session_header_write(const mz_session_header *h, uint8_t out[MZ_SESSION_HEADER_BYTES])
{
    mz_session_places p = {0};
    (void)mz_session_place(h, &p);
    memset(out, 0, MZ_SESSION_HEADER_BYTES);
    memcpy(out, magic, sizeof magic);
    put32(out + AT_VERSION, MZ_SESSION_VERSION);
    put32(out + AT_BYTES, MZ_SESSION_HEADER_BYTES);
    put64(out + AT_MODEL, h->model);
    put64(out + AT_LAYOUT, h->layout);
    put32(out + AT_KV, h->kv);
    put32(out + AT_FLAGS, h->has_logits ? FLAG_LOGITS : 0);
    put64(out + AT_N_TOK, h->n_tok);
    put64(out + AT_NOTE, h->note_bytes);
    put64(out + AT_STATE, h->state_bytes);
    put32(out + AT_N_VOCAB, h->n_vocab);
    put64(out + AT_FILE_BYTES, p.end);
    put64(out + AT_BODY_HASH, h->body_hash);
    put64(out + AT_HEADER_HASH, mz_hash_bytes(out, AT_HEADER_HASH));
}

bool mz_session_is_begun(const uint8_t *data, size_t n)
{
    return n >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

mz_status mz_session_header_read(const uint8_t *data, size_t n, uint64_t file_bytes, mz_session_header *out, mz_session_places *places,
                                 mz_err *err)
{
    mz_status st = MZ_OK;
    if (!mz_session_is_begun(data, n))
        MZ_FAIL(MZ_EFORMAT, err, "not a session file: it does not begin with the bytes that mizan writes there");
    if (n < AT_BYTES) MZ_FAIL(MZ_EFORMAT, err, "the session file is cut off after %llu bytes", (unsigned long long)file_bytes);
    /* Before anything else: a newer format may arrange the rest as it likes. */
    uint32_t version = get32(data + AT_VERSION);
    if (version != MZ_SESSION_VERSION)
        MZ_FAIL(MZ_ESUPPORT, err, "session format version %u, this mizan reads version %d; use the mizan that wrote it", version,
                MZ_SESSION_VERSION);
    if (n < MZ_SESSION_HEADER_BYTES)
        MZ_FAIL(MZ_EFORMAT, err, "the session file is cut off after %llu bytes", (unsigned long long)file_bytes);
    if (get64(data + AT_HEADER_HASH) != mz_hash_bytes(data, AT_HEADER_HASH) || get32(data + AT_BYTES) != MZ_SESSION_HEADER_BYTES)
        MZ_FAIL(MZ_EFORMAT, err, "the session file's header is damaged (its checksum does not match)");
    uint32_t flags = get32(data + AT_FLAGS);
    if (flags & ~(uint32_t)FLAG_LOGITS) MZ_FAIL(MZ_EFORMAT, err, "the session file's header has unknown flags (0x%x)", flags);
    *out = (mz_session_header){.model = get64(data + AT_MODEL),
                               .layout = get64(data + AT_LAYOUT),
                               .kv = get32(data + AT_KV),
                               .n_vocab = get32(data + AT_N_VOCAB),
                               .has_logits = (flags & FLAG_LOGITS) != 0,
                               .n_tok = get64(data + AT_N_TOK),
                               .note_bytes = get64(data + AT_NOTE),
                               .state_bytes = get64(data + AT_STATE),
                               .body_hash = get64(data + AT_BODY_HASH)};
    if (!mz_session_place(out, places) || places->end != get64(data + AT_FILE_BYTES))
        MZ_FAIL(MZ_EFORMAT, err, "the session file's header contradicts itself about sizes");
    if (places->end != file_bytes)
        MZ_FAIL(MZ_EFORMAT, err, "the session file has %llu bytes, its header says %llu; it was cut off or written over",
                (unsigned long long)file_bytes, (unsigned long long)places->end);
out:
    return st;
}
