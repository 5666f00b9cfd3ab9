#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line against its contract (docs/CLI.md): check_cli.py MIZAN TINY.gguf | --real MIZAN MODEL.gguf | --lint MIZAN.1

TINY.gguf is tests/golden's llama-tied, a model without a tokenizer; those with one are made here (tiny_chat.py). What
is checked: names and JSON shapes, exit statuses, one sentence for every misuse, files that cannot be read or written,
terminals, and the numbers of eval against a computation of our own from the logits. Prints TAP.
"""
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]
import tiny_chat  # noqa: E402
from harness import Failed, Mizan, Terminal, demand, equal, read_npy, run_tests, write_npy  # noqa: E402

COMMANDS = ["run", "tokenize", "detokenize", "inspect", "eval", "bench"]
TESTS = []


def test(fn):
    TESTS.append((fn.__name__.replace("_", " "), fn))
    return fn


def keys(got, want, what):
    missing = set(want) - set(got)
    demand(not missing, "%s: keys %s are missing in %s" % (what, sorted(missing), sorted(got)))


# ---- help and usage ---------------------------------------------------------------------------


@test
def help_and_version():
    demand(re.fullmatch(rb"mizan \d+\.\d+\.\d+\n", m.ok("--version").out), "--version")
    overview = m.ok("--help").out
    equal(m.ok("help").out, overview, "help")
    for c in COMMANDS:
        demand(re.search(rb"^  %s +\w" % c.encode(), overview, re.M), c + " is not in the overview")
        text = m.ok("help", c).out
        equal(m.ok(c, "--help").out, text, c + " --help")
        equal(m.ok(c, "-h").out, text, c + " -h")
        demand(text.startswith(b"usage: mizan " + c.encode() + b" "), c)
        demand(max(len(line) for line in text.decode().splitlines()[1:]) <= 100, c + ": a long line")
    r = m.any()
    equal((r.status, r.out), (2, b""), "no arguments")
    demand("usage" in r.err, "no arguments")


@test
def options_named_by_the_contract_are_in_help():
    want = {"run": "-p -f --ids --system --raw -n --temp --json --logprobs --top-k --top-p --min-p --repeat-penalty --presence-penalty "
                   "--frequency-penalty --logit-bias --seed --stop --session --color --markdown --bidi --no-history",
            "tokenize": "-p -f --special --no-bos --json --chat --text --no-generation-prompt", "detokenize": "--ids",
            "inspect": "--tensors --program --memory --json --cpu --tensor --npy",
            "eval": "--ids --logits --taps --text -c --against --json", "bench": "--prefill --decode --depth --batch -t -r --json"}
    loading = "-t --threads -c --ctx --kv --memory --isa --executor --quiet -v"
    for c, options in want.items():
        text = m.ok("help", c).out.decode()
        for o in (options + " " + (loading if c in ("run", "eval", "bench") else "")).split():
            demand(re.search(r"^ +(-\w, )?%s\b|^ +%s," % (o, o), text, re.M), "mizan help %s lacks %s" % (c, o))


@test
def wrong_usage():
    t, c = tiny, chat
    for pattern, *args in [
        (r"unknown command 'rum'; did you mean 'run'", "rum", t),
        (r"unknown command 'xyzzyfoo'", "xyzzyfoo"),
        (r"expected a command before '--temp'", "--temp"),
        (r"unknown command 'ruin'; did you mean", "help", "ruin"),
        (r"unexpected argument 'x'", "help", "run", "x"),
        (r"no model given; usage: mizan run MODEL", "run"),
        (r"no model given", "run", "-p", "x"),
        (r"the model's name is empty", "run", ""),
        (r"unexpected argument 'extra' after the model", "run", t, "extra"),
        (r"unknown option '--tmep'; did you mean '--temp'", "run", t, "--tmep", "0"),
        (r"unknown option '--topk=3'; did you mean '--top-k'", "run", t, "--topk=3"),
        (r"unknown option '-z'", "run", t, "-z"),
        (r"unknown option '--seed'", "tokenize", t, "--seed", "1"),
        (r"unknown option '---'", "run", t, "---"),
        (r"write the value as a word of its own, '-n 5'", "run", t, "-n5"),
        (r"write short options one by one", "run", t, "-vh"),
        (r"'--json' takes no value", "run", t, "--json=1"),
        (r"'--temp' needs a value: T", "run", t, "--temp"),
        (r"'-n' needs a value: N", "run", t, "-n"),
        (r"--temp: 'hot' is not a number", "run", t, "--temp", "hot"),
        (r"--temp: 'nan' is not a number", "run", t, "--temp=nan"),
        (r"--temp: '' is not a number", "run", t, "--temp="),
        (r"--temp: -1 is out of range, expected 0 to", "run", t, "--temp", "-1"),
        (r"--top-p: 1.5 is out of range, expected 0 to 1", "run", t, "--top-p", "1.5"),
        (r"--min-p: -0.1 is out of range", "run", t, "--min-p=-0.1"),
        (r"--top-k: '3.5' is not a whole number", "run", t, "--top-k", "3.5"),
        (r"--top-k: 99999999999 is out of range", "run", t, "--top-k", "99999999999"),
        (r"--top-k: '99999999999999999999999' is not", "run", t, "--top-k", "99999999999999999999999"),
        (r"-n: -2 is out of range", "run", t, "-n", "-2"),
        (r"--seed: '-1' is not a whole number from 0", "run", t, "--seed", "-1"),
        (r"--kv: 'f8' is not one of f32\|f16\|bf16\|fp8", "run", t, "--kv", "f8"),
        (r"--executor: 'gpu' is not one of reference\|workers", "run", t, "--executor", "gpu"),
        (r"--memory: '4X' is not a size", "run", t, "--memory", "4X"),
        (r"--memory: '0' is not a size", "run", t, "--memory", "0"),
        (r"--memory: '4K' is not a whole number", "inspect", t, "--memory", "4K"),
        (r"--threads: 5000 is out of range", "run", t, "--threads", "5000"),
        (r"--depth: 'x' is not a whole number from 0", "bench", t, "--depth", "1,x"),
        (r"--depth: '' is not", "bench", t, "--depth", "1,,2"),
        (r"--batch: '0' is not a whole number from 1", "bench", t, "--batch", "0"),
        (r"--ids: 'x' \(number 2 in the list\) is not a token id", "run", t, "--ids", "1,x"),
        (r"--ids: '-1' \(number 1", "run", t, "--ids", "-1"),
        (r"--ids: '99999999999'", "run", t, "--ids", "99999999999"),
        (r"--ids: the list is empty", "run", t, "--ids", ""),
        (r"--ids: the list ends in a comma", "run", t, "--ids", "1,2,"),
        (r"--ids: '' .number 2", "run", t, "--ids", "1,,2"),
        (r"--logit-bias: '5' is not ID=VALUE", "run", t, "--ids", "1", "--logit-bias", "5"),
        (r"--logit-bias: '5=nan' is not", "run", t, "--ids", "1", "--logit-bias", "5=nan"),
        (r"--stop: the text is empty", "run", t, "--ids", "1", "--stop", ""),
        (r"exclude each other", "run", t, "-p", "x", "--ids", "1"),
        (r"exclude each other", "run", t, "-p", "x", "-f", "y"),
        (r"--raw needs -p", "run", t, "--raw"),
        (r"--system needs the chat template", "run", t, "--raw", "-p", "x", "--system", "s"),
        (r"--json needs", "run", t, "--json"),
        (r"--logprobs needs --json", "run", t, "-p", "x", "--logprobs", "2"),
        (r"exclude each other", "tokenize", c, "-p", "x", "--chat", "y"),
        (r"--text needs --chat", "tokenize", c, "--text"),
        (r"--no-generation-prompt needs --chat", "tokenize", c, "--no-generation-prompt"),
        (r"no --ids given", "detokenize", c),
        (r"--cpu describes the processor", "inspect", t, "--cpu"),
        (r"go together", "inspect", t, "--tensor", "x"),
        (r"go together", "inspect", t, "--npy", "x"),
        (r"either --ids or --text", "eval", t),
        (r"either --ids or --text", "eval", t, "--ids", "1", "--text", "x"),
        (r"needs --logits or --taps", "eval", t, "--ids", "1"),
        (r"--against goes with --text", "eval", t, "--ids", "1", "--logits", "x", "--against", "y"),
        (r"go with --ids", "eval", t, "--text", "x", "--logits", "y"),
        (r"at least 2 tokens", "eval", t, "--text", "x", "-c", "1"),
        (r"unknown option '--suite'", "eval", t, "--suite", "x"),
        (r"nothing to measure|leave nothing", "bench", t, "--prefill", "0", "--decode", "0"),
        (r"-c 10 is too short", "bench", t, "-c", "10"),
    ]:
        m.bad(2, pattern, *args)


@test
def hostile_words_do_not_reach_the_terminal():
    for word in (b"\x1b[31m\x07", b"--\x1b]0;x\x07=1", b"-\xff", b"--\xc2\x9b", b"\x1b" * 5000, b"--" + b"a" * 100000):
        m.bad(2, r"unknown (command|option)|unexpected|expected a command", *([word] if word[:1] != b"-" else ["run", tiny, word]))
    m.bad(1, r"cannot open", "run", b"\x1b[31m", "--ids", "1")


@test
def spellings_of_options():
    base = m.ok("run", tiny, "--ids", "1,2,3", "-n", "4", "--temp", "0", "--json").json()["ids"]
    for args in (["--ids=1,2,3", "-n", "4", "--temp=0", "--json"], ["--temp", "1", "--temp", "0", "--ids", " 1 2,\t3 ", "--n-predict=4", "--json"],
                 ["--ids", "[1, 2, 3]", "-n", "4", "--temp", "0", "--json", "--kv", "F16"],
                 ["--ids", "1,2,3", "-n", "4", "--temp", "0e0", "--json", "--memory", "1.5GiB"]):
        equal(m.ok("run", tiny, *args).json()["ids"], base, str(args))
    equal(m.ok("run", "--ids", "1,2,3", "-n", "4", "--temp", "0", "--json", "--", tiny).json()["ids"], base, "--")
    path = os.path.join(tmp, "ids.txt")
    with open(path, "w") as f:
        f.write("[1,\n 2,\n 3]\n")
    equal(m.ok("run", tiny, "--ids", "@" + path, "-n", "4", "--temp", "0", "--json").json()["ids"], base, "@FILE")
    m.bad(1, "cannot open", "run", tiny, "--ids", "@" + path + ".none")
    dash = os.path.join(tmp, "-dash.gguf")
    if not os.path.exists(dash):
        os.symlink(tiny, dash)
    done = subprocess.run([m.binary, "run", "--ids", "1,2,3", "-n", "4", "--temp", "0", "--json", "--", "-dash.gguf"], cwd=tmp, capture_output=True)
    equal(json.loads(done.stdout)["ids"], base, "a model whose name starts with a dash")


# ---- files that are wrong ----------------------------------------------------------------------


@test
def wrong_files():
    def file(name, data):
        path = os.path.join(tmp, name)
        with open(path, "wb") as f:
            f.write(data)
        return path
    with open(tiny, "rb") as f:
        whole = f.read()
    cases = [("no such file", os.path.join(tmp, "none.gguf"), "cannot open"), ("a folder", tmp, "is a directory"),
             ("empty", file("empty.gguf", b""), "."), ("text", file("text.gguf", b"hello, I am text\n" * 10), "."),
             ("cut in the header", file("cut1.gguf", whole[:700]), "."), ("cut in the data", file("cut2.gguf", whole[:-1000]), "."),
             ("a device", "/dev/zero", "regular file")]
    for name, path, pattern in cases:
        for args in (["run", path, "--ids", "1"], ["inspect", path], ["tokenize", path, "-p", "x"], ["detokenize", path, "--ids", "1"],
                     ["eval", path, "--ids", "1", "--logits", os.path.join(tmp, "never.npy")], ["bench", path]):
            start = time.monotonic()
            m.bad(1, pattern, *args)
            demand(time.monotonic() - start < 20, "%s took %.1f s" % (name, time.monotonic() - start))
    demand(not os.path.exists(os.path.join(tmp, "never.npy")), "a result was written although the model could not be opened")
    m.bad(1, "cannot open", "run", chat, "-f", os.path.join(tmp, "none.txt"))
    m.bad(1, "director", "run", chat, "-f", tmp)
    m.bad(1, "cannot open", "tokenize", chat, "--chat", os.path.join(tmp, "none.json"))
    m.bad(1, "cannot open", "eval", chat, "--text", os.path.join(tmp, "none.txt"))


@test
def outputs_that_cannot_be_written():
    nowhere = os.path.join(tmp, "no", "such", "folder", "x.npy")
    m.bad(1, "cannot create", "eval", tiny, "--ids", "1,2", "--logits", nowhere)
    m.bad(1, "cannot create", "eval", tiny, "--ids", "1,2", "--taps", os.path.dirname(nowhere))
    m.bad(1, "not a directory", "eval", tiny, "--ids", "1,2", "--taps", tiny)
    m.bad(1, "cannot create", "inspect", tiny, "--tensor", "token_embd.weight", "--npy", nowhere)
    if os.path.exists("/dev/full"):
        for args in (["--version"], ["--help"], ["help", "run"], ["tokenize", chat, "-p", "x"], ["detokenize", chat, "--ids", "9"],
                     ["run", tiny, "--ids", "1", "-n", "2"], ["run", tiny, "--ids", "1", "-n", "2", "--json"], ["inspect", tiny], ["inspect", "--cpu"],
                     ["inspect", tiny, "--tensors", "--json"], ["run", chat, "--raw", "-p", "a", "-n", "5", "--ignore-eos"]):
            with open("/dev/full", "wb") as full:
                m.bad(1, "standard output: cannot write: No space left", *args, stdout=full)
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        m.bad(1, "standard output: cannot write: Broken pipe", "run", chat, "--raw", "-p", "a", "--ignore-eos", "--quiet", stdout=write_end)
    finally:
        os.close(write_end)


# ---- run --------------------------------------------------------------------------------------


@test
def run_json():
    r = m.ok("run", tiny, "--ids", "1,2,3", "-n", "5", "--temp", "0", "--json", "--logprobs", "3")
    equal(r.out.count(b"\n"), 1, "lines")
    j = r.json()
    keys(j, ["model", "prompt_ids", "ids", "text", "finish_reason", "timings", "logprobs"], "run")
    keys(j["timings"], ["prefill_tokens", "prefill_ms", "cached_tokens", "decode_tokens", "decode_ms", "load_ms"], "timings")
    equal((j["prompt_ids"], len(j["ids"]), j["text"], j["finish_reason"]), ([1, 2, 3], 5, "", "length"))
    equal((j["timings"]["prefill_tokens"], j["timings"]["cached_tokens"], j["timings"]["decode_tokens"]), (3, 0, 5))
    equal(len(j["logprobs"]), 5)
    for token, p in zip(j["ids"], j["logprobs"]):
        equal((p["id"], len(p["top"])), (token, 3))
        equal(p["top"][0], [token, p["logprob"]], "greedy takes the top")
        demand(p["logprob"] < 0 and p["top"][0][1] >= p["top"][1][1] >= p["top"][2][1], "order of logprobs")
    equal([q["top"] for q in m.ok("run", tiny, "--ids", "1", "-n", "2", "--json", "--logprobs", "0").json()["logprobs"]], [[], []])
    none = m.ok("run", tiny, "--ids", "1,2,3", "-n", "0", "--json").json()
    equal((none["ids"], none["finish_reason"]), ([], "length"))
    # Without a tokenizer the ids are the result.
    equal(m.ok("run", tiny, "--ids", "1,2,3", "-n", "5", "--temp", "0").out.decode().strip(), ",".join(map(str, j["ids"])))


@test
def logprobs_are_those_of_the_raw_logits():
    path = os.path.join(tmp, "lp.npy")
    args = ["--temp", "0.3", "--repeat-penalty", "1.5", "--logit-bias", "7=3", "--seed", "4"]
    j = m.ok("run", tiny, "--ids", "5,6", "-n", "6", "--json", "--logprobs", "4", *args).json()
    m.ok("eval", tiny, "--ids", ",".join(map(str, j["prompt_ids"] + j["ids"])), "--logits", path)
    (n, v), x = read_npy(path)
    for i, p in enumerate(j["logprobs"]):
        row = x[(i + 1) * v:(i + 2) * v]
        lse = math.log(sum(math.exp(y) for y in row))
        best = sorted(range(v), key=lambda k: (-row[k], k))[:4]
        equal([t[0] for t in p["top"]], best, "top ids at %d" % i)
        for k, value in p["top"] + [[p["id"], p["logprob"]]]:
            demand(abs(value - (row[k] - lse)) < 1e-6, "logprob of %d at %d" % (k, i))


@test
def run_is_deterministic_and_the_seed_counts():
    def ids(*args):
        return m.ok("run", tiny, "--ids", "3,1,4,1,5", "-n", "24", "--json", "--temp", "1", "--top-k", "0", "--top-p", "1", "--min-p", "0", *args).json()["ids"]
    base = ids("--seed", "1")
    equal(ids("--seed", "1", "-t", "1"), base, "threads")
    equal(ids("--seed", "1", "--executor", "reference"), base, "executor")
    equal(ids("--seed", "1", "--chunk", "2"), base, "chunk")
    equal(ids("--seed", "18446744073709551615"), ids("--seed", "18446744073709551615"), "the largest seed")
    demand(ids("--seed", "2") != base, "another seed gave the same answer")


@test
def the_context_is_an_end():
    j = m.ok("run", tiny, "--ids", "1,2,3", "-c", "10", "--temp", "0", "--json").json()
    equal((len(j["ids"]), j["finish_reason"]), (8, "length"))  # seven more fit; the eighth is read off the last position
    m.bad(1, r"\b10\b", "run", tiny, "--ids", ",".join(["1"] * 11), "-c", "10")
    m.bad(1, "97|vocab", "run", tiny, "--ids", "1,97")
    m.bad(1, "97|96", "run", tiny, "--ids", "1", "--logit-bias", "97=1")
    m.bad(1, "limit", "run", tiny, "--ids", "1", "--memory", "1K")
    m.bad(1, "zzz", "run", tiny, "--ids", "1", "--isa", "zzz")


@test
def prompts_need_a_tokenizer_or_a_template():
    m.bad(1, "no tokenizer.*--ids", "run", tiny, "-p", "x")
    m.bad(1, "no tokenizer", "run", tiny, "--ids", "1", "--stop", "x")
    m.bad(1, "tokenizer", "tokenize", tiny, "-p", "x")
    m.bad(1, "tokenizer", "eval", tiny, "--text", __file__)
    m.bad(1, "no chat template.*--raw", "run", bare, "-p", "x")
    m.bad(1, "no chat template.*--raw", "run", bare, stdin=b"x\n")
    m.bad(1, "template", "tokenize", bare, "--chat", conversation())
    m.ok("run", bare, "--raw", "-p", "x", "-n", "2")


def conversation(**extra):
    path = os.path.join(tmp, "conversation.json")
    with open(path, "w") as f:
        json.dump({"messages": [{"role": "user", "content": "Hello <|im_end|> é"}], **extra}, f)
    return path


@test
def run_text():
    args = ["-n", "12", "--temp", "0", "--ignore-eos"]
    j = m.ok("run", chat, "-p", "Hello", *args, "--json").json()
    want = m.ok("tokenize", chat, "--chat", os.path.join(tmp, "one.json"), "--json") if write_one("Hello") else None
    equal(j["prompt_ids"], want.json()["ids"], "prompt ids are those of tokenize --chat")
    out = m.ok("run", chat, "-p", "Hello", *args).out
    bytes_of_ids = m.ok("detokenize", chat, "--ids", ",".join(map(str, j["ids"]))).out
    equal(out, bytes_of_ids + b"\n", "the streamed text is the bytes of the ids")
    equal(j["text"], lossy(bytes_of_ids), "text")
    path = os.path.join(tmp, "prompt.txt")
    with open(path, "wb") as f:
        f.write(b"Hello")
    for more in (["-f", path], ["-f", "-"]):
        equal(m.ok("run", chat, *more, *args, "--json", stdin=b"Hello").json()["ids"], j["ids"], str(more))
    with_system = m.ok("run", chat, "-p", "Hello", "--system", "Be rude", *args, "--json").json()
    demand(with_system["prompt_ids"] != j["prompt_ids"], "--system changes nothing")
    raw = m.ok("run", chat, "--raw", "-p", "Hello", *args, "--json").json()
    equal(raw["prompt_ids"], m.ok("tokenize", chat, "-p", "Hello", "--json").json()["ids"], "--raw encodes with BOS")
    equal(raw["prompt_ids"][0], 1, "BOS")
    nul = m.ok("run", chat, "--raw", "-f", "-", *args, "--json", stdin=b"a\0\xff\nb").json()["prompt_ids"]
    equal(m.ok("detokenize", chat, "--ids", ",".join(map(str, nul))).out, b"a\0\xff\nb", "bytes as they are")
    v = m.ok("run", chat, "-p", "Hello", *args, "-v")
    demand(re.search(r"tokens/s", v.err) and v.out == out, "-v")


def write_one(content):
    with open(os.path.join(tmp, "one.json"), "w") as f:
        json.dump({"messages": [{"role": "user", "content": content}]}, f)
    return True


def lossy(data):
    """Bytes as JSON text: each byte that belongs to no character becomes U+FFFD."""
    out, i = "", 0
    while i < len(data):
        for n in (1, 2, 3, 4):
            try:
                out += data[i:i + n].decode()
                break
            except UnicodeDecodeError:
                continue
        else:
            n, out = 1, out + "\ufffd"
        i += n
    return out


@test
def stop_strings_and_ids():
    args = ["--raw", "-p", "Hello", "-n", "40", "--temp", "1", "--seed", "3", "--ignore-eos", "--json"]
    j = m.ok("run", chat, *args).json()
    data = m.ok("detokenize", chat, "--ids", ",".join(map(str, j["ids"]))).out
    printable = [i for i in range(len(data) - 1) if 33 <= data[i] < 127 and 33 <= data[i + 1] < 127]
    demand(printable, "the answer has no two printable bytes in a row; choose another seed")
    stop = data[printable[0]:printable[0] + 2].decode()
    s = m.ok("run", chat, *args, "--stop", "never said", "--stop", stop).json()
    equal((s["text"], s["finish_reason"]), (lossy(data[:data.index(stop.encode())]), "stop"))
    equal(s["ids"], j["ids"][:len(s["ids"])], "ids before the stop string")
    # The model's own stop token, made certain by a bias.
    e = m.ok("run", chat, "--raw", "-p", "Hello", "-n", "40", "--temp", "0", "--logit-bias", "2=1000", "--json").json()
    equal((e["ids"], e["text"], e["finish_reason"]), ([], "", "stop"))
    f = m.ok("run", chat, "--raw", "-p", "Hello", "-n", "3", "--temp", "0", "--logit-bias", "2=1000", "--ignore-eos", "--json").json()
    equal((f["ids"], f["finish_reason"]), ([2, 2, 2], "length"))
    b = m.ok("run", tiny, "--ids", "1,2,3", "-n", "5", "--temp", "0", "--json").json()["ids"]
    g = m.ok("run", tiny, "--ids", "1,2,3", "-n", "5", "--temp", "0", "--json", "--logit-bias", "%d=-inf" % b[0]).json()["ids"]
    demand(b[0] not in g, "a forbidden token came")


# ---- chat (on a terminal: check_terminal.py) -----------------------------------------------------

# Printable ASCII only: then what the model said is in the conversation as it said it.
CHAT_ARGS = ["--temp", "0"]
for _id in [0, 2] + [3 + b for b in range(256) if not 33 <= b < 127]:
    CHAT_ARGS += ["--logit-bias", "%d=-inf" % _id]


@test
def chat_from_a_pipe():
    r = m.ok("run", chat, *CHAT_ARGS, "-n", "6", stdin=b"Hello\n\n/reset\r\nlast")
    equal(r.err, "", "standard error")
    # The same by hand: each answer goes into the history, in the very tokens the model chose.
    messages, want, held = [], b"", []
    for text in ("Hello", "/reset", "last"):
        messages.append({"role": "user", "content": text})
        path = os.path.join(tmp, "history.json")
        with open(path, "w") as f:
            json.dump({"messages": messages}, f)
        ids = m.ok("tokenize", chat, "--chat", path, "--json").json()["ids"]
        if held:
            ends = [i for i, token in enumerate(ids) if token == 2]
            ids = held + ids[ends[len(messages) - 1]:]  # system, then the messages before this one
        j = m.ok("run", chat, "--ids", ",".join(map(str, ids)), "-n", "6", *CHAT_ARGS, "--json").json()
        held = ids + j["ids"]
        messages.append({"role": "assistant", "content": j["text"]})
        want += m.ok("detokenize", chat, "--ids", ",".join(map(str, j["ids"]))).out + b"\n"
    equal(r.out, want, "answers")
    equal(m.ok("run", chat, stdin=b"").out, b"", "nothing asked, nothing said")
    full = m.any("run", chat, "-c", "16", stdin=b"a longer question than fits the context\nx\n")
    equal(full.status, 1, "a question that does not fit")


@test
def control_characters_are_shown_not_sent():
    ids = [3 + order for order in byte_order()]  # all bytes, one token each
    args = ["detokenize", chat, "--ids", ",".join(map(str, ids + [3 + byte_order()[0xC2], 3 + byte_order()[0x9B]]))]
    equal(m.ok(*args).out, bytes(range(256)) + b"\xc2\x9b", "into a pipe bytes go as they are")
    t = Terminal(m, *args)
    try:
        status, text = t.rest()
        equal(status, 0)
        text = text.replace(b"\r\n", b"\n")
        bad = [c for c in text.decode() if (c < " " and c not in "\t\n") or "\x7f" <= c < "\xa0"]
        demand(not bad, "raw control characters %r in %r" % (bad, text))
        equal(text.count("\ufffd".encode()), 128, "bytes that are not UTF-8")
        for shown in (b"^[", b"^G", b"^?", b"\\u009b", b"^M", b"^@"):
            demand(shown in text, "%r is not in %r" % (shown, text))
    finally:
        t.close()


def byte_order():
    """Place of each byte among the vocabulary's byte tokens: tiny_text lists bytes 0..255 in order."""
    return list(range(256))


