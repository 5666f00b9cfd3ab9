/* SPDX-License-Identifier: Apache-2.0 */
#include "pretok_names.h"

#include <string.h>

/* The patterns are facts about published checkpoints (the pre_tokenizer part of their tokenizer.json, or the
 * pat_str of a tiktoken vocabulary), written for engines that agree with PCRE2 but for \s (see pretok.c).
 * Two rewritings keep them linear; both give the same matches:
 *  - upper* lower+ over classes that share modifiers, other letters and marks backtracks through the shared part.
 *    WORD_CASED says where that ends up: upper*+ lower++ when a lower-case letter follows the upper run, else the run up to its last
 *    shared character, else (its own alternative) the whole upper run.
 *  - Kimi's class intersection with "not Han" is a lookahead on each character. */

#define CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define UP          "\\p{Lu}\\p{Lt}"
#define BOTH        "\\p{Lm}\\p{Lo}\\p{M}"
#define LOW         "\\p{Ll}"
#define BEFORE      "[^\\r\\n\\p{L}\\p{N}]?"
#define WORD_CASED(tail)                                                                                        \
    BEFORE "(?:[" UP BOTH "]*+[" LOW BOTH "]++|(?:[" UP "]*+[" BOTH "]++)++)" tail "|" BEFORE "[" UP BOTH "]++" \
           "[" LOW BOTH "]*+" tail
#define NOT_HAN(cls) "(?:(?!\\p{sc:Han})[" cls "])"
#define WORD_CASED_NOT_HAN(tail)                                                                                            \
    BEFORE "(?:" NOT_HAN(UP BOTH) "*+" NOT_HAN(LOW BOTH) "++|(?:[" UP "]*+" NOT_HAN(BOTH) "++)++)" tail "|" BEFORE NOT_HAN( \
        UP BOTH) "++" NOT_HAN(LOW BOTH) "*+" tail

#define SPACE_RUNS      "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define GPT2            "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define WORD            "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define MARKS           " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
#define LLAMA3          CONTRACTION "|" WORD "|\\p{N}{1,3}|" MARKS "|" SPACE_RUNS
#define QWEN2           CONTRACTION "|" WORD "|\\p{N}|" MARKS "|" SPACE_RUNS
#define CJK_KANA        "[\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}]+"
#define CJK_WIDE        "[\\x{4E00}-\\x{9FA5}\\x{800}-\\x{4E00}\\x{AC00}-\\x{D7FF}]+"
#define ASCII_MARK_WORD "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
#define MARKED_WORD     "[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"

