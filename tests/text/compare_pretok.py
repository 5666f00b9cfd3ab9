# SPDX-License-Identifier: Apache-2.0
"""Compares our pre-tokenisers with Hugging Face tokenizers running the published patterns, on random multilingual text.

    python3 -m venv v && v/bin/pip install tokenizers==0.23.3
    v/bin/python compare_pretok.py BUILD/tests/text/pretok_dump [ROUNDS]

Run by hand. The patterns below are the unmodified ones of the tokenizer.json files (or pat_str), so that this also proves our
rewritten forms equal to them. Characters newer than either library's Unicode tables are left out of the texts.
"""
import random
import subprocess
import sys
import unicodedata

from tokenizers import Regex, pre_tokenizers

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
C = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TAIL = r"\s*[\r\n]+|\s+(?!\S)|\s+"
WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
MARKS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
U, L = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
def cased(tail, cut=""):
    return (rf"[^\r\n\p{{L}}\p{{N}}]?[{U}{cut}]*[{L}{cut}]+{tail}|[^\r\n\p{{L}}\p{{N}}]?[{U}{cut}]+[{L}{cut}]*{tail}")
LLAMA3 = rf"{C}|{WORD}|\p{{N}}{{1,3}}|{MARKS}|{TAIL}"
QWEN2 = rf"{C}|{WORD}|\p{{N}}|{MARKS}|{TAIL}"
ASCII_MARK = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
DS3 = [r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
       ASCII_MARK + r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|" + TAIL]
WIDE = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
PATTERNS = {
    "gpt-2": [GPT2], "smollm": [r"\p{N}", GPT2], "llama-bpe": [LLAMA3], "glm4": [LLAMA3], "qwen2": [QWEN2],
    "qwen35": [rf"{C}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{TAIL}"],
    "deepseek-v3": DS3,
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", WIDE, r"\p{N}"],
    "tekken": [cased("") + rf"|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{TAIL}"],
    "gpt-4o": [cased(C + "?") + rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{TAIL}"],
    "kimi-k2": [r"[\p{Han}]+|" + cased(C + "?", r"&&[^\p{Han}]") + rf"|\p{{N}}{{1,3}}|{MARKS}|{TAIL}"],
    "bailingmoe": [rf"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{{L}}\p{{N}}]?+\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"],
    "seed-coder": [rf"{C}|{WORD}|\p{{N}}{{1}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"],
    "jais-2": [rf"{C}|{WORD}|\p{{N}}{{1,3}}|{MARKS}|\s*[\r\n]+|\s{{512}}(?!\S)|\s{{256}}(?!\S)|\s{{128}}(?!\S)|\s{{64}}(?!\S)|\s{{32}}(?!\S)|"
               r"\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}"],
    "exaone-moe": [rf"{C}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"],
    "falcon": [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"],
    "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
    "bloom": [r" ?[^(\s|.,!?…。，、।۔،)]+"],
    "minicpm5": [r"\p{N}{1,3}", rf"{C}|{WORD}|\p{{N}}+|{MARKS}|{TAIL}"],
    "laguna": [r"[^\n]+|[\n]+", QWEN2],
    "youtu": ["[\uac00-\ud7a3\u3131-\u318e]+|[！…“”‘’—：；，\u3001-\u303f\ufe30-\ufe4f]+|[\u3105-\u312f]+|[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
              cased(C + "?") + rf"|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{TAIL}"],
}
RANGES = [(0x20, 0x7e)] * 6 + [(0, 0x1f), (0x80, 0xff), (0x100, 0x24f), (0x300, 0x36f), (0x370, 0x3ff), (0x400, 0x4ff), (0x530, 0x58f),
          (0x5b0, 0x5f4), (0x600, 0x6ff), (0x900, 0x97f), (0x980, 0x9ff), (0xe00, 0xe7f), (0x1000, 0x109f), (0x10a0, 0x10ff), (0x1100, 0x11ff),
          (0x13a0, 0x13ff), (0x1680, 0x1680), (0x1780, 0x17ff), (0x1800, 0x180f), (0x1c80, 0x1cbf), (0x1e00, 0x1fff), (0x2000, 0x206f),
          (0x2070, 0x218f), (0x2190, 0x22ff), (0x2460, 0x24ff), (0x2e80, 0x2fd5), (0x3000, 0x303f), (0x3040, 0x30ff), (0x3105, 0x318f), (0x3400, 0x3410),
          (0x4e00, 0x9fa5), (0x9fa6, 0x9fef), (0xa640, 0xa69f), (0xac00, 0xd7a3), (0xe000, 0xe010), (0xf900, 0xfa6d), (0xfb00, 0xfb06), (0xfe30, 0xfe4f),
          (0xfe70, 0xfeff), (0xff01, 0xff9f), (0x10400, 0x1044f), (0x16fe0, 0x16fe4), (0x1d400, 0x1d7ff), (0x1e900, 0x1e943), (0x1f1e6, 0x1f64f),
          (0x20000, 0x20010), (0x2f800, 0x2fa1d), (0xe0100, 0xe01ef)]
BITS = ["'s", "'LL", "'t", "'\u017f", "'re", "\r\n", "\n\n", "  ", " ", "\t", "\n", "    ", "123", "7", "abc", "DEF", "Ghi", "中文", "///", "۱۲۳", "Ǆ",
        "ǅx", "ʰ", "\u0301", "ا", "ـ", "🏽", "\u200d", "\u0085", "\u00a0", "\u3000", "\u180e", " '", "<|x|>", "a b", "_", " " * 20, " " * 70, "x" * 50]


def text(rng):
    out = []
    for _ in range(rng.randrange(1, 40)):
        if rng.random() < 0.4:
            out.append(rng.choice(BITS))
            continue
        lo, hi = rng.choice(RANGES)
        for _ in range(rng.randrange(1, 6)):
            c = chr(rng.randint(lo, hi))
            if unicodedata.category(c) not in ("Cn", "Cs"):
                out.append(c)
    return "".join(out)


def main():
    dump, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    rng = random.Random(1)
    texts = [t for t in (text(rng) for _ in range(rounds)) if t]
    data = b"".join(b"%d\n" % len(t.encode()) + t.encode() for t in texts)
    failed = 0
    for name, patterns in PATTERNS.items():
        oracle = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(p), "isolated") for p in patterns])
        ours = subprocess.run([dump, name], input=data, capture_output=True, check=True).stdout.decode().split("\n")
        bad = 0
        for t, line in zip(texts, ours):
            want = [len(piece.encode()) for piece, _ in oracle.pre_tokenize_str(t)]
            if line != " ".join(map(str, want)):
                if bad < 2:
                    print(f"  {name}: {t!r}\n    ours {line}\n    want {' '.join(map(str, want))}")
                bad += 1
        print(f"{name}: {len(texts)} texts, {bad} differ")
        failed += bad
    sys.exit(failed != 0)


main()
