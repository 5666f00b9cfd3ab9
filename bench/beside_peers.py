#!/usr/bin/env python3
"""mizan beside llama.cpp and ik_llama.cpp: the same file, the same run, taking turns, medians of R rounds, and the ratios asked for.

    ninja -C build bench/mizan-turns
    python3 -m venv A && A/bin/pip install llama-cpp-python==0.3.36        (built from source for this machine: needs cmake and g++)
    python3 -m venv B && B/bin/pip install ik-llama-cpp-python==0.1.5      (an AVX2 wheel)
    python3 bench/beside_peers.py build/bench/mizan-turns MODEL.gguf --llama A/bin/python --ik B/bin/python

Each engine is one process which loads the file once and then waits its turn; while one measures the others sleep. All prefill N tokens
from nothing (batches of 512 rows), decode after 8 tokens and after --depth, keep f16 keys and values, and give logits of the last token only.
ik_llama.cpp repacks its tensors (repack_tensors). llama.cpp decides about flash attention by itself, as its tools do; --flash 0|1 forces it.
"batch" is one step of 16 sequences of one token each, again and again, as llama-batched-bench does (without ik_llama.cpp, whose
flash attention stops on sequences that share a batch).
The memory bound counts the weights a step touches once, and the state, over the read bandwidth measured by mizan in this run.

--keep FOLDER keeps the state at --depth, so that a second run needs no long prefill. --only prefill,decode,deep,batch picks tests.
Exit status: 0 all demands met, 1 one was missed, 2 something does not work.
"""
import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import time

BATCH_START = 8      # tokens each session holds before the steps are timed
DEMANDS = """ratios asked for: prefill 1.6 llama.cpp and 1.0 ik_llama.cpp; decode min(1.25 llama.cpp, 0.85 of the memory bound)
and 1.0 ik_llama.cpp; deep 1.25 llama.cpp; batch 1.5 llama.cpp; F32, F16 and BF16 files: prefill 0.75 of the f32 FMA peak, decode 0.85 of the bound"""


# ---- the peers: children that speak the protocol of turns.c --------------------------------------

def token_ids(n_vocab, start, n):
    return [(i * 7919 + 13) % (n_vocab - 200) + 100 for i in range(start, start + n)]


class LlamaCpp:
    """llama-cpp-python's bindings of the C interface."""

    def __init__(self, a):
        import llama_cpp as lc
        self.lc, self.a = lc, a
        self.quiet = lc.llama_log_callback(lambda level, text, user: None)
        lc.llama_log_set(self.quiet, ctypes.c_void_p(0))
        lc.llama_backend_init()
        mp = lc.llama_model_default_params()
        mp.n_gpu_layers = 0
        self.model = lc.llama_model_load_from_file(a.model.encode(), mp)
        if not self.model:
            raise RuntimeError("llama.cpp does not load %s" % a.model)
        self.n_vocab = lc.llama_vocab_n_tokens(lc.llama_model_get_vocab(self.model))
        self.version = "llama-cpp-python %s" % lc.__version__
        self.flash = {None: -1, 0: 0, 1: 1}[a.flash]
        self.flags = "flash_attn %s, kv f16, n_batch %d, n_ubatch 512, %d threads; %s" % (
            "auto" if self.flash < 0 else self.flash, a.chunk, a.threads, lc.llama_print_system_info().decode().strip())

    def context(self, n_ctx, n_seq):
        cp = self.lc.llama_context_default_params()
        cp.n_ctx, cp.n_batch, cp.n_ubatch, cp.n_seq_max = n_ctx * n_seq, self.a.chunk, 512, n_seq
        cp.n_threads = cp.n_threads_batch = self.a.threads
        cp.flash_attn_type = self.flash
        return self.lc.llama_init_from_model(self.model, cp)

    def clear(self, ctx):
        self.lc.llama_memory_clear(self.lc.llama_get_memory(ctx), True)

    def finish(self, ctx):
        self.lc.llama_synchronize(ctx)


