/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole model file: open an engine on it and run three tokens. Whatever the bytes say, the outcome is a status and a
 * sentence, or logits. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mizan/mizan.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(mz_engine *e)
{
    mz_err err = {0};
    mz_session *s = NULL;
    const int32_t ids[3] = {0, 1, 0};
    mz_status st = mz_session_create(e, &s, &err);
    if (st == MZ_OK) st = mz_session_sync(s, ids, 3, NULL, &err);
    if (st == MZ_OK && !mz_session_logits(s)) abort();
    if (st != MZ_OK && err.text[0] == '\0') abort();
    mz_session_close(s);
}

static void inspect(const char *path)
{
    mz_checkpoint *c = NULL;
    char *text = NULL;
    mz_err err = {0};
    if (mz_checkpoint_open(path, &c, &err) == MZ_OK) {
        if (mz_checkpoint_describe(c, NULL, 100, &text, &err) == MZ_OK) mz_text_release(text);
        if (mz_checkpoint_program(c, &text, &err) == MZ_OK) mz_text_release(text);
    }
    mz_checkpoint_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("model", 0);
    if (fd < 0 || (size_t)write(fd, data, size) != size) abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    mz_engine *e = NULL;
    mz_err err = {0};
    mz_engine_options o = mz_engine_options_default();
    o.n_thread = 1;
    o.chunk_tok = 2;
    o.memory_bytes = (uint64_t)64 << 20;
    o.taps = size % 2;
    mz_status st = mz_engine_open(path, &o, &e, &err);
    if ((st == MZ_OK) != (e != NULL)) abort();
    if (st != MZ_OK && err.text[0] == '\0') abort();
    if (e) run(e);
    mz_engine_close(e);
    inspect(path);
    (void)close(fd);
    return 0;
}
