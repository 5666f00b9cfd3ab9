# SPDX-License-Identifier: Apache-2.0
"""Running the binary and saying TAP, for check_cli.py. Standard library only."""
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import time
import traceback

TIMEOUT = 120  # of any single run; sanitized builds on busy machines are slow


class Failed(Exception):
    pass


def demand(condition, text):
    if not condition:
        raise Failed(text)


def equal(got, want, what=""):
    if got != want:
        raise Failed("%s: got %.300r, want %.300r" % (what or "value", got, want))


class Result:
    def __init__(self, args, done):
        self.args, self.status = args, done.returncode
        self.out, self.err = done.stdout, done.stderr.decode("utf-8", "replace") if done.stderr is not None else ""

    def json(self):
        return json.loads(self.out)


class Mizan:
    def __init__(self, binary):
        self.binary = os.path.abspath(binary)

    def any(self, *args, stdin=b"", stdout=subprocess.PIPE):
        """Runs and takes any exit status."""
        args = [os.fsencode(a) if isinstance(a, str) else a for a in args]
        done = subprocess.run([self.binary, *args], input=stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=TIMEOUT)
        demand(done.returncode >= 0, "%r died of signal %d: %s" % (args, -done.returncode, done.stderr[-2000:]))
        return Result(args, done)

    def ok(self, *args, stdin=b""):
        r = self.any(*args, stdin=stdin)
        demand(r.status == 0, "%r: status %d: %s" % (r.args, r.status, r.err))
        return r

    def bad(self, status, pattern, *args, stdin=b"", stdout=subprocess.PIPE):
        """Fails with this status, nothing on standard output and one sentence that matches."""
        r = self.any(*args, stdin=stdin, stdout=stdout)
        demand(r.status == status, "%r: status %d, want %d: %s" % (r.args, r.status, status, r.err))
        if stdout == subprocess.PIPE:
            equal(r.out, b"", "%r: standard output" % (r.args,))
        lines = r.err.splitlines()
        demand(len(lines) == 1 and lines[0].startswith("mizan: "), "%r: not one sentence: %r" % (r.args, r.err))
        demand(re.search(pattern, lines[0]), "%r: %r does not match %r" % (r.args, lines[0], pattern))
        demand(all(c.isprintable() for c in lines[0]), "%r: control characters in %r" % (r.args, lines[0]))
        return r


class Terminal:
    """The binary on a pseudo-terminal (standard input, output and error)."""

    def __init__(self, mizan, *args):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(mizan.binary, [mizan.binary, *args])
        self.text = b""

    def until(self, pattern, seconds=TIMEOUT):
        """Reads until the text since the last match holds pattern; gives that text back."""
        end = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.text)
            if found:
                seen, self.text = self.text[:found.end()], self.text[found.end():]
                return seen
            left = end - time.monotonic()
            demand(left > 0, "%r did not come within %d s; there is %.300r" % (pattern, seconds, self.text))
            if select.select([self.fd], [], [], min(left, 1))[0]:
                try:
                    data = os.read(self.fd, 65536)
                except OSError:
                    data = b""
                if not data:
                    raise Failed("the program ended before %r; there is %.300r" % (pattern, self.text))
                self.text += data

    def send(self, data):
        os.write(self.fd, data)

    def rest(self):
        """Reads to the end; the exit status and the text."""
        while True:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                data = b""
            if not data:
                break
            self.text += data
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        self.pid = 0
        return os.waitstatus_to_exitcode(status), self.text

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.fd)


def read_npy(path):
    """(shape, list of floats) of a float32 NPY file in C order."""
    with open(path, "rb") as f:
        data = f.read()
    equal(data[:8], b"\x93NUMPY\x01\x00", "magic of " + path)
    n = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:10 + n].decode(), {"__builtins__": {}})  # the files are our own
    equal((header["descr"], header["fortran_order"]), ("<f4", False), path)
    demand((10 + n) % 64 == 0, path + ": data not aligned to 64 bytes")
    count = 1
    for d in header["shape"]:
        count *= d
    equal(len(data), 10 + n + 4 * count, "bytes of " + path)
    return header["shape"], list(struct.unpack("<%df" % count, data[10 + n:]))


def write_npy(path, shape, values, descr="<f4", order="False"):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %r, }" % (descr, order, tuple(shape))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<%df" % len(values), *values))


def run_tests(tests):
    print("1..%d" % len(tests))
    n_bad = 0
    for i, (name, fn) in enumerate(tests, 1):
        try:
            fn()
            print("ok %d - %s" % (i, name))
        except Exception as e:  # a test must not take the others with it
            n_bad += 1
            print("not ok %d - %s" % (i, name))
            text = str(e) if isinstance(e, Failed) else traceback.format_exc()
            for line in text.splitlines():
                print("# " + line)
        sys.stdout.flush()
    return 1 if n_bad else 0