class IkLlamaCpp:
    """ik-llama-cpp-python: the same calls over other structs."""

    def __init__(self, a):
        import ik_llama_cpp._ctypes_api as lc
        self.lc, self.a, lib = lc, a, lc._lib
        log_type = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
        self.quiet = log_type(lambda level, text, user: None)
        lib.llama_log_set(self.quiet, None)
        # These take flags after llama.cpp's arguments; older versions ignore them.
        one, buffer = [ctypes.c_int32, ctypes.c_uint32], [ctypes.c_void_p, ctypes.c_size_t]
        for name, args in (("get_size", one), ("get_data", buffer + one), ("set_data", buffer + one)):
            f = getattr(lib, "llama_state_seq_" + name)
            f.restype, f.argtypes = ctypes.c_size_t, [ctypes.c_void_p, *args]
            setattr(lc, "llama_state_seq_" + name, lambda *args, f=f: f(*args, 0))
        lib.llama_print_system_info.restype = ctypes.c_char_p
        lc.llama_backend_init()
        mp = lc.llama_model_default_params()
        mp.n_gpu_layers, mp.repack_tensors, mp.use_mmap = 0, True, False
        self.model = lc.llama_model_load_from_file(a.model.encode(), mp)
        if not self.model:
            raise RuntimeError("ik_llama.cpp does not load %s" % a.model)
        self.n_vocab = lc.llama_vocab_n_tokens(lc.llama_model_get_vocab(self.model))
        import importlib.metadata
        self.version = "ik-llama-cpp-python %s" % importlib.metadata.version("ik-llama-cpp-python")
        cp = lc.llama_context_default_params()
        self.flags = "repack_tensors, flash_attn %d, fused_up_gate %d, kv f16, n_batch %d, n_ubatch 512, %d threads; %s" % (
            cp.flash_attn if a.flash is None else a.flash, cp.fused_up_gate, a.chunk, a.threads, lib.llama_print_system_info().decode().strip())

    def context(self, n_ctx, n_seq):
        cp = self.lc.llama_context_default_params()
        cp.n_ctx, cp.n_batch, cp.n_ubatch, cp.n_seq_max = n_ctx * n_seq, self.a.chunk, 512, n_seq
        cp.n_threads = cp.n_threads_batch = self.a.threads
        if self.a.flash is not None:
            cp.flash_attn = bool(self.a.flash)
        return self.lc.llama_init_from_model(self.model, cp)

    def clear(self, ctx):
        self.lc.llama_kv_cache_clear(ctx)

    def finish(self, ctx):
        pass


class Turns:
    """What turns.c does, with a peer's library."""

    def __init__(self, peer, a):
        self.p, self.a, self.lc = peer, a, peer.lc
        self.ctx = self.check(peer.context(a.ctx, 1))
        self.ctx_many, self.state = None, {}

    @staticmethod
    def check(ctx):
        if not ctx:
            raise RuntimeError("the peer makes no context")
        return ctx

    def run(self, ctx, rows):
        """One llama_decode of (id, position, sequence) rows; logits of the last row of each sequence."""
        b = self.batch_of(len(rows))
        last = {s: i for i, (_, _, s) in enumerate(rows)}
        b.n_tokens = len(rows)
        for i, (t, pos, s) in enumerate(rows):
            b.token[i], b.pos[i], b.n_seq_id[i], b.logits[i] = t, pos, 1, last[s] == i
            b.seq_id[i][0] = s
        rc = self.lc.llama_decode(ctx, b)
        if rc:
            raise RuntimeError("llama_decode: %d" % rc)

    def batch_of(self, n, kept={}):
        if n not in kept:
            kept[n] = self.lc.llama_batch_init(n, 0, 1)
        return kept[n]

    def fill(self, n):
        self.p.clear(self.ctx)
        ids = token_ids(self.p.n_vocab, 0, n)
        for at in range(0, n, self.a.chunk):
            self.run(self.ctx, [(t, at + i, 0) for i, t in enumerate(ids[at:at + self.a.chunk])])
        self.p.finish(self.ctx)

    def hold(self, depth, path=None):
        if path and os.path.exists(path):
            with open(path, "rb") as f:
                self.state[depth] = f.read()
            return
        self.fill(depth)
        n = self.lc.llama_state_seq_get_size(self.ctx, 0)
        data = (ctypes.c_uint8 * n)()
        if self.lc.llama_state_seq_get_data(self.ctx, data, n, 0) != n:
            raise RuntimeError("the peer does not save its state")
        self.state[depth] = bytes(data)
        if path:
            with open(path, "wb") as f:
                f.write(self.state[depth])

    def prefill(self, n):
        start = time.perf_counter()
        self.fill(n)
        return time.perf_counter() - start

    def decode(self, n, depth):
        if depth in self.state:
            self.p.clear(self.ctx)
            raw = self.state[depth]
            if not self.lc.llama_state_seq_set_data(self.ctx, (ctypes.c_uint8 * len(raw)).from_buffer_copy(raw), len(raw), 0):
                raise RuntimeError("the peer does not take its state back")
        else:
            self.fill(depth)
        ids = token_ids(self.p.n_vocab, depth, n)
        start = time.perf_counter()
        for i, t in enumerate(ids):
            self.run(self.ctx, [(t, depth + i, 0)])
            self.p.finish(self.ctx)
        return time.perf_counter() - start

    def batch(self, n, n_seq):
        if not self.ctx_many:
            self.ctx_many = self.check(self.p.context(BATCH_START + self.a.steps, n_seq))
        ctx = self.ctx_many
        self.p.clear(ctx)
        ids = [token_ids(self.p.n_vocab, s * 100, BATCH_START + n) for s in range(n_seq)]
        self.run(ctx, [(ids[s][i], i, s) for s in range(n_seq) for i in range(BATCH_START)])
        self.p.finish(ctx)
        start = time.perf_counter()
        for i in range(BATCH_START, BATCH_START + n):
            self.run(ctx, [(ids[s][i], i, s) for s in range(n_seq)])
            self.p.finish(ctx)
        return time.perf_counter() - start


