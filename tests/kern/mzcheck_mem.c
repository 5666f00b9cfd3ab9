/* SPDX-License-Identifier: Apache-2.0
 *
 * mzcheck_mem.c: operands between guard pages, frozen inputs, and comparisons. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mzcheck.h"

#define REGION_BYTES ((size_t)64 << 20) /* of address space; touched pages only cost memory */
#define GUARD_BYTES  ((size_t)64 << 10)
#define RIM          256 /* bytes beside an operand that are watched where they are writable */
#define RIM_BYTE     0xa5

static uint8_t *region[MZC_N_SLOT];

static uint8_t *region_of(int slot)
{
    if (!region[slot]) {
        uint8_t *p = mmap(NULL, REGION_BYTES + 2 * GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED || mprotect(p + GUARD_BYTES, REGION_BYTES, PROT_READ | PROT_WRITE) != 0) {
            printf("Bail out! no address space for guarded operands\n");
            exit(1);
        }
        region[slot] = p + GUARD_BYTES;
    }
    return region[slot];
}

/* How many rim bytes lie before and after an operand inside its region. */
static size_t rim_before(int slot, const uint8_t *p)
{
    size_t room = (size_t)(p - region[slot]);
    return room < RIM ? room : RIM;
}
static size_t rim_after(int slot, const uint8_t *p, size_t bytes)
{
    size_t room = (size_t)(region[slot] + REGION_BYTES - (p + bytes));
    return room < RIM ? room : RIM;
}

static uint8_t *place(mzc *c, int slot, size_t bytes, size_t align, bool is_input)
{
    uint8_t *lo = region_of(slot), *p;
    if (slot < 0 || slot >= MZC_N_SLOT || bytes > REGION_BYTES - 64 * 16) abort();
    if (c->place == 0)
        p = lo + ((REGION_BYTES - bytes) & ~(align - 1));
    else
        p = lo + (align < 64 ? (size_t)(c->place - 1) * align : 0);
    memset(p - rim_before(slot, p), RIM_BYTE, rim_before(slot, p));
    memset(p + bytes, RIM_BYTE, rim_after(slot, p, bytes));
    c->slot[slot].p = p;
    c->slot[slot].bytes = bytes;
    c->slot[slot].used = true;
    c->slot[slot].is_input = is_input;
    return p;
}

void *mzc_in(mzc *c, int slot, size_t bytes, size_t align)
{
    uint8_t *p = place(c, slot, bytes, align, true);
    memset(p, 0, bytes);
    return p;
}

void *mzc_out(mzc *c, int slot, size_t bytes, size_t align)
{
    uint8_t *p = place(c, slot, bytes, align, false);
    memset(p, MZC_PATTERN, bytes);
    return p;
}

void mzc_freeze(mzc *c)
{
    for (int s = 0; s < MZC_N_SLOT; s++) {
        if (!c->slot[s].used || !c->slot[s].is_input) continue;
        if (c->slot[s].frozen_cap < c->slot[s].bytes) {
            free(c->slot[s].frozen);
            c->slot[s].frozen_cap = c->slot[s].bytes;
            c->slot[s].frozen = malloc(c->slot[s].frozen_cap);
            if (!c->slot[s].frozen) abort();
        }
        if (c->slot[s].bytes) memcpy(c->slot[s].frozen, c->slot[s].p, c->slot[s].bytes);
    }
}

static bool all_are(const uint8_t *p, size_t n, uint8_t byte)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != byte) return false;
    return true;
}

void mzc_end(mzc *c)
{
    for (int s = 0; s < MZC_N_SLOT; s++) {
        if (!c->slot[s].used) continue;
        uint8_t *p = c->slot[s].p;
        size_t bytes = c->slot[s].bytes, before = rim_before(s, p);
        if (!all_are(p - before, before, RIM_BYTE)) mzc_fail(c, "wrote before operand %d", s);
        if (!all_are(p + bytes, rim_after(s, p, bytes), RIM_BYTE)) mzc_fail(c, "wrote past the end of operand %d", s);
        if (c->slot[s].is_input && bytes && memcmp(p, c->slot[s].frozen, bytes) != 0) mzc_fail(c, "changed its input, operand %d", s);
        c->slot[s].used = false;
    }
}

bool mzc_same(float a, float b)
{
    return mzc_bits(a) == mzc_bits(b) || (a != a && b != b);
}

void mzc_expect_f32(mzc *c, const float *got, const float *want, int64_t n, const char *what)
{
    if (c->failed) return;
    for (int64_t i = 0; i < n; i++) {
        if (mzc_same(got[i], want[i])) continue;
        mzc_fail(c, "%s[%lld of %lld] = %a (%.9g), reference %a (%.9g)", what, (long long)i, (long long)n, (double)got[i], (double)got[i],
                 (double)want[i], (double)want[i]);
        return;
    }
}

void mzc_expect_pattern(mzc *c, const void *p, size_t bytes, const char *what)
{
    if (!c->failed && !all_are(p, bytes, MZC_PATTERN)) mzc_fail(c, "wrote to %s", what);
}
