#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on an #include against the layer table of docs/ARCHITECTURE.md: check_layers.py [ROOT] | --self-test

The table is read from the document, so the rule and its description cannot part. A file in src/ may include its
own folder, base/, and the folders named in backquotes in the last column of its row; the public headers
(<mizan/...>) are open to all. Some system headers belong to one folder each. Beside the edges a few rules of
docs/STYLE.md that a look at the text can decide: licence line, unique file names, no printing or exiting
outside cli/, no environment variables, no open-ended TODO.
"""
import os
import re
import sys
import tempfile

# System header prefix -> the folders that may include it.
FENCED = {
    "event2/": {"serve"}, "curl/": {"net"}, "sqlite3.h": {"route"}, "hwloc": {"base"}, "xxhash.h": {"base"},
    "CL/": {"dev"}, "mpi.h": {"dist"},
}
ISA_HEADERS = re.compile(r"^(\w+intrin|arm_\w+|cpuid)\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
ROW = re.compile(r"^\|\s*`src/(\w+)/`\s*\|.*\|([^|]*)\|\s*$")
# Calls that only the command line may make.
PRINTS = re.compile(r"\b(printf|puts|putchar|vprintf|perror|exit|_exit|getenv|secure_getenv)\s*\(|\bf(?:printf|puts|putc)\s*\([^;]*\bstd(?:out|err)\b")
TODO = re.compile(r"\b(TODO|FIXME|XXX)\b(?!.*#\d)")


def read_table(root):
    """Folder -> set of folders it may include."""
    table = {}
    with open(os.path.join(root, "docs", "ARCHITECTURE.md"), encoding="utf-8") as f:
        for line in f:
            row = ROW.match(line)
            if row:
                table[row[1]] = set(re.findall(r"`(\w+)`", row[2]))
    if not table:
        raise SystemExit("check_layers: docs/ARCHITECTURE.md holds no layer table")
    unknown = {(a, b) for a, allowed in table.items() for b in allowed if b not in table}
    if unknown:
        raise SystemExit(f"check_layers: the layer table names folders without a row: {sorted(unknown)}")
    return table


def strip_comments(text):
    """Blanks comments, string and character literals; keeps line breaks."""
    pattern = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def check_file(root, path, table, faults):
    rel = os.path.relpath(path, root)
    folder = rel.split(os.sep)[1]
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if not text.startswith("/* SPDX-License-Identifier: Apache-2.0"):
        faults.append(f"{rel}:1: the first line is not the licence line")
    for number, line in enumerate(text.splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            check_include(rel, number, folder, found, table, faults)
        if TODO.search(line):
            faults.append(f"{rel}:{number}: a TODO without an issue number")
    for number, line in enumerate(strip_comments(text).splitlines(), 1):
        if folder != "cli" and PRINTS.search(line):
            faults.append(f"{rel}:{number}: only cli/ prints, exits or reads the environment: {line.strip()}")


def check_include(rel, number, folder, found, table, faults):
    system, name = found[1] == "<", found[2]
    if system:
        for prefix, owners in FENCED.items():
            if name.startswith(prefix) and folder not in owners:
                faults.append(f"{rel}:{number}: <{name}> belongs to {', '.join(sorted(owners))}/ alone")
        if ISA_HEADERS.match(name) and not re.match(r"src/kern/(x86|arm)/", rel):
            # Finding out what the processor offers is base's or the dispatcher's work and needs cpuid.h only.
            if not (name == "cpuid.h" and folder in ("base", "kern")):
                faults.append(f"{rel}:{number}: intrinsics (<{name}>) only in src/kern/<isa>/")
        return
    if "/" not in name:
        # A sibling by its bare name.
        return
    target = name.split("/")[0]
    if target not in table:
        faults.append(f"{rel}:{number}: \"{name}\" lies in no folder of the layer table")
    elif target not in {folder, "base"} | table[folder]:
        allowed = ", ".join(sorted(table[folder] | {"base", folder}))
        faults.append(f"{rel}:{number}: {folder}/ may not include \"{name}\" (it may use: {allowed})")


def check_tree(root):
    table, faults, seen = read_table(root), [], {}
    n_file = 0
    for top in ("src", "include"):
        for where, folders, files in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(files):
                if not name.endswith((".c", ".h")):
                    continue
                path = os.path.join(where, name)
                rel = os.path.relpath(path, root)
                if top == "include":
                    check_public(root, path, faults)
                    n_file += 1
                    continue
                n_file += 1
                if name in seen:
                    faults.append(f"{rel}: {seen[name]} has the same file name")
                seen[name] = rel
                if rel.split(os.sep)[1] not in table:
                    faults.append(f"{rel}: its folder has no row in the layer table")
                    continue
                check_file(root, path, table, faults)
    return n_file, faults


def check_public(root, path, faults):
    """Public headers include the C library and each other, nothing else."""
    rel = os.path.relpath(path, root)
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            found = INCLUDE.match(line)
            if found and (found[1] == '"' or ("/" in found[2] and not found[2].startswith("mizan/"))):
                faults.append(f"{rel}:{number}: a public header may include only <mizan/...> and the C library")


def self_test():
    """A seeded violation of each rule must be found, and the clean tree must pass."""
    lic = "/* SPDX-License-Identifier: Apache-2.0 */\n"
    doc = "| `src/base/` | x | libc |\n| `src/fmt/` | x | `base` |\n| `src/kern/` | x | `base`, `fmt` |\n| `src/cli/` | x | public headers |\n"
    clean = {"docs/ARCHITECTURE.md": doc, "src/base/a.h": lic, "src/fmt/b.c": lic + '#include "base/a.h"\n',
             "src/kern/c.c": lic + '#include "fmt/b.h"\n#include "c.h"\n/* printf("x") */\n', "include/mizan/m.h": "#include <stdint.h>\n",
             "src/cli/main.c": lic + 'void f(void) { printf("x"); }\n'}
    seeds = {
        "upward edge": {"src/fmt/b.c": lic + '#include "kern/c.h"\n'},
        "private header in cli": {"src/cli/main.c": lic + '#include "kern/c.h"\n'},
        "unknown folder": {"src/kern/d.c": lic + '#include "nowhere/x.h"\n'},
        "folder without a row": {"src/odd/o.c": lic},
        "fenced header": {"src/kern/d.c": lic + "#include <curl/curl.h>\n"},
        "intrinsics outside an ISA folder": {"src/kern/d.c": lic + "#include <immintrin.h>\n"},
        "no licence line": {"src/kern/d.c": "int x;\n"},
        "two files of one name": {"src/kern/a.h": lic},
        "print in a library": {"src/kern/d.c": lic + 'void f(void) { fprintf(stderr, "x"); }\n'},
        "environment": {"src/base/e.c": lic + 'const char *f(void) { return getenv("X"); }\n'},
        "bare TODO": {"src/base/e.c": lic + "/* TODO later */\n"},
        "private include in a public header": {"include/mizan/m.h": '#include "base/a.h"\n'},
    }
    bad = 0
    for what, change in {"clean": {}, **seeds}.items():
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**clean, **change}.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as f:
                    f.write(text)
            _, faults = check_tree(root)
            if bool(faults) != (what != "clean"):
                print(f"check_layers self-test: {what}: {faults or 'not found'}", file=sys.stderr)
                bad += 1
    print(f"check_layers self-test: {len(seeds)} seeded violations, {bad} missed")
    return 1 if bad else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    n_file, faults = check_tree(root)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"check_layers: {n_file} files, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
