/* SPDX-License-Identifier: Apache-2.0
 *
 * options.h: the one table from which the command line is parsed and from which help and the man
 * page are printed.
 *
 * What it is not: it opens nothing and prints nothing; a wrong command line comes back as one
 * sentence. It needs no library, so that the man page can be made at build time.
 * Ownership: mz_cli_args points into argv; lists inside it are freed by mz_cli_args_free.
 * Threading: the tables are constant; a parse touches only its arguments. */
#ifndef MZ_CLI_OPTIONS_H
#define MZ_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { /* one bit a command, for mz_cli_option.cmds */
       MZ_CLI_RUN = 1,
       MZ_CLI_TOKENIZE = 2,
       MZ_CLI_DETOKENIZE = 4,
       MZ_CLI_INSPECT = 8,
       MZ_CLI_EVAL = 16,
       MZ_CLI_BENCH = 32,
       MZ_CLI_LOADING = MZ_CLI_RUN | MZ_CLI_EVAL | MZ_CLI_BENCH, /* commands that load weights */
       MZ_CLI_ALL = 63
};

typedef enum mz_cli_kind {                /* of an option's argument, and the type of its field */
                           MZ_CLI_FLAG,   /* bool; no argument */
                           MZ_CLI_STR,    /* const char * */
                           MZ_CLI_STRS,   /* mz_cli_strs; repeatable */
                           MZ_CLI_CHOICE, /* const char *, one of `choices`, any case */
                           MZ_CLI_INT,    /* int64_t in lo..hi */
                           MZ_CLI_U64,    /* uint64_t */
                           MZ_CLI_REAL,   /* double in lo..hi */
                           MZ_CLI_BYTES,  /* uint64_t; K, M, G, T suffixes, powers of 1024 */
                           MZ_CLI_INTS    /* mz_cli_ints; comma-separated, each in lo..hi */
} mz_cli_kind;

typedef struct mz_cli_strs {
    const char **v;
    size_t n;
} mz_cli_strs;

typedef struct mz_cli_ints {
    int64_t *v;
    size_t n;
} mz_cli_ints;

typedef struct mz_cli_args {
    const char *model;
    /* input and output */
    const char *prompt, *file, *ids, *system, *chat, *session;
    bool raw, json, special, no_bos, as_text, no_generation_prompt;
    /* sampling */
    int64_t n_max, top_k, repeat_last_n, logprobs;
    double temp, top_p, min_p, repeat_penalty, presence_penalty, frequency_penalty;
    uint64_t seed;
    bool ignore_eos;
    mz_cli_strs stop, logit_bias;
    /* terminal */
    const char *color, *markdown, *bidi; /* NULL: as help says */
    bool no_history;
    /* inspect */
    bool tensors, program, cpu;
    int64_t memory_tok;
    const char *tensor, *npy;
    /* eval */
    const char *logits, *taps, *text_file, *against;
    /* bench */
    int64_t prefill, decode, repeats;
    mz_cli_ints depth, batch;
    /* loading */
    int64_t threads, ctx, chunk;
    const char *kv, *isa, *executor;
    uint64_t memory_bytes;
    bool quiet, verbose;
    bool help;
} mz_cli_args;

typedef struct mz_cli_option {
    const char *name; /* without "--"; NULL: only the short form exists */
    char letter;      /* 0: none */
    mz_cli_kind kind;
    size_t field;        /* offset in mz_cli_args */
    unsigned cmds;       /* commands that take it */
    const char *group;   /* heading in help */
    const char *arg;     /* name of the argument, NULL for flags */
    const char *help;    /* one sentence without a full stop */
    double lo, hi;       /* INT, REAL, INTS */
    const char *choices; /* CHOICE: "f32|f16" */
    const char *absent;  /* the default as help prints it; NULL: none */
} mz_cli_option;

typedef struct mz_cli_command {
    const char *name;
    unsigned bit;
    const char *usage;       /* after "mizan NAME " */
    const char *summary;     /* one line */
    const char *description; /* paragraphs, separated by an empty line */
    const char *examples;    /* lines */
} mz_cli_command;

extern const mz_cli_option mz_cli_options[];
extern const size_t mz_cli_n_option;
extern const mz_cli_command mz_cli_commands[];
extern const size_t mz_cli_n_command;

/* NULL when unknown. */
const mz_cli_command *mz_cli_find_command(const char *name);
/* The command nearest in spelling, or NULL when none is near. */
const mz_cli_command *mz_cli_nearest_command(const char *name);

#define MZ_CLI_MESSAGE_BYTES 400

/* Parses argv [argc] (after the command's name) into *out, which starts from the defaults. False: message [MZ_CLI_MESSAGE_BYTES]
 * holds one sentence in printable characters and *out needs no freeing. `--help` sets out->help and ends the parse. */
bool mz_cli_parse(const mz_cli_command *cmd, int argc, char **argv, mz_cli_args *out, char *message);
void mz_cli_args_free(mz_cli_args *a);

#define MZ_CLI_VALUE_BYTES 32

/* Options that a chat can change while it goes on: of sampling and of the terminal, with one value. */
bool mz_cli_may_set(const mz_cli_option *o);
/* Sets one of them by its name, with or without dashes; a flag takes on or off. False: message. */
bool mz_cli_set(const char *name, const char *value, mz_cli_args *a, char *message);
void mz_cli_value_text(const mz_cli_option *o, const mz_cli_args *a, char text[MZ_CLI_VALUE_BYTES]);

/* Token ids separated by commas or white space, brackets around them allowed; *n >= 1 of them in *ids (free). False: message. */
bool mz_cli_parse_ids(const char *list, size_t n_list, int32_t **ids, size_t *n, char *message);
/* "ID=VALUE"; VALUE is finite or -inf. */
bool mz_cli_parse_bias(const char *s, int32_t *id, float *value, char *message);

/* Replaces what could disturb a terminal in the zero-terminated text by '?'. */
void mz_cli_make_printable(char *text);

#endif