/* DeepSeek LLM's own list of cased letters. */
#define CASED_LETTERS                                                                                                        \
    "A-Za-z\\x{B5}\\x{C0}-\\x{D6}\\x{D8}-\\x{F6}\\x{F8}-\\x{1BA}\\x{1BC}-\\x{1BF}\\x{1C4}-\\x{293}\\x{295}-\\x{2AF}\\x{370}" \
    "-\\x{373}\\x{376}\\x{377}\\x{37B}-\\x{37D}\\x{37F}\\x{386}\\x{388}-\\x{38A}\\x{38C}\\x{38E}-\\x{3A1}\\x{3A3}-\\x{3F5}"  \
    "\\x{3F7}-\\x{481}\\x{48A}-\\x{52F}\\x{531}-\\x{556}\\x{10A0}-\\x{10C5}\\x{13A0}-\\x{13F5}\\x{13F8}-\\x{13FD}\\x{1C90}-" \
    "\\x{1CBA}\\x{1CBD}-\\x{1CBF}\\x{1D00}-\\x{1D2B}\\x{1D6B}-\\x{1D77}\\x{1D79}-\\x{1D9A}\\x{1E00}-\\x{1F15}\\x{1F18}-"     \
    "\\x{1F1D}\\x{1F20}-\\x{1F45}\\x{1F48}-\\x{1F4D}\\x{1F50}-\\x{1F57}\\x{1F59}\\x{1F5B}\\x{1F5D}\\x{1F5F}-\\x{1F7D}"       \
    "\\x{1F80}-\\x{1FB4}\\x{1FB6}-\\x{1FBC}\\x{1FBE}\\x{1FC2}-\\x{1FC4}\\x{1FC6}-\\x{1FCC}\\x{1FD0}-\\x{1FD3}\\x{1FD6}-"     \
    "\\x{1FDB}\\x{1FE0}-\\x{1FEC}\\x{1FF2}-\\x{1FF4}\\x{1FF6}-\\x{1FFC}\\x{2102}\\x{2107}\\x{210A}-\\x{2113}\\x{2115}"       \
    "\\x{2119}-\\x{211D}\\x{2124}\\x{2126}\\x{2128}\\x{212A}-\\x{212D}\\x{212F}-\\x{2134}\\x{2139}\\x{213C}-\\x{213F}"       \
    "\\x{2145}-\\x{2149}\\x{214E}\\x{2183}\\x{2184}\\x{2C00}-\\x{2C7B}\\x{2C7E}-\\x{2CE4}\\x{2CEB}-\\x{2CEE}\\x{2CF2}"       \
    "\\x{2CF3}\\x{A640}-\\x{A66D}\\x{A680}-\\x{A69B}\\x{A722}-\\x{A76F}\\x{A771}-\\x{A787}\\x{A78B}-\\x{A78E}\\x{AB70}-"     \
    "\\x{ABBF}\\x{FB00}-\\x{FB06}\\x{FB13}-\\x{FB17}\\x{FF21}-\\x{FF3A}\\x{FF41}-\\x{FF5A}\\x{10400}-\\x{1044F}\\x{104B0}-"  \
    "\\x{104D3}\\x{104D8}-\\x{104FB}\\x{10C80}-\\x{10CB2}\\x{10CC0}-\\x{10CF2}\\x{118A0}-\\x{118DF}\\x{1E900}-\\x{1E943}"

enum {
    R_DEFAULT,
    R_GPT2,
    R_DIGITS_GPT2,
    R_LLAMA3,
    R_JAIS2,
    R_QWEN2,
    R_QWEN35,
    R_DEEPSEEK_LLM,
    R_DEEPSEEK_CODER,
    R_DEEPSEEK3,
    R_SPARK25,
    R_YOUTU,
    R_FALCON,
    R_BLOOM,
    R_VIKING,
    R_TEKKEN,
    R_GPT4O,
    R_KIMI_K2,
    R_BAILING,
    R_SEED_CODER,
    R_UFAKZEKA,
    R_LAGUNA,
    R_EXAONE_MOE,
    R_MINICPM5,
    N_RECIPE
};

