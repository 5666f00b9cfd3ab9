# SPDX-License-Identifier: Apache-2.0
"""Compares ids and decoded text with the sentencepiece library on random texts, for any GGUF of the models "llama" and "t5".

    v/bin/python compare_sp.py build/tests/text/token_dump MODEL.gguf... [--texts N] [--seed N]
    v/bin/python compare_sp.py build/tests/text/token_dump --nfkc       (trains models with the library's full NFKC rules)

Run by hand in the environment of make_sp_golden.py.
"""
import argparse
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import make_sp_golden as golden
import sp_files


def random_text(rng, units, letters):
    kind = rng.random()
    if kind < 0.4:
        return "".join(rng.choice(units) for _ in range(rng.randint(1, 12)))
    if kind < 0.7:
        return "".join(rng.choice(letters) for _ in range(rng.randint(1, 60)))
    if kind < 0.8:
        return rng.choice(letters) * rng.randint(1, 300)
    if kind < 0.9:
        return "".join(chr(c) for c in (rng.randrange(0x110000) for _ in range(rng.randint(1, 20))) if not 0xD800 <= c < 0xE000)
    a = rng.choice(units)
    return "".join(rng.choice([a, a[:1], " ", "\u2581"]) for _ in range(rng.randint(1, 40)))


def compare(dump, path, texts):
    sp = golden.library(sp_files.from_gguf(path))
    data = b"".join(struct.pack("=II", 0, len(t)) + t for t in (t.encode() for t in texts))
    out = subprocess.run([dump, str(path)], input=data, stdout=subprocess.PIPE, check=True).stdout
    i = faults = 0
    for t in texts:
        n, = struct.unpack_from("=I", out, i)
        ids = list(struct.unpack_from(f"={n}i", out, i + 4))
        i += 4 + 4 * n
        n, = struct.unpack_from("=I", out, i)
        back = out[i + 4:i + 4 + n].decode(errors="replace")
        i += 4 + n
        want = sp.encode(t)
        if ids != want or back != sp.decode(want):
            faults += 1
            if faults <= 5:
                print(f"  {t[:80]!r}\n    here {ids[:24]} {back[:40]!r}\n    want {want[:24]} {sp.decode(want)[:40]!r}")
    print(f"{pathlib.Path(path).name}: {faults} of {len(texts)} texts differ")
    return faults


def main():
    p = argparse.ArgumentParser()
    p.add_argument("dump")
    p.add_argument("models", nargs="*")
    p.add_argument("--texts", type=int, default=3000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--nfkc", action="store_true")
    a = p.parse_args()
    rng = random.Random(a.seed)
    base = [t for t in golden.all_texts() if 0 < len(t) < 300]
    letters = sorted(set("".join(base))) + list(" \u2581\n\t") * 20 + list("aeinrst") * 20
    units = sorted({w for t in base for w in t.split(" ")} - {""}) + [" ", "  ", "\n", "\u2581", "\t", " \u00a0"] * 30
    units += [form for text, _, kind in sp_files.from_gguf(a.models[0])["pieces"] if kind in (2, 3, 4) for form in [text]][:400] if a.models else []
    texts = [random_text(rng, units, letters) for _ in range(a.texts)]
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        if a.nfkc:
            for kind in ("bpe", "unigram"):
                for rule in ("nmt_nfkc", "nfkc_cf"):
                    m = golden.train(dict(model_type=kind, normalization_rule_name=rule, byte_fallback=kind == "bpe", user_defined_symbols=["\u338f", "<x>"]))
                    path = pathlib.Path(folder) / f"{kind}-{rule}.gguf"
                    path.write_bytes(sp_files.gguf(sp_files.pairs_of(m)))
                    a.models.append(path)
        for model in a.models:
            faults += compare(a.dump, model, texts)
    sys.exit(faults != 0)


main()
