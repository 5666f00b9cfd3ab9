/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>

volatile int mz_signal_interrupt, mz_signal_end, mz_signal_window, mz_signal_continue;

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT};
enum { N_WATCHED = sizeof watched / sizeof watched[0] };
static struct sigaction before[N_WATCHED];

static void on_signal(int sig)
{
    if (sig == SIGWINCH)
        mz_signal_window = 1;
    else if (sig == SIGCONT)
        mz_signal_continue = 1;
    else
        mz_signal_interrupt = 1;
    if (sig == SIGTERM || sig == SIGHUP) mz_signal_end = 1;
}

void mz_signals_begin(void)
{
    struct sigaction act = {.sa_handler = on_signal}; /* without SA_RESTART: a wait must return */
    (void)sigemptyset(&act.sa_mask);
    for (int i = 0; i < N_WATCHED; i++) (void)sigaction(watched[i], &act, &before[i]);
}

void mz_signals_end(void)
{
    for (int i = 0; i < N_WATCHED; i++) (void)sigaction(watched[i], &before[i], NULL);
}

bool mz_signals_wait_input(void)
{
    sigset_t block, old;
    struct pollfd in = {.fd = 0, .events = POLLIN};
    int n = 0;
    (void)sigemptyset(&block);
    for (int i = 0; i < N_WATCHED; i++) (void)sigaddset(&block, watched[i]);
    (void)sigprocmask(SIG_BLOCK, &block, &old);
    bool told = mz_signal_interrupt || mz_signal_window || mz_signal_continue;
    if (!told) n = ppoll(&in, 1, NULL, &old);
    (void)sigprocmask(SIG_SETMASK, &old, NULL);
    return !told && !(n < 0 && errno == EINTR);
}
