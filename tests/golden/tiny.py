#!/usr/bin/env python3
"""Tiny random checkpoints of every dense family as GGUF v3 files, for golden tests.

What: `tiny.py CASE OUT.gguf` writes one deterministic checkpoint (a few hundred KB). Every case exists
for a trap that a real model would hide: grouped heads of odd sizes, decoupled head widths, each kind of
rope scaling, biases, windows beside pages and partials of keys, soft-caps, each storage format. `--break WHAT` writes the same file with one thing wrong; a
comparison which such a file passes is not worth running.

Why this way: the standard library is enough (so CI needs no packages), and nothing passes through libm,
so the same bytes come out everywhere. (The one exception: the llama-3 rope factors, rounded to f32.)

Not here: what the right answers are. tests/oracle/make_golden.py asks the public reference implementation
and stores them as CASE.json beside this file; check_golden.py compares an engine with those.

The files carry no tokenizer; drive them with token ids. Weights are held as published (HF). What GGUF wants otherwise happens
on writing only: rows of q and k interleaved per rotary pair (llama, smollm3), norm weights 1 + w (gemma2, gemma3).

usage: tiny.py CASE OUT.gguf [--break WHAT] | --list
"""
import argparse
import array
import functools
import hashlib
import math
import struct
import sys
from dataclasses import dataclass, field, replace

# ---------------------------------------------------------------------------------------------- cases


@dataclass(frozen=True)
class Case:
    why: str
    hidden: int = 64
    heads: int = 4
    kv: int = 2
    head_dim: int = 16
    ffn: int = 96
    layers: int = 3
    vocab: int = 97
    tied: bool = True
    theta: float = 10000.0
    eps: float = 1e-5
    store: str = "F32"          # matrices and embedding; norms and biases are always F32, as converters write them
    rope: dict = field(default_factory=dict)   # HF spelling of the scaling, {} for none
    attn_bias: bool = False
    mlp_bias: bool = False
    quant: tuple = ()           # per layer "q k v o gate up down" format names; then (embed, head)
    n_ids: int = 40             # length of the fixed test sequence
    context: int = 512
    arch: str = "llama"
    window: int = 0             # of the local layers (gemma)
    period: int = 0             # every period-th layer is global; 0: as the family has it, and not written
    local_theta: float = 0.0    # 0: 10000 in family gemma3, and not written
    attn_cap: float = 0.0
    final_cap: float = 0.0


@dataclass(frozen=True)
class Arch:
    permute: bool = False       # rows of q and k are interleaved
    qk_norm: bool = False
    post_norm: bool = False     # norms before the residual adds
    shift: float = 0.0          # what GGUF adds to norm weights
    scaled: bool = False        # embedding times sqrt(hidden)


ARCH = {"llama": Arch(permute=True), "smollm3": Arch(permute=True), "qwen2": Arch(), "qwen3": Arch(qk_norm=True),
        "gemma2": Arch(post_norm=True, shift=1.0, scaled=True), "gemma3": Arch(qk_norm=True, post_norm=True, shift=1.0, scaled=True)}


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}
LINEAR = {"rope_type": "linear", "factor": 4.0}
Q = dict(hidden=256, heads=8, kv=4, head_dim=32, ffn=512, layers=2, vocab=96, tied=False)

