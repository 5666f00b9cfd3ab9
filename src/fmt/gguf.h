/* SPDX-License-Identifier: Apache-2.0
 *
 * gguf.h: GGUF v2 and v3 containers, single or split, opened by mapping.
 *
 * What it is not: it does not interpret the metadata (model/ does) nor decode tensors (dtype.h).
 * Every size and offset of the file is checked before use; a file that opens can be read without
 * further bounds checks (while nobody shortens it). Strings are counted, may hold any bytes and are not zero-terminated in
 * the map; the accessors below say how they come out.
 * Ownership: everything returned points into the mz_gguf and lives until mz_gguf_close.
 * Threading: an open mz_gguf is immutable; any thread may read it. */
#ifndef MZ_FMT_GGUF_H
#define MZ_FMT_GGUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file.h"
#include "fmt/dtype.h"

typedef enum mz_gguf_type {
    MZ_GGUF_U8 = 0,
    MZ_GGUF_I8,
    MZ_GGUF_U16,
    MZ_GGUF_I16,
    MZ_GGUF_U32,
    MZ_GGUF_I32,
    MZ_GGUF_F32,
    MZ_GGUF_BOOL,
    MZ_GGUF_STRING,
    MZ_GGUF_ARRAY,
    MZ_GGUF_U64,
    MZ_GGUF_I64,
    MZ_GGUF_F64
} mz_gguf_type;

typedef struct mz_str { /* counted bytes, any content */
    const char *s;
    size_t n;
} mz_str;

typedef struct mz_gguf_kv {
    mz_str key;
    mz_gguf_type type;
    mz_gguf_type elem_type; /* of an array; equal to type otherwise */
    uint64_t n_elem;        /* of an array; 1 otherwise */
    const uint8_t *value;   /* scalar bytes or first element, unaligned little-endian; strings with their u64 length */
    size_t value_bytes;
} mz_gguf_kv;

typedef struct mz_gguf_tensor {
    char *name; /* zero-terminated; no NUL inside */
    mz_dtype type;
    uint32_t n_dim; /* 1..4 */
    int64_t dim[4]; /* dim[0] is the contiguous one (columns); unused ones are 1 */
    uint64_t n_elem;
    size_t n_bytes;
    const uint8_t *data; /* [n_bytes], mapped, at a multiple of 8 from the start of the file */
    int i_part;
    size_t file_offset; /* of data inside its part */
} mz_gguf_tensor;

typedef struct mz_gguf {
    int n_part;
    mz_map *part; /* [n_part] */
    uint32_t version;
    uint64_t n_kv;
    mz_gguf_kv *kv; /* [n_kv], first part's */
    uint64_t n_tensor;
    mz_gguf_tensor *tensor;      /* [n_tensor], all parts, file order */
    uint64_t file_bytes;         /* sum over parts */
    size_t header_bytes;         /* of the first part: where its tensor list ends */
    bool is_borrowed;            /* the bytes belong to the caller (mz_gguf_open_memory) */
    struct mz_gguf_index *index; /* name look-up */
} mz_gguf;

/* Opens PATH; for a split file the first part (NAME-00001-of-00005.gguf), whose siblings are then
 * opened too. On failure *out is NULL and err names the file and what is wrong with it. */
mz_status mz_gguf_open(const char *path, mz_gguf **out, mz_err *err) MZ_MUST_USE;
/* The same from bytes in memory that outlive the mz_gguf (tests, fuzzing; single part only). */
mz_status mz_gguf_open_memory(const void *data, size_t size, mz_gguf **out, mz_err *err) MZ_MUST_USE;
void mz_gguf_close(mz_gguf *g);

const mz_gguf_tensor *mz_gguf_find_tensor(const mz_gguf *g, const char *name); /* NULL: absent */
const mz_gguf_kv *mz_gguf_find(const mz_gguf *g, const char *key);             /* NULL: absent */

/* Typed reads. Any integer type (and BOOL) is accepted where an integer is wanted if its value fits, F32 and
 * F64 (and integers) where a float is. A present key of another type is MZ_EFORMAT naming the key and both types,
 * so is an integer outside lo..hi and a float that is not finite. An absent key leaves *out unchanged and gives MZ_OK,
 * unless required. Sentences name the key, not the file. */
mz_status mz_gguf_get_i64(const mz_gguf *g, const char *key, bool required, int64_t lo, int64_t hi, int64_t *out, mz_err *err) MZ_MUST_USE;
mz_status mz_gguf_get_f64(const mz_gguf *g, const char *key, bool required, double *out, mz_err *err) MZ_MUST_USE;
mz_status mz_gguf_get_bool(const mz_gguf *g, const char *key, bool required, bool *out, mz_err *err) MZ_MUST_USE;
mz_status mz_gguf_get_str(const mz_gguf *g, const char *key, bool required, mz_str *out, mz_err *err) MZ_MUST_USE;

/* Elements of an array (mz_gguf_find, then check elem_type and n_elem); a scalar counts as an array of one. */
bool mz_gguf_elem_i64(const mz_gguf_kv *kv, uint64_t i, int64_t *out); /* false: not an integer or i out of range */
bool mz_gguf_elem_f64(const mz_gguf_kv *kv, uint64_t i, double *out);
/* Walks a string array in order: *cursor starts at 0 (an opaque byte offset). false at the end. */
bool mz_gguf_next_str(const mz_gguf_kv *kv, size_t *cursor, mz_str *out);
/* Name of a value type ("u32", "array") for messages; static storage. */
const char *mz_gguf_type_name(mz_gguf_type t);

/* Decodes a whole tensor into out [n_elem] f32, dim order of the file. MZ_ESUPPORT when the type is known but
 * has no decoder. */
mz_status mz_gguf_decode(const mz_gguf_tensor *t, float *out, mz_err *err) MZ_MUST_USE;

#endif
