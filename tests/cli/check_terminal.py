#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The chat on a pseudo-terminal: check_terminal.py MIZAN [NAME...]

Models that say what the test wants (script_model.py) answer; what a terminal would show is worked out by a small emulator
(harness.Screen), which fails on any control character or escape sequence it does not expect. Prints TAP.
"""
import os
import re
import signal
import stat
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]
import script_model  # noqa: E402
from harness import Mizan, Screen, Terminal, demand, equal, run_tests  # noqa: E402

TESTS = []
READY = rb"\x1b\[\?2004h[^>]*>(\x1b\[0m)? "  # the prompt of the line editor


def test(fn):
    TESTS.append((fn.__name__.replace("_", " "), fn))
    return fn


def model(file, *pieces, **more):
    path = os.path.join(tmp, file + ".gguf")
    if not os.path.exists(path):
        script_model.write(path, [p if isinstance(p, bytes) else p.encode() for p in pieces], **more)
    return path


def hello():
    return model("hello", "Hel", "lo ", "there.")


def chat(path, *args, ready=True, **more):
    t = Terminal(m, "run", path, "--temp", "0", *args, **more)
    if ready:
        t.until(READY)
    return t


def end(t, status=0):
    """Ctrl-D at an empty prompt; everything since the last match."""
    t.send(b"\x04")
    got, text = t.rest()
    equal(got, status, "exit status")
    return text


def prompts(path):
    """The user's messages in a session file saved by the chat."""
    import json
    with open(path, "rb") as f:
        data = f.read()
    n = int.from_bytes(data[48:56], "little")
    return [x["content"] for x in json.loads(data[128:128 + n])["messages"] if x["role"] == "user"]


def typed(keys, **more):
    """What the program takes for messages when keys are typed (a list; each waits for the prompt)."""
    path = os.path.join(tmp, "typed.session")
    if os.path.exists(path):
        os.unlink(path)
    t = chat(hello(), "--session", path, **more)
    try:
        for i, k in enumerate(keys):
            if i:
                t.until(READY)
            t.send(k)
        t.until(rb"there\.\r\n")
        t.until(READY)
        end(t)
    finally:
        t.close()
    return prompts(path)


# ---- lines ------------------------------------------------------------------------------------


@test
def a_message_and_its_answer():
    t = chat(hello())
    try:
        t.send(b"Good day\r")
        text = t.until(rb"there\.\r\n")
        equal(Screen(text).text(), "Good day\nHello there.", "screen")
        end(t)
    finally:
        t.close()


@test
def editing():
    left, right, up, back = b"\x1b[D", b"\x1b[C", b"\x1b[A", b"\x7f"
    equal(typed([b"abd" + left + b"c\r"]), ["abcd"], "insert")
    equal(typed([b"abxcd" + left * 2 + back + right * 2 + b"e\r"]), ["abcde"], "backspace")
    equal(typed([b"world\x01hello \r"]), ["hello world"], "Ctrl-A")
    equal(typed([b"one two\x17three\r"]), ["one three"], "Ctrl-W")
    equal(typed(["grü©ß".encode() + back + "ßé世界".encode() + left + "🎈".encode() + b"\r"]), ["grü©ßé世🎈界"], "characters of several bytes")
    equal(typed([b"first\r", b"second\r", up * 2 + b"!\r"]), ["first", "second", "first!"], "history")
    equal(typed([b"first\r", b"second\r", b"\x12fir\x1b\x05+\r"])[-1], "first+", "search in history")


@test
def several_lines():
    equal(typed([b"one \\\r" + b"two\r"]), ["one \ntwo"], "a backslash at the end")
    equal(typed([b"one\\\\\r"]), ["one\\\\"], "two backslashes")
    equal(typed([b"```c\r" + b"x = 1;\\\r" + b"\r" + b"```\r"]), ["```c\nx = 1;\\\n\n```"], "a fence")
    equal(typed([b"\"\"\"a\r" + b"/b\r" + b"c\"\"\"\r"]), ["a\n/b\nc"], "three quotes")
    equal(typed([b"\"\"\"\r" + b"a\r" + b"\"\"\"\r"]), ["a"], "three quotes on their own lines")
    equal(typed([b"see \x1b[200~line 1\rline 2\r\tline\x1b[31m 3\x07\n\x1b[201~ end\r"]), ["see line 1\nline 2\n\tline31m 3\n end"], "pasted")
    equal(typed([b"a\x1b\rb\r"]), ["a\nb"], "Alt-Enter")
    t = chat(hello())
    try:
        t.send(b"```\r")
        t.until(rb"\.(\x1b\[0m)? ")
        t.send(b"x\r")
        t.until(rb"\.(\x1b\[0m)? ")
        t.send(b"\x03")  # out of the block
        t.until(READY)
        t.send(b"hi\r")
        t.until(rb"there\.\r\n")
        t.until(READY)
        end(t)
    finally:
        t.close()