# ---- tokenize and detokenize ---------------------------------------------------------------------


@test
def tokenize():
    j = m.ok("tokenize", chat, "-p", "Hello!", "--json").json()
    keys(j, ["ids", "pieces"], "tokenize")
    equal(j["ids"], [1, 3 + 256 + 3, 3 + ord("!")])
    equal(j["pieces"], ["<|im_start|>", "Hello", "!"])
    equal(m.ok("tokenize", chat, "-p", "Hello!").out, b"1,262,36\n")
    equal(m.ok("tokenize", chat, "-p", "Hello!", "--no-bos").out, b"262,36\n")
    equal(m.ok("tokenize", chat, "--no-bos", stdin=b"Hello!").out, b"262,36\n", "standard input")
    equal(m.ok("tokenize", chat, "-p", "", "--no-bos", "--json").json(), {"ids": [], "pieces": []})
    plain = m.ok("tokenize", chat, "-p", "<|im_end|>", "--no-bos", "--json").json()["ids"]
    demand(2 not in plain and len(plain) > 1, "a special token was parsed out of user text")
    equal(m.ok("tokenize", chat, "-p", "<|im_end|>", "--no-bos", "--special", "--json").json()["ids"], [2])
    rng = random.Random(5)
    for data in (bytes(range(256)), "Grüße, 世界 🎈".encode(), b"\xff\xfe\0\0", rng.randbytes(2000)):
        ids = m.ok("tokenize", chat, stdin=data).out.decode().strip()
        equal(m.ok("detokenize", chat, "--ids", ids).out, data, "round trip")
        m.ok("tokenize", chat, "--json", stdin=data).json()  # is valid JSON
    equal(m.ok("detokenize", chat, "--ids", "1,262,2", "--special").out, b"<|im_start|>Hello<|im_end|>")
    equal(m.ok("detokenize", chat, "--ids", "1,262,2").out, b"Hello")
    m.bad(1, "263|vocab", "detokenize", chat, "--ids", "5,263")


