/* SPDX-License-Identifier: Apache-2.0 */
#include "model/bind.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *full_key(char buf[160], const mz_bind *b, const char *key)
{
    (void)snprintf(buf, 160, "%s.%s", b->arch, key);
    return buf;
}

mz_status mz_bind_i64(mz_bind *b, const char *key, bool required, int64_t lo, int64_t hi, int64_t *out)
{
    char name[160];
    return mz_gguf_get_i64(b->g, full_key(name, b, key), required, lo, hi, out, b->err);
}

mz_status mz_bind_f32(mz_bind *b, const char *key, bool required, float *out)
{
    char name[160];
    double x = (double)*out;
    mz_status st = mz_gguf_get_f64(b->g, full_key(name, b, key), required, &x, b->err);
    if (st != MZ_OK) return st;
    if (!(fabs(x) <= 3.4e38)) return mz_err_set(b->err, MZ_EFORMAT, "key %s is %g, expected a finite number", name, x);
    *out = (float)x;
    return MZ_OK;
}

mz_status mz_bind_layer_i64(mz_bind *b, const char *key, int64_t layer, bool required, int64_t lo, int64_t hi, int64_t *out)
{
    mz_status st = MZ_OK;
    char name[160];
    const mz_gguf_kv *kv = mz_gguf_find(b->g, full_key(name, b, key));
    if (!kv || kv->type != MZ_GGUF_ARRAY) return mz_gguf_get_i64(b->g, name, required, lo, hi, out, b->err);
    int64_t x;
    if (kv->n_elem <= (uint64_t)layer)
        MZ_FAIL(MZ_EFORMAT, b->err, "key %s has %llu values, expected one for each of the %lld layers", name,
                (unsigned long long)kv->n_elem, (long long)b->m->n_layer);
    if (!mz_gguf_elem_i64(kv, (uint64_t)layer, &x))
        MZ_FAIL(MZ_EFORMAT, b->err, "key %s holds %s values, expected integers", name, mz_gguf_type_name(kv->elem_type));
    if (x < lo || x > hi)
        MZ_FAIL(MZ_EFORMAT, b->err, "key %s is %lld for layer %lld, expected %lld to %lld", name, (long long)x, (long long)layer,
                (long long)lo, (long long)hi);
    *out = x;
out:
    return st;
}

mz_status mz_bind_no_windows(mz_bind *b)
{
    mz_status st = MZ_OK;
    int64_t window = 0;
    MZ_TRY(mz_bind_i64(b, "attention.sliding_window", false, 0, INT32_MAX, &window));
    if (window > 0)
        MZ_FAIL(MZ_ESUPPORT, b->err, "key %s.attention.sliding_window is %lld, but sliding windows are not known in family %s", b->arch,
                (long long)window, b->arch);
out:
    return st;
}

const char *mz_bind_layer_name(char buf[96], int64_t layer, const char *what)
{
    (void)snprintf(buf, 96, "blk.%lld.%s", (long long)layer, what);
    return buf;
}

void mz_bind_mark_used(mz_bind *b, const char *name)
{
    const mz_gguf_tensor *t = mz_gguf_find_tensor(b->g, name);
    if (t) b->used[t - b->g->tensor] = true;
}

static mz_status find(mz_bind *b, const char *name, bool required, const mz_gguf_tensor **out)
{
    *out = mz_gguf_find_tensor(b->g, name);
    if (!*out && required) return mz_err_set(b->err, MZ_EFORMAT, "tensor %s is missing, and family %s needs it", name, b->arch);
    if (*out) b->used[*out - b->g->tensor] = true;
    return MZ_OK;
}

static bool is_multiplied(const mz_dtype_info *info, mz_dtype type)
{
    return info && info->decode && (info->is_low_bit || type == MZ_DTYPE_F32 || type == MZ_DTYPE_F16 || type == MZ_DTYPE_BF16);
}

mz_status mz_bind_matrix(mz_bind *b, const char *name, int64_t n_out, int64_t n_in, bool required, int *id)
{
    mz_status st = MZ_OK;
    const mz_gguf_tensor *t;
    *id = -1;
    MZ_TRY(find(b, name, required, &t));
    if (!t) goto out;
    if (t->n_dim > 2 || t->dim[0] != n_in || (n_out != 0 && t->dim[1] != n_out))
        MZ_FAIL(MZ_EFORMAT, b->err, "tensor %s is [%lld, %lld%s], expected [%lld, %s%lld] (columns first)", name, (long long)t->dim[0],
                (long long)t->dim[1], t->n_dim > 2 ? ", …" : "", (long long)n_in, n_out ? "" : "at least ", n_out ? (long long)n_out : 1LL);
    const mz_dtype_info *info = mz_dtype_get(t->type);
    if (!is_multiplied(info, t->type))
        MZ_FAIL(MZ_ESUPPORT, b->err, "tensor %s is stored as %s, which mizan cannot multiply", name, info && info->name ? info->name : "?");
    *id = mz_prog_add_weight(b->p, name, t->type, t->dim[1], n_in, false);
out:
    return st;
}

mz_status mz_bind_vector(mz_bind *b, const char *name, int64_t n, bool required, int *id)
{
    mz_status st = MZ_OK;
    const mz_gguf_tensor *t;
    *id = -1;
    MZ_TRY(find(b, name, required, &t));
    if (!t) goto out;
    if ((int64_t)t->n_elem != n || t->dim[0] != n)
        MZ_FAIL(MZ_EFORMAT, b->err, "tensor %s is [%lld, %lld], expected [%lld]", name, (long long)t->dim[0], (long long)t->dim[1],
                (long long)n);
    if (t->type != MZ_DTYPE_F32 && t->type != MZ_DTYPE_F16 && t->type != MZ_DTYPE_BF16)
        MZ_FAIL(MZ_ESUPPORT, b->err, "tensor %s is stored as %s, expected F32, F16 or BF16", name, mz_dtype_get(t->type)->name);
    *id = mz_prog_add_weight(b->p, name, t->type, 1, n, true);
out:
    return st;
}