static const char *const recipe[N_RECIPE][MZ_PRETOK_MAX_STAGE + 1] = {
    [R_DEFAULT] = {"[\\p{P}$+<=>^~|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]"},
    [R_GPT2] = {GPT2},
    [R_DIGITS_GPT2] = {"\\p{N}", GPT2},
    [R_LLAMA3] = {LLAMA3},
    [R_JAIS2] = {CONTRACTION "|" WORD "|\\p{N}{1,3}|" MARKS "|\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|"
                             "\\s{64}(?!\\S)|\\s{32}(?!\\S)|\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{1}"},
    [R_QWEN2] = {QWEN2},
    [R_QWEN35] = {CONTRACTION "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" SPACE_RUNS},
    [R_DEEPSEEK_LLM] = {"[\\r\\n]", "\\s?[" CASED_LETTERS "]+",
                        "\\s?[!-/:-~\\x{FF01}-\\x{FF0F}\\x{FF1A}-\\x{FF5E}\\x{2018}-\\x{201F}\\x{3000}-\\x{3002}]+", "\\s+$", CJK_WIDE,
                        "\\p{N}+"},
    [R_DEEPSEEK_CODER] = {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", CJK_WIDE, "\\p{N}"},
    [R_DEEPSEEK3] = {"\\p{N}{1,3}", CJK_KANA, ASCII_MARK_WORD "|" MARKED_WORD "| ?[\\p{P}\\p{S}]+[\\r\\n]*|" SPACE_RUNS},
    [R_SPARK25] = {"\\p{N}{1,3}", CJK_KANA, ASCII_MARK_WORD "|" MARKED_WORD "| ?[\\p{P}\\p{S}]+|[\\r\\n]|\\s+(?!\\S)|\\s+", "\\p{N}"},
    [R_YOUTU] =
        {"[\\x{AC00}-\\x{D7A3}\\x{3131}-\\x{318E}]+|[\\x{FF01}\\x{2026}\\x{201C}\\x{201D}\\x{2018}\\x{2019}\\x{2014}\\x{FF1A}\\x{FF1B}"
         "\\x{FF0C}\\x{3001}-\\x{303F}\\x{FE30}-\\x{FE4F}]+|[\\x{3105}-\\x{312F}]+|" CJK_KANA,
         WORD_CASED(CONTRACTION "?") "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACE_RUNS},
    [R_FALCON] = {"[\\p{P}$+<=>^~|`]+", GPT2, "[0-9][0-9][0-9]"},
    [R_BLOOM] = {" ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{FF0C}\\x{3001}\\x{964}\\x{6D4}\\x{60C})]+"},
    [R_VIKING] = {" ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{FF0C}\\x{3001}\\x{964}\\x{6D4}\\x{60C})]+", "\\p{N}"},
    [R_TEKKEN] = {WORD_CASED("") "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACE_RUNS},
    [R_GPT4O] = {WORD_CASED(CONTRACTION "?") "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACE_RUNS},
    [R_KIMI_K2] = {"\\p{sc:Han}+|" WORD_CASED_NOT_HAN(CONTRACTION "?") "|\\p{N}{1,3}|" MARKS "|" SPACE_RUNS},
    [R_BAILING] =
        {"'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"},
    [R_SEED_CODER] = {CONTRACTION "|" WORD "|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|" SPACE_RUNS},
    [R_UFAKZEKA] = {WORD "|\\p{N}|" MARKS "|" SPACE_RUNS},
    [R_LAGUNA] = {"[^\\n]+|[\\n]+", QWEN2},
    [R_EXAONE_MOE] = {CONTRACTION "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*+(?: \\p{L}\\p{M}*+)*+)++|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|"
                                  "\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"},
    [R_MINICPM5] = {"\\p{N}{1,3}", CONTRACTION "|" WORD "|\\p{N}+|" MARKS "|" SPACE_RUNS},
};

#define PLAIN                  \
    {                          \
        .ignore_merges = false \
    }
#define NFC         \
    {               \
        .nfc = true \
    }
#define WHOLE                 \
    {                         \
        .ignore_merges = true \
    }
#define WHOLE_BOS                               \
    {                                           \
        .ignore_merges = true, .adds_bos = true \
    }

static const mz_pretok_entry entry[] = {
    {"default", R_DEFAULT, PLAIN},
    {"gpt-2", R_GPT2, PLAIN},
    {"gpt2", R_GPT2, PLAIN},
    {"phi-2", R_GPT2, PLAIN},
    {"jina-es", R_GPT2, PLAIN},
    {"jina-de", R_GPT2, PLAIN},
    {"gigachat", R_GPT2, PLAIN},
    {"jina-v2-es", R_GPT2, PLAIN},
    {"jina-v2-de", R_GPT2, PLAIN},
    {"a.x-4.0", R_GPT2, PLAIN},
    {"mellum", R_GPT2, PLAIN},
    {"modern-bert", R_GPT2, PLAIN},
    {"exaone4", R_GPT2, PLAIN},
    {"jais", R_GPT2, PLAIN},
    {"trillion", R_GPT2, PLAIN},
    {"granite-docling", R_GPT2, PLAIN},
    {"smollm", R_DIGITS_GPT2, PLAIN},
    {"starcoder", R_DIGITS_GPT2, PLAIN},
    {"refact", R_DIGITS_GPT2, PLAIN},
    {"command-r", R_DIGITS_GPT2, PLAIN},
    {"codeshell", R_DIGITS_GPT2, PLAIN},
    {"exaone", R_DIGITS_GPT2, PLAIN},
    {"minerva-7b", R_DIGITS_GPT2, PLAIN},
    {"mellum2", R_DIGITS_GPT2, PLAIN},
    {"llama3", R_LLAMA3, WHOLE_BOS},
    {"llama-v3", R_LLAMA3, WHOLE_BOS},
    {"llama-bpe", R_LLAMA3, WHOLE_BOS},
    {"falcon3", R_LLAMA3, WHOLE_BOS},
    {"falcon-h1", R_LLAMA3, WHOLE_BOS},
    {"pixtral", R_LLAMA3, WHOLE_BOS},
    {"midm-2.0", R_LLAMA3, WHOLE_BOS},
    {"lfm2", R_LLAMA3, WHOLE_BOS},
    {"dbrx", R_LLAMA3, PLAIN},
    {"smaug-bpe", R_LLAMA3, PLAIN},
    {"chatglm-bpe", R_LLAMA3, PLAIN},
    {"glm4", R_LLAMA3, WHOLE},
    {"glm5", R_LLAMA3, WHOLE},
    {"jais-2", R_JAIS2, PLAIN},
    {"qwen2", R_QWEN2, NFC},
    {"deepseek-r1-qwen", R_QWEN2, PLAIN},
    {"kormo", R_QWEN2, PLAIN},
    {"megrez", R_QWEN2, PLAIN},
    {"stablelm2", R_QWEN2, PLAIN},
    {"hunyuan", R_QWEN2, PLAIN},
    {"solar-open", R_QWEN2, PLAIN},
    {"grok-2", R_QWEN2, PLAIN},
    {"qwen35", R_QWEN35, PLAIN},
    {"deepseek-llm", R_DEEPSEEK_LLM, PLAIN},
    {"deepseek-coder", R_DEEPSEEK_CODER, PLAIN},
    {"deepseek-v3", R_DEEPSEEK3, PLAIN},
    {"hunyuan-dense", R_DEEPSEEK3, PLAIN},
    {"hy_v4", R_DEEPSEEK3, PLAIN},
    {"joyai-llm", R_DEEPSEEK3, PLAIN},
    {"spark2_5", R_SPARK25, PLAIN},
    {"youtu", R_YOUTU, WHOLE},
    {"falcon", R_FALCON, PLAIN},
    {"bloom", R_BLOOM, PLAIN},
    {"poro-chat", R_BLOOM, PLAIN},
    {"gpt3-finnish", R_BLOOM, PLAIN},
    {"viking", R_VIKING, PLAIN},
    {"tekken", R_TEKKEN, WHOLE_BOS},
    {"gpt-4o", R_GPT4O, PLAIN},
    {"o200k", R_GPT4O, PLAIN},
    {"llama4", R_GPT4O, PLAIN},
    {"kanana2", R_GPT4O, PLAIN},
    {"minimax-m2", R_GPT4O, NFC},
    {"mpt", R_GPT2, NFC},
    {"olmo", R_GPT2, NFC},
    {"kimi-k2", R_KIMI_K2, {.rank_by_id = true}},
    {"bailingmoe", R_BAILING, PLAIN},
    {"bailingmoe2", R_BAILING, PLAIN},
    {"llada-moe", R_BAILING, PLAIN},
    {"seed-coder", R_SEED_CODER, PLAIN},
    {"ufakzeka", R_UFAKZEKA, PLAIN},
    {"laguna", R_LAGUNA, PLAIN},
    {"exaone-moe", R_EXAONE_MOE, PLAIN},
    {"minicpm5", R_MINICPM5, WHOLE},
};

const mz_pretok_entry *mz_pretok_at(size_t i)
{
    return i < sizeof entry / sizeof entry[0] ? &entry[i] : NULL;
}

const mz_pretok_entry *mz_pretok_find(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof entry / sizeof entry[0]; i++) {
        if (strlen(entry[i].name) == n && memcmp(entry[i].name, name, n) == 0) return &entry[i];
    }
    return NULL;
}

const char *const *mz_pretok_stages(int i)
{
    return recipe[i];
}
