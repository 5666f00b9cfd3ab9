# SPDX-License-Identifier: Apache-2.0
"""jinja2 set up as transformers 5 sets it up for apply_chat_template, and reading templates out of GGUF files.
Needs jinja2 (see make_golden.py); nothing else outside the standard library."""
import contextlib
import datetime
import functools
import json
import struct

import jinja2
import jinja2.ext
import jinja2.sandbox

NOW = 1735689600  # 2025-01-01 00:00:00 UTC; both sides run with TZ=UTC


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_support"), [], [], body).set_lineno(lineno)

    @jinja2.pass_eval_context
    def _support(self, context, caller):
        return caller()


class TemplateDict:
    def __call__(self, *args, **kwargs):
        return dict(*args, **kwargs)


class TemplateNamespace(jinja2.utils.Namespace):
    def __init__(*args, **kwargs):
        self, args = args[0], args[1:]
        attrs = dict(*args, **kwargs)
        for name in attrs:
            TemplateNamespace._check_name(name)
        jinja2.utils.Namespace.__init__(self, attrs)

    def __setitem__(self, name, value):
        TemplateNamespace._check_name(name)
        jinja2.utils.Namespace.__setitem__(self, name, value)

    @staticmethod
    def _check_name(name):
        if isinstance(name, str) and name.startswith("_"):
            raise jinja2.exceptions.SecurityError(f"underscore-prefixed attribute {name!r} on a namespace")


def environment():
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def strftime_now(format):
        return datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc).replace(tzinfo=None).strftime(format)

    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals.update(raise_exception=raise_exception, strftime_now=strftime_now, dict=TemplateDict(),
                       namespace=TemplateNamespace)
    return env


@functools.lru_cache(maxsize=4)
def compiled(template):
    return environment().from_string(template)


def render(template, context):
    """("output", text) or ("error", kind, message)."""
    try:
        return "output", compiled(template).render(**context)
    except Exception as e:  # every failure of a template counts alike
        return "error", type(e).__name__, str(e)


def gguf_template(path):
    """The value of tokenizer.chat_template in a GGUF file."""
    sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
    with open(path, "rb") as f, contextlib.suppress(struct.error):
        assert f.read(4) == b"GGUF"
        _, _, n_kv = struct.unpack("<IQQ", f.read(20))

        def text():
            return f.read(struct.unpack("<Q", f.read(8))[0])

        def skip(kind):
            if kind == 8:
                return text()
            if kind == 9:
                kind, n = struct.unpack("<IQ", f.read(12))
                for _ in range(n):
                    skip(kind)
                return None
            return f.read(sizes[kind])

        for _ in range(n_kv):
            key = text()
            value = skip(struct.unpack("<I", f.read(4))[0])
            if key == b"tokenizer.chat_template":
                return value.decode()
    raise SystemExit(f"{path}: no chat template")