def be_peer(a):
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)       # what a library prints is not an answer
    start = time.perf_counter()
    turns = Turns({"llama.cpp": LlamaCpp, "ik_llama.cpp": IkLlamaCpp}[a.peer](a), a)
    print(json.dumps({"version": turns.p.version, "flags": turns.p.flags, "load_s": time.perf_counter() - start}), file=out, flush=True)
    for line in sys.stdin:
        verb, *args = line.split()
        args = [int(x) if x.isdigit() else x for x in args]
        print(json.dumps({"s": getattr(turns, verb)(*args) or 0}), file=out, flush=True)


# ---- the run -------------------------------------------------------------------------------------

class Engine:
    def __init__(self, name, command):
        self.name = name
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.info = self.read()

    def read(self):
        line = self.child.stdout.readline()
        if not line:
            print("beside_peers.py: %s ended early" % self.name, file=sys.stderr)
            sys.exit(2)
        return json.loads(line)

    def ask(self, line):
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()
        return self.read()

    def close(self):
        self.child.stdin.close()
        self.child.wait()


def measure(a, engines, test, line, tokens):
    """Tokens a second of every engine, in turn; the order turns round each time."""
    for e in engines:
        e.ask(line)  # warm up
    speeds = {e.name: [] for e in engines}
    for r in range(a.rounds):
        for e in engines[r % len(engines):] + engines[:r % len(engines)]:
            time.sleep(0.05)  # whoever went before stops spinning
            speeds[e.name].append(tokens / e.ask(line)["s"])
    return {"test": test, "tokens": tokens, "tok_s": {n: {"median": statistics.median(v), "min": min(v), "max": max(v)}
                                                      for n, v in speeds.items()}, "rounds": speeds}


def ratio(row, peer):
    if peer not in row["tok_s"]:
        return None
    return row["tok_s"]["mizan"]["median"] / row["tok_s"][peer]["median"]


def judge(row, is_float, fma_share):
    """[(what, found, demanded)]"""
    llama, ik, found = ratio(row, "llama.cpp"), ratio(row, "ik_llama.cpp"), []
    share = row.get("bound_share")
    if row["test"] == "prefill":
        found += [("llama.cpp", llama, 1.6), ("ik_llama.cpp", ik, 1.0)]
        if is_float:
            found.append(("f32 FMA peak", fma_share, 0.75))
    elif row["test"] == "decode":
        least = ("llama.cpp", llama, 1.25)
        if llama is not None and llama < 1.25 and share is not None and share >= 0.85:
            least = ("memory bound", share, 0.85)
        found += [least, ("ik_llama.cpp", ik, 1.0)]
        if is_float:
            found.append(("memory bound", share, 0.85))
    elif row["test"] == "deep":
        found.append(("llama.cpp", llama, 1.25))
    else:
        found.append(("llama.cpp", llama, 1.5))
    return [{"beside": what, "found": f, "demanded": d, "pass": f >= d} for what, f, d in found if f is not None]


def add_bound(row, info, bandwidth, n_seq, depth, n_step):
    state = n_seq * (depth + n_step / 2) * info["state_bytes_per_tok"]
    row["bound_tok_s"] = n_seq * bandwidth / (info["weight_step_bytes"] + state)
    row["bound_share"] = row["tok_s"]["mizan"]["median"] / row["bound_tok_s"]


def start_engines(a):
    ctx = max(a.prefill, BATCH_START + a.decode, a.depth + a.steps, 512) + 64
    engines = [Engine("mizan", [a.mizan, a.model, str(a.threads), str(ctx), str(a.sessions)])]
    own = [os.path.abspath(__file__), a.mizan, a.model, "-t", str(a.threads), "--ctx", str(ctx), "--steps", str(a.steps)]
    if a.flash is not None:
        own += ["--flash", str(a.flash)]
    for name, python in (("llama.cpp", a.llama), ("ik_llama.cpp", a.ik)):
        if python:
            engines.append(Engine(name, [python, *own, "--peer", name]))
    return engines


