/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem.h"

mz_status mz_file_map(const char *path, mz_map *out, mz_err *err)
{
    mz_status st = MZ_OK;
    struct stat sb;
    *out = (mz_map){0};
    /* O_NONBLOCK: opening a FIFO must not hang; it is refused just below. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) MZ_FAIL(MZ_EIO, err, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(fd, &sb) != 0) MZ_FAIL(MZ_EIO, err, "%s: cannot stat: %s", path, strerror(errno));
    if (S_ISDIR(sb.st_mode)) MZ_FAIL(MZ_EINVAL, err, "%s: is a directory, expected a file", path);
    if (!S_ISREG(sb.st_mode)) MZ_FAIL(MZ_EINVAL, err, "%s: is not a regular file", path);
    if (sb.st_size > 0) {
        void *p = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED) MZ_FAIL(MZ_EIO, err, "%s: cannot map: %s", path, strerror(errno));
        out->data = p;
        out->size = (size_t)sb.st_size;
    }
out:
    if (fd >= 0) (void)close(fd);
    return st;
}

void mz_file_unmap(mz_map *m)
{
    if (m->data) (void)munmap((void *)(uintptr_t)m->data, m->size);
    *m = (mz_map){0};
}

void mz_file_release(const mz_map *m, size_t offset, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t begin = (offset + page - 1) / page * page, end = (offset + n) / page * page;
    if (m->data && begin < end) (void)madvise((void *)(uintptr_t)(m->data + begin), end - begin, MADV_DONTNEED);
}

mz_status mz_file_read(const char *path, size_t limit, char **data, size_t *n, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_buf buf = {.limit = limit};
    struct stat sb;
    char chunk[65536];
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(path, "re");
    if (!f) MZ_FAIL(MZ_EIO, err, "%s: cannot open: %s", path, strerror(errno));
    if (!is_stdin && fstat(fileno(f), &sb) == 0 && S_ISDIR(sb.st_mode))
        MZ_FAIL(MZ_EINVAL, err, "%s: is a directory, expected a file", path);
    for (;;) {
        size_t got = fread(chunk, 1, sizeof chunk, f);
        if (got == 0) break;
        if (!mz_buf_add(&buf, chunk, got))
            MZ_FAIL(buf.len + got > limit ? MZ_ELIMIT : MZ_ENOMEM, err, "%s: more than %zu bytes, the limit for this input", path, limit);
    }
    if (ferror(f)) MZ_FAIL(MZ_EIO, err, "%s: cannot read: %s", path, strerror(errno));
    if (!buf.data && !mz_buf_add(&buf, "", 0)) MZ_FAIL(MZ_ENOMEM, err, "%s: out of memory", path);
    *data = buf.data;
    *n = buf.len;
    buf = (mz_buf){0};
out:
    if (f && !is_stdin) (void)fclose(f);
    mz_buf_free(&buf);
    return st;
}

mz_status mz_out_open(const char *path, mz_out *out, mz_err *err)
{
    return mz_out_open_mode(path, 0666, out, err);
}

mz_status mz_out_open_mode(const char *path, unsigned mode, mz_out *out, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_buf tmp = {0};
    struct stat old;
    int fd = -1;
    *out = (mz_out){0};
    if (stat(path, &old) == 0 && !S_ISREG(old.st_mode))
        MZ_FAIL(MZ_EIO, err, "%s: is there already and not a regular file, so it is not replaced; choose another name", path);
    out->path = mz_strndup(path, strlen(path));
    if (!out->path || !mz_buf_addf(&tmp, "%s.tmp-%ld", path, (long)getpid())) MZ_FAIL(MZ_ENOMEM, err, "%s: out of memory", path);
    out->tmp = tmp.data;
    tmp = (mz_buf){0};
    /* The name can be guessed, so what lies there (left over, or put there by another) is neither followed nor written to. */
    for (int i = 0; i < 2 && fd < 0; i++) {
        fd = open(out->tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (mode_t)mode);
        if (fd < 0 && (errno != EEXIST || unlink(out->tmp) != 0)) break;
    }
    out->f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!out->f) MZ_FAIL(MZ_EIO, err, "%s: cannot create %s: %s", path, out->tmp, strerror(errno));
    fd = -1;
out:
    if (fd >= 0) (void)close(fd);
    mz_buf_free(&tmp);
    if (st != MZ_OK) mz_out_abort(out);
    return st;
}

mz_status mz_out_write(mz_out *o, const void *data, size_t n, mz_err *err)
{
    if (n && fwrite(data, 1, n, o->f) != n) return mz_err_set(err, MZ_EIO, "%s: cannot write: %s", o->path, strerror(errno));
    return MZ_OK;
}

mz_status mz_out_commit(mz_out *o, mz_err *err)
{
    mz_status st = MZ_OK;
    int rc = fclose(o->f);
    o->f = NULL;
    if (rc != 0) MZ_FAIL(MZ_EIO, err, "%s: cannot write: %s", o->path, strerror(errno));
    if (rename(o->tmp, o->path) != 0) MZ_FAIL(MZ_EIO, err, "%s: cannot rename into place: %s", o->path, strerror(errno));
    mz_free(o->tmp);
    o->tmp = NULL;
out:
    mz_out_abort(o);
    return st;
}

void mz_out_abort(mz_out *o)
{
    if (o->f) (void)fclose(o->f);
    if (o->tmp) (void)unlink(o->tmp);
    mz_free(o->tmp);
    mz_free(o->path);
    *o = (mz_out){0};
}
