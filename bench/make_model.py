#!/usr/bin/env python3
"""A Llama-family GGUF of any size and format with random weights, for measuring speed: what it says is noise.

Blocks are made, not quantised: random codes under scales of an ordinary model's size, so that logits stay finite. Every tensor is a
stretch of one pool of random blocks whose length is prime, so no two rows are alike and 1 GB takes seconds. The tokenizer is
byte-level BPE over pairs of bytes. The same arguments give the same bytes. Only the standard library is used.

The default shape is the 1.1B Llama: 2048 wide, 22 layers, 32 query and 4 key-value heads, feed-forward 5632, vocabulary 32000. The
embedding and the logits matrix take the type llama.cpp's quantiser would give them (--embed, --output).

usage: make_model.py TYPE OUT.gguf [--layers 22] [--width 2048] [--heads 32] [--kv-heads 4] [--ffn 5632] [--vocab 32000] [--ctx 8192]
                     [--embed TYPE] [--output TYPE] [--seed 1]
       make_model.py all FOLDER      the files of docs/bench.md, 6 GB (F16, BF16 and F32 with fewer layers)
"""
import argparse
import os
import random
import statistics
import struct
import sys

POOL_BYTES = 16 << 20
STD = 0.02  # of a weight


class Type:
    """ggml's number, values and bytes of a block, general.file_type, and what random bytes need to become blocks."""

    def __init__(self, number, elems, size, file_type, fields, embed=None, output=None):
        self.number, self.elems, self.size, self.file_type, self.fields = number, elems, size, file_type, fields
        self.embed, self.output = embed, output  # None: the type itself


# Fields of a block: ("half", offset, value) an f16 of that size; ("pick", offset, n, [bytes]) n bytes out of a list;
# ("set", offset, n, mask) n bytes with these bits set. All other bytes stay random.
NO_LEAST = [b for b in range(256) if b != 0x80]  # the quantiser never writes -128
BIG_INT8 = [b for b in range(256) if 48 <= (b if b < 128 else 256 - b) <= 127]


def float_bytes(fmt, at):
    """Byte `at` of the quantiles of a normal distribution."""
    normal = statistics.NormalDist(0, STD)
    return [struct.pack("<f" if fmt == "bf" else "<" + fmt, normal.inv_cdf((i + 0.5) / 256))[at] for i in range(256)]


TYPES = {
    "F32": Type(0, 1, 4, 0, [("pick", 3, 1, float_bytes("f", 3))]),
    "F16": Type(1, 1, 2, 1, [("pick", 1, 1, float_bytes("e", 1))]),
    "BF16": Type(30, 1, 2, 32, [("pick", 1, 1, float_bytes("bf", 3))]),
    "Q4_0": Type(2, 32, 18, 2, [("half", 0, STD / 4.6)], output="Q6_K"),
    "Q4_1": Type(3, 32, 20, 3, [("half", 0, STD / 4.6), ("half", 2, -STD / 4.6 * 7.5)], output="Q6_K"),
    "Q5_0": Type(6, 32, 22, 8, [("half", 0, STD / 9.2)], output="Q6_K"),
    "Q5_1": Type(7, 32, 24, 9, [("half", 0, STD / 9.2), ("half", 2, -STD / 9.2 * 15.5)], output="Q6_K"),
    "Q8_0": Type(8, 32, 34, 7, [("pick", 2, 32, NO_LEAST), ("half", 0, STD / 74)]),
    "Q4_K": Type(12, 256, 144, 14, [("half", 0, STD / 220), ("half", 2, STD / 220 * 7.5), ("set", 4, 8, 0xA0)], output="Q6_K"),
    "Q5_K": Type(13, 256, 176, 16, [("half", 0, STD / 440), ("half", 2, STD / 440 * 15.5), ("set", 4, 8, 0xA0)], output="Q6_K"),
    "Q6_K": Type(14, 256, 210, 18, [("pick", 192, 16, BIG_INT8), ("half", 208, STD / 1640)]),
    "IQ4_NL": Type(20, 32, 18, 25, [("half", 0, STD / 70)], output="Q6_K"),
    "MXFP4": Type(39, 32, 17, 38, [("pick", 0, 1, [119, 120, 120, 121])], embed="Q8_0", output="Q8_0"),
}


