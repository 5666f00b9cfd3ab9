/* SPDX-License-Identifier: Apache-2.0
 *
 * token_dump.c: many texts to ids and back in one process, for comparing with other tokenizers (check_sp.py, compare_sp.py).
 *
 *     token_dump MODEL.gguf < requests > answers
 *
 * A request is u32 flags (MZ_TEXT_*), u32 length, bytes; its answer u32 count, i32 ids, u32 length, bytes (the ids decoded, special
 * tokens written out if the request parsed them). All in host order. */
#include <stdio.h>
#include <stdlib.h>

#include <mizan/text.h>

static uint32_t get_u32(void)
{
    uint32_t x;
    if (fread(&x, sizeof x, 1, stdin) != 1) exit(feof(stdin) ? 0 : 1);
    return x;
}

static void put(const void *p, size_t size, size_t n)
{
    uint32_t count = (uint32_t)n;
    if (fwrite(&count, sizeof count, 1, stdout) != 1 || fwrite(p, size, n, stdout) != n) exit(1);
}

int main(int argc, char **argv)
{
    mz_text *t = NULL;
    mz_err err = {0};
    if (argc != 2 || mz_text_open(argv[1], &t, &err) != MZ_OK) {
        (void)fprintf(stderr, "token_dump: %s\n", argc == 2 ? err.text : "give one model file");
        return 1;
    }
    for (;;) {
        uint32_t flags = get_u32(), n = get_u32();
        char *text = malloc((size_t)n + 1), *back = NULL;
        int32_t *ids = NULL;
        size_t n_ids, n_back;
        if (!text || fread(text, 1, n, stdin) != n) return 1;
        if (mz_text_encode(t, text, n, flags, &ids, &n_ids, &err) != MZ_OK ||
            mz_text_decode(t, ids, n_ids, flags & MZ_TEXT_SPECIAL, &back, &n_back, &err) != MZ_OK) {
            (void)fprintf(stderr, "token_dump: %s\n", err.text);
            return 1;
        }
        put(ids, sizeof *ids, n_ids);
        put(back, 1, n_back);
        mz_text_release(ids);
        mz_text_release(back);
        free(text);
    }
}
