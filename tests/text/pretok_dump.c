/* SPDX-License-Identifier: Apache-2.0
 *
 * pretok_dump.c: prints how a named pre-tokeniser cuts texts, for compare_pretok.py.
 * usage: pretok_dump NAME < records; a record is "LENGTH\n" and that many bytes; one line of piece lengths each.
 * Without NAME: the names it knows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/pretok_names.h"

static mz_status print_piece(void *user, size_t at, size_t n, mz_err *err)
{
    (void)user;
    (void)err;
    (void)printf("%s%zu", at ? " " : "", n);
    return MZ_OK;
}

int main(int argc, char **argv)
{
    mz_err err = {0};
    mz_pretok *p;
    mz_pretok_scratch *scratch;
    mz_pretok_traits traits;
    size_t n;
    if (argc < 2) {
        for (size_t i = 0; mz_pretok_at(i); i++) (void)puts(mz_pretok_at(i)->name);
        return 0;
    }
    if (mz_pretok_create(argv[1], strlen(argv[1]), &p, &traits, &err) || mz_pretok_scratch_create(p, &scratch, &err)) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    while (scanf("%zu", &n) == 1 && getchar() == '\n') {
        char *s = mz_calloc(n, 1);
        if (!s || fread(s, 1, n, stdin) != n) return 1;
        if (mz_pretok_split(p, scratch, s, n, print_piece, NULL, &err)) (void)printf("error: %s", err.text);
        (void)putchar('\n');
        mz_free(s);
    }
    mz_pretok_scratch_free(scratch);
    mz_pretok_free(p);
    return 0;
}
