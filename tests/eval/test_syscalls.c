/* SPDX-License-Identifier: Apache-2.0
 * The system calls a decode step makes are those that bench counts: a traced child decodes between two calls that mark the stretch, and the
 * system calls of all its threads are counted from outside. Usage: test_syscalls MODEL */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

#include <cmocka.h>

#include <mizan/mizan.h>

#include "base/workers.h"

#define N_STEP 60
#define MARK   0x5a17 /* an argument of getpgid that nothing else passes */

static const char *path;

static void must(mz_status st, const mz_err *err)
{
    if (st == MZ_OK) return;
    (void)fprintf(stderr, "%s\n", err->text);
    _exit(3);
}

/* The child: writes what the library counted to fd. */
static void decode(int n_thread, int fd)
{
    mz_engine_options o = mz_engine_options_default();
    mz_engine *e = NULL;
    mz_session *s = NULL;
    mz_err err = {0};
    int32_t id = 1;
    o.n_thread = n_thread;
    o.executor = "workers";
    must(mz_engine_open(path, &o, &e, &err), &err);
    must(mz_session_create(e, &s, &err), &err);
    for (int i = 0; i < 3; i++) must(mz_step(e, &s, &id, 1, &err), &err);
    (void)syscall(SYS_getpgid, MARK);
    uint64_t before = mz_workers_syscalls();
    for (int i = 0; i < N_STEP; i++) must(mz_step(e, &s, &id, 1, &err), &err);
    uint64_t counted = mz_workers_syscalls() - before;
    (void)syscall(SYS_getpgid, MARK);
    if (write(fd, &counted, sizeof counted) != sizeof counted) _exit(4);
    mz_session_close(s);
    mz_engine_close(e);
    _exit(0);
}

/* Follows the child and its threads to the end; the calls between the marks, or -1 where tracing does not work. */
static long count_calls(pid_t child)
{
    long n = 0;
    int n_mark = 0, status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return -1;
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)) != 0) return -1;
    (void)ptrace(PTRACE_SYSCALL, child, NULL, NULL);
    for (;;) {
        pid_t who = waitpid(-1, &status, __WALL);
        if (who < 0) break;
        if (!WIFSTOPPED(status)) {
            if (who == child) break;
            continue;
        }
        int sig = WSTOPSIG(status);
        if (sig == (SIGTRAP | 0x80)) {
            struct __ptrace_syscall_info info;
            if (ptrace(PTRACE_GET_SYSCALL_INFO, who, (void *)sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY) {
                if (info.entry.nr == SYS_getpgid && info.entry.args[0] == MARK)
                    n_mark++;
                else if (n_mark == 1)
                    n++;
            }
            sig = 0;
        } else if (sig == SIGTRAP || sig == SIGSTOP) { /* a thread made, or its first stop */
            sig = 0;
        }
        (void)ptrace(PTRACE_SYSCALL, who, NULL, (void *)(intptr_t)sig);
    }
    return n_mark == 2 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? n : -1;
}

static void compare(int n_thread, long *seen, long *counted)
{
    int fd[2];
    uint64_t value = 0;
    assert_int_equal(pipe(fd), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(5);
        (void)raise(SIGSTOP);
        decode(n_thread, fd[1]);
    }
    *seen = count_calls(child);
    (void)close(fd[1]);
    ssize_t got = read(fd[0], &value, sizeof value);
    (void)close(fd[0]);
    if (*seen < 0 || got != sizeof value) fail_msg("the traced child did not come to its end (is ptrace allowed here?)");
    *counted = (long)value;
}

/* One thread waits for nobody. */
static void test_alone(void **state)
{
    long seen, counted;
    (void)state;
    compare(1, &seen, &counted);
    assert_int_equal(seen, 0);
    assert_int_equal(counted, 0);
}

/* More threads than processors never spin, so they call at every barrier. The count is raised just before the call, so at
 * each mark every other thread may be between the two. */
static void test_crowd(void **state)
{
    long seen, counted;
    int n = mz_cpu_count() + 2;
    (void)state;
    compare(n, &seen, &counted);
    print_message("%d threads: %ld system calls seen, %ld counted in %d steps\n", n, seen, counted, N_STEP);
    assert_true(counted > N_STEP);
    assert_true(labs(seen - counted) <= 2 * (n - 1));
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    path = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_alone), cmocka_unit_test(test_crowd)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
