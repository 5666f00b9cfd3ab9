/* SPDX-License-Identifier: Apache-2.0 */
#include "err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *mz_status_text(mz_status status)
{
    switch (status) {
    case MZ_OK: return "ok";
    case MZ_EINVAL: return "invalid argument";
    case MZ_ENOMEM: return "out of memory";
    case MZ_EIO: return "input/output error";
    case MZ_EFORMAT: return "malformed file";
    case MZ_ESUPPORT: return "not supported";
    case MZ_ERANGE: return "value out of range";
    case MZ_ELIMIT: return "limit reached";
    case MZ_ECANCEL: return "cancelled";
    }
    return "unknown status";
}

const char *mz_version(void)
{
    return MZ_VERSION;
}

/* Length of a valid UTF-8 sequence at s with n bytes left, 0 when it is not one. Control characters
 * (C0, DEL, C1) count as invalid here: an error sentence is printed on terminals. */
static size_t printable_len(const unsigned char *s, size_t n)
{
    if (s[0] < 0x80) return s[0] >= 0x20 && s[0] != 0x7F ? 1 : 0;
    size_t len = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || len > n) return 0;
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if (s[0] == 0xC2 && s[1] < 0xA0) return 0;
    return len;
}

static void make_printable(char *text)
{
    unsigned char *s = (unsigned char *)text;
    size_t n = strlen(text);
    for (size_t i = 0; i < n;) {
        size_t len = printable_len(s + i, n - i);
        if (len == 0) {
            s[i] = '?';
            len = 1;
        }
        i += len;
    }
}

mz_status mz_err_set(mz_err *err, mz_status status, const char *fmt, ...)
{
    if (!err) return status;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    make_printable(err->text);
    err->status = status;
    return status;
}

void mz_err_prefix(mz_err *err, const char *prefix)
{
    if (!err || err->text[0] == '\0') return;
    char old[sizeof err->text];
    memcpy(old, err->text, sizeof old);
    (void)snprintf(err->text, sizeof err->text, "%.160s: %.340s", prefix, old);
    make_printable(err->text);
}
