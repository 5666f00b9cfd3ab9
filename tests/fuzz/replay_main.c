/* SPDX-License-Identifier: Apache-2.0
 *
 * replay_main.c: feeds every file of a corpus folder to a fuzz target once, so that what fuzzing found stays
 * found without a fuzzer. A missing or empty folder is a failure: an unreplayed corpus proves nothing.
 * Each file also runs with its tail cut off, which is the cheapest hostile input there is. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_CUT = 16 };

/* The copy has exactly `size` bytes, so that a sanitizer sees the first byte read past the end. */
static int run_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (!copy) return -1;
    if (size > 0) memcpy(copy, data, size);
    int rc = LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    return rc;
}

static int replay(const char *path, off_t size)
{
    FILE *f = fopen(path, "rb");
    if (!f) return -1;
    size_t n = (size_t)size;
    uint8_t *data = malloc(n > 0 ? n : 1);
    int ok = data && fread(data, 1, n, f) == n;
    fclose(f);
    for (size_t i = 0; ok && i <= N_CUT; i++) ok = run_copy(data, n - n * i / N_CUT) == 0;
    free(data);
    return ok ? 0 : -1;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }
    DIR *dir = opendir(argv[1]);
    if (!dir) {
        fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    int n_file = 0, n_bad = 0;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char path[4096];
        struct stat st;
        if (e->d_name[0] == '.' || snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name) >= (int)sizeof path) continue;
        if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) continue;
        n_file++;
        /* Said before the run: a crash then names its input. */
        fprintf(stderr, "replay %s (%lld bytes)\n", path, (long long)st.st_size);
        if (replay(path, st.st_size) != 0) {
            fprintf(stderr, "  failed\n");
            n_bad++;
        }
    }
    closedir(dir);
    if (n_file == 0) fprintf(stderr, "%s: the corpus is empty\n", argv[1]);
    return n_file > 0 && n_bad == 0 ? 0 : 1;
}
