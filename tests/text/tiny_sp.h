/* SPDX-License-Identifier: Apache-2.0
 *
 * tiny_sp.h: small SentencePiece vocabularies as the bytes of a GGUF file, for tests and fuzz targets. */
#ifndef MZ_TESTS_TINY_SP_H
#define MZ_TESTS_TINY_SP_H

#include "tiny_vocab.h"

enum { /* ids; with bytes, <0x00> to <0xFF> follow the last */
       SP_UNK,
       SP_BOS,
       SP_EOS,
       SP_TURN,
       SP_TURN_END,
       SP_SPACE,
       SP_A,
       SP_B,
       SP_AB,
       SP_SPACE_A,
       SP_ABAB,
       SP_MEEM,
       SP_TWO_SPACES,
       SP_ROLE,
       SP_THINK,
       SP_THINK_END,
       SP_STRIKE, /* </s> as an HTML tag, as in Gemma */
       SP_BA,     /* unused */
       SP_BYTES
};

typedef enum sp_bad {
    SPB_NONE,
    SPB_NO_SCORES,
    SPB_SCORE_TYPE,
    SPB_FEW_SCORES,
    SPB_NAN,
    SPB_INFINITE,
    SPB_FEW_KINDS,
    SPB_KIND_7,
    SPB_KIND_0,
    SPB_NO_BYTE,
    SPB_TWICE_BYTE,
    SPB_ODD_BYTE,
    SPB_EMPTY,
    SPB_TWICE,
    SPB_NO_UNK,
    SPB_N
} sp_bad;

typedef struct sp_options {
    const char *model;       /* "llama" or "t5" */
    int bytes, prefix, trim; /* 0 or 1; prefix and trim -1: key absent */
    int kinds, ids;          /* 0: no token_type; 0: no bos, eos, unknown */
    sp_bad bad;
    const uint8_t *map; /* charsmap [n_map]; NULL: none */
    size_t n_map;
} sp_options;

#define SP_DEFAULT ((sp_options){.model = "llama", .bytes = 1, .prefix = -1, .trim = -1, .kinds = 1, .ids = 1})

static inline void sp_key_bool(tv_bytes *b, const char *key, int value)
{
    uint8_t yes = value != 0;
    tv_str(b, key);
    tv_u32(b, MZ_GGUF_BOOL);
    tv_put(b, &yes, 1);
}

