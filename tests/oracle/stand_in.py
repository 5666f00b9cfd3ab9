#!/usr/bin/env python3
"""A stand-in for the mizan binary which answers through transformers, to test the tests.

Understands just what tests/golden/check_golden.py asks: `eval MODEL --ids L --logits F [--taps D]` and
`run MODEL --ids L --raw -n N --temp 0 --json`. It reads the GGUF file (reference.load_gguf), so check_golden.py with
this in place of an engine also shows that the files and the golden numbers describe the same models, and that each
negative control is far away.

usage: PATH=VENV/bin:$PATH python3 tests/golden/check_golden.py tests/oracle/stand_in.py
"""
import argparse
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "golden")]
import npy        # noqa: E402
import reference  # noqa: E402


def main():
    p = argparse.ArgumentParser()
    p.add_argument("command", choices=["eval", "run"])
    p.add_argument("model")
    p.add_argument("--ids", required=True)
    p.add_argument("--logits")
    p.add_argument("--taps")
    p.add_argument("-n", type=int)
    for flag in ("--raw", "--json", "--quiet"):
        p.add_argument(flag, action="store_true")
    for option in ("--temp", "--kv", "--isa", "--threads"):
        p.add_argument(option)
    a = p.parse_args()
    ids, model = [int(x) for x in a.ids.split(",")], reference.load_gguf(a.model)
    if a.command == "run":
        print(json.dumps({"ids": reference.greedy(model, ids, a.n)[0]}))
        return
    taps, logits = reference.taps_of(model, ids)
    npy.write(a.logits, logits.shape, logits.ravel().tolist())
    for name, v in taps.items() if a.taps else ():
        npy.write(pathlib.Path(a.taps) / (name + ".npy"), v.shape, v.ravel().tolist())


if __name__ == "__main__":
    main()
