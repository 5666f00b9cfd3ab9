/* SPDX-License-Identifier: Apache-2.0
 *
 * status.h: how every fallible mizan call reports its outcome.
 *
 * A call returns an mz_status (numbers are pinned; they never change meaning) and takes a trailing
 * `mz_err *` that receives one human sentence: what was found, what was expected, what to do.
 * The pointer may be NULL. The struct is caller-owned plain memory; nothing in it needs freeing.
 * Threading: an mz_err belongs to one call at a time. */
#ifndef MIZAN_STATUS_H
#define MIZAN_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(MZ_BUILD) && defined(__GNUC__)
#define MZ_API __attribute__((visibility("default")))
#else
#define MZ_API
#endif

typedef enum mz_status {
    MZ_OK = 0,
    MZ_EINVAL = -1,   /* a caller's argument or option is unusable */
    MZ_ENOMEM = -2,   /* memory could not be had, or the stated budget would be passed */
    MZ_EIO = -3,      /* the operating system refused a read, write or map */
    MZ_EFORMAT = -4,  /* a file's bytes do not follow its format */
    MZ_ESUPPORT = -5, /* well-formed, but a family, type or method mizan does not know */
    MZ_ERANGE = -6,   /* a value does not fit where it must go (context full, KV format overflow) */
    MZ_ELIMIT = -7,   /* a template or text passed its step, depth or output limit */
    MZ_ECANCEL = -8   /* the caller asked to stop */
} mz_status;

typedef struct mz_err {
    mz_status status;
    char text[512]; /* one sentence, UTF-8, zero-terminated; "" when nothing failed */
} mz_err;

/* A short fixed name of a status ("out of memory"); never NULL. */
MZ_API const char *mz_status_text(mz_status status);

/* The library's version, "major.minor.patch". */
MZ_API const char *mz_version(void);

#ifdef __cplusplus
}
#endif
#endif
