#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a family reads from a checkpoint: faults in one sentence, and facts that the tiny models cannot show.

Every fault is one change to a good file of tiny.py; the engine must refuse it with the right exit status and one
sentence that names the key or tensor, and must not crash. The facts are read from `mizan inspect --program`: which
layers are global, which table a layer rotates with, what scores are multiplied with. Standard library only; TAP.

usage: check_families.py MIZAN
"""
import math
import os
import re
import sys
import tempfile
from dataclasses import replace

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "cli")]
import tiny                                  # noqa: E402
from harness import Failed, Mizan, demand, equal  # noqa: E402

BAD = 1  # exit status of a file that cannot be run


def key(case, name, kind, value):
    """The key-values of a case with "<arch>.name" set, or left out (value None)."""
    arch, kv = tiny.CASES[case].arch, tiny.metadata(case)
    full = name if name.startswith("general.") else arch + "." + name
    kv = [e for e in kv if e[0] != full]
    return kv + ([(full, kind, value)] if value is not None else [])


def without(case, tensor):
    ts = tiny.tensors(case)
    demand(any(t.gguf == tensor for t in ts), "%s has no %s" % (case, tensor))
    return [t for t in ts if t.gguf != tensor]


def reshaped(case, tensor):
    """One tensor with a last row or value less."""
    def less(t):
        rows = t.shape[0]
        return replace(t, shape=(rows - 1,) + t.shape[1:], data=t.data[:len(t.data) // rows * (rows - 1)], permute=0)
    return [less(t) if t.gguf == tensor else t for t in tiny.tensors(case)]


def extra(case, name, shape=None):
    c = tiny.CASES[case]
    n = shape or (c.hidden,)
    return tiny.tensors(case) + [tiny.Tensor(None, name, "F32", n, bytes(4 * math.prod(n)))]


# (case, what the sentence must match, key-values or None, tensors or None)
def faults():
    for case in ("gemma3", "gemma2", "qwen3", "qwen2", "smollm3"):
        a = tiny.CASES[case].arch
        yield case, a + r"\.attention\.head_count. is 0", key(case, "attention.head_count", "u32", 0), None
        yield case, a + r"\.attention\.head_count_kv. is 0", key(case, "attention.head_count_kv", "u32", 0), None
        yield case, r"%d query heads and \d+ key/value heads" % tiny.CASES[case].heads, key(
            case, "attention.head_count_kv", "u32", tiny.CASES[case].heads - 1 if tiny.CASES[case].heads > 2 else 3), None
        yield case, a + r"\.embedding_length", key(case, "embedding_length", "u32", None), None
        yield case, a + r"\.block_count. is 0", key(case, "block_count", "u32", 0), None
        yield case, "head size is", key(case, "attention.key_length", "u32", 23), None
        yield case, r"rope frequency base is 0", key(case, "rope.freq_base", "f32", 0.0), None
        yield case, r"rope\.scaling\.type is 'longrope'", key(case, "rope.scaling.type", "str", "longrope"), None
        yield case, r"attention\.layer_norm_rms_epsilon", key(case, "attention.layer_norm_rms_epsilon", "f32", float("nan")), None
        yield case, r"expert_count is 8", key(case, "expert_count", "u32", 8), None
        yield case, r"tensor blk\.0\.attn_norm\.weight is missing", None, without(case, "blk.0.attn_norm.weight")
        yield case, r"tensor output_norm\.weight is missing", None, without(case, "output_norm.weight")
        yield case, r"tensor blk\.1\.attn_q\.weight is \[", None, reshaped(case, "blk.1.attn_q.weight")
        yield case, r"tensor blk\.0\.ffn_norm\.weight is \[", None, reshaped(case, "blk.0.ffn_norm.weight")
        yield case, r"tensor blk\.0\.attn_sinks\.weight is not part of family " + a, None, extra(case, "blk.0.attn_sinks.weight")
    for case in ("gemma3", "qwen3"):
        for p in "qk":
            name = "blk.1.attn_%s_norm.weight" % p
            yield case, re.escape("tensor %s is missing" % name), None, without(case, name)
            yield case, re.escape("tensor %s is [" % name), None, reshaped(case, name)
    for case in ("gemma3", "gemma2"):
        for p in ("post_attention_norm", "post_ffw_norm"):
            yield case, r"tensor blk\.0\.%s\.weight is missing" % p, None, without(case, "blk.0.%s.weight" % p)
            yield case, r"tensor blk\.0\.%s\.weight is \[" % p, None, reshaped(case, "blk.0.%s.weight" % p)
        yield case, r"sliding_window_pattern. is 0", key(case, "attention.sliding_window_pattern", "u32", 0), None
        yield case, r"sliding_window_pattern", key(case, "attention.sliding_window_pattern", "str", "LLG"), None
        yield case, r"sliding_window", key(case, "attention.sliding_window", "u32", 2 ** 32 - 1), None
        yield case, r"final_logit_softcapping is -30", key(case, "final_logit_softcapping", "f32", -30.0), None
        yield case, r"attn_logit_softcapping. is nan", key(case, "attn_logit_softcapping", "f32", float("nan")), None
        yield case, r"attention\.scale is -1", key(case, "attention.scale", "f32", -1.0), None
    yield "gemma3", r"rope\.freq_base_swa is 1", key("gemma3", "rope.freq_base_swa", "f32", 1.0), None
    yield "gemma2", r"tensor blk\.0\.attn_q_norm\.weight is not part", None, extra("gemma2", "blk.0.attn_q_norm.weight", (24,))
    yield "qwen2", r"tensor blk\.0\.attn_q_norm\.weight is not part", None, extra("qwen2", "blk.0.attn_q_norm.weight", (24,))
    yield "qwen2", r"tensor blk\.0\.attn_q\.bias is \[", None, reshaped("qwen2", "blk.0.attn_q.bias")
    for case in ("qwen3", "qwen2", "smollm3"):
        yield case, r"sliding_window is 24", key(case, "attention.sliding_window", "u32", 24), None
    for case in ("qwen3-yarn", "gemma3-linear"):
        yield case, r"scaling factor is -4", key(case, "rope.scaling.factor", "f32", -4.0), None
    yield "qwen3-yarn", r"YaRN betas are", key("qwen3-yarn", "rope.scaling.yarn_beta_fast", "f32", 0.0), None
    yield "qwen3-yarn", r"yarn_attn_factor is 0.5", key("qwen3-yarn", "rope.scaling.yarn_attn_factor", "f32", 0.5), None
    yield "qwen3-yarn", r"yarn_log_multiplier is 0.1", key("qwen3-yarn", "rope.scaling.yarn_log_multiplier", "f32", 0.1), None
    yield "qwen3-yarn", r"yarn_ext_factor is 0", key("qwen3-yarn", "rope.scaling.yarn_ext_factor", "f32", 0.0), None
    yield "qwen3", r"mizan runs: .*gemma3.*llama.*qwen3.*smollm3", key("qwen3", "general.architecture", "str", "qwen9"), None


def program(mizan, path):
    return mizan.ok("inspect", path, "--program").out.decode().split("\n")


def attends(lines):
    """Per layer: (window or 0, scale, name of the rotation table or None)."""
    out, table = {}, {}
    for line in lines:
        m = re.match(r"\s*\d+ [| ] L(\d+)\s+(\S+)\s+(.*)", line)
        if m and m[2] == "rope":
            table[int(m[1])] = re.search(r"= (\w+)\[", m[3])[1]
        if m and m[2] == "attend":
            w = re.search(r"window=(\d+)", m[3])
            out[int(m[1])] = (int(w[1]) if w else 0, float(re.search(r"scale=(\S+)", m[3])[1]), table.get(int(m[1])))
    return [out[i] for i in range(len(out))]


def close(a, b):
    demand(abs(a - b) < 1e-5 * b, "%g, expected %g" % (a, b))


def facts(mizan, work):
    path = os.path.join(work, "fact.gguf")

    def layers(case, kv=None, ts=None):
        tiny.write_file(path, kv or tiny.metadata(case), ts or tiny.tensors(case))
        return attends(program(mizan, path))

    def gemma3_default():
        equal([(w, t) for w, _s, t in layers("gemma3")], [(24, "rope_local")] * 5 + [(0, "rope_table"), (24, "rope_local")])

    def gemma3_stated():
        equal([(w, t) for w, _s, t in layers("gemma3-linear")], [(64, "rope_local"), (0, "rope_table")] * 2)

    def gemma3_all_global():
        for kv in (key("gemma3", "attention.sliding_window", "u32", None), key("gemma3", "attention.sliding_window_pattern", "u32", 1)):
            equal([(w, t) for w, _s, t in layers("gemma3", kv)], [(0, "rope_table")] * 7)
            demand(not any("rope_local" in line for line in program(mizan, path)), "a table that no layer reads")

    def gemma2_alternates():
        equal([(w, t) for w, _s, t in layers("gemma2")], [(24, "rope_table"), (0, "rope_table")] * 2)
        equal([w for w, _s, _t in layers("gemma2", key("gemma2", "attention.sliding_window", "u32", None))], [4096, 0] * 2)

    def gemma2_caps_default():
        kv = [e for e in tiny.metadata("gemma2") if "softcapping" not in e[0]]
        tiny.write_file(path, kv, tiny.tensors("gemma2"))
        text = "\n".join(program(mizan, path))
        demand("softcap=50" in text and re.search(r"softcap +logits.*scale=30", text), "no soft-caps of 50 and 30")

    def scale_27b(case, n_layer):
        # Metadata of the size decides; the weights of the missing layers are copies.
        c = tiny.CASES[case]
        ts = [t for t in tiny.tensors(case) if not t.gguf.startswith("blk.")]
        first = [t for t in tiny.tensors(case) if t.gguf.startswith("blk.0.")]
        ts += [replace(t, gguf="blk.%d.%s" % (i, t.gguf[6:])) for i in range(n_layer) for t in first]
        close(layers(case, key(case, "block_count", "u32", n_layer), ts)[0][1], (c.hidden // c.heads) ** -0.5)
        close(layers(case)[0][1], c.head_dim ** -0.5)
        close(layers(case, key(case, "attention.scale", "f32", 0.125))[0][1], 0.125)

    def smollm3_nope():
        equal([t for _w, _s, t in layers("smollm3")], ["rope_table"] * 3 + [None, "rope_table"])

    def no_tokenizer():
        """A tokenizer of an unknown kind does not matter to --ids."""
        kv = [e for e in tiny.metadata("gemma3") if not e[0].startswith("tokenizer.")] + [("tokenizer.ggml.model", "str", "unheard-of")]
        tiny.write_file(path, kv, tiny.tensors("gemma3"))
        equal(len(mizan.ok("run", path, "--ids", "1,2,3", "--raw", "-n", "4", "--temp", "0", "--json").json()["ids"]), 4)
        mizan.ok("eval", path, "--ids", "1,2,3", "--logits", os.path.join(work, "l.npy"))

    return [("gemma3: pattern and tables by default", gemma3_default), ("gemma3: pattern stated", gemma3_stated),
            ("gemma3: all layers global", gemma3_all_global), ("gemma2: every other layer is local", gemma2_alternates),
            ("gemma2: soft-caps by default", gemma2_caps_default), ("gemma3: scale of the 27B model", lambda: scale_27b("gemma3", 62)),
            ("gemma2: scale of the 27B model", lambda: scale_27b("gemma2", 46)), ("smollm3: every fourth layer does not rotate", smollm3_nope),
            ("ids need no tokenizer", no_tokenizer)]


def main():
    mizan, n, bad = Mizan(sys.argv[1]), 0, 0
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "bad.gguf")

        def refused(case, pattern, kv, ts):
            tiny.write_file(path, kv or tiny.metadata(case), ts or tiny.tensors(case))
            mizan.bad(BAD, pattern, "run", path, "--ids", "1,2", "--raw", "-n", "1")

        tests = [("%s refused: %s" % (f[0], f[1]), lambda f=f: refused(*f)) for f in faults()] + facts(mizan, work)
        print("1..%d" % len(tests), flush=True)
        for n, (name, test) in enumerate(tests, 1):
            try:
                test()
                print("ok %d - %s" % (n, name), flush=True)
            except (Failed, OSError, KeyError, IndexError) as e:
                bad += 1
                print("not ok %d - %s\n# %s" % (n, name, str(e).replace("\n", "\n# ")), flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
