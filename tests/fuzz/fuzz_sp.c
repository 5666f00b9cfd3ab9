/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_sp.c: with byte pieces and nothing trimmed or mapped, any bytes survive encode followed by decode, under any guards;
 * without MZ_ENCODE_SPECIAL no control token comes out. The first byte picks the vocabulary, the second flags and guards. With bit 7 of
 * the first byte the rest is no text but a charsmap, which loads or is refused. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/tiny_sp.h"
#include "text/tokenizer.h"

static void demand(int ok)
{
    if (!ok) abort();
}

static mz_tokenizer *make(sp_options o, bool must)
{
    mz_tokenizer *t = NULL;
    mz_gguf *g;
    mz_err err;
    tv_bytes b = sp_build(o);
    demand(mz_gguf_open_memory(b.data, b.n, &g, &err) == MZ_OK);
    mz_status st = mz_tokenizer_from_gguf(g, &t, &err);
    demand((st == MZ_OK && t) || (!must && st == MZ_EFORMAT && !t));
    mz_gguf_close(g);
    free(b.data);
    return t;
}

enum { P_UNIGRAM = 1, P_NO_BYTES = 2, P_PREFIX = 4, P_TRIM = 8, P_MAP = 16, P_ALL = 32 };

static const mz_tokenizer *tokenizer(unsigned pick)
{
    static mz_tokenizer *made[P_ALL];
    static uint8_t map[2048];
    if (!made[pick]) {
        sp_options o = SP_DEFAULT;
        o.model = pick & P_UNIGRAM ? "t5" : "llama";
        o.bytes = !(pick & P_NO_BYTES);
        o.prefix = (pick & P_PREFIX) != 0;
        o.trim = (pick & P_TRIM) != 0;
        if (pick & P_MAP) o.map = map;
        if (pick & P_MAP) o.n_map = sp_charsmap(map);
        made[pick] = make(o, true);
    }
    return made[pick];
}

static void load_charsmap(const uint8_t *data, size_t size)
{
    static const char text[] = "xyz ab\xD9\x85\xE2\x82\xAC\xFF"
                               "aaaa";
    sp_options o = SP_DEFAULT;
    o.map = data;
    o.n_map = size;
    mz_tokenizer *t = make(o, false);
    mz_buf ids = {0};
    mz_err err;
    if (t) demand(mz_tokenizer_encode(t, text, sizeof text, 0, &ids, &err) == MZ_OK);
    mz_buf_free(&ids);
    mz_tokenizer_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    if (data[0] & 128) {
        load_charsmap(data + 2, size - 2);
        return 0;
    }
    unsigned pick = data[0] % P_ALL, flags = data[1] & MZ_ENCODE_SPECIAL;
    const mz_tokenizer *t = tokenizer(pick);
    const char *s = (const char *)data + 2;
    size_t n = size - 2, guard[4], n_guard = 0;
    for (size_t i = 0; i < 4 && n; i++) {
        size_t at = (data[1] >> 2) * (i + 1) % n;
        if (n_guard == 0 || at > guard[n_guard - 1]) guard[n_guard++] = at;
    }
    mz_buf ids = {0}, back = {0};
    mz_err err;
    demand(mz_tokenizer_encode_guarded(t, s, n, flags, guard, n_guard, &ids, &err) == MZ_OK);
    for (size_t i = 0; i < ids.len; i += sizeof(int32_t)) {
        int32_t id;
        memcpy(&id, ids.data + i, sizeof id);
        demand(id >= 0 && id < mz_tokenizer_n_vocab(t));
        demand(flags || mz_tokenizer_kind(t, id) != MZ_TOKEN_CONTROL);
    }
    demand(mz_tokenizer_decode(t, (const int32_t *)(const void *)ids.data, ids.len / sizeof(int32_t), true, &back, &err) == MZ_OK);
    bool mark = memmem(s, n, "\xE2\x96\x81", 3) != NULL; /* comes back as a space */
    if (!(pick & (P_NO_BYTES | P_TRIM | P_MAP)) && !mark) demand(back.len == n && (n == 0 || memcmp(back.data, s, n) == 0));
    mz_buf_free(&ids);
    mz_buf_free(&back);
    return 0;
}
