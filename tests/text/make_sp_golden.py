# SPDX-License-Identifier: Apache-2.0
"""Trains small SentencePiece models with the sentencepiece library, writes them as GGUF files, and notes the library's ids.

    python3 -m venv v && v/bin/pip install sentencepiece==0.2.3 tokenizers==0.23.3 gguf==0.19.0
    v/bin/python make_sp_golden.py                     (writes sp/*.gguf and sp/ids.json beside this file)
    v/bin/python make_sp_golden.py --check             (compares the ids of the models that are there, writes nothing)
    v/bin/python make_sp_golden.py --gemma FILE.gguf   (sp/gemma3.json: the ids of Gemma 3's own vocabulary)

Run by hand; the test suite only reads the result (check_sp.py). The models are trained on the sentences of make_tokenizer_golden.py,
nothing else. Gemma's tokenizer.model is rebuilt from the metadata of its GGUF file with the options that Gemma publishes: no
normalisation, no space in front, no trimming, byte fallback.
"""
import io
import json
import pathlib
import re
import sys
import zlib

import sentencepiece

import sp_files
from make_tokenizer_golden import SENTENCES, texts, unescape

HERE = pathlib.Path(__file__).parent
# Where the longest rule wins, some text vanishes, and some grows.
RULES = {"\uff21": "A", "\uff22": "B", "\uff21\uff22": "[AB]", "\u3000": " ", "\u00a0": " ", "\ufb01": "fi", "\u00bd": "1/2", "\ufdfa": "\u0635\u0644\u0649 \u0627\u0644\u0644\u0647",
         "\u0640": "", "\u064b": "", "\u064e": "", "\u064f": "", "\u0650": "", "\u0651": "", "\u0652": "", "\u200b": " ", "\t": " ", "\n": " ",
         "\r": " ", "\u2026": "...", "e\u0301": "\u00e9", "\ufeff": "", "\u0661": "1", "\u06f1": "1", "\u2460": "1"}
USER = ["\n" * n for n in range(1, 8)] + ["\u2581" * n for n in range(2, 9)] + ["\t", "\t\t"] + "<table> </table> <s> </s> <unk> <b> <|role|>".split()
MODELS = {  # name: (options, spaces of user-defined pieces written plain)
    "bpe-llama": (dict(model_type="bpe", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False), False),
    "bpe-gemma": (dict(model_type="bpe", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False,
                       add_dummy_prefix=False, user_defined_symbols=USER, control_symbols=["<start_of_turn>", "<end_of_turn>"],
                       bos_piece="<bos>", eos_piece="<eos>", unk_piece="<unk_>", split_by_whitespace=True), True),
    "bpe-default": (dict(model_type="bpe", rules=True), False),
    "unigram-t5": (dict(model_type="unigram", rules=True, bos_id=-1, eos_id=1, unk_id=2, pad_id=0,
                        user_defined_symbols=["<extra_id_0>", "<extra_id_1>", "\uff21x"]), False),
    "unigram-bytes": (dict(model_type="unigram", byte_fallback=True, normalization_rule_name="identity", add_dummy_prefix=False,
                           remove_extra_whitespaces=False, user_defined_symbols=["hello", "\u2581\u2581", "\u0645\u0631\u062d\u0628\u0627", "\n\n"]),
                      False),
    "unigram-suffixes": (dict(model_type="unigram", normalization_rule_name="identity", split_by_whitespace=False, add_dummy_prefix=True,
                              remove_extra_whitespaces=False), False),
}
MORE = ["\uff21\uff22\uff21 \uff22x \uff21x\uff21", "  \u3000 a \u00a0 b\u3000", "\u2581\u2581 literal \u2581 marks\u2581", "<extra_id_0> x<extra_id_1>", "hello hellohello Hello \u0645\u0631\u062d\u0628\u0627\u0628\u0643",
        "<start_of_turn>user\nhi<end_of_turn>\n", "<0x0A><0xFF> <0x0a>", "<b>bold</b> <table>\n\n\n\n\n\n\n\n\n</table>", "a" * 63 + "b" * 3,
        "\u0627\u0644\u0633\u064e\u0651\u0644\u0627\u0645\u064f \u0639\u0644\u064a\u0643\u0645 \u0661\u0662\u0663 \u06f1\u06f2\u06f3 \ufdfa \u0627\u0644\u0639\u0640\u0640\u0640\u0631\u0628", "\ud7ff\ue000 \U0001f1f8\U0001f1e6\U0001f468\u200d\U0001f469\u200d\U0001f467"]


