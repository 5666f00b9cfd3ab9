# SPDX-License-Identifier: Apache-2.0
"""Writes smollm2_tokens.json: token ids of SmolLM2's tokenizer for texts in many scripts, from Hugging Face tokenizers.

    python3 -m venv v && v/bin/pip install tokenizers==0.23.3 gguf==0.19.0
    v/bin/python make_tokenizer_golden.py SmolLM2.gguf          (writes beside this file)
    v/bin/python make_tokenizer_golden.py SmolLM2.gguf --check  (compares, writes nothing)

Run by hand; the test suite only reads the result (check_tokenizer.py). The vocabulary and merges come out of the GGUF, the
rest (digits one by one, then GPT-2's byte level) is what SmolLM2's tokenizer.json says.
"""
import itertools
import json
import pathlib
import re
import sys

import gguf
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

SENTENCES = r"""
Hello, world!
The quick brown fox jumps over the lazy dog.
I'm sure they're here; we've seen it, he'd say she'll go, isn't it? I'M THEY'RE WE'VE
Don’t use “smart quotes” — or do…
naïve café résumé Zürich Straße Übergröße
Ça va ? Où est l'œuf déjà mangé ?
El niño comió jalapeños ¿verdad? ¡Sí!
Pchnąć w tę łódź jeża lub ośm skrzyń fig
Příliš žluťoučký kůň úpěl ďábelské ódy
Árvíztűrő tükörfúrógép
Pijamalı hasta yağız şoföre çabucak güvendi. İIıi
Đây là một câu tiếng Việt với nhiều dấu.
Съешь же ещё этих мягких французских булок
Щедрість їжака ґудзик є
Γαζέες καὶ μυρτιὲς δὲν θὰ βρῶ πιὰ στὸ χρυσαφὶ ξέφωτο
Բարեւ աշխարհ, ինչպե՞ս եք
გამარჯობა მსოფლიო
שלום עולם, מה שלומך?
שָׁלוֹם עוֹלָם
مرحبا بالعالم! كيف حالك اليوم؟
السَّلامُ عَلَيْكُمْ وَرَحْمَةُ اللهِ
العـــربـيـة جـــمـيـلـة
١٢٣٤٥٦٧٨٩٠ و 1234567890
۱۲۳۴۵۶۷۸۹۰ فارسی: گچ پژ ی ک
بِسْمِ ٱللَّهِ ٱلرَّحْمَٰنِ ٱلرَّحِيمِ
ﷺ ﷲ لا إله إلا الله
اردو زبان میں ٹ ڈ ڑ ے
नमस्ते दुनिया, आप कैसे हैं? १२३
আমি বাংলায় গান গাই
வணக்கம் உலகம்
తెలుగు భాష
ನಮಸ್ಕಾರ ಪ್ರಪಂಚ
നമസ്കാരം ലോകം
ગુજરાતી ભાષા
ਸਤ ਸ੍ਰੀ ਅਕਾਲ
සිංහල භාෂාව
สวัสดีชาวโลก ๑๒๓
ສະບາຍດີ
မင်္ဂလာပါ
សួស្តី​ពិភពលោក
བཀྲ་ཤིས་བདེ་ལེགས།
ሰላም ለዓለም
ᓄᓇᕗᑦ ᎣᏏᏲ
你好，世界！今天天气怎么样？
繁體中文測試：龍龜齉
こんにちは世界。カタカナとひらがなﾊﾝｶｸ
안녕하세요 세계, 한국어 테스트
한국어 자모 ㄱㄴㄷ
𠀀𠀁𪚥 rare Han 㐀
ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ
𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟙𝟚𝟛 Ⅷ ½ ² ①
👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇸🇦🇩🇪 ❤️‍🔥 🧑🏿‍🚀
🦙🦙🦙llama🦙
∑∫√∞≈≠≤≥ ∀x∈ℝ: x²≥0
→←↑↓⇒ ★☆ ♠♣♥♦ █▓▒░
€100 £50 ¥1000 ₿0.5 50%
a\u200bb\u200cc\u200dd\ufeffe zero width
e\u0301 a\u0300 n\u0303 combining; \u00e9 \u00e0 \u00f1 composed
\u200fmixed \u202bRTL\u202c and LTR\u200e
for (int i = 0; i < n; i++) { sum += a[i]; }
def f(x):\n    return x ** 2\n\n\nprint(f(3))
\tif (x)\n\t\treturn;\n\t\t\t}
#include <stdio.h>\nint main(void) { printf("%d\\n", 42); return 0; }
SELECT * FROM t WHERE a='b''c' AND d>=10;
<html><body class="x">a &amp; b</body></html>
{"key": [1, 2.5e-3, null, true], "s": "\\u00e9"}
https://example.org/a/b?c=d&e=f#g user@example.com
C:\\Users\\name\\file.txt /usr/local/bin/x-y_z.sh
$x = "y"; `ls -la | grep foo` && echo $?
x86_64-linux-gnu v1.2.3-rc4+build.567
0123456789 00 007 3.14159265358979 1e10 0xDEADBEEF
3 33 333 3333 33333 333333 3333333 33333333
1,234,567.89 2024-12-31T23:59:59Z
CamelCase snake_case kebab-case SCREAMING_SNAKE iPhone eBay
supercalifragilisticexpialidocious antidisestablishmentarianism
!!!??? ...... ---- ____ ==== **** #### ((([[[{{{
'''''' """""" ``````
'sS 's 't 're 've 'm 'll 'd 'S 'T 'x
<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n
<|endoftext|>
text <|im_end|> in the middle <|endoftext|><|endoftext|>
almost <|im_end| > <|im_end <| im_end|> <|IM_END|>
<repo_name>x<file_sep>y<filename>z<gh_stars>
<think>no token here</think> [INST] <s> </s> <unk> <pad>
<|<|im_end|>|> <<|im_end|>>
The answer is 42.\r\nNext line\r\n\r\nlast\r
a\nb\r\nc\rd\n\re
 leading space
trailing space 
  two leading
trailing two  
a  b   c    d     e
\n
\n\n
\n\n\n\n\n
\t
\t\t\t
\r\n
 \n \n  \n\t\n
\n leading newline
tab\tseparated\tvalues
a\u00a0b\u2003c\u3000d\u2028e\u2029f\u0085g
\u180emongolian vowel separator \u180e x
\x00nul\x00inside\x01\x02\x1f\x7f
\u0080\u009f C1 controls
\ufffd replacement \ufffe \uffff
\U0010ffff \U000e0001 \U0001f600
\ue000\uf8ff private use
"""