@test
def history_is_kept():
    home = os.path.join(tmp, "home")
    os.makedirs(home, exist_ok=True)
    path = os.path.join(home, ".local/state/mizan/history")

    def run(keys, *args, **more):
        t = chat(hello(), *args, home=home, **more)
        try:
            for k in keys:
                t.send(k)
                t.until(rb"there\.\r\n")
                t.until(READY)
            end(t)
        finally:
            t.close()

    run([b"alpha\\\r" + b"be\\\\ta\r", b" not kept\r", b"gamma\r", b"gamma\r"])
    with open(path, "rb") as f:
        equal(f.read(), b"alpha\\nbe\\\\\\\\ta\ngamma\n", "file")
    equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "mode")
    run([b"secret\r"], "--no-history")
    run([b"\x1b[A\x1b[A\r"])
    with open(path, "rb") as f:
        equal(f.read().splitlines()[-1], b"alpha\\nbe\\\\\\\\ta", "recalled from an earlier chat")
    # A hostile file: nothing in it reaches the terminal, the good line stays.
    with open(path, "wb") as f:
        f.write(b"good\n\x1b]0;x\x07\n\xff\xfe\nbad\\escape\n" + b"\0" * 100 + b"\n" + b"\xc2\x9b31m\nlast")
    t = chat(hello(), home=home)
    try:
        t.send(b"\x1b[A" * 6 + b"\r")
        equal(Screen(t.until(rb"there\.\r\n")).text().splitlines()[0].split()[-1], "good", "hostile history")
        t.until(READY)
        end(t)
    finally:
        t.close()
    state = os.path.join(tmp, "state")
    run([b"elsewhere\r"], env={"XDG_STATE_HOME": state})
    with open(os.path.join(state, "mizan/history"), "rb") as f:
        equal(f.read(), b"elsewhere\n", "XDG_STATE_HOME")
    # A place that cannot be written is said once, and is no failure.
    t = chat(hello(), home=home, env={"XDG_STATE_HOME": os.path.join(tmp, "hello.gguf")})
    try:
        t.send(b"x\r")
        t.until(rb"there\.\r\n")
        t.until(READY)
        demand(b"history cannot be written" in end(t), "no sentence")
    finally:
        t.close()
    with open(path, "wb") as f:
        f.write(b"".join(b"entry %d\n" % i for i in range(3000)))
    run([b"newest\r"])
    with open(path, "rb") as f:
        lines = f.read().splitlines()
    equal((len(lines), lines[-1], lines[-2]), (1000, b"newest", b"entry 2999"), "limit")


# ---- signals ----------------------------------------------------------------------------------


@test
def ctrl_c_stops_the_answer_only():
    t = chat(model("endless", "tick ", "tock ", loop=True, context=10000000))
    try:
        t.send(b"go\r")
        t.until(rb"tick tock tick ")
        t.send(b"\x03")
        t.until(READY)
        t.send(b"half a line")
        t.until(rb"half a line")  # read: an interrupt throws away what is still on its way
        t.send(b"\x03")
        t.until(rb"\^C\r\n")
        t.until(READY)
        t.send(b"\x03")
        seen = t.until(READY)
        demand(b"/exit" not in seen, "a hint after the first interrupt")
        t.send(b"\x03")
        demand(b"/exit or Ctrl-D ends" in t.until(READY), "no hint after the second interrupt")
        t.send(b"again\r")
        t.until(rb"tick tock tick ")
        t.send(b"typed ahead")  # must not show in the answer
        t.until(rb"tock tick tock tick")
        t.send(b"\x03")
        seen = t.until(READY)
        demand(b"typed" not in seen.replace(b"\r\n", b"").split(b"\x1b[?2004h")[0], "typing showed in the answer")
        t.send(b"\x15")
        end(t)
    finally:
        t.close()


