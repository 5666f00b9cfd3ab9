/* SPDX-License-Identifier: Apache-2.0 */
#include "prog/kv_name.h"

#include <strings.h>

static const char *const kv_names[MZ_KV_COUNT] = {"f32", "f16", "bf16", "fp8"};

const char *mz_kv_type_name(mz_kv_type t)
{
    return kv_names[t];
}

mz_status mz_kv_type_find(const char *name, mz_kv_type *out, mz_err *err)
{
    *out = MZ_KV_F16;
    if (!name) return MZ_OK;
    for (int i = 0; i < MZ_KV_COUNT; i++)
        if (strcasecmp(name, kv_names[i]) == 0) {
            *out = (mz_kv_type)i;
            return MZ_OK;
        }
    return mz_err_set(err, MZ_EINVAL, "KV format '%s' is not known; expected f32, f16, bf16 or fp8", name);
}
