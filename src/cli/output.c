/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Length of the well-formed UTF-8 sequence at s, 0 when there is none (Unicode 15, table 3-7). */
static size_t char_len(const unsigned char *s, size_t n)
{
    if (s[0] < 0x80) return 1;
    size_t len = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || len > n) return 0;
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return len;
}

char *mz_cli_visible(const char *s, size_t n, size_t *n_out)
{
    char *out = mz_cli_alloc(n + 1, 6), *w = out; /* the longest form is six bytes for two */
    const unsigned char *u = (const unsigned char *)s;
    for (size_t i = 0; i < n;) {
        size_t len = char_len(u + i, n - i);
        if (len == 0) { /* not UTF-8: some terminals take 0x80..0x9F for control characters */
            w += sprintf(w, "\\x%02x", u[i]);
            len = 1;
        } else if (len == 1 && (u[i] < 0x20 || u[i] == 0x7F) && u[i] != '\n' && u[i] != '\t') {
            w += sprintf(w, "^%c", u[i] ^ 0x40);
        } else if (len == 2 && u[i] == 0xC2 && u[i + 1] < 0xA0) {
            w += sprintf(w, "\\u%04x", u[i + 1]);
        } else {
            memcpy(w, u + i, len);
            w += len;
        }
        i += len;
    }
    *n_out = (size_t)(w - out);
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
    const unsigned char *u = (const unsigned char *)s;
    for (size_t i = 0; i < n;) {
        size_t len = char_len(u + i, n - i);
        memcpy(w, len ? (const char *)u + i : "\xEF\xBF\xBD", len ? len : 3);
        w += len ? len : 3;
        i += len ? len : 1;
    }
    json_t *j = json_stringn_nocheck(clean, (size_t)(w - clean));
    free(clean);
    return j;
}