def train(options):
    options = dict(options)
    if options.pop("rules", False):
        table = HERE / "sp" / "rules.tsv"
        table.write_text("".join("\t".join(" ".join(f"{ord(c):X}" for c in s) for s in pair) + "\n" for pair in RULES.items()))
        options["normalization_rule_tsv"] = str(table)
    lines = [re.sub(r"\\(?:x(..)|u(....)|U(........)|(.))", unescape, s) for s in SENTENCES.split("\n")[1:-1]]
    lines = [x for s in lines for x in s.split("\n") if x.strip() and "\0" not in x] * 3
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=out, vocab_size=1200, character_coverage=0.98,
                                             hard_vocab_limit=False, num_threads=1, minloglevel=2, **options)
    if options.get("normalization_rule_tsv"):
        table.unlink()
    return sp_files.from_proto(out.getvalue())


def some_unused(m):
    """The same with pieces that may not come out: what they joined comes apart, or others take their place."""
    pieces = [(s, x, sp_files.UNUSED if k == sp_files.NORMAL and i % 5 == 0 and len(s) > 1 else k) for i, (s, x, k) in enumerate(m["pieces"])]
    return {**m, "pieces": pieces}


def library(m):
    sp = sentencepiece.SentencePieceProcessor()
    sp.LoadFromSerializedProto(sp_files.to_proto(m))
    return sp


def all_texts():
    return [unit * times for unit, times in texts()] + MORE


def pack(ids, back, text):
    """Ids in full, of long texts their count and checksum; and the checksum of the decoded text where it is not the text."""
    out = ids if len(ids) <= 40 else [len(ids), "crc", zlib.crc32(",".join(map(str, ids)).encode())]
    return out if back == text else {"ids": out, "back": zlib.crc32(back.encode())}


def golden(m):
    sp = library(m)
    rows = []
    for text in all_texts():
        ids = sp.encode(text)
        rows.append(pack(ids, sp.decode(ids), text))
    return rows


def dump(rows):
    return "[\n" + ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows) + "\n]"


def main():
    args = sys.argv[1:]
    (HERE / "sp").mkdir(exist_ok=True)
    if args[:1] == ["--gemma"]:
        rows = golden(sp_files.from_gguf(args[1]))
        (HERE / "sp" / "gemma3.json").write_text(dump(rows) + "\n")
        print(len(rows), "texts")
        return
    if args[:1] != ["--check"]:
        made = {name: (train(options), plain) for name, (options, plain) in MODELS.items()}
        made["bpe-unused"] = (some_unused(made["bpe-llama"][0]), False)
        made["unigram-unused"] = (some_unused(made["unigram-bytes"][0]), False)
        for name, (m, plain) in made.items():
            (HERE / "sp" / (name + ".gguf")).write_bytes(sp_files.gguf(sp_files.pairs_of(m, plain)))
    names = sorted(p.stem for p in (HERE / "sp").glob("*.gguf"))
    body = ["{\n" + json.dumps("texts") + ": [\n" + ",\n".join(json.dumps([u, n], separators=(",", ":")) for u, n in [*texts(), *((t, 1) for t in MORE)]) + "\n]"]
    body += [json.dumps(name) + ": " + dump(golden(sp_files.from_gguf(HERE / "sp" / (name + ".gguf")))) for name in names]
    body = ",\n".join(body) + "\n}\n"
    out = HERE / "sp" / "ids.json"
    if args[:1] == ["--check"]:
        same = out.read_text() == body
        print("same" if same else "different")
        sys.exit(not same)
    out.write_text(body)
    print(len(names), "models,", len(all_texts()), "texts,", len(body), "bytes")


if __name__ == "__main__":
    main()