CASES = {
    "llama-tied": Case("grouped-query attention, head tied to the embedding"),
    "llama-untied": Case("own head; 5 query heads on 1 key head; no width is a multiple of 16",
                         hidden=120, heads=5, kv=1, head_dim=24, ffn=88, layers=2, vocab=101, tied=False),
    "llama-rope3": Case("llama-3 rope scaling as rope_freqs.weight; head width not hidden/heads; scaling bites inside the sequence",
                        hidden=96, heads=12, kv=4, head_dim=40, ffn=160, layers=2, tied=False, theta=500000.0, rope=LLAMA3, n_ids=100),
    "llama-yarn": Case("yarn: ramp over the pairs and the magnitude factor; head width 80",
                       hidden=160, heads=2, kv=1, head_dim=80, layers=2, tied=False, rope=YARN, n_ids=100, context=256),
    "llama-linear": Case("linear rope scaling", layers=2, tied=False, rope=LINEAR, n_ids=100),
    "llama-bias": Case("biases on q, k, v, o and all of the feed-forward; q and k biases are permuted too",
                       attn_bias=True, mlp_bias=True, layers=2, tied=False),
    "llama-bf16": Case("matrices stored bfloat16", store="BF16"),
    "llama-f16": Case("matrices stored half", store="F16"),
    "llama-q": Case("the common quantised formats", **Q,
                    quant=("Q4_K Q8_0 Q6_K Q4_0 Q4_K Q4_1 Q6_K", "Q8_0 Q4_K Q5_K Q5_K Q8_0 Q4_K Q4_0", "Q6_K Q8_0")),
    "llama-q-rest": Case("the other integer formats", **Q,
                         quant=("Q5_0 Q5_1 Q3_K Q2_K Q3_K Q5_0 Q5_1", "Q2_K Q3_K Q5_0 Q3_K Q5_1 Q2_K Q3_K", "Q5_1 Q5_0")),
    "llama-iq": Case("formats with a value table", **Q,
                     quant=("IQ4_NL IQ4_XS IQ4_NL MXFP4 IQ4_XS IQ4_NL MXFP4", "IQ4_XS MXFP4 IQ4_XS IQ4_NL MXFP4 IQ4_XS IQ4_NL", "IQ4_NL IQ4_XS")),
    # A page of keys has 64 positions: windows shorter than one, equal to it and longer.
    "gemma3": Case("as converters write it: pattern and local base by default; a window shorter than a page", arch="gemma3", kv=1,
                   head_dim=24, layers=7, theta=1e6, eps=1e-6, window=24, n_ids=100),
    "gemma3-linear": Case("linear scaling of the global layers alone, pattern and local base stated, final soft-cap; window of one page",
                          arch="gemma3", hidden=96, heads=12, kv=4, head_dim=40, ffn=160, layers=4, theta=1e6, eps=1e-6, rope=LINEAR,
                          window=64, period=2, local_theta=20000.0, final_cap=8.0, n_ids=150),
    "gemma3-window": Case("a window longer than a page; 5 query heads on 1 of width 80; own head", arch="gemma3", hidden=80, heads=5, kv=1,
                          head_dim=80, layers=3, tied=False, theta=1e6, eps=1e-6, window=100, period=3, n_ids=160),
    "gemma3-q": Case("the formats of a published Q4_K_M file; tied Q8_0 embedding", arch="gemma3", hidden=256, heads=4, kv=1, head_dim=80, ffn=512,
                     layers=2, vocab=96, theta=1e6, eps=1e-6, window=40, period=2, n_ids=100,
                     quant=("Q5_0 Q5_0 Q8_0 Q4_1 Q5_0 Q5_0 Q6_K", "Q4_K Q4_K Q6_K Q5_0 Q4_K Q4_K Q4_K", "Q8_0 Q8_0")),
    "gemma2": Case("soft-capped scores and logits, windows on every other layer, no head norms", arch="gemma2", hidden=96, heads=12, kv=4, head_dim=24,
                   layers=4, eps=1e-6, window=24, attn_cap=5.0, final_cap=8.0, n_ids=100),
    "gemma2-q": Case("tied Q6_K embedding", arch="gemma2", hidden=256, heads=8, kv=4, head_dim=32, ffn=512, layers=2, vocab=96, eps=1e-6, window=40,
                     attn_cap=50.0, final_cap=30.0, n_ids=100,
                     quant=("Q4_K Q4_K Q6_K Q4_K Q4_K Q4_K Q6_K", "Q5_K Q5_K Q5_K Q5_K Q5_K Q5_K Q5_K", "Q6_K Q6_K")),
    "qwen3": Case("norms of q and k over heads of width 24, not hidden/heads; 5 query heads on 1", arch="qwen3", heads=5, kv=1, head_dim=24,
                  theta=1e6, eps=1e-6),
    "qwen3-yarn": Case("yarn; 12 query heads on 4 of width 40; own head", arch="qwen3", hidden=96, heads=12, kv=4, head_dim=40, ffn=160, layers=2,
                       tied=False, theta=1e6, eps=1e-6, rope=YARN, n_ids=100, context=256),
    "qwen3-q": Case("the common quantised formats, heads of width 80; tied Q6_K embedding", arch="qwen3", hidden=256, heads=4, kv=2, head_dim=80,
                    ffn=512, layers=2, vocab=96, theta=1e6, eps=1e-6,
                    quant=("Q4_K Q4_K Q6_K Q8_0 Q4_K Q4_K Q6_K", "Q4_0 Q8_0 Q5_K Q4_0 Q5_K Q4_0 Q4_K", "Q6_K Q6_K")),
    "qwen2": Case("biases on q, k and v alone", arch="qwen2", hidden=120, heads=5, kv=1, head_dim=24, layers=2, tied=False, theta=1e6, eps=1e-6,
                  attn_bias=True),
    "qwen2-q": Case("quantised, with biases", arch="qwen2", **Q, attn_bias=True,
                    quant=("Q4_K Q8_0 Q6_K Q4_0 Q4_K Q4_1 Q6_K", "Q8_0 Q4_K Q5_K Q5_K Q8_0 Q4_K Q4_0", "Q6_K Q8_0")),
    "smollm3": Case("every fourth layer without positions; 12 query heads on 4 of width 40", arch="smollm3", hidden=96, heads=12, kv=4,
                    head_dim=40, layers=5, theta=2e6, eps=1e-6, n_ids=70),
    "smollm3-q": Case("quantised, with a layer without positions", arch="smollm3", hidden=256, heads=8, kv=2, head_dim=32, ffn=256, layers=4, vocab=96,
                      theta=2e6, eps=1e-6,
                      quant=("Q4_K Q8_0 Q6_K Q4_0 Q4_K Q4_1 Q6_K", "Q8_0 Q4_K Q5_K Q5_K Q8_0 Q4_K Q4_0",
                             "Q5_0 Q5_1 Q3_K Q2_K Q3_K Q5_0 Q5_1", "Q4_K Q4_K Q6_K Q4_K Q4_K Q4_K Q6_K", "Q8_0 Q8_0")),
}

