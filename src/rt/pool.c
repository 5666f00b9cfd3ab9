/* SPDX-License-Identifier: Apache-2.0
 * The page pool: address space for every page is reserved at once, memory comes with first use, and a
 * page has one owner. */
#include "rt/engine_int.h"

mz_status mz_pool_init(size_t page_bytes, int64_t n_page, mz_pool *out, mz_err *err)
{
    mz_status st = MZ_OK;
    *out = (mz_pool){.page_bytes = page_bytes};
    if (n_page > INT32_MAX || !mz_mul_size(page_bytes, (size_t)n_page, &out->bytes))
        MZ_FAIL(MZ_ENOMEM, err, "%lld state pages of %zu bytes do not fit the address space; use a smaller context (-c)", (long long)n_page,
                page_bytes);
    out->data = mz_reserve(out->bytes);
    out->free_page = mz_calloc((size_t)n_page, sizeof *out->free_page);
    if (!out->data || !out->free_page)
        MZ_FAIL(MZ_ENOMEM, err, "%zu bytes for the state could not be had; use a smaller context (-c) or a narrower --kv", out->bytes);
    out->n_page = out->n_free = (int32_t)n_page;
    /* Low page numbers are handed out first. */
    for (int32_t i = 0; i < out->n_page; i++) out->free_page[i] = out->n_page - 1 - i;
out:
    if (st != MZ_OK) mz_pool_free(out);
    return st;
}

void mz_pool_free(mz_pool *p)
{
    mz_unreserve(p->data, p->bytes);
    mz_free(p->free_page);
    *p = (mz_pool){0};
}
