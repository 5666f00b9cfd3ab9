/* SPDX-License-Identifier: Apache-2.0
 *
 * template.h: the Jinja dialect that published chat templates are written in.
 *
 * What it is not: a general Jinja (no inheritance, includes, autoescape, or file access). Output equals that of
 * `jinja2` in the environment transformers uses (sandboxed, trim_blocks, lstrip_blocks,
 * loop controls) byte for byte. Templates come with downloaded models and are hostile until proven otherwise: each render has a
 * step, depth and output limit and reports MZ_ELIMIT; parsing is bounded likewise.
 * Ownership: a template owns its source and tree. Threading: a parsed template is immutable;
 * renders may run in parallel. */
#ifndef MZ_TEXT_TEMPLATE_H
#define MZ_TEXT_TEMPLATE_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/err.h"
#include "base/mem.h"

typedef struct mz_template mz_template;

typedef struct mz_template_limits {
    uint64_t n_step;     /* evaluated nodes */
    uint32_t depth;      /* nested calls, expressions and blocks */
    size_t output_bytes; /* rendered text, and any single string value */
    size_t memory_bytes; /* of all values alive in one render */
} mz_template_limits;

extern const mz_template_limits mz_template_limits_default;

/* Errors name line and column and what was expected. */
mz_status mz_template_parse(const char *src, size_t n, mz_template **out, mz_err *err) MZ_MUST_USE;
void mz_template_free(mz_template *t);

/* Renders with the members of `context` (a JSON object) as global variables and appends to out. Key order of objects is kept.
 * A template's raise_exception("…") is MZ_EINVAL with its text. */
mz_status mz_template_render(const mz_template *t, const json_t *context, const mz_template_limits *limits, int64_t now_unix_s, mz_buf *out,
                             mz_err *err) MZ_MUST_USE;

#endif
