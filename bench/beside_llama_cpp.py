#!/usr/bin/env python3
"""Speed beside llama.cpp: the same file, the same run, taking turns, medians of R rounds, ratios.

Needs the package llama-cpp-python (tests/oracle/requirements.txt). Both engines prefill P tokens from an empty state and
decode D tokens after a short prompt, with the same threads and f16 KV. Absolute figures depend on what else the machine does;
the ratio of one run is the claim.

usage: beside_llama_cpp.py MIZAN MODEL [-t 2] [-r 5] [-p 512] [-d 64] [--json]
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "oracle"))


def mizan_round(a, test, tokens):
    """Tokens a second of one fresh process (its own repeats are medians too; one is enough here)."""
    out = subprocess.run([a.mizan, "bench", a.model, "--prefill", str(tokens if test == "prefill" else 0), "--decode",
                          str(tokens if test == "decode" else 0), "-t", str(a.threads), "-r", "1", "--quiet", "--json"],
                         check=True, capture_output=True, stdin=subprocess.DEVNULL).stdout
    return json.loads(out)["results"][0]["tok_s"]["median"]


class Peer:
    def __init__(self, a):
        import peer
        self.lc, self.version = peer.lc, peer.VERSION
        self.m = peer.Model(a.model, n_ctx=max(a.prefill, a.decode + 64), threads=a.threads)

    def run(self, ids):
        tokens = (self.lc.llama_token * len(ids))(*ids)  # the batch points into it
        batch = self.lc.llama_batch_get_one(tokens, len(ids))
        if self.lc.llama_decode(self.m.ctx, batch):
            raise RuntimeError("llama.cpp does not decode")

    def round(self, test, tokens):
        self.lc.llama_memory_clear(self.lc.llama_get_memory(self.m.ctx), True)
        ids = [(i * 7919 + 13) % (self.m.n_vocab - 200) + 100 for i in range(tokens)]
        if test == "decode":
            self.run(ids[:8])
        start = time.perf_counter()
        if test == "prefill":
            self.run(ids)
        else:
            for i in ids:
                self.run([i])
        return tokens / (time.perf_counter() - start)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mizan")
    p.add_argument("model")
    p.add_argument("-t", "--threads", type=int, default=2)
    p.add_argument("-r", "--rounds", type=int, default=5)
    p.add_argument("-p", "--prefill", type=int, default=512)
    p.add_argument("-d", "--decode", type=int, default=64)
    p.add_argument("--json", action="store_true")
    a = p.parse_args()
    peer = Peer(a)
    report = {"model": os.path.basename(a.model), "threads": a.threads, "rounds": a.rounds, "peer": peer.version, "results": []}
    for test, tokens in (("prefill", a.prefill), ("decode", a.decode)):
        mizan_round(a, test, tokens), peer.round(test, tokens)  # warm up
        pairs = [(mizan_round(a, test, tokens), peer.round(test, tokens)) for _ in range(a.rounds)]
        ours, theirs = (statistics.median(x) for x in zip(*pairs))
        report["results"].append({"test": test, "tokens": tokens, "mizan_tok_s": ours, "llama_cpp_tok_s": theirs, "ratio": ours / theirs,
                                  "ratio_min": min(m / t for m, t in pairs), "ratio_max": max(m / t for m, t in pairs)})
    if a.json:
        print(json.dumps(report))
        return
    print("%(model)s, %(threads)d threads, %(rounds)d rounds, %(peer)s" % report)
    for r in report["results"]:
        print("%(test)-8s mizan %(mizan_tok_s)8.1f tok/s  llama.cpp %(llama_cpp_tok_s)8.1f tok/s  ratio %(ratio).2f (%(ratio_min).2f to %(ratio_max).2f)" % r)


if __name__ == "__main__":
    main()