@test
def tokenize_chat():
    path = conversation()
    text = m.ok("tokenize", chat, "--chat", path, "--text").out.decode()
    equal(text, "<|im_start|>system\nBe kind<|im_end|>\n<|im_start|>user\nHello <|im_end|> é<|im_end|>\n<|im_start|>assistant\n")
    j = m.ok("tokenize", chat, "--chat", path, "--json").json()
    keys(j, ["ids", "pieces", "text"], "tokenize --chat")
    equal(j["text"], text)
    equal(j["ids"].count(2), 2, "the user's <|im_end|> must stay text")
    equal("".join(j["pieces"]).replace("\ufffd", ""), text.replace("é", ""))
    equal(m.ok("tokenize", chat, "--chat", path).out.decode(), ",".join(map(str, j["ids"])) + "\n")
    short = m.ok("tokenize", chat, "--chat", path, "--text", "--no-generation-prompt").out.decode()
    equal(short + "<|im_start|>assistant\n", text)
    for data in (b"", b"{", b"[]", b'{"messages": 3}', b'{"messages": [{"role": 1}]}', b"\xff"):
        bad = os.path.join(tmp, "bad.json")
        with open(bad, "wb") as f:
            f.write(data)
        m.bad(1, ".", "tokenize", chat, "--chat", bad)


