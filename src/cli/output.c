/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/chars.h"
#include "cli/clean.h"
#include "cli/cli.h"

static int write_errno; /* of the first failed write to standard output */

bool mz_cli_err_is_tty(void)
{
    return isatty(2) == 1;
}

void mz_cli_out(const void *data, size_t n)
{
    if (write_errno || n == 0) return;
    errno = 0;
    if (fwrite(data, 1, n, stdout) != n) write_errno = errno ? errno : EIO;
}

void mz_cli_outf(const char *fmt, ...)
{
    va_list ap;
    if (write_errno) return;
    errno = 0;
    va_start(ap, fmt);
    if (vprintf(fmt, ap) < 0) write_errno = errno ? errno : EIO;
    va_end(ap);
}

void mz_cli_out_flush(void)
{
    errno = 0;
    if (fflush(stdout) != 0 && !write_errno) write_errno = errno ? errno : EIO;
}

bool mz_cli_out_failed(void)
{
    return write_errno != 0;
}

int mz_cli_out_end(int status)
{
    static bool said;
    mz_cli_out_flush();
    if (!write_errno) return status;
    if (!said) (void)fprintf(stderr, "mizan: standard output: cannot write: %s\n", strerror(write_errno));
    said = true;
    return MZ_EXIT_FAILED;
}

int mz_cli_out_json(json_t *doc)
{
    char *text = doc ? json_dumps(doc, JSON_REAL_PRECISION(10)) : NULL;
    json_decref(doc);
    if (!text) return mz_cli_fail("out of memory while writing JSON");
    mz_cli_out(text, strlen(text));
    mz_cli_out("\n", 1);
    free(text);
    return mz_cli_out_end(MZ_EXIT_DONE);
}

char *mz_cli_visible(const char *s, size_t n, size_t *n_out)
{
    char *out = mz_cli_alloc(MZ_CLEAN_ROOM(n) + 1, 1);
    mz_clean c = {0};
    size_t len = mz_clean_add(&c, s, n, out);
    *n_out = len + mz_clean_end(&c, out + len);
    return out;
}

void mz_cli_out_text(const char *s, size_t n)
{
    if (n == 0) return;
    if (isatty(1) != 1) {
        mz_cli_out(s, n);
        return;
    }
    size_t n_visible;
    char *visible = mz_cli_visible(s, n, &n_visible);
    mz_cli_out(visible, n_visible);
    free(visible);
}

json_t *mz_cli_json_bytes(const char *s, size_t n)
{
    char *clean = mz_cli_alloc(n + 1, 3), *w = clean;
    for (size_t i = 0; i < n;) {
        size_t len = mz_char_len(s + i, n - i);
        memcpy(w, len ? s + i : "\xEF\xBF\xBD", len ? len : 3);
        w += len ? len : 3;
        i += len ? len : 1;
    }
    json_t *j = json_stringn_nocheck(clean, (size_t)(w - clean));
    free(clean);
    return j;
}
