# SPDX-License-Identifier: Apache-2.0
"""SentencePiece models as GGUF metadata and back: just enough protocol buffers and GGUF for the tests (standard library only).

A model here is a dict: kind ("llama" or "t5"), pieces [(text, score, type)], add_prefix, trim, charsmap (bytes), and the ids unk,
bos and eos (-1: none).
"""
import struct

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)


# ---- protocol buffers (sentencepiece_model.proto: ModelProto 1 pieces, 2 trainer_spec, 3 normalizer_spec)

def _varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def _field(number, value):
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, str):
        value = value.encode()
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def to_proto(m):
    """The bytes of a ModelProto that the sentencepiece library loads."""
    out = bytearray()
    for text, score, kind in m["pieces"]:
        out += _field(1, _field(1, text) + _field(2, float(score)) + _field(3, kind))
    has_bytes = any(kind == BYTE for _, _, kind in m["pieces"])
    out += _field(2, _field(3, 1 if m["kind"] == "t5" else 2) + _field(35, int(has_bytes)))
    out += _field(3, _field(2, m["charsmap"]) + _field(3, int(m["add_prefix"])) + _field(4, int(m["trim"])) + _field(5, 1))
    return bytes(out)


def _fields(data):
    i = 0

    def varint():
        nonlocal i
        n = shift = 0
        while True:
            b = data[i]
            i += 1
            n |= (b & 127) << shift
            shift += 7
            if b < 128:
                return n
    while i < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 5:
            yield key >> 3, struct.unpack_from("<f", data, i)[0]
            i += 4
        elif key & 7 == 2:
            n = varint()
            yield key >> 3, data[i:i + n]
            i += n
        else:
            raise ValueError(f"wire type {key & 7}")


def from_proto(data):
    pieces, trainer, normal = [], {}, {}
    for number, value in _fields(data):
        if number == 1:
            f = dict(_fields(value))
            pieces.append((f[1].decode(), f.get(2, 0.0), f.get(3, NORMAL)))
        elif number == 2:
            trainer = dict(_fields(value))
        elif number == 3:
            normal = dict(_fields(value))
    def signed(n, default):
        n = trainer.get(n, default)
        return -1 if n >= 1 << 31 else n
    return {"kind": "llama" if trainer.get(3, 1) == 2 else "t5", "pieces": pieces, "add_prefix": bool(normal.get(3, 1)),
            "trim": bool(normal.get(4, 1)), "charsmap": bytes(normal.get(2, b"")),
            "unk": signed(40, 0), "bos": signed(41, 1), "eos": signed(42, 2)}


# ---- GGUF

U8, I8, U32, I32, F32, BOOL, STRING, ARRAY = 0, 1, 4, 5, 6, 7, 8, 9
_PACK = {U8: "B", U32: "I", I32: "i", F32: "f", BOOL: "?"}


def _text(s):
    s = s.encode() if isinstance(s, str) else s
    return struct.pack("<Q", len(s)) + s


def _value(kind, value):
    return _text(value) if kind == STRING else struct.pack("<" + _PACK[kind], value)


def gguf(pairs):
    """A GGUF file without tensors: pairs of (key, type, value), or (key, (ARRAY, type), values)."""
    out = [b"GGUF", struct.pack("<IQQ", 3, 0, len(pairs))]
    for key, kind, value in pairs:
        out.append(_text(key))
        if isinstance(kind, tuple):
            out.append(struct.pack("<IIQ", ARRAY, kind[1], len(value)))
            out.extend(_value(kind[1], x) for x in value)
        else:
            out.append(struct.pack("<I", kind) + _value(kind, value))
    return b"".join(out)


def pairs_of(m, spaces=False):
    """The metadata of a model; spaces: user-defined pieces with plain spaces, as Gemma's converter writes them."""
    t = "tokenizer.ggml."
    def spell(text, kind):
        return text.replace("\u2581", " ") if spaces and kind == USER else text
    pairs = [("general.architecture", STRING, "llama" if m["kind"] == "llama" else "t5"), (t + "model", STRING, m["kind"]),
             (t + "tokens", (ARRAY, STRING), [spell(s, k) for s, _, k in m["pieces"]]),
             (t + "scores", (ARRAY, F32), [x for _, x, _ in m["pieces"]]),
             (t + "token_type", (ARRAY, I32), [k for _, _, k in m["pieces"]]),
             (t + "add_space_prefix", BOOL, m["add_prefix"]), (t + "remove_extra_whitespaces", BOOL, m["trim"]),
             (t + "add_bos_token", BOOL, m["bos"] >= 0), (t + "add_eos_token", BOOL, m["kind"] == "t5")]
    pairs += [(t + name + "_token_id", U32, m[key]) for name, key in (("unknown", "unk"), ("bos", "bos"), ("eos", "eos")) if m[key] >= 0]
    if m["charsmap"]:
        pairs.append((t + "precompiled_charsmap", (ARRAY, U8), m["charsmap"]))
    return pairs


def from_gguf(path):
    """A model out of a GGUF's metadata; reads no further than that."""
    with open(path, "rb") as f:
        def take(fmt):
            return struct.unpack("<" + fmt, f.read(struct.calcsize("<" + fmt)))
        def text():
            return f.read(take("Q")[0]).decode()
        sizes = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
        def value(kind):
            if kind == STRING:
                return text()
            if kind != ARRAY:
                return take(sizes[kind])[0]
            inner, n = take("IQ")
            return [text() for _ in range(n)] if inner == STRING else list(take(f"{n}{sizes[inner]}"))
        if f.read(4) != b"GGUF":
            raise ValueError("no GGUF")
        _, _, n = take("IQQ")
        kv = {text(): value(take("I")[0]) for _ in range(n)}
    t = "tokenizer.ggml."
    pieces = [(s.replace(" ", "\u2581") if k == USER else s, x, k) for s, x, k in zip(kv[t + "tokens"], kv[t + "scores"], kv[t + "token_type"])]
    unk = kv[t + "unknown_token_id"]
    pieces[unk] = (*pieces[unk][:2], UNKNOWN)
    return {"kind": kv[t + "model"], "pieces": pieces, "add_prefix": kv.get(t + "add_space_prefix", True),
            "trim": kv.get(t + "remove_extra_whitespaces", kv[t + "model"] == "t5"),
            "charsmap": bytes(kv.get(t + "precompiled_charsmap", [])), "unk": unk, "bos": kv.get(t + "bos_token_id", -1),
            "eos": kv.get(t + "eos_token_id", -1)}
