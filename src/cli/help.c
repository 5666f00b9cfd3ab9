/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

#include <string.h>

#define WIDTH 80

/* Prints words of s [n] with lines of at most WIDTH columns, each but the first indented. */
static void wrap(FILE *f, const char *s, size_t n, int indent, int column)
{
    for (size_t i = 0; i < n;) {
        while (i < n && s[i] == ' ') i++;
        size_t len = 0;
        while (i + len < n && s[i + len] != ' ') len++;
        if (len == 0) break;
        if (column > indent && column + 1 + (int)len > WIDTH) {
            (void)fprintf(f, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            (void)fputc(' ', f);
            column++;
        }
        (void)fwrite(s + i, 1, len, f);
        column += (int)len;
        i += len;
    }
    (void)fputc('\n', f);
}

void mz_help_overview(FILE *f)
{
    (void)fprintf(f, "usage: mizan COMMAND MODEL [options]\n\n");
    for (size_t i = 0; i < mz_cli_n_command; i++) (void)fprintf(f, "  %-12s %s\n", mz_cli_commands[i].name, mz_cli_commands[i].summary);
    (void)fprintf(f, "\n'mizan help COMMAND' describes a command. 'mizan --version' prints the version.\n");
}

static void print_option(FILE *f, const mz_cli_option *o)
{
    char head[96], text[512];
    int n = o->letter ? snprintf(head, sizeof head, "  -%c, --%s", o->letter, o->name) : snprintf(head, sizeof head, "      --%s", o->name);
    if (o->arg) n += snprintf(head + n, sizeof head - (size_t)n, " %s", o->arg);
    (void)fputs(head, f);
    if (n >= 28) {
        (void)fprintf(f, "\n%*s", 28, "");
    } else {
        (void)fprintf(f, "%*s", 28 - n, "");
    }
    (void)snprintf(text, sizeof text, "%s%s%s%s%s%s", o->help, o->choices ? ": " : "", o->choices ? o->choices : "",
                   o->absent ? " (default " : "", o->absent ? o->absent : "", o->absent ? ")" : "");
    wrap(f, text, strlen(text), 28, 28);
}

void mz_help_command(FILE *f, const mz_cli_command *cmd)
{
    (void)fprintf(f, "usage: mizan %s %s\n\n", cmd->name, cmd->usage);
    for (const char *s = cmd->description; *s;) {
        const char *end = strchr(s, '\n');
        size_t n = end ? (size_t)(end - s) : strlen(s);
        wrap(f, s, n, 0, 0);
        s += n + (end != NULL);
    }
    const char *seen[16] = {0};
    size_t n_seen = 0;
    for (size_t i = 0; i < mz_cli_n_option; i++) {
        const char *group = mz_cli_options[i].group;
        bool is_new = (mz_cli_options[i].cmds & cmd->bit) != 0;
        for (size_t j = 0; j < n_seen; j++)
            if (strcmp(seen[j], group) == 0) is_new = false;
        if (!is_new || n_seen == sizeof seen / sizeof seen[0]) continue;
        seen[n_seen++] = group;
        (void)fprintf(f, "\n%s:\n", group);
        for (size_t j = i; j < mz_cli_n_option; j++)
            if ((mz_cli_options[j].cmds & cmd->bit) && strcmp(mz_cli_options[j].group, group) == 0) print_option(f, &mz_cli_options[j]);
    }
    (void)fprintf(f, "\nExamples:\n");
    for (const char *s = cmd->examples; *s;) {
        size_t n = strcspn(s, "\n");
        (void)fprintf(f, "  %.*s\n", (int)n, s);
        s += n + (s[n] == '\n');
    }
}
