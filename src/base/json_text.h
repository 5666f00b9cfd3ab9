/* SPDX-License-Identifier: Apache-2.0
 *
 * json_text.h: a JSON value as text.
 *
 * What it is not: a parser or a writer of JSON (jansson is both). It exists because json_dumps of jansson 2.14 does not
 * look whether writing a key succeeded: when memory runs out there, a document with a key missing comes back as success.
 * Ownership: the text is the caller's, freed with mz_free. Threading: none of its own. */
#ifndef MZ_BASE_JSON_TEXT_H
#define MZ_BASE_JSON_TEXT_H

#include <jansson.h>

#include "err.h"

/* flags as json_dumps takes them; doc NULL or out of memory: NULL. */
char *mz_json_text(const json_t *doc, size_t flags) MZ_MUST_USE;

#endif
