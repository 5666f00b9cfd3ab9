#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_templates.py TEST_JINJA PATH…: renders the templates found (files *.jinja, folders of them, *.gguf) with jinja2 and
with mizan over every conversation, and prints what differs. Needs jinja2 (make_golden.py says which)."""
import json
import os
import pathlib
import subprocess
import sys

import conversations
import oracle

os.environ["TZ"] = "UTC"
server = subprocess.Popen([sys.argv[1], "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ours(template, context):
    server.stdin.write(json.dumps({"template": template, "context": context, "now": oracle.NOW}).encode() + b"\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())


paths = []
for p in map(pathlib.Path, sys.argv[2:]):
    paths += sorted(p.rglob("*.jinja")) if p.is_dir() else [p]
total = bad = rendered = 0
for path in paths:
    template = oracle.gguf_template(path) if path.suffix == ".gguf" else path.read_text()
    differ = []
    good = 0
    for name, context in conversations.contexts():
        want, got = oracle.render(template, context), ours(template, context)
        total += 1
        good += want[0] == "output"
        if want[0] == "output" and got.get("output") != want[1]:
            differ.append((name, want[1], got))
        elif want[0] == "error" and "error" not in got:
            differ.append((name, want, got))
        elif want[0] == "error" and want[1] in ("TemplateError", "UndefinedError", "SecurityError") and want[2][:300] not in got["error"]:
            differ.append((name, want, got))
    rendered += good
    bad += len(differ)
    print(f"{path.name}: {good} rendered, {len(differ)} differ")
    for name, want, got in differ[:2]:
        print(f"   {name}\n     jinja2: {str(want)[-400:]!r}\n     mizan:  {str(got.get('output', got))[-400:]!r}")
print(f"{len(paths)} templates, {total} renders ({rendered} with output), {bad} differ")
sys.exit(bad != 0)
