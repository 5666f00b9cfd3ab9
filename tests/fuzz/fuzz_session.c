/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_session.c: the header of session files, as it comes and with its checksum made right (else nothing behind the
 * checksum would ever be reached). What is accepted has all parts in order inside the file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "rt/session_header.h"

static void demand(int ok)
{
    if (!ok) abort();
}

static void try_header(const uint8_t *data, size_t n, uint64_t file_bytes)
{
    mz_session_header h;
    mz_session_places p;
    mz_err err = {0};
    if (mz_session_header_read(data, n, file_bytes, &h, &p, &err) != MZ_OK) {
        demand(err.text[0] != '\0');
        return;
    }
    demand(p.note == MZ_SESSION_HEADER_BYTES && p.end == file_bytes);
    demand(p.ids >= p.note + h.note_bytes && p.logits >= p.ids + h.n_tok * 4 && p.state >= p.logits && p.end >= p.state + h.state_bytes);
    demand(p.note % 8 == 0 && p.ids % 8 == 0 && p.logits % 8 == 0 && p.state % 8 == 0);
    uint8_t again[MZ_SESSION_HEADER_BYTES];
    mz_session_header_write(&h, again);
    mz_session_header h2;
    demand(mz_session_header_read(again, sizeof again, file_bytes, &h2, &p, &err) == MZ_OK && h2.n_tok == h.n_tok && h2.model == h.model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t fixed[MZ_SESSION_HEADER_BYTES];
    size_t n = size < MZ_SESSION_HEADER_BYTES ? size : MZ_SESSION_HEADER_BYTES;
    try_header(data, n, size);
    if (size < MZ_SESSION_HEADER_BYTES) return 0;
    memcpy(fixed, data, sizeof fixed);
    uint64_t sum = mz_hash_bytes(fixed, 120), file_bytes = 0;
    for (int i = 0; i < 8; i++) {
        fixed[120 + i] = (uint8_t)(sum >> (8 * i));
        file_bytes |= (uint64_t)fixed[72 + i] << (8 * i);
    }
    try_header(fixed, sizeof fixed, size);
    try_header(fixed, sizeof fixed, file_bytes); /* as if the file were as long as it says */
    return 0;
}
