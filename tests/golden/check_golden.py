#!/usr/bin/env python3
"""Compares an engine with the golden numbers, and proves that the comparison can fail.

For every case of tiny.py: write the checkpoint, run `mizan eval --logits --taps` and `mizan run --json`, compare with
CASE.json. Then every negative control: the same file with one thing wrong must be far outside the tolerance, or the
case proves nothing. Standard library only. Output is TAP; the exit status is 0 when every line is ok.

Tolerances (relative RMS: root of sum of squared differences over sum of squared reference values):
  float cases  1e-4. The reference is double; float32 sums over at most a few hundred terms leave about 1e-6 a layer,
               two or three layers and peaked attention multiply that by some tens.
  quantised    2 x the deviation which int8 activations alone cause in the reference (stored per case, about 2e-2).
               The engine makes that same rounding; where a value sits near a rounding boundary the two may differ,
               which is a fresh error of the same size, so twice is the most that an honest engine shows.
  controls     must exceed 10 x the tolerance of their case.

usage: check_golden.py MIZAN [--case CASE ...] [--isa NAME] [--threads N] [--keep DIR]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import npy   # noqa: E402
import tiny  # noqa: E402

FLOAT_TOL, QUANT_FACTOR, CONTROL_FACTOR = 1e-4, 2.0, 10.0
TIMEOUT_S = 120


class Failure(Exception):
    """A comparison which cannot be made, or came out wrong; the text says which."""


def rel_rms(got, want):
    """Relative RMS of two flat lists; a NaN or an infinity anywhere makes it infinite."""
    diff = sum((a - b) ** 2 for a, b in zip(got, want))
    value = (diff / sum(b * b for b in want)) ** 0.5 if len(got) == len(want) else float("inf")
    return value if value == value else float("inf")


def run(command):
    """Standard output of a command that must succeed."""
    p = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S)
    if p.returncode:
        raise Failure("`%s` ended with %d: %s" % (" ".join(command[:3]), p.returncode, p.stderr.decode(errors="replace").strip()[-300:]))
    return p.stdout


def rows_of(path, n_rows, width, at):
    """The rows `at` of a two-dimensional NPY file of the promised shape."""
    if not os.path.exists(path):
        raise Failure("%s was not written" % os.path.basename(path))
    shape, a = npy.read(path)
    if shape[0] != n_rows or width and shape[1:] != (width,) or len(shape) != 2:
        raise Failure("%s has shape %r" % (os.path.basename(path), shape))
    return [a[i * shape[1]:(i + 1) * shape[1]] for i in at]


def flat(rows):
    return [x for r in rows for x in r]


class Engine:
    def __init__(self, args):
        self.command, self.extra = args.mizan, ["--kv", "f32", "--quiet"]
        if args.isa:
            self.extra += ["--isa", args.isa]
        if args.threads:
            self.extra += ["--threads", str(args.threads)]

    def evaluate(self, model, ids, work, taps=True):
        """Writes work/logits.npy and work/taps/; both are emptied before, so nothing old is read."""
        out, folder = os.path.join(work, "logits.npy"), os.path.join(work, "taps")
        os.makedirs(folder, exist_ok=True)
        for old in [out] + [os.path.join(folder, f) for f in os.listdir(folder)]:
            if os.path.exists(old):
                os.remove(old)
        run([self.command, "eval", model, "--ids", ",".join(map(str, ids)), "--logits", out]
            + (["--taps", folder] if taps else []) + self.extra)
        return out, folder

    def greedy(self, model, ids, n):
        out = run([self.command, "run", model, "--ids", ",".join(map(str, ids)), "--raw", "-n", str(n), "--temp", "0", "--json"] + self.extra)
        try:
            return json.loads(out)["ids"]
        except (ValueError, KeyError) as e:
            raise Failure("run --json printed no \"ids\": %s" % e)


def golden(name):
    with open(os.path.join(HERE, name + ".json")) as f:
        return json.load(f)


def tolerance(g, what):
    return QUANT_FACTOR * g["int8_rel_rms"][what] if "int8_rel_rms" in g else FLOAT_TOL


def logits_error(g, path):
    rows = rows_of(path, len(g["ids"]), len(g["logits"]["rows"][0]), g["logits"]["at"])
    return rel_rms(flat(rows), flat(g["logits"]["rows"]))


def check_logits(g, path):
    e, tol = logits_error(g, path), tolerance(g, "logits")
    if not e <= tol:
        raise Failure("relative RMS %.2e, limit %.1e" % (e, tol))
    return "relative RMS %.1e, limit %.1e" % (e, tol)


def check_taps(g, folder):
    """In the order of the forward pass, so that the first name in the message is where the error enters."""
    t, tol, worst, bad = g["taps"], tolerance(g, "taps"), (0.0, ""), []
    for name, want in t["rows"].items():
        rows = rows_of(os.path.join(folder, name + ".npy"), len(g["ids"]), None, t["at"])
        norms = [sum(x * x for x in r) ** 0.5 for r in rows]
        e = max(rel_rms(flat(r[:len(w)] for r, w in zip(rows, want)), flat(want)), rel_rms(norms, t["norms"][name]))
        worst = max(worst, (e, name))
        if not e <= tol:
            bad.append("%s %.2e" % (name, e))
    if bad:
        raise Failure("limit %.1e; in order of the pass: %s" % (tol, ", ".join(bad[:6])))
    return "worst %s %.1e, limit %.1e" % (worst[1], worst[0], tol)


def check_greedy(g, ids):
    if ids != g["greedy"]:
        at = next((i for i, (a, b) in enumerate(zip(ids, g["greedy"])) if a != b), min(len(ids), len(g["greedy"])))
        raise Failure("%d ids, first difference at token %d" % (len(ids), at))


def check_control(g, path):
    e, limit = logits_error(g, path), CONTROL_FACTOR * tolerance(g, "logits")
    if e == float("inf"):
        raise Failure("the logits are not finite, which says nothing about the comparison")
    if not e > limit:
        raise Failure("relative RMS only %.2e, must exceed %.1e: the comparison does not see this" % (e, limit))
    return "relative RMS %.1e, must exceed %.1e" % (e, limit)


class Tap:
    def __init__(self, plan):
        self.n, self.bad = 0, 0
        print("1..%d" % plan, flush=True)

    def line(self, name, test):
        """One test: `test` returns a remark or nothing, or raises."""
        self.n += 1
        try:
            remark, ok = test(), True
        except (Failure, OSError, ValueError, subprocess.TimeoutExpired) as e:
            remark, ok = str(e), False
            self.bad += 1
        print("%s %d - %s" % ("ok" if ok else "not ok", self.n, name), flush=True)
        if remark:
            print("# " + remark.replace("\n", "\n# "), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mizan", help="the binary")
    p.add_argument("--case", action="append", choices=tiny.CASES, help="only these (repeatable)")
    p.add_argument("--isa", help="passed on")
    p.add_argument("--threads", type=int, help="passed on")
    p.add_argument("--keep", metavar="DIR", help="work in DIR and leave the files there")
    a = p.parse_args()
    cases = a.case or list(tiny.CASES)
    controls = [(what, case, why) for what, (case, why) in tiny.BREAKS.items() if case in cases]
    n_float = sum(not tiny.CASES[c].quant for c in cases)
    tap, engine = Tap(2 * len(cases) + n_float + len(controls)), Engine(a)
    with tempfile.TemporaryDirectory() as scratch:
        work = a.keep or scratch
        os.makedirs(work, exist_ok=True)
        for name in cases:
            g, model = golden(name), os.path.join(work, name + ".gguf")
            tiny.write(model, name)
            tap.line("%s logits" % name, lambda: check_logits(g, engine.evaluate(model, g["ids"], work)[0]))
            tap.line("%s taps" % name, lambda: check_taps(g, os.path.join(work, "taps")))
            if not tiny.CASES[name].quant:
                tap.line("%s greedy" % name, lambda: check_greedy(g, engine.greedy(model, g["ids"], len(g["greedy"]))))
        for what, name, _why in controls:
            g, model = golden(name), os.path.join(work, "%s-%s.gguf" % (name, what))
            tiny.write(model, name, what)
            tap.line("%s must fail with %s" % (name, what), lambda: check_control(g, engine.evaluate(model, g["ids"], work, taps=False)[0]))
    if tap.bad:
        print("# %d of %d failed" % (tap.bad, tap.n))
    return tap.bad > 0


if __name__ == "__main__":
    sys.exit(main())