# ---- inspect ----------------------------------------------------------------------------------


@test
def inspect():
    j = m.ok("inspect", tiny, "--json").json()
    keys(j, ["family", "parameters", "active_parameters", "file_bytes", "formats", "context_length", "vocab_size", "state", "tokenizer",
             "template"], "inspect")
    keys(j["state"], ["bytes_per_token", "fixed_bytes", "by_kind"], "state")
    equal((j["family"], j["file_bytes"], j["vocab_size"], j["template"]), ("llama", os.path.getsize(tiny), 97, False))
    equal(list(j["formats"]), ["F32"])
    equal(sum(j["state"]["by_kind"].values()), j["state"]["bytes_per_token"])
    equal(m.ok("inspect", tiny, "--json", "--kv", "f32").json()["state"]["bytes_per_token"], 2 * j["state"]["bytes_per_token"])
    equal(m.ok("inspect", chat, "--json").json()["template"], True)
    with_memory = m.ok("inspect", tiny, "--json", "--memory", "1000").json()
    keys(with_memory, ["memory"], "inspect --memory")
    tensors = m.ok("inspect", tiny, "--json", "--tensors").json()["tensors"]
    equal(sum(t["bytes"] for t in tensors), sum(j["formats"].values()))
    embd = [t for t in tensors if t["name"] == "token_embd.weight"][0]
    equal((embd["type"], embd["shape"], embd["bytes"]), ("F32", [97, 64], 97 * 64 * 4))
    equal(len(m.ok("inspect", tiny, "--tensors").out.splitlines()), len(tensors), "one line each")
    program = m.ok("inspect", tiny, "--program").out.decode()
    demand("rms_norm" in program and program == m.ok("inspect", tiny, "--program", "--json").json()["program"], "--program")
    text = m.ok("inspect", tiny).out.decode()
    for word in ("family", "llama", "parameters", "F32", "context_length", "vocab_size", "template"):
        demand(word in text, word + " is not in the description")
    m.bad(1, "no_such|f64", "inspect", tiny, "--kv", "f16", "--tensor", "no_such", "--npy", os.path.join(tmp, "x.npy"))


