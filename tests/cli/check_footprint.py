#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory and patience of loading, on a synthetic file of about 150 MB: check_footprint.py MIZAN MAKE_MODEL.py. Standard library only."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from harness import Mizan, Terminal, demand, run_tests

SLACK = 64 << 20     # beside weights and state
SHAPE = ["--layers", "6", "--width", "1024", "--heads", "16", "--kv-heads", "4", "--ffn", "5632", "--vocab", "16000", "--ctx", "4096"]
TYPES = {"Q8_0": [], "Q4_K": ["--layers", "12"], "F16": ["--layers", "2"]}  # repacked from one format and several; not repacked

m = Mizan(sys.argv[1])
tmp = tempfile.TemporaryDirectory()


def made(name):
    path = os.path.join(tmp.name, name + ".gguf")
    if not os.path.exists(path):
        subprocess.run([sys.executable, sys.argv[2], name, path, *SHAPE, *TYPES[name]], check=True)
    return path


def peak_bytes(*args):
    """Most bytes resident at once (VmHWM) while the binary ran. The kernel counts this process's own size before exec as well, which is
    far below any model here."""
    with subprocess.Popen([m.binary, *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
        err = p.stderr.read()
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    demand(p.returncode == 0, "%.200r: status %d: %s" % (args, p.returncode, err))
    return usage.ru_maxrss * 1024


def stays_small(name):
    def check():
        path, n_tok = made(name), 1024
        need = m.ok("inspect", path, "--memory", str(n_tok), "--json").json()["memory"]
        demand(need["weight_bytes"] > 80 << 20, "the file is too small to prove anything: %r" % need)
        # Longer than a prefill step, so that all buffers are in use.
        prompt = "ab " * 300
        n = m.ok("tokenize", path, "-p", prompt).out.count(b",") + 1
        demand(512 < n < n_tok, "the prompt has %d tokens" % n)
        peak = peak_bytes("run", path, "--raw", "-p", prompt, "-n", "4", "-c", str(n_tok), "-t", "2")
        limit = need["weight_bytes"] + need["state_bytes"] + SLACK
        print("# %s: %d MiB at most, weights %d, state %d" % (name, peak >> 20, need["weight_bytes"] >> 20, need["state_bytes"] >> 20))
        demand(peak <= limit, "%d bytes were resident, expected at most %d (%r)" % (peak, limit, need))
        demand(peak >= need["weight_bytes"] // 2, "%d bytes resident cannot be right" % peak)

    return check


def shows_progress():
    """The program is halted for more than a second while it loads, which makes the load slow on any machine."""
    path = made("Q8_0")
    for _ in range(20):  # the machine may load faster than it is halted
        t = Terminal(m, "run", path, "--raw", "-p", "a", "-n", "1", "-t", "1")
        try:
            while True:
                with open("/proc/%d/maps" % t.pid, encoding="utf-8", errors="replace") as f:
                    if path in f.read() or os.waitid(os.P_PID, t.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                        break
            t.signal(signal.SIGSTOP)
            time.sleep(1.2)  # the delay under test, not a wait for anything
            t.signal(signal.SIGCONT)
            status, text = t.rest()
            demand(status == 0, "status %d: %r" % (status, text))
            if re.search(rb"loading: \d+ % of [\d.]+ [MG]i?B", text):
                demand(b"\r\x1b[K" in text, "the line was not wiped: %r" % text)
                return
        finally:
            t.close()
    demand(False, "no line of progress in %r" % text)


def no_progress_when_quiet():
    path = made("Q8_0")
    r = m.ok("run", path, "--raw", "-p", "a", "-n", "1", "-t", "1", "--quiet")
    demand("loading" not in r.err, r.err)


tests = [("resident memory, %s" % n, stays_small(n)) for n in TYPES]
tests += [("a slow load shows a line", shows_progress), ("and none with --quiet", no_progress_when_quiet)]
sys.exit(run_tests(tests))