@test
def the_end_saves():
    for how in (signal.SIGTERM, signal.SIGHUP, None):
        path = os.path.join(tmp, "end.session")
        if os.path.exists(path):
            os.unlink(path)
        t = chat(model("endless", "tick ", "tock ", loop=True, context=10000000), "--session", path)
        try:
            t.send(b"go\r")
            t.until(rb"tick tock tick ")
            if how:
                t.signal(how)
            else:
                t.send(b"\x03")
                t.until(READY)
                t.send(b"/exit\r")
            status, _ = t.rest()
            equal((status, prompts(path)), (0, ["go"]), str(how))
        finally:
            t.close()


@test
def stopping_and_resizing():
    t = chat(hello(), size=(24, 30))
    try:
        t.send(b"a line that is longer than thirty columns")
        t.until(rb"columns")
        t.resize(24, 60)
        t.until(rb"columns")  # drawn again
        t.send(b" by far\r")
        t.until(rb"there\.\r\n")
        t.until(READY)
        t.send(b"next")
        t.until(rb"next")
        t.signal(signal.SIGSTOP)
        t.signal(signal.SIGCONT)
        t.until(rb"next")
        t.send(b"\r")
        t.until(rb"there\.\r\n")
        t.until(READY)
        end(t)
    finally:
        t.close()


# ---- commands ---------------------------------------------------------------------------------


@test
def commands():
    path = os.path.join(tmp, "commands.session")
    t = chat(hello())

    def say(line, want, wrong=False):
        t.send(line + b"\r")
        seen = t.until(READY).split(b"\n", 1)[1]
        demand(re.search(want, seen, re.S), "%r: %r does not match %r" % (line, seen, want))
        equal(seen.count(b"mizan: "), 1 if wrong else 0, "sentences of failure after %r: %r" % (line, seen))
        return seen

    try:
        seen = say(b"/help", rb"/system")
        for c in (b"/help", b"/reset", b"/save", b"/load", b"/set", b"/stats", b"/exit"):
            demand(c in seen, c)
        say(b"/bogus", rb"unknown command '/bogus'; /help lists them", True)
        say(b"/b\xc2\x9b", rb"unknown command '/b", True)
        say(b"/system", rb"no system message")
        say(b"/system Be brief", rb"")
        say(b"/system", rb"Be brief")
        say(b"hi", rb"there")
        say(b"/stats", rb"3 messages, \d+ of 4096 tokens.*tokens/s")
        say(b"/save", rb"needs the name", True)
        say(b"/save " + path.encode(), rb"saved: 3 messages, \d+ tokens")
        say(b"/save /no/such/folder/x", rb"cannot create", True)
        letter = os.path.join(tmp, "letter.txt")
        with open(letter, "w") as f:
            f.write("not a session")
        say(b"/save " + letter.encode(), rb"not a session file", True)
        with open(letter) as f:
            equal(f.read(), "not a session", "a file /save must not replace")
        os.mkfifo(os.path.join(tmp, "pipe"))
        say(b"/save " + os.path.join(tmp, "pipe").encode(), rb"not a regular file", True)
        say(b"/reset", rb"")
        say(b"/stats", rb"1 messages")
        say(b"/load " + path.encode(), rb"loaded: 3 messages, \d+ tokens")
        say(b"/load /dev/null", rb"not a regular file", True)
        say(b"/load " + hello().encode(), rb"not a session file", True)
        say(b"/load /no/such", rb"cannot open", True)
        say(b"/load", rb"needs the name", True)
        say(b"/set", rb"temp +0 .*top-k +40.*markdown +on .*bidi +auto")
        say(b"/set temp 0.5", rb"")
        say(b"/set --top-k=7", rb"")
        say(b"/set", rb"temp +0.5 .*top-k +7 ")
        say(b"/set temp hot", rb"'hot' is not a number", True)
        say(b"/set temp -1", rb"out of range", True)
        say(b"/set nothing 1", rb"no setting 'nothing'", True)
        say(b"/set model x", rb"no setting 'model'", True)
        say(b"/set temp", rb"needs a name and a value", True)
        say(b"/set ignore-eos maybe", rb"on\|off", True)
        say(b"/system \"\"", rb"")
        say(b"/system", rb"no system message")
        say(b" /exit is a word", rb"there")
        t.send(b"/exit\r")
        equal(t.rest()[0], 0, "/exit")
    finally:
        t.close()


