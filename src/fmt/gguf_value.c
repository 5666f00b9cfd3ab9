/* SPDX-License-Identifier: Apache-2.0
 *
 * Typed reads of GGUF metadata values. The bytes were validated when the file was opened. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fmt/dtype_bits.h"
#include "fmt/gguf_impl.h"

const char *mz_gguf_type_name(mz_gguf_type t)
{
    static const char *const name[] = {"u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64"};
    return (unsigned)t < sizeof name / sizeof *name ? name[t] : "unknown";
}

/* The integer at p. false: not an integer type, or a u64 past INT64_MAX (*is_big is then set). */
static bool load_int(mz_gguf_type t, const uint8_t *p, int64_t *out, bool *is_big)
{
    *is_big = false;
    switch (t) {
    case MZ_GGUF_BOOL:
    case MZ_GGUF_U8: *out = *p; return true;
    case MZ_GGUF_I8: *out = (int8_t)*p; return true;
    case MZ_GGUF_U16: *out = mz_load_u16(p); return true;
    case MZ_GGUF_I16: *out = (int16_t)mz_load_u16(p); return true;
    case MZ_GGUF_U32: *out = mz_load_u32(p); return true;
    case MZ_GGUF_I32: *out = (int32_t)mz_load_u32(p); return true;
    case MZ_GGUF_I64: *out = (int64_t)mz_load_u64(p); return true;
    case MZ_GGUF_U64:
        *is_big = mz_load_u64(p) > INT64_MAX;
        *out = (int64_t)mz_load_u64(p);
        return !*is_big;
    default: return false;
    }
}

static bool load_float(mz_gguf_type t, const uint8_t *p, double *out)
{
    int64_t i;
    bool is_big;
    if (t == MZ_GGUF_F32) {
        *out = (double)mz_bits_to_f32(mz_load_u32(p));
    } else if (t == MZ_GGUF_F64) {
        uint64_t u = mz_load_u64(p);
        memcpy(out, &u, sizeof *out);
    } else if (load_int(t, p, &i, &is_big)) {
        *out = (double)i;
    } else if (is_big) {
        *out = (double)mz_load_u64(p);
    } else {
        return false;
    }
    return true;
}

static size_t elem_bytes(mz_gguf_type t)
{
    static const uint8_t bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return bytes[t];
}

static mz_status wrong_type(const mz_gguf_kv *kv, const char *want, mz_err *err)
{
    bool is_array = kv->type == MZ_GGUF_ARRAY;
    return mz_err_set(err, MZ_EFORMAT, "key \"%.*s\" is of type %s%s, expected %s", MZ_GGUF_SHOW(kv->key), is_array ? "array of " : "",
                      mz_gguf_type_name(kv->elem_type), want);
}

/* The value of a key; *kv is NULL when it is absent and may be. */
static mz_status look_up(const mz_gguf *g, const char *key, bool required, const mz_gguf_kv **kv, mz_err *err)
{
    *kv = mz_gguf_find(g, key);
    if (!*kv && required) return mz_err_set(err, MZ_EFORMAT, "key \"%s\" is missing", key);
    return MZ_OK;
}

mz_status mz_gguf_get_i64(const mz_gguf *g, const char *key, bool required, int64_t lo, int64_t hi, int64_t *out, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_gguf_kv *kv;
    int64_t v;
    bool is_big;
    MZ_TRY(look_up(g, key, required, &kv, err));
    if (!kv) goto out;
    if (kv->type == MZ_GGUF_ARRAY) MZ_TRY(wrong_type(kv, "an integer", err));
    if (!load_int(kv->type, kv->value, &v, &is_big)) {
        if (is_big)
            MZ_FAIL(MZ_EFORMAT, err, "key \"%s\" is %" PRIu64 ", expected %" PRId64 " to %" PRId64, key, mz_load_u64(kv->value), lo, hi);
        MZ_TRY(wrong_type(kv, "an integer", err));
    }
    if (v < lo || v > hi) MZ_FAIL(MZ_EFORMAT, err, "key \"%s\" is %" PRId64 ", expected %" PRId64 " to %" PRId64, key, v, lo, hi);
    *out = v;
out:
    return st;
}

mz_status mz_gguf_get_f64(const mz_gguf *g, const char *key, bool required, double *out, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_gguf_kv *kv;
    double v;
    MZ_TRY(look_up(g, key, required, &kv, err));
    if (!kv) goto out;
    if (kv->type == MZ_GGUF_ARRAY || !load_float(kv->type, kv->value, &v)) MZ_TRY(wrong_type(kv, "a number", err));
    if (!__builtin_isfinite(v)) MZ_FAIL(MZ_EFORMAT, err, "key \"%s\" is %g, expected a finite number", key, v);
    *out = v;
out:
    return st;
}

mz_status mz_gguf_get_bool(const mz_gguf *g, const char *key, bool required, bool *out, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_gguf_kv *kv;
    MZ_TRY(look_up(g, key, required, &kv, err));
    if (!kv) goto out;
    if (kv->type != MZ_GGUF_BOOL) MZ_TRY(wrong_type(kv, "bool", err));
    *out = kv->value[0] != 0;
out:
    return st;
}

mz_status mz_gguf_get_str(const mz_gguf *g, const char *key, bool required, mz_str *out, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_gguf_kv *kv;
    size_t cursor = 0;
    MZ_TRY(look_up(g, key, required, &kv, err));
    if (!kv) goto out;
    if (kv->type != MZ_GGUF_STRING) MZ_TRY(wrong_type(kv, "string", err));
    (void)mz_gguf_next_str(kv, &cursor, out);
out:
    return st;
}

bool mz_gguf_elem_i64(const mz_gguf_kv *kv, uint64_t i, int64_t *out)
{
    bool is_big;
    if (i >= kv->n_elem || kv->elem_type == MZ_GGUF_STRING) return false;
    return load_int(kv->elem_type, kv->value + i * elem_bytes(kv->elem_type), out, &is_big);
}

bool mz_gguf_elem_f64(const mz_gguf_kv *kv, uint64_t i, double *out)
{
    if (i >= kv->n_elem || kv->elem_type == MZ_GGUF_STRING) return false;
    return load_float(kv->elem_type, kv->value + i * elem_bytes(kv->elem_type), out);
}

bool mz_gguf_next_str(const mz_gguf_kv *kv, size_t *cursor, mz_str *out)
{
    if (kv->elem_type != MZ_GGUF_STRING || *cursor >= kv->value_bytes) return false;
    const uint8_t *p = kv->value + *cursor;
    *out = (mz_str){(const char *)(p + 8), (size_t)mz_load_u64(p)};
    *cursor += 8 + out->n;
    return true;
}
