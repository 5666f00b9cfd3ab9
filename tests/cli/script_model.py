#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A checkpoint that says what it is told: script_model.py OUT.gguf PIECE... (write() for tests)

Each answer is the pieces in order, one token each, whatever was asked. A model of family llama can do that: embeddings are unit
vectors, attention and feed-forward are zero, and the head's rows map each token to the next one. After the last piece comes the
end token, or (loop) the first piece again. Pieces are bytes, so that characters may be cut between tokens. Standard library only.
"""
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "oom")]
from tiny_text import TEMPLATE, byte_characters, entry, string  # noqa: E402

CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
END = 2


def sparse(rows, cols, ones):
    """f32 [rows, cols], zero but for (row, column, value)."""
    data = bytearray(4 * rows * cols)
    for r, c, v in ones:
        struct.pack_into("<f", data, 4 * (r * cols + c), v)
    return bytes(data)


def write(path, pieces, loop=False, template=TEMPLATE, name="script", context=4096):
    shown = byte_characters()
    tokens = CONTROL + shown + ["".join(shown[b] for b in p) for p in pieces]
    n, first = len(tokens), len(CONTROL) + 256
    hidden = (n + 63) // 64 * 64
    follow = {t: END for t in range(n)}
    follow[len(CONTROL) + ord("\n")] = first  # the template's last byte before an answer
    for i in range(len(pieces)):
        follow[first + i] = first + i + 1 if i + 1 < len(pieces) else first if loop else END
    kv = [entry("general.architecture", "str", "llama"), entry("general.name", "str", name)]
    for key, value in [("block_count", 1), ("context_length", context), ("embedding_length", hidden), ("feed_forward_length", 32),
                       ("attention.head_count", 2), ("attention.head_count_kv", 1), ("vocab_size", n)]:
        kv.append(entry("llama." + key, "u32", value))
    kv.append(string("llama.attention.layer_norm_rms_epsilon") + struct.pack("<If", 6, 1e-6))
    kv += [entry("tokenizer.ggml.model", "str", "gpt2"), entry("tokenizer.ggml.pre", "str", "smollm"),
           entry("tokenizer.ggml.tokens", "strs", tokens),
           entry("tokenizer.ggml.token_type", "i32s", [3] * len(CONTROL) + [1] * (n - len(CONTROL))),
           entry("tokenizer.ggml.merges", "strs", ["H e"]), entry("tokenizer.ggml.bos_token_id", "u32", 1),
           entry("tokenizer.ggml.eos_token_id", "u32", END), entry("tokenizer.ggml.add_bos_token", "bool", True)]
    if template:
        kv.append(entry("tokenizer.chat_template", "str", template))
    tensors = [("token_embd.weight", (n, hidden), [(t, t, 1.0) for t in range(n)]),
               ("output.weight", (n, hidden), [(to, t, 4.0) for t, to in follow.items()]), ("output_norm.weight", (hidden,), None),
               ("blk.0.attn_norm.weight", (hidden,), None), ("blk.0.ffn_norm.weight", (hidden,), None),
               ("blk.0.attn_q.weight", (hidden, hidden), []), ("blk.0.attn_k.weight", (hidden // 2, hidden), []),
               ("blk.0.attn_v.weight", (hidden // 2, hidden), []), ("blk.0.attn_output.weight", (hidden, hidden), []),
               ("blk.0.ffn_gate.weight", (32, hidden), []), ("blk.0.ffn_up.weight", (32, hidden), []), ("blk.0.ffn_down.weight", (hidden, 32), [])]
    head = body = b""
    for tensor, shape, ones in tensors:
        head += string(tensor) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", d) for d in reversed(shape))
        head += struct.pack("<IQ", 0, len(body))
        body += struct.pack("<%df" % shape[0], *[1.0] * shape[0]) if ones is None else sparse(*shape, ones)
        body += bytes(-len(body) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(kv)) + b"".join(kv) + head
    with open(path, "wb") as f:
        f.write(head + bytes(-len(head) % 32) + body)


if __name__ == "__main__":
    write(sys.argv[1], [os.fsencode(p) for p in sys.argv[2:]])
