/* SPDX-License-Identifier: Apache-2.0
 *
 * text.h (internal): what stands behind the public mz_text, for rt/ which opens the file anyway. */
#ifndef MZ_TEXT_TEXT_H
#define MZ_TEXT_TEXT_H

#include <mizan/text.h>

#include "fmt/gguf.h"
#include "text/tokenizer.h"

/* From an open file. A file without a tokenizer gives *out = NULL and MZ_OK. */
mz_status mz_text_from_gguf(const mz_gguf *g, mz_text **out, mz_err *err) MZ_MUST_USE;
/* NULL never; owned by t. */
const mz_tokenizer *mz_text_tokenizer(const mz_text *t);

#endif
