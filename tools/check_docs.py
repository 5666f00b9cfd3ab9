#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples in README and docs: check_docs.py --binary build/mizan --model FILE [ROOT] | --self-test

A fence that opens with ```console test holds commands and what they print:

    ```console test
    $ build/mizan detokenize models/SmolLM2-135M-Instruct.Q4_1.gguf --ids 19556
    Hello
    ```

Lines starting with "$ " are run by sh, in order, in a scratch folder where build/mizan, models/ and bench/ are
links to the real ones. The lines that follow are the expected output (standard output and error together); "…" stands for
any run of characters within a line, and a line that is only "…" for any number of lines. "$ cmd  # exit 1"
expects that exit status; without it 0 is expected. Every relative link in the documents must lead to a file.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```console test\n(.*?)^```$", re.S | re.M)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
EXIT = re.compile(r"\s+# exit (\d+)$")


def split_commands(block):
    """[(command, exit status, expected lines)]"""
    commands = []
    for line in block.splitlines():
        if line.startswith("$ "):
            status = EXIT.search(line)
            commands.append((EXIT.sub("", line[2:]), int(status[1]) if status else 0, []))
        elif commands:
            commands[-1][2].append(line)
        else:
            raise SystemExit(f"check_docs: a test fence starts with {line!r}, expected a line '$ command'")
    return commands


def agrees(expected, got):
    """expected: lines with "…"; got: text."""
    pattern = ""
    for line in expected:
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ \t]*\n"
    text = got if got.endswith("\n") or not got else got + "\n"
    return re.fullmatch(pattern, text) is not None


def run_document(path, cwd):
    """Number of commands, list of faults."""
    n, faults = 0, []
    text = path.read_text(encoding="utf-8")
    for fence in FENCE.finditer(text):
        number = text.count("\n", 0, fence.start()) + 1
        for command, status, expected in split_commands(fence[1]):
            n += 1
            try:
                run = subprocess.run(["sh", "-c", command], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, timeout=120, check=False)
            except subprocess.TimeoutExpired:
                faults.append(f"{path}:{number}: $ {command}\n  did not end within two minutes")
                continue
            got = run.stdout.decode("utf-8", "replace")
            if run.returncode != status:
                faults.append(f"{path}:{number}: $ {command}\n  exit status {run.returncode}, expected {status}\n{got}")
            elif not agrees(expected, got):
                faults.append(f"{path}:{number}: $ {command}\n  expected:\n" + "\n".join(expected) + f"\n  got:\n{got}")
    return n, faults


def dead_links(path):
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
    return [f"{path}: the link {target} leads nowhere" for target in LINK.findall(text)
            if "://" not in target and not target.startswith("mailto:") and not (path.parent / target).exists()]


def check(root, binary, model):
    documents = sorted(root.glob("*.md")) + sorted((root / "docs").glob("*.md"))
    n, faults = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        cwd = pathlib.Path(scratch)
        (cwd / "build").mkdir()
        if (root / "bench").is_dir():
            (cwd / "bench").symlink_to((root / "bench").resolve())
        (cwd / "models").mkdir()
        if binary:
            (cwd / "build" / "mizan").symlink_to(binary.resolve())
        if model:
            (cwd / "models" / model.name).symlink_to(model.resolve())
        for path in documents:
            n_run, found = run_document(path, cwd)
            n += n_run
            faults += found + dead_links(path)
    return len(documents), n, faults


def self_test():
    """Right examples pass, each wrong one fails."""
    cases = [
        ("$ echo one\none\n", True), ("$ echo one\ntwo\n", False), ("$ echo one\n", False), ("$ true\nx\n", False),
        ("$ false\n", False), ("$ false  # exit 1\n", True), ("$ exit 2  # exit 1\n", False),
        ("$ echo 'took 12 ms'\ntook … ms\n", True), ("$ echo 'took 12 s'\ntook … ms\n", False),
        ("$ printf 'a\\nb\\nc\\n'\na\n…\nc\n", True), ("$ printf 'a\\nb\\nd\\n'\na\n…\nc\n", False),
        ("$ echo out; echo err >&2\nout\nerr\n", True), ("$ printf x > f\n$ cat f\nx\n", True),
    ]
    bad = 0
    for block, good in cases:
        with tempfile.TemporaryDirectory() as root:
            path = pathlib.Path(root)
            (path / "a.md").write_text(f"text\n\n```console test\n{block}```\n\n```console\n$ false\n```\n", encoding="utf-8")
            _, n, faults = check(path, None, None)
            if n == 0 or bool(faults) == good:
                print(f"check_docs self-test: {block!r}: {faults}", file=sys.stderr)
                bad += 1
    with tempfile.TemporaryDirectory() as root:
        path = pathlib.Path(root)
        (path / "a.md").write_text("[x](b.md) [y](a.md) [z](https://example.org/)\n", encoding="utf-8")
        if len(check(path, None, None)[2]) != 1:
            print("check_docs self-test: dead link not found", file=sys.stderr)
            bad += 1
    print(f"check_docs self-test: {len(cases) + 1} cases, {bad} wrong")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description="runs the examples in the documents")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--binary", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    for what, path in (("--binary", args.binary), ("--model", args.model)):
        if path is None or not path.exists():
            print(f"check_docs: {what} {path}: no such file" + (" (tools/fetch_model.py brings the model)" if what == "--model" else ""),
                  file=sys.stderr)
            return 1
    n_doc, n, faults = check(args.root, args.binary, args.model)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"check_docs: {n_doc} documents, {n} commands run, {len(faults)} faults")
    return 1 if faults or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
