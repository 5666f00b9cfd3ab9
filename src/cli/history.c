/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/chars.h"

/* Of a longer file only the end is read. */
#define FILE_LIMIT ((size_t)4 << 20)

char *mz_history_path(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    int n = -1;
    if (state && state[0] == '/')
        n = asprintf(&path, "%s/mizan/history", state);
    else if (home && home[0] == '/')
        n = asprintf(&path, "%s/.local/state/mizan/history", home);
    return n < 0 ? NULL : path;
}

void mz_history_add(mz_history *h, const char *text, size_t n)
{
    if ((h->n & (h->n - 1)) == 0) { /* room doubles at each power of two */
        char **grown = realloc(h->entry, (h->n ? h->n * 2 : 1) * sizeof *grown);
        if (!grown) return;
        h->entry = grown;
    }
    char *copy = strndup(text, n);
    if (copy) h->entry[h->n++] = copy;
}

void mz_history_free(mz_history *h)
{
    for (size_t i = 0; i < h->n; i++) free(h->entry[i]);
    free(h->entry);
    *h = (mz_history){0};
}

/* Undoes the escapes in place; false when the entry is not one of ours. */
static bool decode(char *s, size_t *n)
{
    size_t to = 0;
    for (size_t i = 0; i < *n;) {
        size_t len = mz_char_len(s + i, *n - i);
        if (len == 0) return false;
        uint32_t c = mz_char_value(s + i, len);
        if (mz_char_is_control(c) && c != '\t') return false;
        if (c == '\\') {
            if (i + 1 >= *n || (s[i + 1] != 'n' && s[i + 1] != '\\')) return false;
            s[to++] = s[i + 1] == 'n' ? '\n' : '\\';
            i += 2;
            continue;
        }
        memmove(s + to, s + i, len);
        to += len;
        i += len;
    }
    *n = to;
    return to > 0;
}

void mz_history_read(const char *path, mz_history *out)
{
    struct stat sb;
    *out = (mz_history){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &sb) != 0 || !S_ISREG(sb.st_mode)) {
        if (fd >= 0) (void)close(fd);
        return;
    }
    size_t size = sb.st_size > 0 ? (size_t)sb.st_size : 0, skip = size > FILE_LIMIT ? size - FILE_LIMIT : 0, n = 0;
    char *text = malloc(size - skip + 1);
    while (text && n < size - skip) {
        ssize_t got = pread(fd, text + n, size - skip - n, (off_t)(skip + n));
        if (got <= 0) break;
        n += (size_t)got;
    }
    (void)close(fd);
    for (size_t i = 0; text && i < n;) {
        const char *end = memchr(text + i, '\n', n - i);
        size_t len = end ? (size_t)(end - text) - i : n - i, decoded = len;
        bool cut = i == 0 && skip > 0;
        if (!cut && decode(text + i, &decoded)) mz_history_add(out, text + i, decoded);
        i += len + 1;
    }
    free(text);
}

static void make_folders(char *path)
{
    for (char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/')) {
        *s = '\0';
        (void)mkdir(path, 0700);
        *s = '/';
    }
}

static bool write_entry(FILE *f, const char *s)
{
    for (; *s; s++) {
        if (*s == '\n' || *s == '\\') {
            if (fputc('\\', f) < 0 || fputc(*s == '\n' ? 'n' : '\\', f) < 0) return false;
        } else if (fputc(*s, f) < 0) {
            return false;
        }
    }
    return fputc('\n', f) >= 0;
}

bool mz_history_append(const char *path, const mz_history *more, const char **why)
{
    mz_history old = {0};
    char *tmp = NULL, *folders = strdup(path);
    bool ok = folders && asprintf(&tmp, "%s.tmp-%ld", path, (long)getpid()) >= 0;
    FILE *f = NULL;
    errno = ENOMEM;
    if (!ok) goto out;
    make_folders(folders);
    mz_history_read(path, &old);
    int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    f = fd >= 0 ? fdopen(fd, "w") : NULL;
    ok = f != NULL;
    if (!f) {
        if (fd >= 0) (void)close(fd);
        goto out;
    }
    size_t all = old.n + more->n, first = all > MZ_HISTORY_LIMIT ? all - MZ_HISTORY_LIMIT : 0;
    for (size_t i = first; ok && i < all; i++) ok = write_entry(f, i < old.n ? old.entry[i] : more->entry[i - old.n]);
    ok = fclose(f) == 0 && ok && rename(tmp, path) == 0;
out:
    *why = ok ? "" : strerror(errno);
    if (!ok && f) (void)unlink(tmp);
    mz_history_free(&old);
    free(folders);
    free(tmp);
    return ok;
}
