/* SPDX-License-Identifier: Apache-2.0
 *
 * file.h: reading files by mapping, writing them beside and renaming.
 *
 * Ownership: a mapping belongs to the caller until mz_file_unmap; a writer until mz_out_commit or
 * mz_out_abort. Threading: a mapping may be read from any thread. */
#ifndef MZ_BASE_FILE_H
#define MZ_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "err.h"

typedef struct mz_map {
    const uint8_t *data; /* [size], read-only; NULL for an empty file */
    size_t size;
} mz_map;

/* Maps a regular file read-only. MZ_EIO names the path and the system's reason. */
mz_status mz_file_map(const char *path, mz_map *out, mz_err *err) MZ_MUST_USE;
void mz_file_unmap(mz_map *m);
/* Tells the system that the whole pages inside [offset, offset+n) are not needed for now. */
void mz_file_release(const mz_map *m, size_t offset, size_t n);

/* Reads a whole file ("-": standard input) of at most limit bytes into a zero-terminated buffer
 * that the caller frees with mz_free. */
mz_status mz_file_read(const char *path, size_t limit, char **data, size_t *n, mz_err *err) MZ_MUST_USE;

/* A file being written: bytes go to PATH.tmp-PID; commit renames, abort removes. */
typedef struct mz_out {
    FILE *f;
    char *path, *tmp;
} mz_out;

mz_status mz_out_open(const char *path, mz_out *out, mz_err *err) MZ_MUST_USE;
/* The same with the permissions of a new file, less the umask. */
mz_status mz_out_open_mode(const char *path, unsigned mode, mz_out *out, mz_err *err) MZ_MUST_USE;
mz_status mz_out_write(mz_out *o, const void *data, size_t n, mz_err *err) MZ_MUST_USE;
mz_status mz_out_commit(mz_out *o, mz_err *err) MZ_MUST_USE;
void mz_out_abort(mz_out *o);

#endif