def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n ** 0.5) + 1))


def make_pool(kind, seed):
    n = POOL_BYTES // kind.size
    while not is_prime(n):
        n -= 1
    rng = random.Random("%d %d" % (kind.number, seed))
    pool = bytearray(rng.randbytes(n * kind.size))
    for what, offset, *rest in kind.fields:
        if what == "half":
            halves = [struct.pack("<e", rest[0] * (0.5 + (i + 0.5) / 256)) for i in range(256)]
            which = rng.randbytes(n)
            for k in range(2):
                pool[offset + k::kind.size] = which.translate(bytes(h[k] for h in halves))
            continue
        n_byte, arg = rest
        table = bytes(arg[i * len(arg) // 256] for i in range(256)) if what == "pick" else bytes(i | arg for i in range(256))
        for k in range(offset, offset + n_byte):
            pool[k::kind.size] = bytes(pool[k::kind.size]).translate(table)
    return bytes(pool)


def byte_letters():
    """The letters byte-level BPE writes bytes with: printable bytes are themselves, the others follow from U+0100."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in keep]
    return [chr(b) if b in keep else chr(256 + others.index(b)) for b in range(256)]


def make_vocab(n):
    letters = byte_letters()
    tokens, merges = ["<|begin|>", "<|end|>"] + letters, []
    common = " etaoinshrdlcumwfgypbvkjxqz\nETAOINSHRDLCUMWFGYPBVKJXQZ0123456789.,;:'\"()-!?"
    order = sorted(range(256), key=lambda b: common.index(chr(b)) if chr(b) in common else 256 + b)
    pairs = sorted(((i, j) for i in range(256) for j in range(256)), key=lambda ij: ij[0] + ij[1])
    for i, j in pairs[:n - len(tokens)]:
        left, right = letters[order[i]], letters[order[j]]
        tokens.append(left + right)
        merges.append(left + " " + right)
    if len(tokens) != n:
        sys.exit("make_model.py: a vocabulary of %d was asked for, expected 258 to %d" % (n, 258 + len(pairs)))
    return tokens, merges


def text(s):
    b = s.encode()
    return struct.pack("<Q", len(b)) + b


def pair(key, value):
    """One key with its value: int as u32, float as f32, lists as arrays of strings or of i32."""
    if isinstance(value, bool):
        return text(key) + struct.pack("<IB", 7, value)
    if isinstance(value, int):
        return text(key) + struct.pack("<II", 4, value)
    if isinstance(value, float):
        return text(key) + struct.pack("<If", 6, value)
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    if isinstance(value[0], str):
        return text(key) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    return text(key) + struct.pack("<IIQ%di" % len(value), 9, 5, len(value), *value)


def make_header(a, tensors):
    tokens, merges = make_vocab(a.vocab)
    head = {
        "general.architecture": "llama", "general.name": "random %s" % a.type, "general.file_type": TYPES[a.type].file_type,
        "llama.block_count": a.layers, "llama.context_length": a.ctx, "llama.embedding_length": a.width,
        "llama.feed_forward_length": a.ffn, "llama.attention.head_count": a.heads, "llama.attention.head_count_kv": a.kv_heads,
        "llama.rope.dimension_count": a.width // a.heads, "llama.rope.freq_base": 10000.0,
        "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.vocab_size": a.vocab,
        "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3, 3] + [1] * (a.vocab - 2), "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.bos_token_id": 0, "tokenizer.ggml.eos_token_id": 1, "tokenizer.ggml.add_bos_token": False,
    }
    out, offset = [struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(head))], 0
    out += [pair(k, v) for k, v in head.items()]
    for name, dims, kind, n_byte in tensors:
        out.append(text(name) + struct.pack("<I%dQIQ" % len(dims), len(dims), *dims, kind, offset))
        offset += (n_byte + 31) // 32 * 32
    return b"".join(out)


def list_tensors(a):
    """(name, dimensions with the row length first, type), in the order llama.cpp's converter writes them."""
    kv = a.width // a.heads * a.kv_heads
    yield "token_embd.weight", (a.width, a.vocab), a.embed
    for i in range(a.layers):
        for name, dims, kind in (("attn_norm", (a.width,), None), ("attn_q", (a.width, a.width), a.type),
                                 ("attn_k", (a.width, kv), a.type), ("attn_v", (a.width, kv), a.type),
                                 ("attn_output", (a.width, a.width), a.type), ("ffn_norm", (a.width,), None),
                                 ("ffn_gate", (a.width, a.ffn), a.type), ("ffn_up", (a.width, a.ffn), a.type),
                                 ("ffn_down", (a.ffn, a.width), a.type)):
            yield "blk.%d.%s.weight" % (i, name), dims, kind
    yield "output_norm.weight", (a.width,), None
    yield "output.weight", (a.width, a.vocab), a.output


def write_model(a):
    kind = TYPES[a.type]
    a.embed, a.output = a.embed or kind.embed or a.type, a.output or kind.output or a.type
    tensors, plan = [], []
    for name, dims, t in list_tensors(a):
        n = dims[0] * (dims[1] if len(dims) > 1 else 1)
        if t and dims[0] % TYPES[t].elems:
            sys.exit("make_model.py: rows of %d values do not divide into blocks of %d (%s)" % (dims[0], TYPES[t].elems, t))
        n_byte = n // TYPES[t].elems * TYPES[t].size if t else 4 * n
        tensors.append((name, dims, TYPES[t].number if t else 0, n_byte))
        plan.append((t, n_byte))
    pools, at = {}, 0
    tmp = a.out + ".part"
    with open(tmp, "wb") as f:
        head = make_header(a, tensors)
        f.write(head + bytes(-len(head) % 32))
        for t, n_byte in plan:
            if not t:
                f.write(struct.pack("<f", 1.0) * (n_byte // 4))
            else:
                if t not in pools:
                    pools[t] = memoryview(make_pool(TYPES[t], a.seed))
                pool, left = pools[t], n_byte
                start = at * 7919 % (len(pool) // TYPES[t].size) * TYPES[t].size
                while left:
                    piece = pool[start:start + left]
                    f.write(piece)
                    left -= len(piece)
                    start = 0
                at += 1
            f.write(bytes(-n_byte % 32))
    os.replace(tmp, a.out)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("type", metavar="TYPE", help="%s, or all" % ", ".join(TYPES))
    p.add_argument("out")
    for name, value in (("layers", 22), ("width", 2048), ("heads", 32), ("kv-heads", 4), ("ffn", 5632), ("vocab", 32000), ("ctx", 8192),
                        ("seed", 1)):
        p.add_argument("--" + name, type=int, default=value)
    p.add_argument("--embed", choices=TYPES)
    p.add_argument("--output", choices=TYPES)
    a = p.parse_args()
    if a.type != "all" and a.type not in TYPES:
        p.error("type %s is none of %s, all" % (a.type, ", ".join(TYPES)))
    if min(a.layers, a.width, a.heads, a.kv_heads, a.ffn) < 1 or a.width % a.heads or a.heads % a.kv_heads:
        p.error("sizes must be positive, heads divide the width and kv-heads divide the heads")
    if a.type != "all":
        write_model(a)
        return
    folder = a.out
    os.makedirs(folder, exist_ok=True)
    for t in ("Q4_0", "Q4_K", "Q6_K", "Q8_0", "MXFP4", "F16", "BF16", "F32"):
        one = argparse.Namespace(**vars(a))
        one.type, one.out = t, os.path.join(folder, "llama-1b-%s.gguf" % t.lower())
        one.layers = {"F16": 6, "BF16": 6, "F32": 3}.get(t, a.layers)
        write_model(one)
        print(one.out, os.path.getsize(one.out))


if __name__ == "__main__":
    main()
