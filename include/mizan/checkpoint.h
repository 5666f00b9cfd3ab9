/* SPDX-License-Identifier: Apache-2.0
 *
 * checkpoint.h: what is inside a model file, without loading it.
 *
 * Ownership: a checkpoint belongs to its opener; strings inside the structs to the checkpoint; JSON and text
 * results are released with mz_text_release. Threading: immutable after opening. */
#ifndef MIZAN_CHECKPOINT_H
#define MIZAN_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include <mizan/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mz_checkpoint mz_checkpoint;

typedef struct mz_tensor_info {
    const char *name, *type;
    uint32_t n_dim;
    int64_t dim[4]; /* dim[0] is the contiguous one */
    uint64_t n_bytes;
} mz_tensor_info;

MZ_API mz_status mz_checkpoint_open(const char *model_path, mz_checkpoint **out, mz_err *err);
MZ_API void mz_checkpoint_close(mz_checkpoint *c);
MZ_API size_t mz_checkpoint_n_tensor(const mz_checkpoint *c);
MZ_API mz_tensor_info mz_checkpoint_tensor(const mz_checkpoint *c, size_t i);

/* {"family","parameters","active_parameters","file_bytes","formats":{NAME:bytes},"context_length","vocab_size",
 *  "state":{"bytes_per_token","fixed_bytes","by_kind":{…}},"tokenizer","template":bool,…}; kv names the KV format
 * (NULL: f16). memory_tok > 0 adds "memory": what a context of that many tokens needs. A file whose family mizan
 * cannot run is still described, with "runnable": false and "reason". */
MZ_API mz_status mz_checkpoint_describe(const mz_checkpoint *c, const char *kv, int64_t memory_tok, char **json, mz_err *err);
/* The model's program, one line an op. */
MZ_API mz_status mz_checkpoint_program(const mz_checkpoint *c, char **text, mz_err *err);
/* Decodes one stored tensor exactly and writes NPY v1.0, f32, C order (outermost dimension first). */
MZ_API mz_status mz_checkpoint_write_npy(const mz_checkpoint *c, const char *tensor, const char *path, mz_err *err);

#ifdef __cplusplus
}
#endif
#endif