@test
def inspect_tensor():
    path = os.path.join(tmp, "embd.npy")
    equal(m.ok("inspect", tiny, "--tensor", "token_embd.weight", "--npy", path).out, b"")
    shape, values = read_npy(path)
    equal(shape, (97, 64))
    with open(tiny, "rb") as f:
        data = f.read()
    import struct
    first = struct.pack("<8f", *values[:8])
    at = data.index(first)
    equal(data[at:at + 4 * len(values)], struct.pack("<%df" % len(values), *values), "F32 values as they are stored")


@test
def inspect_cpu():
    j = m.ok("inspect", "--cpu", "--json").json()
    keys(j, ["isa", "kernels"], "inspect --cpu")
    for name, k in j["kernels"].items():
        keys(k, ["one", "many"], name)
    ref = m.ok("inspect", "--cpu", "--isa", "ref", "--json").json()
    equal(ref["isa"], "ref")
    text = m.ok("inspect", "--cpu").out.decode()
    demand("one row" in text and all(k in text for k in j["kernels"]), "table")
    m.bad(1, "zzz", "inspect", "--cpu", "--isa", "zzz")


# ---- eval -------------------------------------------------------------------------------------


@test
def eval_logits_and_taps():
    path, taps = os.path.join(tmp, "l.npy"), os.path.join(tmp, "taps")
    equal(m.ok("eval", tiny, "--ids", "1,2,3,4,5", "--logits", path, "--taps", taps).out, b"")
    shape, values = read_npy(path)
    equal(shape, (5, 97))
    names = sorted(os.listdir(taps))
    want = ["%d.%s.npy" % (layer, name) for layer in range(3) for name in ("attn_in", "attn_out", "ffn_out", "resid")] + ["0.embed.npy", "final.norm.npy"]
    equal(names, sorted(want))
    for name in names:
        equal(read_npy(os.path.join(taps, name))[0], (5, 64), name)
    again = os.path.join(tmp, "l2.npy")
    j = m.ok("eval", tiny, "--ids", "1,2,3,4,5", "--logits", again, "--json", "--chunk", "2", "-t", "1").json()
    equal((j["tokens"], j["vocab_size"]), (5, 97))
    with open(path, "rb") as a, open(again, "rb") as b:
        equal(a.read(), b.read(), "logits with another chunk and number of threads")
    only = os.path.join(tmp, "only")
    m.ok("eval", tiny, "--ids", "1", "--taps", only)
    demand(len(os.listdir(only)) == len(want), "--taps alone")


