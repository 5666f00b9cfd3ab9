/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdint.h>

#define FIELD(f) offsetof(mz_cli_args, f)

#define RUN   MZ_CLI_RUN
#define TOK   MZ_CLI_TOKENIZE
#define DETOK MZ_CLI_DETOKENIZE
#define INSP  MZ_CLI_INSPECT
#define EVAL  MZ_CLI_EVAL
#define BENCH MZ_CLI_BENCH
#define LOAD  MZ_CLI_LOADING

static const char input[] = "Input", sampling[] = "Sampling", output[] = "Output", terminal[] = "Terminal", what[] = "What to show",
                  measure[] = "What to measure", loading[] = "Loading and running";

#define INT32_HI 2147483647.0

const mz_cli_option mz_cli_options[] = {
    {"prompt", 'p', MZ_CLI_STR, FIELD(prompt), RUN | TOK, input, "TEXT", "the text", 0, 0, NULL, NULL},
    {"file", 'f', MZ_CLI_STR, FIELD(file), RUN | TOK, input, "FILE", "read the text from FILE, bytes as they are; - is standard input", 0,
     0, NULL, NULL},
    {"ids", 0, MZ_CLI_STR, FIELD(ids), RUN | DETOK | EVAL, input, "LIST",
     "token ids separated by commas, or @FILE to read them from a file; the model then needs no tokenizer (detokenize does)", 0, 0, NULL,
     NULL},
    {"system", 0, MZ_CLI_STR, FIELD(system), RUN, input, "TEXT", "system message put before the conversation", 0, 0, NULL, NULL},
    {"raw", 0, MZ_CLI_FLAG, FIELD(raw), RUN, input, NULL, "continue the text as it stands, without the chat template", 0, 0, NULL, NULL},
    {"chat", 0, MZ_CLI_STR, FIELD(chat), TOK, input, "FILE",
     "render the conversation in FILE, {\"messages\":[...],\"tools\":[...],\"chat_template_kwargs\":{...}}, with the model's template", 0,
     0, NULL, NULL},
    {"no-generation-prompt", 0, MZ_CLI_FLAG, FIELD(no_generation_prompt), TOK, input, NULL,
     "leave out what invites the model to answer (with --chat)", 0, 0, NULL, NULL},
    {"special", 0, MZ_CLI_FLAG, FIELD(special), TOK, input, NULL, "let special tokens written in the text be parsed", 0, 0, NULL, NULL},
    {"special", 0, MZ_CLI_FLAG, FIELD(special), DETOK, output, NULL, "write special tokens out", 0, 0, NULL, NULL},
    {"no-bos", 0, MZ_CLI_FLAG, FIELD(no_bos), TOK, input, NULL, "do not add the BOS or EOS token that the model's file asks for", 0, 0,
     NULL, NULL},

    {"session", 0, MZ_CLI_STR, FIELD(session), RUN, input, "FILE",
     "resume the session in FILE, if there is one, without computing it again, and save it there at the end", 0, 0, NULL, NULL},

    {"n-predict", 'n', MZ_CLI_INT, FIELD(n_max), RUN, sampling, "N",
     "most tokens to generate; -1: until the model stops or the context is full", -1, 1e15, NULL, "-1"},
    {"temp", 0, MZ_CLI_REAL, FIELD(temp), RUN, sampling, "T", "temperature; 0 always takes the most likely token", 0, 1000, NULL, "0.8"},
    {"top-k", 0, MZ_CLI_INT, FIELD(top_k), RUN, sampling, "K", "draw from the K most likely tokens; 0: all", 0, INT32_HI, NULL, "40"},
    {"top-p", 0, MZ_CLI_REAL, FIELD(top_p), RUN, sampling, "P",
     "draw from the most likely tokens that together reach probability P; 1: all", 0, 1, NULL, "0.95"},
    {"min-p", 0, MZ_CLI_REAL, FIELD(min_p), RUN, sampling, "P", "leave out tokens less likely than P times the most likely one; 0: none", 0,
     1, NULL, "0.05"},
    {"repeat-penalty", 0, MZ_CLI_REAL, FIELD(repeat_penalty), RUN, sampling, "X",
     "weaken tokens that occurred lately by the factor X; 1: off", 0.001, 1000, NULL, "1"},
    {"repeat-last-n", 0, MZ_CLI_INT, FIELD(repeat_last_n), RUN, sampling, "N",
     "how many tokens back --repeat-penalty looks, prompt included; -1: all", -1, 16777216, NULL, "64"},
    {"presence-penalty", 0, MZ_CLI_REAL, FIELD(presence_penalty), RUN, sampling, "X", "taken off the logit of every token generated before",
     -1000, 1000, NULL, "0"},
    {"frequency-penalty", 0, MZ_CLI_REAL, FIELD(frequency_penalty), RUN, sampling, "X",
     "taken off the logit of a token each time it was generated before", -1000, 1000, NULL, "0"},
    {"logit-bias", 0, MZ_CLI_STRS, FIELD(logit_bias), RUN, sampling, "ID=VALUE",
     "add VALUE to the logit of token ID; -inf forbids it; may be repeated", 0, 0, NULL, NULL},
    {"seed", 0, MZ_CLI_U64, FIELD(seed), RUN, sampling, "S", "start of the random numbers; the same seed gives the same answer", 0, 0, NULL,
     "0"},
    {"stop", 0, MZ_CLI_STRS, FIELD(stop), RUN, sampling, "TEXT", "end the answer before TEXT; may be repeated", 0, 0, NULL, NULL},
    {"ignore-eos", 0, MZ_CLI_FLAG, FIELD(ignore_eos), RUN, sampling, NULL, "do not end at the model's own stop tokens", 0, 0, NULL, NULL},

    {"tensors", 0, MZ_CLI_FLAG, FIELD(tensors), INSP, what, NULL, "every tensor: name, type, shape (outermost first), bytes", 0, 0, NULL,
     NULL},
    {"program", 0, MZ_CLI_FLAG, FIELD(program), INSP, what, NULL, "the operations the model is run as, one a line", 0, 0, NULL, NULL},
    {"memory", 0, MZ_CLI_INT, FIELD(memory_tok), INSP, what, "TOKENS", "what a context of TOKENS tokens needs", 1, 1e15, NULL, NULL},
    {"tensor", 0, MZ_CLI_STR, FIELD(tensor), INSP, what, "NAME", "decode the tensor NAME exactly (with --npy)", 0, 0, NULL, NULL},
    {"npy", 0, MZ_CLI_STR, FIELD(npy), INSP, what, "OUT", "where --tensor goes: NPY, float32, C order", 0, 0, NULL, NULL},
    {"cpu", 0, MZ_CLI_FLAG, FIELD(cpu), INSP, what, NULL,
     "no model: the kernel set in use, and for each format the kernel for one row and for many", 0, 0, NULL, NULL},

    {"logits", 0, MZ_CLI_STR, FIELD(logits), EVAL, measure, "OUT", "write the logits of every position of --ids as NPY, float32", 0, 0,
     NULL, NULL},
    {"taps", 0, MZ_CLI_STR, FIELD(taps), EVAL, measure, "DIR", "write the values inside the model for --ids as DIR/LAYER.NAME.npy", 0, 0,
     NULL, NULL},
    {"text", 0, MZ_CLI_STR, FIELD(text_file), EVAL, measure, "FILE", "perplexity of the text in FILE, in windows of --ctx tokens", 0, 0,
     NULL, NULL},
    {"against", 0, MZ_CLI_STR, FIELD(against), EVAL, measure, "REF",
     "with --text: KL divergence from a reference, a second model or an NPY file of its logits", 0, 0, NULL, NULL},

    {"prefill", 0, MZ_CLI_INT, FIELD(prefill), BENCH, measure, "N", "tokens of a prompt; 0 leaves the test out", 0, 1e9, NULL, "512"},
    {"decode", 0, MZ_CLI_INT, FIELD(decode), BENCH, measure, "N", "tokens of an answer; 0 leaves the test out", 0, 1e9, NULL, "64"},
    {"depth", 0, MZ_CLI_INTS, FIELD(depth), BENCH, measure, "LIST", "tokens already held when timing starts", 0, 1e9, NULL, "0"},
    {"batch", 0, MZ_CLI_INTS, FIELD(batch), BENCH, measure, "LIST", "answers generated side by side", 1, 4096, NULL, "1"},
    {"repeats", 'r', MZ_CLI_INT, FIELD(repeats), BENCH, measure, "N", "times each test is run", 1, 100000, NULL, "5"},

    {"text", 0, MZ_CLI_FLAG, FIELD(as_text), TOK, output, NULL, "print the rendered conversation, not its ids (with --chat)", 0, 0, NULL,
     NULL},
    {"json", 0, MZ_CLI_FLAG, FIELD(json), MZ_CLI_ALL & ~(unsigned)DETOK, output, NULL, "print one JSON document", 0, 0, NULL, NULL},
    {"logprobs", 0, MZ_CLI_INT, FIELD(logprobs), RUN, output, "K",
     "with --json: log probability of each token and of the K most likely ones", 0, 1000, NULL, NULL},

    {"color", 0, MZ_CLI_CHOICE, FIELD(color), RUN, terminal, "WHEN", "colours and text styles; auto: on a terminal, unless NO_COLOR is set",
     0, 0, "auto|always|never", "auto"},
    {"markdown", 0, MZ_CLI_CHOICE, FIELD(markdown), RUN, terminal, "STATE", "show Markdown as styled text where there are styles", 0, 0,
     "on|off", "on"},
    {"bidi", 0, MZ_CLI_CHOICE, FIELD(bidi), RUN, terminal, "WHO",
     "who puts right-to-left text in order: the terminal itself, mizan (visual) or nobody; auto: by what is known of the terminal", 0, 0,
     "auto|terminal|visual|off", "auto"},
    {"no-history", 0, MZ_CLI_FLAG, FIELD(no_history), RUN, terminal, NULL,
     "neither read nor write the file of lines typed in earlier chats", 0, 0, NULL, NULL},

    {"threads", 't', MZ_CLI_INT, FIELD(threads), LOAD, loading, "N", "threads; 0: one per processor this process may use", 0, 4096, NULL,
     "0"},
    {"ctx", 'c', MZ_CLI_INT, FIELD(ctx), RUN | BENCH, loading, "N", "longest sequence in tokens; 0: what the model was made for", 0, 1e12,
     NULL, "0"},
    {"ctx", 'c', MZ_CLI_INT, FIELD(ctx), EVAL, loading, "N", "window of --text in tokens; 0: 512", 0, 1e12, NULL, "0"},
    {"kv", 0, MZ_CLI_CHOICE, FIELD(kv), LOAD | INSP, loading, "TYPE", "storage of keys and values", 0, 0, "f32|f16|bf16|fp8", "f16"},
    {"memory", 0, MZ_CLI_BYTES, FIELD(memory_bytes), LOAD, loading, "BYTES",
     "most memory weights, state and buffers may take; K, M, G suffixes", 0, 0, NULL, NULL},
    {"isa", 0, MZ_CLI_STR, FIELD(isa), LOAD | INSP, loading, "NAME", "force a kernel set; inspect --cpu lists them", 0, 0, NULL, NULL},
    {"executor", 0, MZ_CLI_CHOICE, FIELD(executor), LOAD, loading, "NAME", "how operations are run", 0, 0, "reference|workers", "workers"},
    {"chunk", 0, MZ_CLI_INT, FIELD(chunk), LOAD, loading, "N",
     "most tokens of a prompt handled in one step; 0: 512, fewer for a wide model", 0, 1e6, NULL, "0"},
    {"quiet", 0, MZ_CLI_FLAG, FIELD(quiet), LOAD, loading, NULL, "no progress", 0, 0, NULL, NULL},
    {"verbose", 'v', MZ_CLI_FLAG, FIELD(verbose), LOAD, loading, NULL, "say on standard error what is used and how fast it went", 0, 0,
     NULL, NULL},
    {"help", 'h', MZ_CLI_FLAG, FIELD(help), MZ_CLI_ALL, output, NULL, "print this help", 0, 0, NULL, NULL},
};
const size_t mz_cli_n_option = sizeof mz_cli_options / sizeof mz_cli_options[0];

