/* SPDX-License-Identifier: Apache-2.0
 *
 * kv_name.h: the names of KV storage formats. Pure functions. */
#ifndef MZ_PROG_KV_NAME_H
#define MZ_PROG_KV_NAME_H

#include "base/err.h"
#include "kern/kern.h"

const char *mz_kv_type_name(mz_kv_type t);
/* NULL: f16. Any case. MZ_EINVAL lists the names. */
mz_status mz_kv_type_find(const char *name, mz_kv_type *out, mz_err *err) MZ_MUST_USE;

#endif
