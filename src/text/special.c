/* SPDX-License-Identifier: Apache-2.0 */
#include "special.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int by_bytes(const void *a, const void *b)
{
    const mz_special_form *x = a, *y = b;
    size_t n = x->s.n < y->s.n ? x->s.n : y->s.n;
    int c = memcmp(x->s.s, y->s.s, n);
    if (c != 0) return c;
    if (x->s.n != y->s.n) return x->s.n < y->s.n ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

void mz_special_build(mz_special *sp, mz_special_form *form, size_t n)
{
    size_t kept = 0;
    if (n) qsort(form, n, sizeof *form, by_bytes);
    for (size_t i = 0; i < n; i++) {
        if (kept && form[kept - 1].s.n == form[i].s.n && memcmp(form[kept - 1].s.s, form[i].s.s, form[i].s.n) == 0) continue;
        form[kept++] = form[i];
    }
    *sp = (mz_special){.form = form, .n = kept};
    size_t i = 0;
    for (size_t c = 0; c < 256; c++) {
        while (i < kept && (unsigned char)form[i].s.s[0] < c) i++;
        sp->first[c] = (uint32_t)i;
    }
    sp->first[256] = (uint32_t)kept;
}

void mz_special_done(mz_special *sp)
{
    mz_free(sp->form);
    *sp = (mz_special){0};
}

/* First form in [lo, hi), all alike before byte `depth` and longer than it, whose byte there is >= c. */
static size_t lower(const mz_special *sp, size_t lo, size_t hi, size_t depth, unsigned c)
{
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if ((unsigned char)sp->form[mid].s.s[depth] < c) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

int32_t mz_special_match(const mz_special *sp, const char *s, size_t n, size_t *len)
{
    if (n == 0) return -1;
    size_t lo = sp->first[(unsigned char)s[0]], hi = sp->first[(unsigned char)s[0] + 1];
    int32_t best = -1;
    for (size_t depth = 1; lo < hi; depth++) {
        if (sp->form[lo].s.n == depth) { /* a form sorts before its extensions */
            best = (int32_t)lo;
            *len = depth;
            lo++;
        }
        if (depth == n) break;
        unsigned c = (unsigned char)s[depth];
        lo = lower(sp, lo, hi, depth, c);
        hi = lower(sp, lo, hi, depth, c + 1);
    }
    return best;
}

bool mz_special_is_beginning(const mz_special *sp, const char *s, size_t n)
{
    size_t lo = sp->first[(unsigned char)s[0]], hi = sp->first[(unsigned char)s[0] + 1];
    for (size_t depth = 1; lo < hi; depth++) {
        if (sp->form[lo].s.n == depth) lo++;
        if (lo == hi) return false;
        if (depth == n) return true;
        unsigned c = (unsigned char)s[depth];
        lo = lower(sp, lo, hi, depth, c);
        hi = lower(sp, lo, hi, depth, c + 1);
    }
    return false;
}
