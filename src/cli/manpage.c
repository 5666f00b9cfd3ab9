/* SPDX-License-Identifier: Apache-2.0
 *
 * manpage.c: the manual in mdoc(7). Lines that mdoc would read as requests are avoided by escaping
 * every dot, quote and hyphen that comes from the tables. */
#include <stdbool.h>
#include <string.h>

#include "cli/help.h"

/* Text from a table inside a line of running text. */
static void put(FILE *f, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\\')
            (void)fputs("\\e", f);
        else if (s[i] == '-')
            (void)fputs("\\-", f);
        else if ((s[i] == '.' || s[i] == '\'') && i == 0)
            (void)fprintf(f, "\\&%c", s[i]);
        else if (s[i] == '"')
            (void)fputs("\\(dq", f);
        else
            (void)fputc(s[i], f);
    }
}

/* Running text of sentences: each starts its own line, and lines stay short, as mdoc wants it. `end` is put behind the last. */
static void put_text(FILE *f, const char *s, size_t n, const char *end)
{
    size_t column = 0;
    for (size_t i = 0; i < n;) {
        size_t len = 0;
        while (i + len < n && s[i + len] != ' ') len++;
        bool new_line = column == 0 || column + 1 + len > 72 || (i >= 2 && strchr(".;:", s[i - 2]));
        if (new_line && column > 0) (void)fputc('\n', f);
        if (!new_line) (void)fputc(' ', f);
        column = new_line ? len : column + 1 + len;
        put(f, s + i, len);
        i += len;
        while (i < n && s[i] == ' ') i++;
    }
    (void)fprintf(f, "%s\n", end);
}

static void put_str(FILE *f, const char *s)
{
    put(f, s, strlen(s));
}

static void option(FILE *f, const mz_cli_option *o)
{
    (void)fputs(".It ", f);
    if (o->letter) (void)fprintf(f, "Fl %c , ", o->letter);
    (void)fputs("Fl Fl ", f);
    put_str(f, o->name);
    if (o->arg) (void)fprintf(f, " Ar %s", o->arg);
    (void)fputc('\n', f);
    put_text(f, o->help, strlen(o->help), ".");
    if (o->choices) {
        (void)fputs("One of ", f);
        put_str(f, o->choices);
        (void)fputs(".\n", f);
    }
    if (o->absent) {
        (void)fputs("The default is ", f);
        put_str(f, o->absent);
        (void)fputs(".\n", f);
    }
}

static void command(FILE *f, const mz_cli_command *cmd)
{
    (void)fprintf(f, ".Ss mizan %s\n.Bd -ragged\n.Nm mizan %s\n", cmd->name, cmd->name);
    put_text(f, cmd->usage, strlen(cmd->usage), "");
    (void)fputs(".Ed\n.Pp\n", f);
    for (const char *s = cmd->description; *s;) {
        size_t n = strcspn(s, "\n");
        if (n)
            put_text(f, s, n, "");
        else
            (void)fputs(".Pp\n", f);
        s += n + (s[n] == '\n');
    }
    (void)fputs(".Bl -tag -width Ds\n", f);
    for (size_t i = 0; i < mz_cli_n_option; i++)
        if (mz_cli_options[i].cmds & cmd->bit) option(f, &mz_cli_options[i]);
    (void)fputs(".El\n", f);
}

void mz_help_man(FILE *f, const char *version)
{
    /* The date is that of the manual's text, so that builds are reproducible. */
    (void)fprintf(f, ".\\\" Made from the option table of mizan %s.\n.Dd December 1, 2026\n.Dt MIZAN 1\n.Os\n", version);
    (void)fputs(".Sh NAME\n.Nm mizan\n.Nd run open-weight language models on your own hardware\n.Sh SYNOPSIS\n", f);
    for (size_t i = 0; i < mz_cli_n_command; i++) (void)fprintf(f, ".Nm\n.Cm %s\n.Op options\n", mz_cli_commands[i].name);
    (void)fputs(".Nm\n.Fl Fl version\n.Sh DESCRIPTION\n"
                "A model argument is a GGUF file, the first part of a split one.\n"
                "Results go to standard output, everything else to standard error.\n"
                "Long options are written\n.Fl Fl name Ns = Ns Ar value\nor\n.Fl Fl name Ar value ;\n"
                ".Fl Fl\nends the options.\n",
                f);
    for (size_t i = 0; i < mz_cli_n_command; i++) command(f, &mz_cli_commands[i]);
    (void)fputs(".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\nDone.\n.It 1\nFailed; one sentence on standard error says why.\n"
                ".It 2\nWrong usage.\n.El\n.Sh EXAMPLES\n.Bd -literal\n",
                f);
    for (size_t i = 0; i < mz_cli_n_command; i++)
        for (const char *s = mz_cli_commands[i].examples; *s;) {
            size_t n = strcspn(s, "\n");
            put(f, s, n);
            (void)fputc('\n', f);
            s += n + (s[n] == '\n');
        }
    (void)fputs(".Ed\n", f);
}
