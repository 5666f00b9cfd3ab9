/* SPDX-License-Identifier: Apache-2.0
 *
 * gguf_impl.h: what the files of the GGUF reader share; private to fmt.
 *
 * The look-up tables are arrays of pointers sorted by name. They are not hash tables on purpose:
 * names come from the file, and one made to collide would turn opening it into quadratic work. */
#ifndef MZ_FMT_GGUF_IMPL_H
#define MZ_FMT_GGUF_IMPL_H

#include "base/mem.h"
#include "fmt/gguf.h"

struct mz_gguf_index {
    const mz_gguf_kv **by_key;      /* [n_kv] */
    const mz_gguf_tensor **by_name; /* [n_tensor] */
    mz_arena names;                 /* the tensors' names */
};

/* Precision and pointer for "%.*s": a name out of the file, cut so that a sentence stays a sentence. */
#define MZ_GGUF_SHOW(str) (int)((str).n < 100 ? (str).n : 100), (str).s

/* Reads header, metadata and tensor list of the one file data [size] into g, an empty mz_gguf, and
 * checks all of it except that tensor names are unique. Sentences in err do not name the file.
 * On failure g holds what mz_gguf_drop_tables frees. */
mz_status mz_gguf_parse(const uint8_t *data, size_t size, mz_gguf *g, mz_err *err) MZ_MUST_USE;

/* Fills g->index->by_key, by_name; a name met twice is an error. */
mz_status mz_gguf_index_keys(mz_gguf *g, mz_err *err) MZ_MUST_USE;
mz_status mz_gguf_index_tensors(mz_gguf *g, mz_err *err) MZ_MUST_USE;

/* Checks where the tensors of one file lie: aligned, inside the file, no two overlapping. Sets
 * data and file_offset. offset [n_tensor]: as stored, relative to data_begin. */
mz_status mz_gguf_place_tensors(const uint8_t *data, size_t size, const uint64_t *offset, mz_gguf *g, mz_err *err) MZ_MUST_USE;

void mz_gguf_drop_tables(mz_gguf *g);

#endif