# Negative controls: what is wrong, and the case where it must show.
BREAKS = {
    "rope-unpermuted": ("llama-tied", "q and k rows left in published order"),
    "eps": ("llama-tied", "norm epsilon 0.1"),
    "theta": ("llama-tied", "rope base 20000 for 10000"),
    "swap-gate-up": ("llama-tied", "feed-forward gate and up exchanged"),
    "swap-kv-heads": ("llama-tied", "the two key heads exchanged (values stay)"),
    "norm-ones": ("llama-tied", "all norm weights 1"),
    "tied-wrong": ("llama-tied", "an output.weight which is not the embedding"),
    "untied-dropped": ("llama-untied", "output.weight left out, so the embedding takes its place"),
    "no-rope-freqs": ("llama-rope3", "rope_freqs.weight left out"),
    "rope-freqs-inverse": ("llama-rope3", "rope_freqs.weight holds 1/factor"),
    "yarn-none": ("llama-yarn", "scaling keys left out"),
    "yarn-as-linear": ("llama-yarn", "type linear with the same factor"),
    "linear-none": ("llama-linear", "scaling keys left out"),
    "drop-qkv-bias": ("llama-bias", "q, k and v biases left out"),
    "drop-o-bias": ("llama-bias", "attn_output.bias left out"),
    "drop-ffn-bias": ("llama-bias", "feed-forward biases left out"),
    "bias-unpermuted": ("llama-bias", "q and k biases left in published order, weights right"),
    "nibble-swap": ("llama-q", "low and high nibbles of Q4_0, Q4_1 and Q4_K exchanged"),
    "gemma-unshifted": ("gemma3", "norm weights w, as published, for 1 + w"),
    "gemma-shifted-twice": ("gemma3", "norm weights 2 + w"),
    "gemma-unscaled": ("gemma3", "embedding divided by sqrt(hidden), head as it was"),
    "gemma-scale-bf16": ("gemma3-linear", "embedding scale rounded to bfloat16"),
    "gemma-rope-pairs": ("gemma3", "q and k rows and norms interleaved per rotary pair"),
    "gemma-qk-norm-ones": ("gemma3", "head norms of weight 1"),
    "gemma-post-norm-ones": ("gemma3", "norms before the residual adds of weight 1"),
    "gemma-post-norms-swapped": ("gemma3", "the two norms before the residual adds exchanged"),
    "window-less": ("gemma3", "window one shorter"),
    "window-more": ("gemma3", "window one longer"),
    "window-ignored": ("gemma3", "a window as long as the context"),
    "window-dropped": ("gemma3", "no window key, so all layers are global"),
    "window-page": ("gemma3-linear", "window one shorter than a page"),
    "window-long": ("gemma3-window", "window one shorter, longer than a page"),
    "pattern": ("gemma3-linear", "every third layer global for every second"),
    "local-base-everywhere": ("gemma3", "local rope base on the global layers"),
    "global-base-everywhere": ("gemma3", "global rope base on the local layers"),
    "local-base-default": ("gemma3-linear", "local rope base left out"),
    "gemma-linear-none": ("gemma3-linear", "scaling keys left out"),
    "final-cap": ("gemma3-linear", "final soft-cap left out"),
    "gemma2-attn-cap": ("gemma2", "soft-cap of scores out of reach"),
    "gemma2-final-cap": ("gemma2", "soft-cap of logits out of reach"),
    "gemma2-all-global": ("gemma2", "a window as long as the context"),
    "gemma2-silu": ("gemma2", "relabelled qwen2 without post norms: silu, no scale, no caps"),
    "qwen3-rope-pairs": ("qwen3", "q and k rows and norms interleaved per rotary pair"),
    "qwen3-qk-norm-ones": ("qwen3", "head norms of weight 1"),
    "qwen3-qk-norm-dropped": ("qwen3", "relabelled qwen2 without head norms"),
    "qwen3-qk-norm-shifted": ("qwen3", "head norms 1 + w"),
    "qwen3-yarn-none": ("qwen3-yarn", "scaling keys left out"),
    "qwen2-bias-dropped": ("qwen2", "biases left out"),
    "smollm3-rope-everywhere": ("smollm3", "relabelled llama: every layer rotates"),
    "smollm3-unpermuted": ("smollm3", "q and k rows left in published order"),
    "smollm3-nope-shifted": ("smollm3", "layers 0 and 3 exchanged, so another one does not rotate"),
}

