/* SPDX-License-Identifier: Apache-2.0
 *
 * help.h: help and the man page, written from the option table. Needs no library. */
#ifndef MZ_CLI_HELP_H
#define MZ_CLI_HELP_H

#include <stdio.h>

#include "cli/options.h"

void mz_help_overview(FILE *f);
void mz_help_command(FILE *f, const mz_cli_command *cmd);
/* The whole manual in mdoc(7). */
void mz_help_man(FILE *f, const char *version);

#endif
