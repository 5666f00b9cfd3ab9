/* SPDX-License-Identifier: Apache-2.0
 *
 * signals.h: what a chat is told by signals while it runs on a terminal. Handlers set flags and nothing else; the flags are
 * looked at with the signals blocked, so that none is lost between looking and waiting. One chat a process. */
#ifndef MZ_CLI_SIGNALS_H
#define MZ_CLI_SIGNALS_H

#include <stdbool.h>

extern volatile int mz_signal_interrupt; /* SIGINT, and whatever ends the program: an answer must stop */
extern volatile int mz_signal_end;       /* SIGTERM, SIGHUP */
extern volatile int mz_signal_window;    /* SIGWINCH */
extern volatile int mz_signal_continue;  /* SIGCONT */

void mz_signals_begin(void);
void mz_signals_end(void); /* as it was before */
/* Waits until standard input has something (or is at its end); false when a signal came first. */
bool mz_signals_wait_input(void);

#endif
