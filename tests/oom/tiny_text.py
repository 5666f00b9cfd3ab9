#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A GGUF file with a small byte-level BPE tokenizer and a chat template, and no weights: tiny_text.py OUT.gguf

For tests that run a text through a file thousands of times; the vocabulary is all 256 bytes, a few merges and
three control tokens. Standard library only.
"""
import struct
import sys

TEMPLATE = ("{% for message in messages %}{% if loop.first and message['role'] != 'system' %}{{ '<|im_start|>system\nBe kind<|im_end|>\n' }}"
            "{% endif %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] | trim + '<|im_end|>' + '\n' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")


def byte_characters():
    """GPT-2's printable stand-in for each byte."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = iter(range(256, 512))
    return [chr(b) if b in shown else chr(next(hidden)) for b in range(256)]


def string(s):
    data = s.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key, kind, value):
    head = string(key)
    if kind == "str":
        return head + struct.pack("<I", 8) + string(value)
    if kind == "u32":
        return head + struct.pack("<II", 4, value)
    if kind == "bool":
        return head + struct.pack("<IB", 7, value)
    if kind == "strs":
        return head + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(string, value))
    return head + struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)


def main():
    space = byte_characters()[32]
    merges = ["H e", "l l", "He ll", "Hell o", space + " 2", "1 2"]
    control = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokens = control + byte_characters() + [m.replace(" ", "") for m in merges]
    entries = [
        entry("general.architecture", "str", "llama"),
        entry("tokenizer.ggml.model", "str", "gpt2"),
        entry("tokenizer.ggml.pre", "str", "smollm"),
        entry("tokenizer.ggml.tokens", "strs", tokens),
        entry("tokenizer.ggml.token_type", "i32s", [3] * len(control) + [1] * (len(tokens) - len(control))),
        entry("tokenizer.ggml.merges", "strs", merges),
        entry("tokenizer.ggml.bos_token_id", "u32", 1),
        entry("tokenizer.ggml.eos_token_id", "u32", 2),
        entry("tokenizer.ggml.add_bos_token", "bool", True),
        entry("tokenizer.chat_template", "str", TEMPLATE),
    ]
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries)
    with open(sys.argv[1], "wb") as f:
        f.write(head + bytes(-len(head) % 32))


if __name__ == "__main__":
    main()