# ---- sessions ---------------------------------------------------------------------------------


@test
def sessions_resume_without_prefill():
    path = os.path.join(tmp, "resume.session")
    args = ["run", hello(), "--temp", "0", "--session", path]
    first = m.ok(*args, "-p", "one", "--json").json()
    equal(first["timings"]["cached_tokens"], 0)
    held = len(first["prompt_ids"]) + len(first["ids"])
    second = m.ok(*args, "-p", "two", "--json").json()
    equal(second["timings"]["cached_tokens"], held, "cached")
    equal(second["prompt_ids"][:held], first["prompt_ids"] + first["ids"], "the conversation as it was said")
    demand(second["timings"]["prefill_tokens"] <= 24, "prefill of %d tokens" % second["timings"]["prefill_tokens"])
    # Bit for bit what a run without a session says.
    ids = ",".join(map(str, second["prompt_ids"]))
    for more in ([], ["--logprobs", "3"]):
        fresh = m.ok("run", hello(), "--temp", "0", "--ids", ids, "--json", *more).json()
        equal(fresh["ids"], second["ids"])
    equal(prompts(path), ["one", "two"])
    t = chat(hello(), "--session", path, ready=False)
    try:
        demand(b"resumed: 4 messages" in t.until(READY), "no word of the session")
        end(t)
    finally:
        t.close()
    # From a pipe, and with raw text and ids.
    equal(m.ok(*args, stdin=b"three\n").out, b"Hello there.\n")
    equal(prompts(path), ["one", "two", "three"])
    raw = os.path.join(tmp, "raw.session")
    m.ok("run", hello(), "--temp", "0", "--raw", "-p", "x\n", "--session", raw)
    again = m.ok("run", hello(), "--temp", "0", "--raw", "-p", "x\n", "--session", raw, "--json").json()
    equal(again["timings"]["prefill_tokens"], 1, "only the last token's logits were not at hand")
    m.bad(1, "--kv f16", *args, "-p", "x", "--kv", "f32")
    m.bad(1, "another model", "run", model("other", "x"), "-p", "x", "--session", path)
    m.bad(2, "name of the file is empty", "run", hello(), "-p", "x", "--session", "")
    with open(path, "r+b") as f:
        f.truncate(1000)
    m.bad(1, "cut off", *args, "-p", "x")
    equal(os.path.getsize(path), 1000, "a file that could not be read was written over")


# ---- what a model may not do to a terminal -------------------------------------------------------


HOSTILE = [b"\x1b", b"]0;owned\x07", b"\x1b[2J\x1b[31m", b"\xc2", b"\x9b31m", b"\x9b31m", "\u202egnp.exe\u2066".encode(), b"\r\x7f\x00\x08", b"\xff\xf0\x9f", b"end"]
SHOWN = "^[]0;owned^G^[[2J^[[31m\\u009b31m\ufffd31m\\u202egnp.exe\\u2066^M^?^@^H\ufffd\ufffd\ufffdend"


@test
def escape_sequences_are_shown_not_sent():
    path = model("hostile", *HOSTILE)
    for args in ([], ["--color", "never"], ["--markdown", "off"], ["--bidi", "visual"], ["--bidi", "off", "--color", "always"]):
        t = Terminal(m, "run", path, "--temp", "0", "-p", "x", *args, size=(24, 200))
        try:
            status, text = t.rest()
            equal((status, Screen(text, 200).text()), (0, SHOWN), str(args))
        finally:
            t.close()
    t = Terminal(m, "run", path, "--temp", "0", "--raw", "-p", "x\n")
    equal(Screen(t.rest()[1], 200).text(), SHOWN, "--raw")
    t = chat(path)
    try:
        t.send(b"x\r")
        equal(Screen(t.until(rb"end\r\n"), 200).text().splitlines()[-1], SHOWN, "chat")
        end(t)
    finally:
        t.close()
    equal(m.ok("run", path, "--temp", "0", "-p", "x").out, b"".join(HOSTILE) + b"\n", "into a pipe the bytes go as they are")
    forced = m.ok("run", path, "--temp", "0", "-p", "x", "--color", "always").out
    equal(Screen(forced, 200).text(), SHOWN, "forced colours filter as well")


