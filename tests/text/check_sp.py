# SPDX-License-Identifier: Apache-2.0
"""Checks the ids of SentencePiece models against those of the sentencepiece library in sp/*.json (TAP output).

    python3 check_sp.py build/tests/text/token_dump [FOLDER]

Gemma's own vocabulary is checked where the folder holds a gemma3-270m*.gguf.
"""
import json
import pathlib
import struct
import subprocess
import sys
import zlib

HERE = pathlib.Path(__file__).parent / "sp"


def ask(dump, model, texts):
    """[(ids, decoded)] of the texts, in one process."""
    data = b"".join(struct.pack("=II", 0, len(t)) + t for t in texts)
    r = subprocess.run([dump, str(model)], input=data, capture_output=True)
    if r.returncode:
        raise SystemExit(f"Bail out! {r.stderr.decode(errors='replace')}")
    out, i = [], 0
    for _ in texts:
        n, = struct.unpack_from("=I", r.stdout, i)
        ids = list(struct.unpack_from(f"={n}i", r.stdout, i + 4))
        i += 4 + 4 * n
        n, = struct.unpack_from("=I", r.stdout, i)
        out.append((ids, r.stdout[i + 4:i + 4 + n]))
        i += 4 + n
    return out


def fault(want, ids, back, text):
    back_crc = zlib.crc32(text)
    if isinstance(want, dict):
        want, back_crc = want["ids"], want["back"]
    if len(want) == 3 and want[1] == "crc":
        got = [len(ids), "crc", zlib.crc32(",".join(map(str, ids)).encode())]
    else:
        got = ids
    if got != want:
        return f"ids {got} for {want}"
    if zlib.crc32(back) != back_crc:
        return f"decodes to {back[:60]!r}"
    return ""


def main():
    dump = sys.argv[1]
    golden = json.loads((HERE / "ids.json").read_text())
    texts = [(unit * times).encode() for unit, times in golden.pop("texts")]
    models = [(name, HERE / (name + ".gguf"), rows) for name, rows in golden.items()]
    for path in sorted(pathlib.Path(sys.argv[2]).glob("gemma3-270m*.gguf"))[:1] if len(sys.argv) > 2 else []:
        models.append(("gemma3", path, json.loads((HERE / "gemma3.json").read_text())))
    print(f"1..{len(models)}")
    failed = 0
    for number, (name, path, rows) in enumerate(models, 1):
        faults = [(t, f) for t, want, (ids, back) in zip(texts, rows, ask(dump, path, texts), strict=True) if (f := fault(want, ids, back, t))]
        failed += bool(faults)
        print(f"{'not ok' if faults else 'ok'} {number} - {name}, {len(rows)} texts")
        for text, why in faults[:5]:
            print(f"# {text[:40]!r}: {why}"[:300])
    sys.exit(failed != 0)


main()
