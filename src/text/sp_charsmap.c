/* SPDX-License-Identifier: Apache-2.0 */
#include "sp_charsmap.h"

#include <string.h>

#include "base/mem.h"

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

mz_status mz_sp_charsmap_read(mz_sp_charsmap *m, const uint8_t *data, size_t n, mz_err *err)
{
    mz_status st = MZ_OK;
    static const char key[] = "tokenizer.ggml.precompiled_charsmap";
    *m = (mz_sp_charsmap){0};
    if (n == 0) return MZ_OK;
    if (n <= 4) MZ_FAIL(MZ_EFORMAT, err, "%s has %zu bytes; a length, a double array and text are needed", key, n);
    size_t size = le32(data);
    if (size < 1024 || size % 1024 != 0)
        MZ_FAIL(MZ_EFORMAT, err, "%s says that its double array has %zu bytes; a multiple of 1024 is needed", key, size);
    if (size >= n - 4) MZ_FAIL(MZ_EFORMAT, err, "%s says that its double array has %zu bytes; only %zu follow", key, size, n - 4);
    if (data[n - 1] != 0) MZ_FAIL(MZ_EFORMAT, err, "%s does not end its last replacement with a zero byte", key);
    m->n_unit = size / 4;
    m->n_text = n - 4 - size;
    m->unit = mz_calloc(m->n_unit, sizeof *m->unit);
    m->text = mz_calloc(m->n_text, 1);
    if (!m->unit || !m->text) MZ_FAIL(MZ_ENOMEM, err, "no memory for the tokenizer's normalisation rules (%zu bytes)", n);
    for (size_t i = 0; i < m->n_unit; i++) m->unit[i] = le32(data + 4 + 4 * i);
    memcpy(m->text, data + 4 + size, m->n_text);
out:
    if (st != MZ_OK) mz_sp_charsmap_done(m);
    return st;
}

void mz_sp_charsmap_done(mz_sp_charsmap *m)
{
    mz_free(m->unit);
    mz_free(m->text);
    *m = (mz_sp_charsmap){0};
}

static size_t offset_of(uint32_t unit)
{
    return (size_t)(unit >> 10) << ((unit & 1u << 9) >> 6);
}

size_t mz_sp_charsmap_match(const mz_sp_charsmap *m, const char *s, size_t n, mz_str *to)
{
    size_t best = 0;
    if (!m->unit) return 0;
    /* Offsets come from the file: every place is checked before it is read. */
    for (size_t i = 0, at = offset_of(m->unit[0]); i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        at ^= c;
        if (at >= m->n_unit) break;
        uint32_t unit = m->unit[at];
        if ((unit & (1u << 31 | 0xFF)) != c) break;
        at ^= offset_of(unit);
        if (!(unit >> 8 & 1) || at >= m->n_unit) continue;
        size_t value = m->unit[at] & 0x7FFFFFFF;
        if (value >= m->n_text) continue;
        best = i + 1;
        *to = (mz_str){m->text + value, strlen(m->text + value)};
    }
    return best;
}