# ---------------------------------------------------------------------------------------------- numbers


def stream(label, n_bytes):
    """The bytes of a tensor: SHAKE-128 over its label. A seed per name means that no tensor depends on the others."""
    return hashlib.shake_128(("mizan-tiny-1:" + label).encode()).digest(n_bytes)


@functools.lru_cache(maxsize=None)   # cases and controls share values; callers only read
def normal(label, n, std, mean=0.0):
    """n values near N(mean, std): the sum of four 16-bit integers, exact until one rounding to f32."""
    u = array.array("H", stream(label, 8 * n))
    if sys.byteorder == "big":
        u.byteswap()
    a, k = std / 37837.22, mean
    return array.array("f", ((u[i] + u[i + 1] + u[i + 2] + u[i + 3] - 131070) * a + k for i in range(0, 4 * n, 4)))


def le(a):
    if sys.byteorder == "big":
        a = array.array(a.typecode, a)
        a.byteswap()
    return a.tobytes()


def bf16(values):
    """f32 to bfloat16 bits, nearest even."""
    bits = array.array("I", array.array("f", values).tobytes())
    return le(array.array("H", ((b + 0x7FFF + (b >> 16 & 1)) >> 16 for b in bits)))


def f16(values):
    return struct.pack("<%de" % len(values), *values)


# Block formats: ggml type number, values and bytes a block, and where the scale fields are. Every other byte of a
# block is random. d is chosen as std / unit, where `unit` is the standard deviation of a decoded random block with
# d = 1; offsets ("m") are set so that the mean is near zero.
#   name: (id, n, bytes, offset of d, unit, (offset of m, m / d) or None)
BLOCK = {
    "Q4_0": (2, 32, 18, 0, 4.64, None),
    "Q4_1": (3, 32, 20, 0, 4.61, (2, -7.5)),
    "Q5_0": (6, 32, 22, 0, 9.25, None),
    "Q5_1": (7, 32, 24, 0, 9.23, (2, -15.5)),
    "Q8_0": (8, 32, 34, 0, 73.9, None),
    "Q2_K": (10, 256, 84, 80, 13.7, (82, 1.5)),
    "Q3_K": (11, 256, 110, 108, 42.4, None),
    "Q4_K": (12, 256, 144, 0, 269.0, (2, 7.5)),
    "Q5_K": (13, 256, 176, 0, 545.0, (2, 15.5)),
    "Q6_K": (14, 256, 210, 208, 1366.0, None),
    "IQ4_NL": (20, 32, 18, 0, 70.0, None),
    "IQ4_XS": (23, 256, 136, 0, 1290.0, None),
}
PLAIN = {"F32": (0, 4), "F16": (1, 2), "BF16": (30, 2)}
MXFP4 = (39, 32, 17)   # one E8M0 byte, 32 E2M1 nibbles