def unescape(m):
    number = m[1] or m[2] or m[3]
    return chr(int(number, 16)) if number else {"n": "\n", "r": "\r", "t": "\t"}.get(m[4], m[4])


def texts():
    """(unit, times) pairs; the text is unit * times."""
    for line in SENTENCES.split("\n")[1:-1]:
        yield re.sub(r"\\(?:x(..)|u(....)|U(........)|(.))", unescape, line), 1
    yield "", 1
    for n in (1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 1000):
        yield " ", n
        yield "\n", n
    for unit, n in (("a", 39), ("a", 40), ("a", 41), ("a", 10000), ("ab", 5000), ("A", 1000), ("ا", 3000), ("ـ", 500), ("的", 2000), ("1", 300),
                    ("=", 1000), ("\t", 200), ("\r\n", 100), ("👍", 300), ("e\u0301", 100), (" \n", 50), ("hello ", 200), ("Zq9 ", 60)):
        yield unit, n
    words = ["The", "cat", "Кот", "قط", "猫", "고양이", "12", "!", "\n", "  ", "\t", "'s", "🐱", "<|im_end|>", "é", "_", "।"]
    for a, b in itertools.islice(zip(words, words[3:] + words[:3]), 17):
        yield f"{a}{b} {a} {b}\n{a}", 1


def build(path):
    r = gguf.GGUFReader(path)
    def field(name):
        return r.fields["tokenizer.ggml." + name].contents()
    tokens, kinds = field("tokens"), field("token_type")
    merges = [tuple(m.split(" ")) for m in field("merges")]
    def make(special):
        t = Tokenizer(models.BPE(vocab={s: i for i, s in enumerate(tokens)}, merges=merges))
        t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                                   pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
        t.decoder = decoders.ByteLevel()
        if special:
            t.add_special_tokens([AddedToken(s, special=True, normalized=False) for s, k in zip(tokens, kinds) if k == 3])
        return t
    return make(False), make(True)


def rle(ids):
    return [[i, len(list(g))] for i, g in itertools.groupby(ids)] if len(ids) > 200 else ids


def main():
    plain, special = build(sys.argv[1])
    cases = []
    for unit, times in texts():
        text = unit * times
        ids = plain.encode(text, add_special_tokens=False).ids
        with_special = special.encode(text, add_special_tokens=False).ids
        c = {"text": unit}
        if times != 1:
            c["times"] = times
        c["ids"] = rle(ids)
        if with_special != ids:
            c["special_ids"] = rle(with_special)
        cases.append(c)
    out = pathlib.Path(__file__).with_name("smollm2_tokens.json")
    body = "[\n" + ",\n".join(json.dumps(c, ensure_ascii=True, separators=(",", ":")) for c in cases) + "\n]\n"
    if "--check" in sys.argv:
        same = out.read_text() == body
        print("same" if same else "different")
        sys.exit(not same)
    out.write_text(body)
    print(len(cases), "cases,", len(body), "bytes")


if __name__ == "__main__":
    main()
