#!/usr/bin/env python3
"""Does llama.cpp read the tiny checkpoints as we mean them?

A second opinion on tests/golden/tiny.py and its CASE.json: the peer's logits on the very files an engine gets. It
settles questions of file convention (row order, scaling keys, biases) without trusting our own reading of them.
llama.cpp rounds activations to the type that a weight format multiplies with, hence the limits (relative RMS): f32 1e-5,
f16 5e-3 and bf16 3e-2 (half and bfloat16 activations), gemma 3e-3 (GELU looked up in a table of half floats), quantised 6e-2 (int8 activations, in blocks of 256 for K-quants).

usage: check_peer.py [CASE ...]
"""
import json
import pathlib
import sys
import tempfile

import peer

LIMIT = {"F32": 1e-5, "F16": 5e-3, "BF16": 3e-2}
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
sys.path.insert(0, str(GOLDEN))
import tiny  # noqa: E402


def main():
    import numpy as np
    bad = 0
    for name in sys.argv[1:] or tiny.CASES:
        g = json.loads((GOLDEN / (name + ".json")).read_text())
        with tempfile.NamedTemporaryFile(suffix=".gguf") as f:
            tiny.write(f.name, name)
            with peer.Model(f.name, n_ctx=256, kv="f32", flash=False, threads=2) as m:
                mine = m.logits(g["ids"])[g["logits"]["at"]]
        ref = np.array(g["logits"]["rows"])
        rel, c = float(np.sqrt(((mine - ref) ** 2).sum() / (ref ** 2).sum())), tiny.CASES[name]
        tol = 6e-2 if c.quant else 3e-3 if c.arch.startswith("gemma") else LIMIT[c.store]
        bad += not rel <= tol
        print("%s %-14s relative RMS %.2e (limit %.0e)" % ("ok    " if rel <= tol else "DIFFER", name, rel, tol))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