def run(a):
    only = a.only.split(",")
    engines = start_engines(a)
    mizan = engines[0]
    report = {"model": os.path.basename(a.model), "threads": a.threads, "rounds": a.rounds,
              "engines": {e.name: e.info for e in engines}, "results": []}
    before = mizan.ask("machine")["machine"]
    plan = {"prefill": ("prefill %d" % a.prefill, a.prefill, None), "decode": ("decode %d %d" % (a.decode, BATCH_START), a.decode, (1, BATCH_START)),
            "deep": ("decode %d %d" % (a.steps, a.depth), a.steps, (1, a.depth)),
            "batch": ("batch %d %d" % (a.steps, a.sessions), a.steps * a.sessions, (a.sessions, BATCH_START))}
    for test in only:
        line, tokens, bound = plan[test]
        if test == "deep":
            for e in engines:
                path = a.keep and os.path.join(a.keep, "%s-%s-%d.state" % (os.path.basename(a.model), e.name, a.depth))
                e.ask("hold %d %s" % (a.depth, path or ""))
        if a.rounds:
            able = [e for e in engines if test != "batch" or e.name != "ik_llama.cpp"]
            report["results"].append((measure(a, able, test, line, tokens), bound, tokens))
    after = mizan.ask("machine")["machine"]
    for e in engines:
        e.close()
    best = {k: max(before.get(k, 0), after.get(k, 0)) for k in ("bandwidth_gbps", "peak_gops", "fma_gflops", "int8_gops")}
    report["machine"] = {**after, **best}
    is_float = after.get("peak_of") in ("F32", "F16", "BF16")
    rows = []
    for row, bound, tokens in report["results"]:
        fma = row["tok_s"]["mizan"]["median"] * mizan.info["flop_per_tok"] * 1e-9 / best["fma_gflops"] if best["fma_gflops"] else None
        if bound:
            add_bound(row, mizan.info, best["bandwidth_gbps"] * 1e9, bound[0], bound[1], tokens / bound[0])
        row["demands"] = judge(row, is_float, fma)
        rows.append(row)
    report["results"] = rows
    return report


def show(report):
    m = report["machine"]
    print("%s, %d threads, %d rounds; %s, %.1f GB/s read" % (report["model"], report["threads"], report["rounds"], m["cpu"], m["bandwidth_gbps"]))
    for name, info in report["engines"].items():
        print("  %-13s %s (%s)" % (name, info["version"], info["flags"]))
    for row in report["results"]:
        speeds = "  ".join("%s %.1f (%.1f to %.1f)" % (n, s["median"], s["min"], s["max"]) for n, s in row["tok_s"].items())
        bound = "  %.0f %% of the memory bound" % (100 * row["bound_share"]) if "bound_share" in row else ""
        print("%-8s %s tok/s%s" % (row["test"], speeds, bound))
        for d in row["demands"]:
            print("         %s %.2f of %s, asked %.2f" % ("PASS" if d["pass"] else "FAIL", d["found"], d["beside"], d["demanded"]))


def main():
    p = argparse.ArgumentParser(description=__doc__, epilog=DEMANDS, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mizan", help="mizan-turns")
    p.add_argument("model")
    p.add_argument("--llama", metavar="PYTHON", help="an interpreter that has llama-cpp-python")
    p.add_argument("--ik", metavar="PYTHON", help="an interpreter that has ik-llama-cpp-python")
    p.add_argument("--only", default="prefill,decode,deep,batch")
    p.add_argument("--keep", metavar="FOLDER")
    p.add_argument("--flash", type=int, choices=(0, 1), help="force flash attention on or off in the peers")
    for name, value in (("prefill", 512), ("decode", 64), ("depth", 4096), ("steps", 32), ("sessions", 16), ("chunk", 512)):
        p.add_argument("--" + name, type=int, default=value)
    p.add_argument("-t", "--threads", type=int, default=2)
    p.add_argument("-r", "--rounds", type=int, default=5, help="0: only make the states of --keep")
    p.add_argument("--json", action="store_true")
    p.add_argument("--peer", help=argparse.SUPPRESS)
    p.add_argument("--ctx", type=int, help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.peer:
        be_peer(a)
        return 0
    report = run(a)
    if a.json:
        print(json.dumps(report))
    else:
        show(report)
    return 0 if all(d["pass"] for row in report["results"] for d in row["demands"]) else 1


if __name__ == "__main__":
    sys.exit(main())