TEXT = b"Hello, this is a text; it says little.\nHello again, \xc3\xa9\xff and so on. " * 3


def text_file():
    path = os.path.join(tmp, "text.txt")
    with open(path, "wb") as f:
        f.write(TEXT)
    return path


def window_logits(model, ids):
    path = os.path.join(tmp, "w.npy")
    m.ok("eval", model, "--ids", ",".join(map(str, ids)), "--logits", path)
    (n, v), x = read_npy(path)
    return [x[i * v:(i + 1) * v] for i in range(n)]


def log_softmax(row):
    top = max(row)
    lse = top + math.log(math.fsum(math.exp(x - top) for x in row))
    return [x - lse for x in row]


def quantile(v, q):
    at = q * (len(v) - 1)
    i = int(at)
    return v[i] if i + 1 == len(v) else v[i] + (at - i) * (v[i + 1] - v[i])


@test
def eval_text_agrees_with_the_logits():
    ids = m.ok("tokenize", chat, "--no-bos", "-f", text_file(), "--json").json()["ids"]
    nll, kl, same, rows = [], [], 0, []
    body = 63  # windows of 64 with the BOS
    windows = [[1] + ids[i:i + body] for i in range(0, len(ids), body)]
    demand(len(windows) > 2 and len(windows[-1]) not in (1, 64), "choose a text with a short last window")
    for w in windows:
        for pos, (a, b) in enumerate(zip(window_logits(chat, w), window_logits(other, w))):
            rows.append(b)
            if pos + 1 == len(w):
                continue
            p, q = log_softmax(a), log_softmax(b)
            nll.append(-p[w[pos + 1]])
            kl.append(math.fsum(math.exp(y) * (y - x) for x, y in zip(p, q)))
            same += p.index(max(p)) == q.index(max(q))
    j = m.ok("eval", chat, "--text", text_file(), "-c", "64", "--against", other, "--json").json()
    keys(j, ["tokens", "perplexity", "nll", "kl", "top1_agreement"], "eval --text")
    equal(j["tokens"], len(nll))
    mean = math.fsum(nll) / len(nll)
    kl.sort()
    want = {"nll": mean, "perplexity": math.exp(mean), "top1_agreement": same / len(nll)}
    want_kl = {"mean": math.fsum(kl) / len(kl), "median": quantile(kl, .5), "p99": quantile(kl, .99), "p999": quantile(kl, .999), "max": kl[-1]}
    demand(want_kl["mean"] > 1e-3 and 0 < want["top1_agreement"] < 1, "the two models hardly differ: %r %r" % (want_kl, want))
    for got, expected in ((j, want), (j["kl"], want_kl)):
        for k, v in expected.items():
            demand(abs(got[k] - v) <= 1e-7 * max(1, abs(v)), "%s: got %r, want %r" % (k, got[k], v))
    # The same reference from files: every position, and only the scored ones.
    path = os.path.join(tmp, "ref.npy")
    v = len(rows[0])
    write_npy(path, (len(rows), v), [x for r in rows for x in r])
    equal(m.ok("eval", chat, "--text", text_file(), "-c", "64", "--against", path, "--json").json(), j, "all rows")
    at, scored = 0, []
    for w in windows:
        scored += rows[at:at + len(w) - 1]
        at += len(w)
    write_npy(path, (len(scored), v), [x for r in scored for x in r])
    equal(m.ok("eval", chat, "--text", text_file(), "-c", "64", "--against", path, "--json").json(), j, "scored rows")
    alone = m.ok("eval", chat, "--text", text_file(), "-c", "64", "--json").json()
    demand("kl" not in alone and alone["nll"] == j["nll"], "without a reference")
    itself = m.ok("eval", chat, "--text", text_file(), "--against", chat, "--json").json()
    equal((itself["kl"]["max"], itself["top1_agreement"]), (0.0, 1.0), "against itself")
    human = m.ok("eval", chat, "--text", text_file(), "-c", "64", "--against", other).out.decode()
    demand("perplexity" in human and "%.4f" % j["perplexity"] in human and "%.6f" % j["kl"]["mean"] in human, "table")


