/* SPDX-License-Identifier: Apache-2.0
 *
 * manpage_main.c: the build-time program that prints mizan.1. */
#include "cli/help.h"

int main(void)
{
    mz_help_man(stdout, MZ_VERSION);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
