# SPDX-License-Identifier: Apache-2.0
"""Running the binary and saying TAP, for check_cli.py. Standard library only."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback
import unicodedata

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
    """The binary on a pseudo-terminal (standard input, output and error), with a home of its own."""

    def __init__(self, mizan, *args, term="xterm-256color", size=(24, 80), home=None, env=None, stdout=None):
        self.home = None if home else tempfile.TemporaryDirectory()
        drop = ("NO_COLOR", "VTE_VERSION", "KONSOLE_VERSION", "XTERM_VERSION", "MLTERM", "TERM_PROGRAM", "EDITRC", "XDG_STATE_HOME", "LC_ALL")
        mine = {k: v for k, v in os.environ.items() if k not in drop}
        mine.update(TERM=term, HOME=home or self.home.name, LANG="C.UTF-8")
        mine.update(env or {})
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            self.resize(*size, fd=0)
            if stdout is not None:
                os.dup2(stdout, 1)
            os.execve(mizan.binary, [mizan.binary, *args], mine)
        self.text = b""

    def resize(self, rows, columns, fd=None):
        fcntl.ioctl(self.fd if fd is None else fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def signal(self, number):
        os.kill(self.pid, number)

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
        if self.home:
            self.home.cleanup()
        return os.waitstatus_to_exitcode(status), self.text

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.fd)
            if self.home:
                self.home.cleanup()


class Screen:
    """What a terminal of the given size shows after data: enough of a VT100 to check line editing and redrawn lines. An escape
    sequence it does not know is a failure."""

    def __init__(self, data, columns=80, rows=1000):
        self.columns, self.rows = columns, rows
        self.lines, self.row, self.col = [[]], 0, 0
        self.wrap_next = False
        for kind, text in re.findall(r"(\x1b\[[?]?[0-9;]*[@-~]|\x1b[=>]|\x1b\([AB0]|\x1b.?)|([^\x1b]+)", data.decode("utf-8", "replace"), re.S):
            if kind:
                self.control(kind)
            for c in text:
                self.char(c)

    def down(self):
        self.row += 1
        while len(self.lines) <= self.row:
            self.lines.append([])

    def char(self, c):
        if c == "\r":
            self.col, self.wrap_next = 0, False
        elif c == "\n":
            self.down()
        elif c == "\b":
            self.col, self.wrap_next = max(0, self.col - 1), False
        elif c == "\a":
            pass
        elif c == "\t":
            self.col = min(self.columns - 1, (self.col // 8 + 1) * 8)
        else:
            demand(c >= " " and not 0x7f <= ord(c) < 0xa0, "control character %r reached the terminal" % c)
            if unicodedata.combining(c):
                if self.col and self.col <= len(self.lines[self.row]):
                    self.lines[self.row][self.col - 1] += c
                return
            if self.wrap_next:
                self.col, self.wrap_next = 0, False
                self.down()
            line = self.lines[self.row]
            line.extend(" " * (self.col + 1 - len(line)))
            line[self.col] = c
            if self.col == self.columns - 1:
                self.wrap_next = True
            else:
                self.col += 1

    def control(self, s):
        found = re.fullmatch(r"\x1b\[([?]?)([0-9;]*)([@-~])", s)
        if s in ("\x1b=", "\x1b>") or s.startswith("\x1b("):
            return
        demand(found, "unknown escape sequence %r" % s)
        private, numbers, final = found.groups()
        n = int(numbers.split(";")[0] or 0)
        line = self.lines[self.row]
        if final == "m" or private and final in "hl" and n in (2004, 2501, 1, 25):
            return
        self.wrap_next = False
        if final == "K" and n == 0:
            del line[self.col:]
        elif final == "J" and n == 0:
            del line[self.col:], self.lines[self.row + 1:]
        elif final == "A":
            self.row = max(0, self.row - max(1, n))
        elif final == "B":
            for _ in range(max(1, n)):
                self.down()
        elif final == "C":
            self.col = min(self.columns - 1, self.col + max(1, n))
        elif final == "D":
            self.col = max(0, self.col - max(1, n))
        elif final == "G":
            self.col = max(1, n) - 1
        elif final == "P":
            del line[self.col:self.col + max(1, n)]
        elif final == "@":
            line[self.col:self.col] = [" "] * max(1, n)
        else:
            raise Failed("unknown escape sequence %r" % s)

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines).rstrip("\n")


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