@test
def eval_text_refuses():
    path = os.path.join(tmp, "refuse.npy")
    args = ["eval", chat, "--text", text_file(), "-c", "64", "--against"]
    for shape, n, more, pattern in [((3, 263), 3 * 263, {}, "3 rows"), ((3, 97), 3 * 97, {}, "97 logits a row"), ((263,), 263, {}, "1 dimensions"),
                                    ((3, 263), 3 * 263 - 1, {}, "states 3 x 263"), ((3, 263), 3 * 263, {"descr": "<f8"}, "'<f8'"),
                                    ((3, 263), 3 * 263, {"order": "True"}, "Fortran"), ((2 ** 62, 2 ** 62), 4, {}, "states")]:
        write_npy(path, shape, [0.0] * n, **more)
        m.bad(1, pattern, *args, path)
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00\xff\xffabc")
    m.bad(1, "truncated", *args, path)
    m.bad(1, "vocabulary", *args, tiny)
    empty = os.path.join(tmp, "empty.txt")
    open(empty, "wb").close()
    m.bad(1, "at least 2", "eval", chat, "--text", empty)


# ---- bench ------------------------------------------------------------------------------------


@test
def bench():
    args = ["bench", chat, "--prefill", "8", "--decode", "4", "--depth", "0,20", "--batch", "1,3", "-r", "2", "-t", "1"]
    j = m.ok(*args, "--json").json()
    keys(j, ["results", "machine"], "bench")
    equal([(r["test"], r["tokens"], r["depth"], r["batch"]) for r in j["results"]],
          [("prefill", 8, 0, 1), ("prefill", 8, 20, 1), ("decode", 4, 0, 1), ("decode", 4, 0, 3), ("decode", 4, 20, 1), ("decode", 4, 20, 3)])
    for r in j["results"]:
        s = r["tok_s"]
        demand(0 < s["min"] <= s["median"] <= s["max"], "order of %r" % s)
        demand(r["bound_by"] in ("memory", "compute") and r["bound_tok_s"] > 0, "bound of %r" % r)
        equal([r.get(k) for k in ("syscalls_per_tok", "allocs_per_tok")], [0, 0] if r["test"] == "decode" else [None, None], "one thread alone")
    keys(j["machine"], ["cpu", "threads", "isa", "bandwidth_gbps", "peak_gops", "peak_of", "fma_gflops", "governor", "executor", "kv", "compiler",
                        "version"], "machine")
    equal(j["machine"]["threads"], 1)
    demand(j["machine"]["bandwidth_gbps"] > 0.1 and j["machine"]["peak_gops"] > 0.01 and j["machine"]["fma_gflops"] > 0.01, "machine")
    table = m.ok("bench", chat, "--prefill", "8", "--decode", "0", "-r", "1", "--quiet").out.decode()
    demand("prefill" in table and "decode" not in table and "bound" in table, "table")


