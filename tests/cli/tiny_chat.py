#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A tiny random checkpoint with a tokenizer and a chat template: tiny_chat.py OUT.gguf [--no-template] [--no-tokenizer] [--other]

The weights come from tests/golden/tiny.py, the vocabulary is all 256 bytes, a few merges and three control tokens, so
that answers hold every kind of byte. --other: another base of the rotary embedding, so that logits differ somewhat.
Standard library only.
"""
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "golden"), os.path.join(HERE, "..", "oom")]
import tiny  # noqa: E402
import tiny_text  # noqa: E402

MERGES = ["H e", "l l", "He ll", "Hell o"]
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
N_VOCAB = len(CONTROL) + 256 + len(MERGES)
CONTEXT = 100000


def tokenizer(with_template):
    tokens = CONTROL + tiny_text.byte_characters() + [m.replace(" ", "") for m in MERGES]
    entry = tiny_text.entry
    kv = [entry("tokenizer.ggml.model", "str", "gpt2"), entry("tokenizer.ggml.pre", "str", "smollm"),
          entry("tokenizer.ggml.tokens", "strs", tokens),
          entry("tokenizer.ggml.token_type", "i32s", [3] * len(CONTROL) + [1] * (len(tokens) - len(CONTROL))),
          entry("tokenizer.ggml.merges", "strs", MERGES), entry("tokenizer.ggml.bos_token_id", "u32", 1),
          entry("tokenizer.ggml.eos_token_id", "u32", 2), entry("tokenizer.ggml.add_bos_token", "bool", True)]
    return kv + ([entry("tokenizer.chat_template", "str", tiny_text.TEMPLATE)] if with_template else [])


def write(path, with_template=True, with_tokenizer=True, other=False):
    name = "cli"
    tiny.CASES[name] = tiny.Case("for the command line", hidden=32, heads=2, kv=1, ffn=64, layers=1, vocab=N_VOCAB, context=CONTEXT)
    kinds = {"u32": (4, "<I"), "f32": (6, "<f")}
    kv = []
    for key, kind, value in tiny.metadata(name, "theta" if other else None):
        if key.startswith("tokenizer."):
            continue
        if kind == "str":
            kv.append(tiny_text.entry(key, "str", value))
        else:
            kv.append(tiny.gguf_string(key) + struct.pack("<I", kinds[kind][0]) + struct.pack(kinds[kind][1], value))
    kv += tokenizer(with_template) if with_tokenizer else []
    tensors, head, body = tiny.tensors(name), b"", b""
    for t in tensors:
        head += tiny.gguf_string(t.gguf) + struct.pack("<I", len(t.shape))
        head += b"".join(struct.pack("<Q", n) for n in reversed(t.shape)) + struct.pack("<IQ", tiny.PLAIN[t.fmt][0], len(body))
        body += tiny.stored(t)
        body += bytes(-len(body) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(kv)) + b"".join(kv) + head
    with open(path, "wb") as f:
        f.write(head + bytes(-len(head) % 32) + body)


if __name__ == "__main__":
    write(sys.argv[1], "--no-template" not in sys.argv, "--no-tokenizer" not in sys.argv, "--other" in sys.argv)