@functools.lru_cache(maxsize=None)
def quantised(label, fmt, n, std):
    """Random blocks of one format whose decoded values have about this standard deviation."""
    if fmt == "MXFP4":
        _, per, size = MXFP4
        raw = bytearray(stream(label, n // per * size))
        # E2M1 values of random nibbles have std 2.9; the nearest power of two, give or take one step
        base = 127 + round(math.log2(std / 2.9))
        for at in range(0, len(raw), size):
            raw[at] = base + raw[at] % 3 - 1
        return bytes(raw)
    _, per, size, d_at, unit, offset = BLOCK[fmt]
    raw = bytearray(stream(label, n // per * size))
    for at in range(0, len(raw), size):
        d = std / unit * (0.5 + (raw[at + d_at] | raw[at + d_at + 1] << 8) / 65536)
        struct.pack_into("<e", raw, at + d_at, d)
        if offset:
            struct.pack_into("<e", raw, at + offset[0], d * offset[1])
    return bytes(raw)


def nibble_swap(data):
    return bytes((b >> 4 | b << 4 & 255) for b in data)


# ---------------------------------------------------------------------------------------------- the model


@dataclass(frozen=True)
class Tensor:
    """One tensor in published row order. `data` is its rows one after another; `permute` is the number of heads whose
    rows GGUF interleaves, or 0; `shift` what GGUF adds to the values. `hf` is None for what exists in GGUF only."""
    hf: str
    gguf: str
    fmt: str
    shape: tuple          # (rows, columns) or (columns,)
    data: bytes
    permute: int = 0
    shift: float = 0.0


def rope_factors(c):
    """Llama-3 scaling as GGUF stores it: one divisor per rotary pair (transformers: _compute_llama3_parameters)."""
    r, out = c.rope, []
    for i in range(c.head_dim // 2):
        wave = 2 * math.pi * c.theta ** (2 * i / c.head_dim)
        smooth = (r["original_max_position_embeddings"] / wave - r["low_freq_factor"]) / (r["high_freq_factor"] - r["low_freq_factor"])
        smooth = min(1.0, max(0.0, smooth))
        out.append(1 / ((1 - smooth) / r["factor"] + smooth))
    return array.array("f", out)


def tensors(name, brk=None):
    """All tensors of a case. Gains are chosen so that attention is peaked, every part of a layer moves the logits,
    and logits spread over several nats."""
    c, out = CASES[name], []
    arch = ARCH[c.arch]
    # Plain cases share labels, so the same values come in other formats where the shapes agree.
    seed = c.arch

    def matrix(hf, gguf, rows, cols, gain, fmt, permute=0):
        label, std = "%s:%s" % (seed, hf), gain / math.sqrt(cols)
        if fmt in PLAIN:
            v = normal(label, rows * cols, std)
            data = {"F32": le, "F16": f16, "BF16": bf16}[fmt](v)
        else:
            data = quantised(label + ":" + fmt, fmt, rows * cols, std)
        out.append(Tensor(hf, gguf, fmt, (rows, cols), data, permute))

    def vector(hf, gguf, n, std, mean, permute=0):
        out.append(Tensor(hf, gguf, "F32", (n,), le(normal("%s:%s" % (seed, hf), n, std, mean)), permute))

    def norm(hf, gguf, n=c.hidden, mean=1.0, ones=("norm-ones",)):
        t = "%s:%s" % (seed, hf)
        v = normal(t, n, 0.0, 1.0 - arch.shift) if brk in ones else normal(t, n, 0.25, mean - arch.shift)
        out.append(Tensor(hf, gguf, "F32", (n,), le(v), 0, arch.shift))

    ends = c.quant[-1].split() if c.quant else (c.store, c.store)
    # An embedding row has norm 3.2 when tied (it is the head as well), width-independent. Where it is scaled, it must be no larger
    # than what the layers add, and the final norm makes the logits spread.
    matrix("model.embed_tokens.weight", "token_embd.weight", c.vocab, c.hidden,
           0.6 if arch.scaled else 3.2 if c.tied else 0.5 * math.sqrt(c.hidden), ends[0])
    for i in range(c.layers):
        f = c.quant[i].split() if c.quant else [c.store] * 7
        hf, gg = "model.layers.%d." % i, "blk.%d." % i
        norm(hf + "input_layernorm.weight", gg + "attn_norm.weight")
        n_q, n_kv = c.heads * c.head_dim, c.kv * c.head_dim
        attn = [("q", n_q, c.hidden, 1.5, c.heads), ("k", n_kv, c.hidden, 1.5, c.kv), ("v", n_kv, c.hidden, 1.0, 0), ("o", c.hidden, n_q, 1.0, 0)]
        for (p, rows, cols, gain, perm), fmt in zip(attn, f):
            long = "attn_output" if p == "o" else "attn_" + p
            perm = perm if arch.permute else 0
            matrix(hf + "self_attn.%s_proj.weight" % p, gg + long + ".weight", rows, cols, gain, fmt, perm)
            if c.attn_bias and not (c.arch == "qwen2" and p == "o"):
                vector(hf + "self_attn.%s_proj.bias" % p, gg + long + ".bias", rows, 0.5, 0.0, perm)
        for p in "qk" if arch.qk_norm else "":
            norm(hf + "self_attn.%s_norm.weight" % p, gg + "attn_%s_norm.weight" % p, c.head_dim, 1.5, ("gemma-qk-norm-ones", "qwen3-qk-norm-ones"))
        if arch.post_norm:
            norm(hf + "post_attention_layernorm.weight", gg + "post_attention_norm.weight", ones=("gemma-post-norm-ones",))
            norm(hf + "pre_feedforward_layernorm.weight", gg + "ffn_norm.weight")
            norm(hf + "post_feedforward_layernorm.weight", gg + "post_ffw_norm.weight", ones=("gemma-post-norm-ones",))
        else:
            norm(hf + "post_attention_layernorm.weight", gg + "ffn_norm.weight")
        mlp = [("gate", c.ffn, c.hidden, 1.5), ("up", c.ffn, c.hidden, 1.0), ("down", c.hidden, c.ffn, 1.0)]
        for (p, rows, cols, gain), fmt in zip(mlp, f[4:]):
            matrix(hf + "mlp.%s_proj.weight" % p, gg + "ffn_%s.weight" % p, rows, cols, gain, fmt)
            if c.mlp_bias:
                vector(hf + "mlp.%s_proj.bias" % p, gg + "ffn_%s.bias" % p, rows, 0.3, 0.0)
    norm("model.norm.weight", "output_norm.weight", mean=5.0 if arch.scaled and c.tied else 1.0)
    if not c.tied or brk == "tied-wrong":
        matrix("lm_head.weight", "output.weight", c.vocab, c.hidden, 3.0, ends[1])
    if c.rope.get("rope_type") == "llama3":
        out.append(Tensor(None, "rope_freqs.weight", "F32", (c.head_dim // 2,), le(rope_factors(c))))
    if brk == "gemma-unscaled":
        e = out[0]
        small = array.array("f", (x / math.sqrt(c.hidden) for x in struct.unpack("<%df" % (c.vocab * c.hidden), e.data)))
        out += [replace(e, hf="lm_head.weight", gguf="output.weight")]
        out[0] = replace(e, data=le(small))
    return [t for t in (spoil(t, c, brk) for t in out) if t]


def spoil(t, c, brk):
    """Applies a negative control to one tensor; None leaves it out."""
    g = t.gguf
    if brk == "rope-unpermuted" and t.permute or brk == "bias-unpermuted" and g.endswith(".bias"):
        return replace(t, permute=0)
    if brk == "swap-gate-up" and ("ffn_gate" in g or "ffn_up" in g):
        other = g.replace("ffn_gate", "ffn_up") if "ffn_gate" in g else g.replace("ffn_up", "ffn_gate")
        return replace(t, gguf=other)
    if brk == "swap-kv-heads" and "attn_k." in g:
        half = len(t.data) // 2
        return replace(t, data=t.data[half:] + t.data[:half])
    if brk == "nibble-swap" and t.fmt in ("Q4_0", "Q4_1", "Q4_K"):
        size, qs = {"Q4_0": (18, 2), "Q4_1": (20, 4), "Q4_K": (144, 16)}[t.fmt]
        blocks = (t.data[at:at + size] for at in range(0, len(t.data), size))
        return replace(t, data=b"".join(b[:qs] + nibble_swap(b[qs:]) for b in blocks))
    if brk == "rope-freqs-inverse" and g == "rope_freqs.weight":
        v = struct.unpack("<%df" % t.shape[0], t.data)
        return replace(t, data=struct.pack("<%df" % len(v), *(1 / x for x in v)))
    if brk == "gemma-unshifted" or brk == "gemma-shifted-twice":
        return replace(t, shift=0.0 if brk == "gemma-unshifted" else 2 * t.shift)
    if brk == "qwen3-qk-norm-shifted" and ("attn_q_norm" in g or "attn_k_norm" in g):
        return replace(t, shift=1.0)
    if brk == "gemma-scale-bf16" and g == "token_embd.weight":
        s, = struct.unpack("<f", bytes(2) + bf16([math.sqrt(c.hidden)]))
        return replace(t, data=le(array.array("f", (x * s / math.sqrt(c.hidden) for x in struct.unpack("<%df" % (len(t.data) // 4), t.data)))))
    if brk in ("gemma-rope-pairs", "qwen3-rope-pairs") and ("attn_q" in g or "attn_k" in g):
        return replace(t, permute=1 if "norm" in g else c.heads if "attn_q" in g else c.kv)
    if brk == "gemma-post-norms-swapped" and "post_" in g:
        return replace(t, gguf=g.replace("post_ffw", "post_attention") if "post_ffw" in g else g.replace("post_attention", "post_ffw"))
    if brk == "smollm3-unpermuted":
        return replace(t, permute=0)
    if brk == "smollm3-nope-shifted" and g[:6] in ("blk.0.", "blk.3."):
        return replace(t, gguf="blk.%d." % (3 - int(g[4])) + g[6:])
    qkv = any(s in g for s in ("attn_q", "attn_k", "attn_v"))
    dropped = {"untied-dropped": g == "output.weight",
               "no-rope-freqs": g == "rope_freqs.weight",
               "drop-qkv-bias": g.endswith(".bias") and qkv,
               "drop-o-bias": g.endswith("attn_output.bias"),
               "drop-ffn-bias": g.endswith(".bias") and "ffn_" in g,
               "gemma2-silu": "post_" in g,
               "qwen3-qk-norm-dropped": "attn_q_norm" in g or "attn_k_norm" in g,
               "qwen2-bias-dropped": g.endswith(".bias")}
    return None if dropped.get(brk) else t


def metadata(name, brk=None):
    """(key, type, value) in GGUF's own type names."""
    c = CASES[name]
    files = {"F32": 0, "F16": 1, "BF16": 32}
    arch = {"smollm3-rope-everywhere": "llama", "qwen3-qk-norm-dropped": "qwen2", "gemma2-silu": "qwen2"}.get(brk, c.arch)
    theta = {"theta": 20000.0, "local-base-everywhere": 10000.0}.get(brk, c.theta)
    kv = [("general.architecture", "str", arch), ("general.name", "str", "mizan tiny " + name),
          ("general.file_type", "u32", 2 if c.quant else files[c.store]),
          ("vocab_size", "u32", c.vocab), ("context_length", "u32", c.context),
          ("embedding_length", "u32", c.hidden), ("block_count", "u32", c.layers),
          ("feed_forward_length", "u32", c.ffn),
          ("attention.head_count", "u32", c.heads), ("attention.head_count_kv", "u32", c.kv),
          ("rope.dimension_count", "u32", c.head_dim),
          ("attention.layer_norm_rms_epsilon", "f32", 0.1 if brk == "eps" else c.eps),
          ("rope.freq_base", "f32", theta),
          ("tokenizer.ggml.model", "str", "none")]
    if c.head_dim * c.heads != c.hidden:
        kv += [("attention.key_length", "u32", c.head_dim), ("attention.value_length", "u32", c.head_dim)]
    kind = c.rope.get("rope_type")
    if kind in ("yarn", "linear") and brk not in ("yarn-none", "linear-none", "qwen3-yarn-none", "gemma-linear-none"):
        kv += [("rope.scaling.type", "str", "linear" if brk == "yarn-as-linear" else kind),
               ("rope.scaling.factor", "f32", c.rope["factor"])]
        if kind == "yarn":
            kv.append(("rope.scaling.original_context_length", "u32", c.rope["original_max_position_embeddings"]))
    window = {"window-less": c.window - 1, "window-more": c.window + 1, "window-page": c.window - 1, "window-long": c.window - 1, "gemma2-silu": 0,
              "window-ignored": c.context, "gemma2-all-global": c.context, "window-dropped": 0}.get(brk, c.window)
    if window:
        kv.append(("attention.sliding_window", "u32", window))
    if c.period:
        kv.append(("attention.sliding_window_pattern", "u32", 3 if brk == "pattern" else c.period))
    local_theta = {"global-base-everywhere": c.theta, "local-base-default": 0.0}.get(brk, c.local_theta)
    if local_theta:
        kv.append(("rope.freq_base_swa", "f32", local_theta))
    if c.attn_cap:
        kv.append(("attn_logit_softcapping", "f32", 1e6 if brk == "gemma2-attn-cap" else c.attn_cap))
    if c.final_cap and brk != "final-cap":
        kv.append(("final_logit_softcapping", "f32", 1e6 if brk == "gemma2-final-cap" else c.final_cap))
    return [(k if k.startswith(("general.", "tokenizer.")) else arch + "." + k, t, v) for k, t, v in kv]


def ids(name):
    """The fixed test sequence. The first pair comes back at the end, so that attention has something to find."""
    c = CASES[name]
    s = [b % c.vocab for b in stream("ids", c.n_ids)]
    return s[:-2] + s[:2]


# ---------------------------------------------------------------------------------------------- GGUF


def stored(t):
    """The bytes as GGUF wants them. Interleaving: row 2i of a head is published row i, row 2i+1 is row i + head_dim/2."""
    if t.shift:
        t = replace(t, data=le(array.array("f", (x + t.shift for x in struct.unpack("<%df" % t.shape[0], t.data)))), shift=0.0)
    if not t.permute:
        return t.data
    rows = t.shape[0]
    size, hd = len(t.data) // rows, rows // t.permute
    order = (h * hd + j * (hd // 2) + i for h in range(t.permute) for i in range(hd // 2) for j in (0, 1))
    return b"".join(t.data[r * size:(r + 1) * size] for r in order)


def gguf_string(s):
    b = s.encode()
    return struct.pack("<Q", len(b)) + b


def write(path, name, brk=None):
    write_file(path, metadata(name, brk), tensors(name, brk))


def write_file(path, kvs, ts):
    """Layout: header, key-values, tensor table, then data; every tensor starts at a multiple of 32."""
    align, kinds = 32, {"u32": (4, "<I"), "f32": (6, "<f")}
    head = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(ts), len(kvs)))
    for key, kind, value in kvs:
        head += gguf_string(key)
        head += struct.pack("<I", 8) + gguf_string(value) if kind == "str" else struct.pack("<I", kinds[kind][0]) + struct.pack(kinds[kind][1], value)
    body = bytearray()
    for t in ts:
        number = PLAIN[t.fmt][0] if t.fmt in PLAIN else MXFP4[0] if t.fmt == "MXFP4" else BLOCK[t.fmt][0]
        head += gguf_string(t.gguf) + struct.pack("<I", len(t.shape))
        head += b"".join(struct.pack("<Q", n) for n in reversed(t.shape)) + struct.pack("<IQ", number, len(body))
        body += stored(t)
        body += bytes(-len(body) % align)
    head += bytes(-len(head) % align)
    with open(path, "wb") as f:
        f.write(head + body)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("case", nargs="?", choices=CASES, metavar="CASE")
    p.add_argument("out", nargs="?", metavar="OUT.gguf")
    p.add_argument("--break", dest="brk", choices=BREAKS, metavar="WHAT")
    p.add_argument("--list", action="store_true", help="cases and negative controls")
    p.add_argument("--ids", action="store_true", help="print the fixed id sequence of CASE")
    a = p.parse_args()
    if a.list:
        for name, c in CASES.items():
            print("%-14s %s" % (name, c.why))
        for name, (case, why) in BREAKS.items():
            print("--break %-19s %-13s %s" % (name, case, why))
        return
    if a.case and a.ids:
        print(",".join(map(str, ids(a.case))))
        return
    if not a.out:
        p.error("CASE and OUT.gguf are needed (or --list)")
    if a.brk and BREAKS[a.brk][0] != a.case:
        p.error("--break %s belongs to %s" % (a.brk, BREAKS[a.brk][0]))
    write(a.out, a.case, a.brk)


if __name__ == "__main__":
    main()
