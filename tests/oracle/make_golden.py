#!/usr/bin/env python3
"""Golden numbers for the tiny checkpoints, from transformers in float64.

What: for every case of tests/golden/tiny.py the same weights go into the family's model class, and CASE.json beside tiny.py
receives logits and taps at a few positions and a greedy continuation. Weights come from tiny.py in published order,
never through a GGUF file, so a wrong row order in the writer cannot cancel against a wrong reader.

Quantised cases also store how far int8 activations (blocks of 32, one scale each, every matrix product) move this
very model away from the exact answer: the deviation which is the format's, not the engine's. check_golden.py derives
its tolerance from that.

usage: make_golden.py [CASE ...]     write
       make_golden.py --check        recompute and compare with the stored files (1e-6 relative RMS, greedy equal)
"""
import argparse
import json
import pathlib
import sys

import numpy as np
import torch
import transformers

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
sys.path.insert(0, str(GOLDEN))
import reference  # noqa: E402
import tiny       # noqa: E402

COLUMNS = 8       # stored prefix of each tap row; the norm of the whole row is stored too
N_GREEDY = 32
CHECK_TOL = 1e-6  # double arithmetic with float32 norms: a different BLAS moves the last bits only


def array_of(t):
    """A tensor of tiny.py as float32, published order."""
    import gguf
    if t.fmt == "F32":
        a = np.frombuffer(t.data, "<f4")
    elif t.fmt == "F16":
        a = np.frombuffer(t.data, "<f2").astype(np.float32)
    elif t.fmt == "BF16":
        a = (np.frombuffer(t.data, "<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        raw = np.frombuffer(t.data, np.uint8).reshape(t.shape[0], -1)
        a = gguf.quants.dequantize(raw, gguf.GGMLQuantizationType[t.fmt])
    return a.reshape(t.shape)


def model_of(name):
    c = tiny.CASES[name]
    config = reference.config_of(c.arch, hidden=c.hidden, heads=c.heads, kv=c.kv, head_dim=c.head_dim, ffn=c.ffn, layers=c.layers,
                                 vocab=c.vocab, eps=c.eps, context=c.context, tied=c.tied, rope=c.rope, theta=c.theta, attn_bias=c.attn_bias,
                                 mlp_bias=c.mlp_bias, window=c.window, period=c.period, local_theta=c.local_theta, attn_cap=c.attn_cap,
                                 final_cap=c.final_cap)
    return reference.build(c.arch, config, {t.hf: array_of(t) for t in tiny.tensors(name) if t.hf})


def quantise_inputs(model):
    """Every linear layer sees its input rounded to int8 in blocks of 32: d = amax / 127."""
    def hook(_module, args):
        x = args[0]
        b = x.reshape(*x.shape[:-1], -1, 32)
        d = b.abs().amax(-1, keepdim=True) / 127
        return (torch.where(d > 0, torch.round(b / d) * d, b).reshape(x.shape),)
    return [m.register_forward_pre_hook(hook) for m in model.modules() if isinstance(m, torch.nn.Linear)]


def rel_rms(a, b):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return float(np.sqrt(np.sum((a - b) ** 2) / np.sum(b ** 2)))


def digits(x):
    """Nine significant digits, which carry a float32 exactly."""
    return [digits(v) for v in x] if np.ndim(x) else float("%.9g" % x)


def make(name):
    c, ids = tiny.CASES[name], tiny.ids(name)
    model, n = model_of(name), len(tiny.ids(name))
    taps, logits = reference.taps_of(model, ids)
    more, gap = reference.greedy(model, ids, N_GREEDY)
    at, tap_at = [0, n // 3, 2 * n // 3, n - 1], [0, n // 2, n - 1]
    g = {"case": name, "why": c.why, "made_with": {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__},
         "ids": ids, "greedy": more, "greedy_gap": digits(gap), "spread": digits(np.mean(np.std(logits, 1))),
         "logits": {"at": at, "rows": digits(logits[at])},
         "taps": {"at": tap_at, "rows": {k: digits(v[tap_at, :COLUMNS]) for k, v in taps.items()},
                  "norms": {k: digits(np.linalg.norm(v[tap_at], axis=1)) for k, v in taps.items()}}}
    if c.quant:
        hooks = quantise_inputs(model)
        q_taps, q_logits = reference.taps_of(model, ids)
        for h in hooks:
            h.remove()
        g["int8_rel_rms"] = {"logits": digits(rel_rms(q_logits[at], logits[at])),
                             "taps": digits(max(rel_rms(q_taps[k][tap_at, :COLUMNS], taps[k][tap_at, :COLUMNS]) for k in taps))}
    return g


def dump(g):
    """JSON with one row a line, so that a diff shows what moved."""
    def rows(x, pad):
        return "[\n%s]" % ",\n".join(pad + json.dumps(r, separators=(",", ":")) for r in x)
    def table(d, pad):
        return "{\n%s}" % ",\n".join("%s%s: %s" % (pad, json.dumps(k), json.dumps(v, separators=(",", ":"))) for k, v in d.items())
    out = ['%s: %s' % (json.dumps(k), json.dumps(v, separators=(",", ":"))) for k, v in g.items() if k not in ("logits", "taps")]
    out.append('"logits": {"at": %s, "rows": %s}' % (json.dumps(g["logits"]["at"]), rows(g["logits"]["rows"], "  ")))
    t = g["taps"]
    out.append('"taps": {"at": %s, "rows": %s, "norms": %s}' % (json.dumps(t["at"]), table(t["rows"], "  "), table(t["norms"], "  ")))
    return "{%s}\n" % ",\n".join(out)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("cases", nargs="*", metavar="CASE")
    p.add_argument("--check", action="store_true")
    a = p.parse_args()
    bad = 0
    for name in a.cases or tiny.CASES:
        g, path = make(name), GOLDEN / (name + ".json")
        if a.check:
            old = json.loads(path.read_text())
            worst = max([rel_rms(g["logits"]["rows"], old["logits"]["rows"])] +
                        [rel_rms(g["taps"]["rows"][k], old["taps"]["rows"][k]) for k in g["taps"]["rows"]] +
                        [rel_rms(g["taps"]["norms"][k], old["taps"]["norms"][k]) for k in g["taps"]["norms"]])
            ok = worst <= CHECK_TOL and g["greedy"] == old["greedy"] and g["ids"] == old["ids"]
            bad += not ok
            print("%s %-14s worst %.2e" % ("ok    " if ok else "DIFFER", name, worst))
        else:
            path.write_text(dump(g))
            print("%-14s %6d bytes  logit std %.2f  greedy gap %.4f  distinct %d  %s" % (
                name, path.stat().st_size, g["spread"], g["greedy_gap"], len(set(g["greedy"])), g.get("int8_rel_rms", "")))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
