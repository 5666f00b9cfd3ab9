#!/usr/bin/env python3
"""Writes corpus/model: tiny whole models, right ones and ones that are wrong in one way each. Standard library only.

usage: make_model_corpus.py [DIR]      (default: corpus/model beside this file)
"""
import os
import struct
import sys

U32, I32, F32, STR, ARR = 4, 5, 6, 8, 9
TYPES = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q8_0": (8, 32, 34), "Q4_1": (3, 32, 20), "IQ2_XXS": (16, 256, 66)}


def string(s):
    return struct.pack("<Q", len(s)) + s.encode()


def value(kind, x):
    if kind == STR:
        return string(x)
    if kind == ARR:
        return struct.pack("<IQ", U32, len(x)) + b"".join(struct.pack("<I", i) for i in x)
    return struct.pack({U32: "<I", I32: "<i", F32: "<f"}[kind], x)


def base(d=4, heads=2, kv=1, ff=6, vocab=5, layers=1, dtype="F32"):
    """Keys and tensors of a right model, as dictionaries to spoil."""
    keys = {"general.architecture": (STR, "llama"), "llama.block_count": (U32, layers), "llama.embedding_length": (U32, d),
            "llama.context_length": (U32, 64), "llama.feed_forward_length": (U32, ff), "llama.attention.head_count": (U32, heads),
            "llama.attention.head_count_kv": (U32, kv), "llama.attention.layer_norm_rms_epsilon": (F32, 1e-5)}
    t = {"token_embd.weight": (dtype, (d, vocab)), "output_norm.weight": ("F32", (d,))}
    dh = d // heads
    for i in range(layers):
        for name, shape in (("attn_q", (d, d)), ("attn_k", (d, kv * dh)), ("attn_v", (d, kv * dh)), ("attn_output", (d, d)),
                            ("ffn_gate", (d, ff)), ("ffn_up", (d, ff)), ("ffn_down", (ff, d))):
            t["blk.%d.%s.weight" % (i, name)] = (dtype, shape)
        t["blk.%d.attn_norm.weight" % i] = t["blk.%d.ffn_norm.weight" % i] = ("F32", (d,))
    return keys, t


def encode(keys, tensors, cut=0):
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    for k, (kind, x) in keys.items():
        out += string(k) + struct.pack("<I", kind) + value(kind, x)
    data = b""
    for name, (dtype, shape) in tensors.items():
        number, elems, size = TYPES[dtype]
        n = 1
        for s in shape:
            n *= s
        out += string(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", s) for s in shape) + struct.pack("<IQ", number, len(data))
        body = b"".join(struct.pack("<f", ((i * 37 + len(name)) % 19 - 9) / 8) for i in range(n)) if dtype == "F32" else \
            bytes((i * 37 + 11) % 96 for i in range(n // elems * size))
        data += body + b"\0" * (-len(body) % 32)
    out += b"\0" * (-len(out) % 32)
    return (out + data)[:len(out) + len(data) - cut]


def cases():
    yield "right", encode(*base())
    yield "two-layers", encode(*base(layers=2))
    yield "q8", encode(*base(d=32, heads=2, ff=32, dtype="Q8_0"))
    yield "q4_1", encode(*base(d=32, heads=4, kv=2, ff=64, vocab=9, dtype="Q4_1"))
    yield "f16", encode(*base(dtype="F16"))
    k, t = base()
    t["output.weight"] = ("F32", (4, 5))
    yield "untied", encode(k, t)
    k, t = base()
    t.update({"blk.0.attn_q.bias": ("F32", (4,)), "blk.0.ffn_down.bias": ("F32", (4,)), "rope_freqs.weight": ("F32", (1,))})
    yield "bias", encode(k, t)
    k, t = base()
    k.update({"llama.rope.scaling.type": (STR, "yarn"), "llama.rope.scaling.factor": (F32, 4.0), "llama.rope.freq_base": (F32, 500.0),
              "llama.rope.scaling.original_context_length": (U32, 16)})
    yield "yarn", encode(k, t)
    k, t = base(layers=2)
    k.update({"llama.attention.head_count": (ARR, [2, 2]), "llama.attention.head_count_kv": (ARR, [1, 1]), "llama.feed_forward_length": (ARR, [6, 6])})
    yield "arrays", encode(k, t)
    for name, spoil in (("layers-4096", ("llama.block_count", (U32, 4096))), ("layers-0", ("llama.block_count", (U32, 0))),
                        ("layers-huge", ("llama.block_count", (U32, 0xFFFFFFFF))), ("ctx-huge", ("llama.context_length", (U32, 0x7FFFFFFF))),
                        ("heads-3", ("llama.attention.head_count", (U32, 3))), ("heads-0", ("llama.attention.head_count", (U32, 0))),
                        ("kv-0", ("llama.attention.head_count_kv", (U32, 0))), ("key-odd", ("llama.attention.key_length", (U32, 3))),
                        ("key-huge", ("llama.attention.key_length", (U32, 65536))), ("d-huge", ("llama.embedding_length", (U32, 1 << 20))),
                        ("ff-huge", ("llama.feed_forward_length", (U32, 1 << 24))), ("eps-nan", ("llama.attention.layer_norm_rms_epsilon", (F32, float("nan")))),
                        ("eps-type", ("llama.attention.layer_norm_rms_epsilon", (STR, "small"))), ("arch", ("general.architecture", (STR, "l\x1blama"))),
                        ("base-0", ("llama.rope.freq_base", (F32, 0.0))), ("rot-6", ("llama.rope.dimension_count", (U32, 6))),
                        ("scaling", ("llama.rope.scaling.type", (STR, "longrope"))), ("experts", ("llama.expert_count", (U32, 8))),
                        ("array-short", ("llama.attention.head_count_kv", (ARR, [])))):
        k, t = base()
        k[spoil[0]] = spoil[1]
        yield name, encode(k, t)
    for name in list(base()[1]):
        k, t = base()
        del t[name]
        yield "without-" + name, encode(k, t)
    k, t = base()
    t["blk.0.attn_q.weight"] = ("F32", (5, 4))
    yield "shape", encode(k, t)
    k, t = base()
    t["blk.0.attn_sinks.weight"] = ("F32", (2,))
    yield "extra", encode(k, t)
    k, t = base(d=256, heads=128, ff=6, dtype="Q8_0")
    t["token_embd.weight"] = ("IQ2_XXS", (256, 5))
    yield "no-decoder", encode(k, {"token_embd.weight": t["token_embd.weight"], "output_norm.weight": t["output_norm.weight"]})
    yield "cut", encode(*base(), cut=100)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "model")
    os.makedirs(folder, exist_ok=True)
    for name, data in cases():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)


if __name__ == "__main__":
    main()
