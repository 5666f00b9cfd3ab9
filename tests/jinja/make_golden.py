#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_golden.py MODEL.gguf [--check]: writes golden.json, what jinja2 makes of snippets.py and of real templates:
the one in MODEL (SmolLM2-135M-Instruct, Apache-2.0), own.jinja, and own_turns.jinja (Gemma's manner) and own_reason.jinja (that of
Qwen 3 and SmolLM 3). With --check nothing is written; the exit status says
whether the file is what would be written.

Needs jinja2==3.1.6 (pip install jinja2==3.1.6 in an environment of its own); the tests themselves do not."""
import json
import os
import pathlib
import sys
import time

os.environ["TZ"] = "UTC"
time.tzset()
import jinja2

import conversations
import oracle
import snippets

HERE = pathlib.Path(__file__).parent
assert jinja2.__version__ == "3.1.6", "the golden file is pinned to jinja2 3.1.6"


def case(name, template, context, shown_template, shown_context):
    kind, *rest = oracle.render(template, context)
    c = {"name": name, "template": shown_template, "context": shown_context}
    if kind == "output":
        c["output"] = rest[0]
    else:
        c["error"] = True
        if rest[0] in ("TemplateError", "UndefinedError"):
            c["message"] = rest[1]
    return c


cases = []
for name, template, fails in snippets.snippets():
    c = case(name, template, snippets.CONTEXT, template, "snippets")
    if fails != ("error" in c):
        print(f"note: {name} {'renders' if fails else 'fails'}: {template!r}: {c.get('message', c.get('output'))!r}")
    cases.append(c)
contexts = dict(conversations.contexts())
templates = {"SmolLM2": oracle.gguf_template(sys.argv[1])} | {p.stem: p.read_text() for p in sorted(HERE.glob("own*.jinja"))}
OPTIONS = {"own_turns": ("plain", "no_gen"), "own_reason": ("plain", "no_gen", "tools", "think", "no_think")}
for t, template in templates.items():
    for name, context in contexts.items():
        if t in OPTIONS and (name.split("/")[1] not in OPTIONS[t] or name.startswith("long/")):
            continue
        cases.append(case(f"{t} {name}", template, context, {"name": t}, name))
contexts["snippets"] = snippets.CONTEXT
text = json.dumps({"now": oracle.NOW, "templates": templates, "contexts": contexts, "cases": cases}, ensure_ascii=False, indent=0,
                  separators=(",", ":")) + "\n"
path = HERE / "golden.json"
if "--check" in sys.argv:
    sys.exit(path.read_text() != text)
path.write_text(text)
print(f"{len(cases)} cases, {sum('error' in c for c in cases)} of them errors, {len(text)} bytes")
