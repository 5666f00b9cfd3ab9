/* SPDX-License-Identifier: Apache-2.0
 *
 * engine.h: a loaded model and the sessions that run on it.
 *
 *     mz_engine_options o = mz_engine_options_default();
 *     mz_engine_open("model.gguf", &o, &engine, &err);
 *     mz_session_create(engine, &session, &err);
 *     mz_session_sync(session, ids, n_ids, NULL, &err);        // state now holds exactly ids
 *     const float *logits = mz_session_logits(session);        // of the last one
 *     mz_step(engine, &session, &next, 1, &err);               // one token more
 *
 * The caller always says which token sequence it wants; the session finds out how much of it it
 * already holds. For one model file, KV format, build and token sequence the logits are
 * bit-identical whatever the batch, chunking, number of threads, instruction set or executor.
 *
 * Ownership: engines and sessions belong to their creator; close sessions before their engine.
 * Threading: all calls on one engine and its sessions come from one thread at a time. */
#ifndef MIZAN_ENGINE_H
#define MIZAN_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mizan/status.h>
#include <mizan/text.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mz_engine mz_engine;
typedef struct mz_session mz_session;

typedef struct mz_engine_options {
    int n_thread;          /* 0: one per processor this process may use */
    int64_t ctx_tok;       /* longest sequence of a session; 0: the model's context length */
    const char *kv;        /* "f32", "f16" (default), "bf16", "fp8"; any case */
    uint64_t memory_bytes; /* most memory weights + state + buffers may take; 0: no limit */
    const char *isa;       /* NULL: the best kernel set of this processor */
    const char *executor;  /* NULL or "workers"; "reference": one thread, reference kernels */
    int64_t chunk_tok;     /* most rows of one prefill step; 0: 512, fewer for a wide model */
    int n_session;         /* sessions that may exist at once; 0: 1 */
    bool taps;             /* keep the tap points in the program (mz_session_score) */
    /* Called now and then while loading, done and total in bytes of weights; may be NULL. */
    void (*progress)(void *user, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_user;
} mz_engine_options;

MZ_API mz_engine_options mz_engine_options_default(void);

MZ_API mz_status mz_engine_open(const char *model_path, const mz_engine_options *options, mz_engine **out, mz_err *err);
MZ_API void mz_engine_close(mz_engine *e);

typedef struct mz_engine_info {
    const char *family, *isa, *executor, *kv;
    int n_thread;
    int32_t n_vocab;
    int64_t ctx_tok, model_ctx_tok, chunk_tok;
    uint64_t weight_bytes;        /* resident weights, repacked or mapped */
    uint64_t weight_step_bytes;   /* weights touched by one decode step */
    uint64_t state_bytes_per_tok; /* of one session */
    uint64_t state_pool_bytes, buffer_bytes;
    double flop_per_tok; /* 2 * weights multiplied per token, attention left out */
} mz_engine_info;

MZ_API mz_engine_info mz_engine_get_info(const mz_engine *e);
/* The model's tokenizer and template, owned by the engine; NULL when the file has none or one that mizan does not know
 * (mz_text_open says which). */
MZ_API const mz_text *mz_engine_text(const mz_engine *e);

/* A session holds one token sequence and its state. Fails with MZ_ENOMEM when n_session exist already. */
MZ_API mz_status mz_session_create(mz_engine *e, mz_session **out, mz_err *err);
MZ_API void mz_session_close(mz_session *s);

/* Makes the session hold exactly ids [n >= 1]: keeps the longest common prefix, rewinds past it,
 * prefills the rest in chunks. *n_cached (may be NULL): how many ids were already there. On failure the session
 * holds a prefix of ids. MZ_ERANGE when n passes ctx_tok or a KV value does not fit its format (names the layer);
 * MZ_EINVAL for an id outside the vocabulary. */
MZ_API mz_status mz_session_sync(mz_session *s, const int32_t *ids, size_t n, size_t *n_cached, mz_err *err);
/* One token more for each of n different sessions, in one step. */
MZ_API mz_status mz_step(mz_engine *e, mz_session *const *sessions, const int32_t *ids, int n, mz_err *err);
/* Forgets all after the first n_tok tokens. n_tok beyond the length is MZ_EINVAL. */
MZ_API mz_status mz_session_rewind(mz_session *s, size_t n_tok, mz_err *err);
/* [n_vocab] f32 of the last token held; NULL when nothing is held or the session was rewound. Valid until the next call on it. */
MZ_API const float *mz_session_logits(const mz_session *s);
MZ_API size_t mz_session_len(const mz_session *s);
MZ_API const int32_t *mz_session_ids(const mz_session *s);
/* A flag another thread or a signal handler may set to stop a running sync between chunks (MZ_ECANCEL);
 * NULL (default): none. Cleared by the caller. */
MZ_API void mz_session_set_cancel(mz_session *s, const volatile int *flag);

/* Rows of f32 handed out in strips while a sequence is scored. */
typedef mz_status mz_rows_fn(void *user, int64_t row0, int64_t n_row, int64_t width, const float *rows, mz_err *err);
/* layer -1 means the tap belongs to no layer ("final.norm" is layer -1, name "norm"). */
typedef mz_status mz_tap_fn(void *user, int layer, const char *name, int64_t row0, int64_t n_row, int64_t width, const float *rows,
                            mz_err *err);

/* Like sync from an empty session, but hands out the logits of every position (on_logits, may be NULL) and, when the engine
 * was opened with taps, every tap (on_tap, may be NULL), in strips of ascending position. */
MZ_API mz_status mz_session_score(mz_session *s, const int32_t *ids, size_t n, mz_rows_fn *on_logits, void *logits_user, mz_tap_fn *on_tap,
                                  void *tap_user, mz_err *err);

/* What the processor offers: JSON text of the kernel set in use, each format's kernel for one and many
 * rows, and the sets available. Release with mz_text_release. */
MZ_API mz_status mz_cpu_describe(const char *isa, char **json, mz_err *err);

#ifdef __cplusplus
}
#endif
#endif