/* The caller frees data. */
static inline tv_bytes sp_build(sp_options o)
{
    static const char *const piece[SP_BYTES] = {"<unk>", "<s>",      "<eos>",   "<start_of_turn>", "<end_of_turn>", "\xE2\x96\x81",
                                                "a",     "b",        "ab",      "\342\226\201a",   "abab",          "\xD9\x85",
                                                "  ",    "<|role|>", "<think>", "</think>",        "</s>",          "ba"};
    static const float score[SP_BYTES] = {0, 0, 0, 0, 0, -9, -8, -8.5f, -2, -3, -4, -7, 0, 0, 0, 0, 0, -1};
    static const int32_t kind[SP_BYTES] = {2, 3, 3, 4, 3, 1, 1, 1, 1, 1, 1, 1, 4, 4, 4, 4, 4, 5};
    tv_bytes b = {0};
    uint64_t n = SP_BYTES + (o.bytes ? 256 : 0);
    char name[16];
    tv_put(&b, "GGUF", 4);
    tv_u32(&b, 3);
    tv_u64(&b, 0);
    tv_u64(&b, 3u + (o.bad != SPB_NO_SCORES) + (o.kinds != 0) + (o.ids ? 3u : 0u) + (o.prefix >= 0) + (o.trim >= 0) + (o.map != NULL));
    tv_key_str(&b, "general.architecture", "llama");
    tv_key_str(&b, "tokenizer.ggml.model", o.model);
    tv_key_array(&b, "tokenizer.ggml.tokens", MZ_GGUF_STRING, n);
    for (size_t i = 0; i < n; i++) {
        int byte = (int)i - SP_BYTES;
        if (byte == 65 && o.bad == SPB_TWICE_BYTE) byte = 66;
        (void)snprintf(name, sizeof name, byte == 65 && o.bad == SPB_ODD_BYTE ? "<0x%02x >" : "<0x%02X>", (unsigned)byte & 255);
        tv_str(&b, i >= SP_BYTES ? name : o.bad == SPB_EMPTY && i == SP_AB ? "" : o.bad == SPB_TWICE && i == SP_AB ? "a" : piece[i]);
    }
    if (o.bad != SPB_NO_SCORES) {
        uint64_t n_score = o.bad == SPB_FEW_SCORES ? n - 1 : n;
        tv_key_array(&b, "tokenizer.ggml.scores", o.bad == SPB_SCORE_TYPE ? MZ_GGUF_I32 : MZ_GGUF_F32, n_score);
        for (size_t i = 0; i < n_score; i++) {
            float x = i < SP_BYTES ? score[i] : 0;
            if (i == SP_B && o.bad == SPB_NAN) x = __builtin_nanf("");
            if (i == SP_B && o.bad == SPB_INFINITE) x = -__builtin_inff();
            tv_put(&b, &x, sizeof x);
        }
    }
    if (o.kinds) {
        uint64_t n_kind = o.bad == SPB_FEW_KINDS ? n - 1 : n;
        tv_key_array(&b, "tokenizer.ggml.token_type", MZ_GGUF_I32, n_kind);
        for (size_t i = 0; i < n_kind; i++) {
            int32_t k = i < SP_BYTES ? kind[i] : 6;
            if (i == SP_B && o.bad == SPB_KIND_7) k = 7;
            if (i == SP_B && o.bad == SPB_KIND_0) k = 0;
            if (i == SP_BYTES + 65 && o.bad == SPB_NO_BYTE) k = 1;
            if (i == SP_UNK && o.bad == SPB_NO_UNK) k = 1;
            tv_u32(&b, (uint32_t)k);
        }
    }
    if (o.ids) {
        tv_key_u32(&b, "tokenizer.ggml.unknown_token_id", o.bad == SPB_NO_UNK ? UINT32_MAX : SP_UNK);
        tv_key_u32(&b, "tokenizer.ggml.bos_token_id", SP_BOS);
        tv_key_u32(&b, "tokenizer.ggml.eos_token_id", SP_EOS);
    }
    if (o.prefix >= 0) sp_key_bool(&b, "tokenizer.ggml.add_space_prefix", o.prefix);
    if (o.trim >= 0) sp_key_bool(&b, "tokenizer.ggml.remove_extra_whitespaces", o.trim);
    if (o.map) {
        tv_key_array(&b, "tokenizer.ggml.precompiled_charsmap", MZ_GGUF_U8, o.n_map);
        tv_put(&b, o.map, o.n_map);
    }
    return b;
}

/* A charsmap with the rules x to "ab" and y to nothing, a double array of one block; out has room for 1032 bytes. */
static inline size_t sp_charsmap(uint8_t *out)
{
    static const char text[4] = {'a', 'b', 0, 0};
    uint32_t size = 1024, unit;
    /* The root's offset is 0: its children stand at their labels, and their values at label ^ offset. */
    memset(out, 0, 1024 + 8);
    memcpy(out, &size, 4);
    unit = (uint32_t)'x' | 1u << 8 | 2u << 10;
    memcpy(out + 4 + 4 * 'x', &unit, 4);
    unit = 1u << 31; /* value 0 */
    memcpy(out + 4 + 4 * ('x' ^ 2), &unit, 4);
    unit = (uint32_t)'y' | 1u << 8 | 4u << 10;
    memcpy(out + 4 + 4 * 'y', &unit, 4);
    unit = 1u << 31 | 2;
    memcpy(out + 4 + 4 * ('y' ^ 4), &unit, 4);
    memcpy(out + 4 + 1024, text, 4);
    return 1024 + 8;
}

#endif
