/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reasoning.h"

#include <string.h>

static const struct {
    const char *open, *close;
} markers[] = {
    {"<think>", "</think>"}, /* DeepSeek R1, Qwen3, SmolLM3 and many others */
    {"<thinking>", "</thinking>"},
    {"<thought>", "</thought>"},
    {"<reasoning>", "</reasoning>"},
    {"<seed:think>", "</seed:think>"},             /* Seed-OSS */
    {"[THINK]", "[/THINK]"},                       /* Magistral */
    {"<|START_THINKING|>", "<|END_THINKING|>"},    /* Command A Reasoning */
    {"<|begin_of_thought|>", "<|end_of_thought|>"} /* Sky-T1, OpenThinker */
};
enum { N_MARKER = sizeof markers / sizeof markers[0] };

static size_t blank(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && (s[i] == ' ' || s[i] == '\n' || s[i] == '\r' || s[i] == '\t')) i++;
    return i;
}

void mz_reasoning_begin(mz_reasoning *r, const char *prompt_end, size_t n)
{
    *r = (mz_reasoning){0};
    while (n > 0 && blank(prompt_end + n - 1, 1)) n--;
    for (int i = 0; i < N_MARKER; i++) {
        size_t len = strlen(markers[i].open);
        if (n < len || memcmp(prompt_end + n - len, markers[i].open, len) != 0) continue;
        r->state = MZ_RE_INSIDE;
        r->marker = i;
    }
}

static void hand_out(mz_reasoning *r, mz_part part, size_t n, mz_part_fn *fn, void *user)
{
    if (n > 0) fn(user, part, r->held, n);
    memmove(r->held, r->held + n, r->n_held - n);
    r->n_held -= n;
}

/* At the start: false when what is held may still become a marker. */
static bool decide_start(mz_reasoning *r, mz_part_fn *fn, void *user)
{
    size_t lead = blank(r->held, r->n_held), n = r->n_held - lead;
    bool may_be = n == 0;
    for (int i = 0; i < N_MARKER; i++) {
        size_t len = strlen(markers[i].open);
        if (n >= len && memcmp(r->held + lead, markers[i].open, len) == 0) {
            hand_out(r, MZ_PART_MARKER, lead + len, fn, user);
            r->state = MZ_RE_INSIDE;
            r->marker = i;
            return true;
        }
        if (n < len && memcmp(r->held + lead, markers[i].open, n) == 0) may_be = true;
    }
    if (may_be && r->n_held < sizeof r->held) return false;
    r->state = MZ_RE_AFTER;
    return true;
}

/* Inside: everything but an end that may be the beginning of the closing marker. False when only that is left. */
static bool decide_inside(mz_reasoning *r, mz_part_fn *fn, void *user)
{
    const char *close = markers[r->marker].close;
    size_t len = strlen(close);
    const char *at = memmem(r->held, r->n_held, close, len);
    if (at) {
        hand_out(r, MZ_PART_REASONING, (size_t)(at - r->held), fn, user);
        hand_out(r, MZ_PART_MARKER, len, fn, user);
        r->state = MZ_RE_AFTER;
        return true;
    }
    size_t keep = r->n_held < len - 1 ? r->n_held : len - 1;
    while (keep > 0 && memcmp(r->held + r->n_held - keep, close, keep) != 0) keep--;
    hand_out(r, MZ_PART_REASONING, r->n_held - keep, fn, user);
    return false;
}

void mz_reasoning_add(mz_reasoning *r, const char *s, size_t n, mz_part_fn *fn, void *user)
{
    while (n > 0 && r->state != MZ_RE_AFTER) {
        size_t room = sizeof r->held - r->n_held, take = n < room ? n : room;
        /* Whole characters go on: none is cut where the room ends. */
        while (take < n && take > 0 && ((unsigned char)s[take] & 0xC0) == 0x80) take--;
        if (take == 0) take = n < room ? n : room;
        memcpy(r->held + r->n_held, s, take);
        r->n_held += take;
        s += take;
        n -= take;
        bool more = true;
        while (more && r->state != MZ_RE_AFTER) more = r->state == MZ_RE_START ? decide_start(r, fn, user) : decide_inside(r, fn, user);
        if (r->state == MZ_RE_AFTER) hand_out(r, MZ_PART_ANSWER, r->n_held, fn, user);
    }
    if (n > 0) fn(user, MZ_PART_ANSWER, s, n);
}

void mz_reasoning_end(mz_reasoning *r, mz_part_fn *fn, void *user)
{
    hand_out(r, r->state == MZ_RE_INSIDE ? MZ_PART_REASONING : MZ_PART_ANSWER, r->n_held, fn, user);
    *r = (mz_reasoning){.state = MZ_RE_AFTER};
}
