/* SPDX-License-Identifier: Apache-2.0
 *
 * cli.h: what the commands share: saying what failed, writing results, opening a model with
 * progress. Uses public headers only. One thread. */
#ifndef MZ_CLI_CLI_H
#define MZ_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>
#include <mizan/mizan.h>

#include "cli/options.h"

enum { MZ_EXIT_DONE = 0, MZ_EXIT_FAILED = 1, MZ_EXIT_USAGE = 2 };

/* Each command: its exit status. */
int mz_cli_run(const mz_cli_args *a);
int mz_cli_tokenize(const mz_cli_args *a);
int mz_cli_detokenize(const mz_cli_args *a);
int mz_cli_inspect(const mz_cli_args *a);
int mz_cli_eval(const mz_cli_args *a);
int mz_cli_bench(const mz_cli_args *a);

/* ---- sentences on standard error ---- */

/* "mizan: SENTENCE" and MZ_EXIT_FAILED. */
int mz_cli_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int mz_cli_fail_err(const mz_err *err);
/* The same with MZ_EXIT_USAGE. */
int mz_cli_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- standard output: failures are remembered, and said once by mz_cli_out_end ---- */

void mz_cli_out(const void *data, size_t n);
void mz_cli_outf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Text a model made: on a terminal, control characters are shown in a visible form. */
void mz_cli_out_text(const char *s, size_t n);
void mz_cli_out_flush(void);
bool mz_cli_out_failed(void);
bool mz_cli_err_is_tty(void);
/* Flushes; MZ_EXIT_FAILED with a sentence when something could not be written, else status. */
int mz_cli_out_end(int status);
/* Prints the document and a newline; takes the reference. NULL (memory was out) fails. */
int mz_cli_out_json(json_t *doc);

/* Visible form of text [n] for a terminal in a new buffer (free); *n_out bytes. Whole characters go in. */
char *mz_cli_visible(const char *s, size_t n, size_t *n_out);

/* ---- values ---- */

/* A JSON string of any bytes; what is not UTF-8 becomes U+FFFD. */
json_t *mz_cli_json_bytes(const char *s, size_t n);
/* Bytes of a file ("-": standard input), zero-terminated, free() them. False: said on standard error. */
bool mz_cli_read_file(const char *path, size_t limit, char **data, size_t *n);
/* The ids of --ids LIST or @FILE. False: *status is the exit status, said. */
bool mz_cli_get_ids(const char *arg, int32_t **ids, size_t *n, int *status);
void *mz_cli_alloc(size_t n, size_t size); /* zeroed; ends the program with a sentence when memory is out */
double mz_cli_now_ms(void);
/* "1.5 GiB" in buf. */
const char *mz_cli_bytes_text(double bytes, char buf[32]);

/* ---- progress on standard error: after a second, a line that renews itself on a terminal ---- */

typedef struct mz_cli_progress {
    const char *what; /* "loading" */
    bool off, in_bytes, shown;
    double t0_ms, t_last_ms;
} mz_cli_progress;

void mz_cli_progress_start(mz_cli_progress *p, const char *what, bool in_bytes, bool off);
void mz_cli_progress_step(void *p, uint64_t done, uint64_t total); /* an mz_progress_fn */
void mz_cli_progress_end(mz_cli_progress *p);

/* ---- models ---- */

/* Opens with the loading options of a and the rest of o. False: said on standard error. */
bool mz_cli_open_engine(const mz_cli_args *a, const char *model, mz_engine_options o, mz_engine **e, double *load_ms);

#endif