@test
def names_from_files_are_harmless():
    path = model("names", "x", name="\x1b]0;x\x07\u202eevil\x9b")
    for args in (["inspect", path], ["inspect", path, "--program"], ["inspect", path, "--tensors"], ["run", path, "-v", "-p", "x", "--temp", "0"]):
        t = Terminal(m, *args)
        try:
            status, text = t.rest()
            equal(status, 0)
            text = Screen(text, 300).text()
            demand("\u202e" not in text, "an override reached the terminal: %r" % text)
        finally:
            t.close()
    evil = os.path.join(tmp, "\x1b[31m\u202e.gguf")
    os.symlink(path, evil)
    t = Terminal(m, "run", evil, "-v", "-p", "x", "--temp", "0")
    demand("\u202e" not in Screen(t.rest()[1], 300).text(), "the path of a model")


# ---- how answers look ---------------------------------------------------------------------------


def shown(path, *args, **more):
    t = Terminal(m, "run", path, "--temp", "0", "-p", "x", *args, **more)
    try:
        status, text = t.rest()
        equal(status, 0)
        return text.replace(b"\r\n", b"\n")
    finally:
        t.close()


def crlf(text):
    return text.replace(b"\n", b"\r\n")


def markdown_model():
    return model("markdown", "#", " Ti", "tle\n", "a *", "*bo", "ld*", "* `c", "o*de", "` 2 ", "* 3\n- ", "it", "em\n``", "`py\n", "x *y*\n", "```\n", "e_n_d")


@test
def markdown_streams():
    want = (b"\x1b[0;2m# \x1b[0;1;35mTitle\x1b[0m\na \x1b[0;1mbold\x1b[0m \x1b[0;36mco*de\x1b[0m 2 * 3\n\x1b[0;33m\xe2\x80\xa2\x1b[0m item\n"
            b"\x1b[0;2m```py\x1b[0m\n\x1b[0;36mx *y*\x1b[0m\n\x1b[0;2m```\x1b[0m\ne_n_d\n")
    source = b"# Title\na **bold** `co*de` 2 * 3\n- item\n```py\nx *y*\n```\ne_n_d\n"
    equal(shown(markdown_model()), want)
    for args, more in ((["--markdown", "off"], {}), (["--color", "never"], {}), ([], {"env": {"NO_COLOR": "1"}}), ([], {"term": "dumb"}),
                       (["--color", "auto"], {"term": ""})):
        equal(shown(markdown_model(), *args, **more), source, "%r %r" % (args, more))
    equal(shown(markdown_model(), "--color", "always", env={"NO_COLOR": "1"}), want, "--color always")
    equal(shown(markdown_model(), env={"NO_COLOR": ""}), want, "an empty NO_COLOR is none")
    equal(m.ok("run", markdown_model(), "--temp", "0", "-p", "x").out, source, "into a pipe")
    equal(m.ok("run", markdown_model(), "--temp", "0", "-p", "x", "--color", "always").out, want, "forced")
    raw = Terminal(m, "run", markdown_model(), "--temp", "0", "--raw", "-p", "x\n")
    equal(raw.rest()[1].replace(b"\r\n", b"\n"), source, "--raw")


@test
def reasoning_is_dimmed():
    path = model("think", "<th", "ink>\nhm *m*", "\n</", "think>\n\n", "*yes*")
    equal(shown(path), b"\x1b[0;2m\nhm *m*\x1b[0m\n\n\n\x1b[0;3myes\x1b[0m\n")
    equal(shown(path, "--color", "never"), b"<think>\nhm *m*\n</think>\n\n*yes*\n")
    j = m.ok("run", path, "--temp", "0", "-p", "x", "--json").json()
    equal((j["reasoning"], j["text"]), ("\nhm *m*\n", "<think>\nhm *m*\n</think>\n\n*yes*"))
    demand("reasoning" not in m.ok("run", hello(), "--temp", "0", "-p", "x", "--json").json(), "reasoning where there is none")
    opened = model("opened", "hm</think>", "yes", template=script_model.TEMPLATE.replace("<|im_start|>assistant\n' }}", "<|im_start|>assistant\n<think>\n' }}"))
    equal(shown(opened), b"\x1b[0;2mhm\x1b[0myes\n", "a template that opens the reasoning")


