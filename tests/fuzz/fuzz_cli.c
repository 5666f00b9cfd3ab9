/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_cli.c: the command line's parser. The first byte chooses the command; the rest are its words, each ended by a
 * newline. Whatever comes: a refusal is one printable sentence, an acceptance has values inside their ranges. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The parser belongs to the binary, not to the library. */
#include "cli/options.c"
#include "cli/optparse.c"

static void demand(int ok)
{
    if (!ok) abort();
}

static void check_message(const char *message)
{
    size_t n = strnlen(message, MZ_CLI_MESSAGE_BYTES);
    demand(n > 0 && n < MZ_CLI_MESSAGE_BYTES);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)message[i];
        demand(c >= 0x20 && c != 0x7F);
        if (c == 0xC2) demand((unsigned char)message[i + 1] >= 0xA0); /* no C1 control */
    }
}

static void check_values(const mz_cli_command *cmd, const mz_cli_args *a)
{
    for (size_t i = 0; i < mz_cli_n_option; i++) {
        const mz_cli_option *o = &mz_cli_options[i];
        const void *field = (const char *)a + o->field;
        if (!(o->cmds & cmd->bit)) continue;
        if (o->kind == MZ_CLI_REAL) demand(*(const double *)field >= o->lo && *(const double *)field <= o->hi);
        if (o->kind == MZ_CLI_INT && *(const int64_t *)field != 0 && *(const int64_t *)field != -1)
            demand((double)*(const int64_t *)field >= o->lo && (double)*(const int64_t *)field <= o->hi);
        if (o->kind == MZ_CLI_INTS)
            for (size_t k = 0; k < ((const mz_cli_ints *)field)->n; k++)
                demand((double)((const mz_cli_ints *)field)->v[k] >= o->lo && (double)((const mz_cli_ints *)field)->v[k] <= o->hi);
        if (o->kind == MZ_CLI_CHOICE && *(const char *const *)field) demand(strstr(o->choices, *(const char *const *)field) != NULL);
    }
}

static void check_lists(const mz_cli_args *a)
{
    char message[MZ_CLI_MESSAGE_BYTES];
    int32_t *ids = NULL, id;
    size_t n = 0;
    float value;
    if (a->ids) {
        if (mz_cli_parse_ids(a->ids, strlen(a->ids), &ids, &n, message)) {
            demand(n > 0);
            for (size_t i = 0; i < n; i++) demand(ids[i] >= 0);
            free(ids);
        } else {
            check_message(message);
        }
    }
    for (size_t i = 0; i < a->logit_bias.n; i++) {
        if (mz_cli_parse_bias(a->logit_bias.v[i], &id, &value, message))
            demand(id >= 0 && (isfinite(value) || value == -INFINITY));
        else
            check_message(message);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MAX_WORDS = 64 };
    char *words = malloc(size + 1), *argv[MAX_WORDS], message[MZ_CLI_MESSAGE_BYTES];
    int argc = 0;
    mz_cli_args a;
    demand(words != NULL);
    if (size == 0) {
        free(words);
        return 0;
    }
    const mz_cli_command *cmd = &mz_cli_commands[data[0] % mz_cli_n_command];
    memcpy(words, data + 1, size - 1);
    words[size - 1] = '\0';
    for (char *s = words; argc < MAX_WORDS && *s;) {
        argv[argc++] = s;
        s += strcspn(s, "\n");
        if (*s) *s++ = '\0';
    }
    if (argc) (void)mz_cli_nearest_command(argv[0]);
    memset(message, 'x', sizeof message);
    if (mz_cli_parse(cmd, argc, argv, &a, message)) {
        demand(a.help || a.model || (cmd->bit == MZ_CLI_INSPECT && a.cpu));
        check_values(cmd, &a);
        check_lists(&a);
        mz_cli_args_free(&a);
    } else {
        check_message(message);
    }
    free(words);
    return 0;
}
