# SPDX-License-Identifier: Apache-2.0
"""Writes the first inputs of the GGUF fuzz target: python3 make_gguf_corpus.py ../fuzz/corpus/gguf

Small files, right and wrong, that between them reach every value type, every number format and the
checks on layout. Inputs that the fuzzer found later lie beside them under their hash.
"""
import pathlib
import struct
import sys

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
SCALAR = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B", U64: "Q", I64: "q", F64: "d"}

# number: (elements, bytes) of one block
FORMATS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36), 10: (256, 84),
    11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292), 16: (256, 66), 17: (256, 74),
    18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82), 23: (256, 136), 24: (1, 1), 25: (1, 2),
    26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2), 34: (256, 54), 35: (256, 66), 39: (32, 17),
    40: (64, 36), 41: (128, 18), 42: (64, 18),
}


def text(s):
    s = s.encode() if isinstance(s, str) else s
    return struct.pack("<Q", len(s)) + s


def value(kind, v):
    return text(v) if kind == STRING else struct.pack("<" + SCALAR[kind], v)


def key(name, kind, v, elem=None):
    out = text(name) + struct.pack("<I", kind)
    if kind == ARRAY:
        return out + struct.pack("<IQ", elem, len(v)) + b"".join(value(elem, x) for x in v)
    return out + value(kind, v)


def tensor(name, dims, number, offset):
    return text(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims) + struct.pack("<IQ", number, offset)


def gguf(keys=(), tensors=(), data=b"", version=3, align=32, n_kv=None, n_tensor=None):
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors) if n_tensor is None else n_tensor, len(keys) if n_kv is None else n_kv)
    head += b"".join(keys) + b"".join(tensors)
    return head + bytes(-len(head) % align) + data


def one_of_each():
    """A tensor of two blocks in each of some formats; split over files to keep each small."""
    files, numbers = {}, sorted(FORMATS)
    for first in range(0, len(numbers), 7):
        tensors, data = [], b""
        for number in numbers[first:first + 7]:
            elems, size = FORMATS[number]
            tensors.append(tensor(f"t{number}", [elems, 2], number, len(data)))
            data += bytes((37 * i + 11) % 256 for i in range(2 * size))
            data += bytes(-len(data) % 32)
        files[f"formats-{first // 7}"] = gguf(tensors=tensors, data=data)
    return files


def corpus():
    i8 = lambda name, offset, n=1: tensor(name, [n], 24, offset)
    files = one_of_each()
    files["scalars"] = gguf([key(f"k{kind}", kind, 1) for kind in SCALAR] + [key("s", STRING, "text")])
    files["arrays"] = gguf([key(f"a{kind}", ARRAY, [0, 1, 1], kind) for kind in SCALAR] + [key("as", ARRAY, ["a", "", b"\xff\0"], STRING)])
    files["v2-align8"] = gguf([key("general.alignment", U32, 8)], [i8("a", 0), i8("b", 8)], bytes(9), version=2, align=8)
    files["four-dims-gap"] = gguf(tensors=[tensor("x", [2, 1, 3, 1], 1, 64)], data=bytes(76))
    files["overlap"] = gguf(tensors=[i8("a", 0, 33), i8("b", 32)], data=bytes(64))
    files["same-name"] = gguf(tensors=[i8("a", 0), i8("a", 32)], data=bytes(64))
    files["same-key"] = gguf([key("k", U8, 1), key("k", U8, 1)])
    files["nested"] = gguf([text("k") + struct.pack("<IIQ", ARRAY, ARRAY, 1) + bytes(16)])
    files["misaligned"] = gguf(tensors=[i8("a", 1)], data=bytes(64))
    files["cut"] = gguf(tensors=[i8("a", 0, 65)], data=bytes(64))
    files["counts"] = gguf(n_kv=1 << 60, n_tensor=1 << 60)
    files["huge-dims"] = gguf(tensors=[tensor("a", [1 << 32, 1 << 31], 24, 0)])
    files["big-endian"] = b"GGUF" + struct.pack(">IQQ", 3, 0, 0)
    files["split"] = gguf([key("split.no", U16, 1), key("split.count", U16, 3), key("split.tensors.count", I32, 1)], [i8("a", 0)], bytes(1))
    files["v1"] = gguf(version=1)
    files["lfs"] = b"version https://git-lfs.github.com/spec/v1\n"
    return files


if __name__ == "__main__":
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, data in corpus().items():
        (out / name).write_bytes(data)