@test
def right_to_left():
    arabic = "سلام ABC 123 عليكم"
    path = model("arabic", *[arabic.encode()[i:i + 3] for i in range(0, len(arabic.encode()), 3)])
    logical = arabic.encode() + b"\n"
    equal(shown(path), logical, "unknown terminal: as it is")
    equal(shown(path, "--bidi", "off", env={"VTE_VERSION": "7000"}), logical, "off")
    for more in ({"env": {"VTE_VERSION": "7000"}}, {"env": {"KONSOLE_VERSION": "220401"}}, {"term": "mlterm"}):
        equal(shown(path, **more), b"\x1b[?2501h" + logical + b"\x1b[?2501l", "the terminal does it: %r" % more)
    equal(shown(path, env={"VTE_VERSION": "5200"}), logical, "an old VTE does not")
    visual = "ﻢﻜﻴﻠﻋ ABC 123 ﻡﻼﺳ"
    for more in ({"env": {"XTERM_VERSION": "XTerm(379)"}}, {"term": "xterm-kitty"}):
        equal(Screen(shown(path, **more)).text(), visual.rjust(79), "visual: %r" % more)
    equal(Screen(crlf(shown(path, "--bidi", "visual", size=(24, 15))), 15).text(), "\n".join(s.rjust(14) for s in ("ABC 123 ﻡﻼﺳ", "ﻢﻜﻴﻠﻋ")), "narrow")
    latin = model("latin", "the quick ", "brown f", "ox jum", "ped\nover **the** ", "lazy dog")
    equal(Screen(crlf(shown(latin, "--bidi", "visual", size=(24, 20))), 20).text(), "the quick brown fox\njumped\nover the lazy dog", "no reordering, but lines")
    mixed = model("mixed", "say ", "שלום", " **now**", "\n")
    seen = shown(mixed, "--bidi", "visual")
    equal(Screen(seen).text(), "say םולש now", "Hebrew in English")
    demand(b"\x1b[0;1mnow" in seen, "style lost in reordering")
    equal(m.ok("run", path, "--temp", "0", "-p", "x", "--bidi", "visual").out, logical, "into a pipe")


# ---- other terminals ----------------------------------------------------------------------------


@test
def dumb_terminals_and_half_terminals():
    for more in ({"term": "dumb"}, {"term": ""}):
        t = chat(markdown_model(), ready=False, **more)
        try:
            t.until(rb"> ")
            t.send(b"hi \\\nthere\n")
            text = t.until(rb"e_n_d\r\n> ")
            t.send(b"/help\n")
            text += t.until(rb"(?s)/exit.*> ")
            text += end(t)
            demand(b"\x1b" not in text, "an escape sequence on a dumb terminal: %r" % text)
        finally:
            t.close()
    # A terminal nobody has a description of.
    t = chat(hello(), term="no-such-terminal", ready=False)
    try:
        t.until(rb">(\x1b\[0m)? ")
        t.send(b"hi\r")
        t.until(rb"there\.\r\n")
        end(t)
    finally:
        t.close()
    # Answers into a file, questions from the terminal.
    path = os.path.join(tmp, "out.txt")
    with open(path, "wb") as f:
        t = chat(markdown_model(), stdout=f.fileno())
        try:
            t.send(b"hi\r")
            t.until(READY)
            end(t)
        finally:
            t.close()
    with open(path, "rb") as f:
        demand(f.read().startswith(b"# Title\na **bold**"), "a file got something else than the model's bytes")


@test
def hostile_keys():
    t = chat(model("roomy", "Hello ", "there.", context=100000), "--no-history")
    try:
        import random
        rng = random.Random(11)
        for _ in range(30):
            # Without the keys that end, stop or send.
            data = bytes(b for b in rng.randbytes(220) if b not in (3, 4, 26, 28, 13, 10, 15, 17, 19, 22))
            t.send(data[20:] + b"\x1b[201~\x1b[200~" + data[:20].replace(b"\x1b", b"") + b"\x1b[201~")
            t.until(rb".")
            t.send(b"\x03")
            t.until(READY)
        t.send(b"x" * 5000 + b"\r")
        t.until(rb"there\.\r\n")
        t.until(READY)
        t.send(b"\x1b[200~" + b"long line\r" * 1500 + b"\x1b[201~\r")
        t.until(rb"there\.\r\n")
        t.until(READY)
        end(t)
    finally:
        t.close()


if __name__ == "__main__":
    m = Mizan(sys.argv[1])
    only = sys.argv[2:]
    with tempfile.TemporaryDirectory() as tmp:
        sys.exit(run_tests([t for t in TESTS if not only or any(o in t[0] for o in only)]))
