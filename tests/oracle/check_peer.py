#!/usr/bin/env python3
"""Does llama.cpp read the tiny checkpoints as we mean them?

A second opinion on tests/golden/tiny.py and its CASE.json: the peer's logits on the very files an engine gets. It
settles questions of file convention (row order, scaling keys, biases) without trusting our own reading of them.
llama.cpp keeps no float32 promise of its own, so agreement to 5e-3 relative RMS is what is asked of float cases
(f16 weights: half rounding of activations), and 6e-2 of quantised ones (int8 activations, blocks of 256 for K-quants).

usage: check_peer.py [CASE ...]
"""
import json
import pathlib
import sys
import tempfile

import peer

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
        rel, tol = float(np.sqrt(((mine - ref) ** 2).sum() / (ref ** 2).sum())), 6e-2 if tiny.CASES[name].quant else 5e-3
        bad += not rel <= tol
        print("%s %-14s relative RMS %.2e (limit %.0e)" % ("ok    " if rel <= tol else "DIFFER", name, rel, tol))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
