/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"

static int run_command(const mz_cli_command *cmd, const mz_cli_args *a)
{
    switch (cmd->bit) {
    case MZ_CLI_RUN: return mz_cli_run(a);
    case MZ_CLI_TOKENIZE: return mz_cli_tokenize(a);
    case MZ_CLI_DETOKENIZE: return mz_cli_detokenize(a);
    case MZ_CLI_INSPECT: return mz_cli_inspect(a);
    case MZ_CLI_EVAL: return mz_cli_eval(a);
    case MZ_CLI_BENCH: return mz_cli_bench(a);
    default: return mz_cli_fail("command '%s' is not built in", cmd->name);
    }
}

static int unknown_command(const char *name)
{
    const mz_cli_command *near = mz_cli_nearest_command(name);
    if (near) return mz_cli_usage("unknown command '%.80s'; did you mean '%s'?", name, near->name);
    return mz_cli_usage("unknown command '%.80s'; 'mizan help' lists the commands", name);
}

static int help(int argc, char **argv)
{
    if (argc == 0) {
        mz_help_overview(stdout);
        return mz_cli_out_end(MZ_EXIT_DONE);
    }
    const mz_cli_command *cmd = mz_cli_find_command(argv[0]);
    if (!cmd) return unknown_command(argv[0]);
    if (argc > 1) return mz_cli_usage("unexpected argument '%.80s' after 'mizan help %s'", argv[1], cmd->name);
    mz_help_command(stdout, cmd);
    return mz_cli_out_end(MZ_EXIT_DONE);
}

int main(int argc, char **argv)
{
    /* A reader that went away must show as a failed write with a sentence, not as a silent death. */
    (void)signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        mz_help_overview(stderr);
        return MZ_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        mz_cli_outf("mizan %s\n", mz_version());
        return mz_cli_out_end(MZ_EXIT_DONE);
    }
    if (strcmp(name, "help") == 0) return help(argc - 2, argv + 2);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return help(0, NULL);
    if (name[0] == '-') return mz_cli_usage("expected a command before '%.80s'; 'mizan help' lists the commands", name);
    const mz_cli_command *cmd = mz_cli_find_command(name);
    if (!cmd) return unknown_command(name);

    mz_cli_args a;
    char message[MZ_CLI_MESSAGE_BYTES];
    if (!mz_cli_parse(cmd, argc - 2, argv + 2, &a, message)) return mz_cli_usage("%s: %s", cmd->name, message);
    int status;
    if (a.help) {
        mz_help_command(stdout, cmd);
        status = MZ_EXIT_DONE;
    } else {
        status = run_command(cmd, &a);
    }
    mz_cli_args_free(&a);
    return mz_cli_out_end(status);
}
