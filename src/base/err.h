/* SPDX-License-Identifier: Apache-2.0
 *
 * err.h: recording and forwarding failures inside the library.
 *
 * MZ_FAIL records one sentence and jumps to the function's `out:` label; MZ_TRY forwards a failure
 * already recorded below. Both need a local `mz_status st` and an `out:` label that returns st. */
#ifndef MZ_BASE_ERR_H
#define MZ_BASE_ERR_H

#include <mizan/status.h>

#define MZ_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define MZ_MUST_USE          __attribute__((warn_unused_result))

/* Records `status` and the formatted sentence in err (may be NULL) and returns status. Cut bytes
 * that are not printable UTF-8 are shown as '?', so that hostile names cannot reach a terminal. */
mz_status mz_err_set(mz_err *err, mz_status status, const char *fmt, ...) MZ_PRINTF(3, 4);

/* Puts "prefix: " before the recorded sentence; used where a caller knows the file's name. */
void mz_err_prefix(mz_err *err, const char *prefix);

#define MZ_FAIL(code, err, ...)                      \
    do {                                             \
        st = mz_err_set((err), (code), __VA_ARGS__); \
        goto out;                                    \
    } while (0)

#define MZ_TRY(expr)               \
    do {                           \
        st = (expr);               \
        if (st != MZ_OK) goto out; \
    } while (0)

#endif
