# SPDX-License-Identifier: Apache-2.0
"""Checks `mizan tokenize` and `detokenize` of the real SmolLM2 file against smollm2_tokens.json (TAP output).

    python3 check_tokenizer.py build/mizan SmolLM2.gguf
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def unpack(ids):
    return [i for x in ids for i in ([x[0]] * x[1] if isinstance(x, list) else [x])]


def main():
    binary, model = sys.argv[1:3]
    cases = json.loads(pathlib.Path(__file__).with_name("smollm2_tokens.json").read_text())
    print(f"1..{len(cases)}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "text"
        for number, case in enumerate(cases, 1):
            text = (case["text"] * case.get("times", 1)).encode()
            file.write_bytes(text)
            why = ""
            for key, flags in (("ids", []), ("special_ids", ["--special"])):
                want = unpack(case.get(key, case["ids"]))
                r = subprocess.run([binary, "tokenize", model, "-f", str(file), "--json", *flags], capture_output=True)
                got = json.loads(r.stdout)["ids"] if r.returncode == 0 else r.stderr.decode(errors="replace")
                if got != want:
                    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
                    why = f"{key} differ from place {at}: {got[at:at + 8]} for {want[at:at + 8]}"
            ids = unpack(case["ids"])
            if ids and not why and len(ids) < 3000:
                r = subprocess.run([binary, "detokenize", model, "--ids", ",".join(map(str, ids))], capture_output=True)
                if r.stdout != text:
                    why = f"detokenize gives {r.stdout[:60]!r}, {r.stderr[:200]!r}"
            failed += bool(why)
            label = json.dumps(case["text"][:24]).replace("#", "\\u0023")
            print(f"{'not ok' if why else 'ok'} {number} - {label}")
            if why:
                print(f"# {why}")
    sys.exit(failed != 0)


main()