# ---- the real model ------------------------------------------------------------------------------


def real_tests(model):
    def tokens():
        equal(m.ok("tokenize", model, "-p", "Hello world").out, b"19556,905\n")
        equal(m.ok("detokenize", model, "--ids", "19556,905").out, b"Hello world")

    def describes():
        j = m.ok("inspect", model, "--json").json()
        equal((j["family"], j["parameters"], j["vocab_size"], j["template"]), ("llama", 134515008, 49152, True))

    def answers():
        j = m.ok("run", model, "-p", "What is 2+2?", "--temp", "0", "-n", "40", "--json").json()
        demand("4" in j["text"], "answer %r" % j["text"])
        equal(j["timings"]["prefill_tokens"], len(j["prompt_ids"]))
        out = m.ok("run", model, "-p", "What is 2+2?", "--temp", "0", "-n", "40").out.decode()
        equal(out, j["text"] + "\n")

    def remembers():
        r = m.ok("run", model, "--temp", "0", "-n", "30", "-v", stdin=b"My name is Bob.\nWhat is my name?\n")
        cached = [int(x) for x in re.findall(r"\((\d+) cached\)", r.err)]
        demand(len(cached) == 2 and cached[0] == 0 and cached[1] > 20, "the second question found %r tokens cached" % cached)

    return [("real model: tokens", tokens), ("real model: inspect", describes), ("real model: answers", answers),
            ("real model: a chat keeps its state", remembers)]


def lint(page):
    def mandoc():
        done = subprocess.run(["mandoc", "-T", "lint", page], capture_output=True, text=True)
        equal((done.returncode, done.stdout + done.stderr), (0, ""), "mandoc -T lint")

    def has_every_command():
        with open(page) as f:
            text = f.read()
        for c in COMMANDS:
            demand(".Ss mizan %s\n" % c in text, c + " is not in the manual")
    return [("the manual passes mandoc -T lint", mandoc), ("the manual has every command", has_every_command)]


if __name__ == "__main__":
    if sys.argv[1] == "--lint":
        sys.exit(run_tests(lint(sys.argv[2])))
    if sys.argv[1] == "--real":
        m = Mizan(sys.argv[2])
        sys.exit(run_tests(real_tests(sys.argv[3])))
    m, tiny = Mizan(sys.argv[1]), os.path.abspath(sys.argv[2])
    only = sys.argv[3:]
    with tempfile.TemporaryDirectory() as tmp:
        chat, other, bare = (os.path.join(tmp, n) for n in ("chat.gguf", "other.gguf", "bare.gguf"))
        tiny_chat.write(chat)
        tiny_chat.write(other, other=True)
        tiny_chat.write(bare, with_template=False)
        sys.exit(run_tests([t for t in TESTS if not only or any(o in t[0] for o in only)]))
