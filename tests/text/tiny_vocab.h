/* SPDX-License-Identifier: Apache-2.0
 *
 * tiny_vocab.h: a small byte-level vocabulary as the bytes of a GGUF file, for tests and fuzz targets.
 *
 * 256 byte tokens (ids 0..255 in byte order), then merged pieces, then special tokens; see the enum. */
#ifndef MZ_TESTS_TINY_VOCAB_H
#define MZ_TESTS_TINY_VOCAB_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/gguf.h"

enum { /* ids past the byte tokens */
       TV_HE = 256,
       TV_LL,
       TV_HELL,
       TV_HELLO,
       TV_SPACE_W,
       TV_AA,
       TV_AAAA,
       TV_IM,
       TV_ME,
       TV_CRLF,
       TV_IME,
       TV_BOS,
       TV_IM_START,
       TV_IM_END,
       TV_THINK,
       TV_THINK_END,
       TV_TWO_SPACES,
       TV_FOUR_SPACES,
       TV_ROLE,
       TV_UNUSED,
       TV_N
};

typedef struct tv_options {
    const char *pre, *model, *chat_template; /* NULL: "gpt-2", "gpt2", none */
    int add_bos;                             /* -1: key absent */
    int without_byte;                        /* this byte token gets another name; -1: none */
    int bad;                                 /* 1: too few types, 2: a merge without a space, 3: tokens are integers */
    int control_think;                       /* <think> pair as control tokens */
} tv_options;

#define TV_DEFAULT ((tv_options){.add_bos = -1, .without_byte = -1})

typedef struct tv_bytes {
    uint8_t *data;
    size_t n, cap;
} tv_bytes;

static inline void tv_put(tv_bytes *b, const void *p, size_t n)
{
    if (b->n + n > b->cap) {
        b->cap = (b->n + n) * 2;
        b->data = realloc(b->data, b->cap);
        if (!b->data) abort();
    }
    if (n) memcpy(b->data + b->n, p, n);
    b->n += n;
}

static inline void tv_u32(tv_bytes *b, uint32_t x)
{
    tv_put(b, &x, 4);
}

static inline void tv_u64(tv_bytes *b, uint64_t x)
{
    tv_put(b, &x, 8);
}

static inline void tv_str(tv_bytes *b, const char *s)
{
    tv_u64(b, strlen(s));
    tv_put(b, s, strlen(s));
}

static inline void tv_key_str(tv_bytes *b, const char *key, const char *value)
{
    tv_str(b, key);
    tv_u32(b, MZ_GGUF_STRING);
    tv_str(b, value);
}

static inline void tv_key_u32(tv_bytes *b, const char *key, uint32_t value)
{
    tv_str(b, key);
    tv_u32(b, MZ_GGUF_U32);
    tv_u32(b, value);
}

static inline void tv_key_array(tv_bytes *b, const char *key, uint32_t type, uint64_t n)
{
    tv_str(b, key);
    tv_u32(b, MZ_GGUF_ARRAY);
    tv_u32(b, type);
    tv_u64(b, n);
}

/* GPT-2's spelling of one byte, zero-terminated UTF-8. */
static inline void tv_spell(int c, char out[3])
{
    int cp = c;
    if (c <= 0x20)
        cp = 0x100 + c;
    else if (c >= 0x7F && c <= 0xA0)
        cp = 0x121 + (c - 0x7F);
    else if (c == 0xAD)
        cp = 0x143;
    memset(out, 0, 3);
    if (cp < 0x80) {
        out[0] = (char)cp;
    } else {
        out[0] = (char)(0xC0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3F));
    }
}

/* The caller frees data. */
static inline tv_bytes tv_build(tv_options o)
{
    static const char *const piece[] = {"he", "ll", "hell", "hello", "\xC4\xA0w", "aa", "aaaa", "im", "me", "\xC4\x8D\xC4\x8A", "ime"};
    static const char *const merge[] = {"h e", "l l", "he ll", "hell o", "\xC4\xA0 w", "a a", "aa aa", "i m", "m e", "\xC4\x8D \xC4\x8A",
                                        "x y", "xy z"}; /* the last two make no token: they come out as bytes */
    static const char *const special[] = {"<s>", "<|im_start|>", "<|im_end|>", "<think>", "</think>", "  ", "    ", "<|role|>", "[PAD]"};
    static const int32_t kind[] = {3, 3, 3, 4, 4, 4, 4, 4, 5};
    tv_bytes b = {0};
    char spelled[3];
    tv_put(&b, "GGUF", 4);
    tv_u32(&b, 3);
    tv_u64(&b, 0);
    tv_u64(&b, 8u + (o.add_bos >= 0) + (o.chat_template != NULL));
    tv_key_str(&b, "general.architecture", "llama");
    tv_key_str(&b, "tokenizer.ggml.model", o.model ? o.model : "gpt2");
    tv_key_str(&b, "tokenizer.ggml.pre", o.pre ? o.pre : "gpt-2");
    if (o.bad == 3) {
        tv_key_array(&b, "tokenizer.ggml.tokens", MZ_GGUF_U32, 1);
        tv_u32(&b, 7);
    } else {
        tv_key_array(&b, "tokenizer.ggml.tokens", MZ_GGUF_STRING, TV_N);
        for (int c = 0; c < 256; c++) {
            tv_spell(c, spelled);
            tv_str(&b, c == o.without_byte ? "<gone>" : spelled);
        }
        for (size_t i = 0; i < sizeof piece / sizeof piece[0]; i++) tv_str(&b, piece[i]);
        for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) tv_str(&b, special[i]);
    }
    tv_key_array(&b, "tokenizer.ggml.token_type", MZ_GGUF_I32, o.bad == 1 ? 3 : TV_N);
    for (int32_t i = 0; i < (o.bad == 1 ? 3 : TV_N); i++) {
        int32_t k = i < TV_BOS ? 1 : kind[i - TV_BOS];
        if (o.control_think && (i == TV_THINK || i == TV_THINK_END)) k = 3;
        tv_u32(&b, (uint32_t)k);
    }
    tv_key_array(&b, "tokenizer.ggml.merges", MZ_GGUF_STRING, sizeof merge / sizeof merge[0]);
    for (size_t i = 0; i < sizeof merge / sizeof merge[0]; i++) tv_str(&b, o.bad == 2 && i == 4 ? "nospace" : merge[i]);
    tv_key_u32(&b, "tokenizer.ggml.bos_token_id", TV_BOS);
    tv_key_u32(&b, "tokenizer.ggml.eos_token_id", TV_IM_END);
    if (o.add_bos >= 0) {
        uint8_t yes = o.add_bos != 0;
        tv_str(&b, "tokenizer.ggml.add_bos_token");
        tv_u32(&b, MZ_GGUF_BOOL);
        tv_put(&b, &yes, 1);
    }
    if (o.chat_template) tv_key_str(&b, "tokenizer.chat_template", o.chat_template);
    return b;
}

#endif