const mz_cli_command mz_cli_commands[] = {
    {"run", RUN, "MODEL [-p TEXT | -f FILE | --ids LIST] [options]", "answer a prompt, or chat",
     "Without a prompt: a chat; /help in it tells the rest. Ctrl-C ends an answer, Ctrl-D the chat. If standard input is no terminal, "
     "each of its lines is a message. With -p or -f: one answer through the model's chat template. With --raw: the text is continued as "
     "it stands. With --ids: these token ids are continued.\n"
     "\n"
     "On a terminal, control characters in a model's text are shown in a visible form; into pipes and files its bytes go as they are.\n"
     "\n"
     "Filters apply in a fixed order: logit bias, repetition penalty, frequency and presence penalty, temperature, top-k, top-p, min-p.",
     "mizan run model.gguf\n"
     "mizan run model.gguf --session talk.session\n"
     "mizan run model.gguf -p \"What is the capital of France?\" --temp 0\n"
     "mizan run model.gguf --raw -p \"Once upon a time\" -n 64 --json"},
    {"tokenize", TOK, "MODEL [-p TEXT | -f FILE | --chat FILE] [options]", "text to token ids",
     "Prints the ids on one line, separated by commas. Without -p, -f or --chat the text is read from standard input, bytes as they are.",
     "mizan tokenize model.gguf -p \"Hello\"\n"
     "mizan tokenize model.gguf --chat conversation.json --text"},
    {"detokenize", DETOK, "MODEL --ids LIST [--special]", "token ids to bytes", "Prints exactly the bytes the ids stand for.",
     "mizan detokenize model.gguf --ids 19556,28"},
    {"inspect", INSP, "MODEL [options] | --cpu", "what a model file holds and needs",
     "Reads the file without loading the model. With --cpu no model is needed.",
     "mizan inspect model.gguf --memory 32768\n"
     "mizan inspect model.gguf --tensor token_embd.weight --npy embd.npy\n"
     "mizan inspect --cpu"},
    {"eval", EVAL, "MODEL (--ids LIST [--logits OUT] [--taps DIR] | --text FILE [--against REF]) [options]",
     "logits, perplexity, KL divergence",
     "--ids runs the sequence once and writes logits or inner values. --text cuts the text into windows of --ctx tokens that do not "
     "overlap, puts a BOS in front of each if the tokenizer adds one, and scores every later token, in nats.",
     "mizan eval model.gguf --ids 1,2,3 --logits out.npy\n"
     "mizan eval small.gguf --text book.txt --against original.gguf"},
    {"bench", BENCH, "MODEL [options]", "speed, with the physical bound beside each figure",
     "Each test is repeated; median, least and most are shown. The bound is what this machine's memory or arithmetic, measured in the "
     "same process, would allow at best.",
     "mizan bench model.gguf --depth 0,4096 --batch 1,8"},
};
const size_t mz_cli_n_command = sizeof mz_cli_commands / sizeof mz_cli_commands[0];
