/* SPDX-License-Identifier: Apache-2.0
 *
 * reasoning.h: tells a model's reasoning from its answer by the markers models are trained to put around it, such as
 * <think> and </think>. Only at the very beginning of an answer: a text that speaks about such markers is left alone.
 *
 * Threading: one stream, one thread. Ownership: plain memory. */
#ifndef MZ_CLI_REASONING_H
#define MZ_CLI_REASONING_H

#include <stdbool.h>
#include <stddef.h>

typedef enum mz_part { MZ_PART_ANSWER = 0, MZ_PART_REASONING, MZ_PART_MARKER } mz_part;
typedef void mz_part_fn(void *user, mz_part part, const char *s, size_t n);

typedef struct mz_reasoning {
    enum { MZ_RE_START, MZ_RE_INSIDE, MZ_RE_AFTER } state;
    int marker; /* which pair is open */
    char held[64];
    size_t n_held;
} mz_reasoning;

/* The prompt's last bytes: a template may open the reasoning itself. NULL, 0: it did not. */
void mz_reasoning_begin(mz_reasoning *r, const char *prompt_end, size_t n);
/* The parts in order, as soon as they are certain. */
void mz_reasoning_add(mz_reasoning *r, const char *s, size_t n, mz_part_fn *fn, void *user);
void mz_reasoning_end(mz_reasoning *r, mz_part_fn *fn, void *user);

#endif
