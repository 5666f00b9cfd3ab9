/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"

static void say(const char *fmt, va_list ap)
{
    char text[1024];
    (void)vsnprintf(text, sizeof text, fmt, ap);
    mz_cli_make_printable(text);
    (void)fflush(stdout);
    (void)fprintf(stderr, "mizan: %s\n", text);
}

int mz_cli_fail(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
    return MZ_EXIT_FAILED;
}

int mz_cli_usage(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
    return MZ_EXIT_USAGE;
}

int mz_cli_fail_err(const mz_err *err)
{
    return mz_cli_fail("%s", err->text[0] ? err->text : mz_status_text(err->status));
}

void *mz_cli_alloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p) exit(mz_cli_fail("out of memory"));
    return p;
}

double mz_cli_now_ms(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec * 1e-6;
}

const char *mz_cli_bytes_text(double bytes, char buf[32])
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t i = 0;
    while (bytes >= 1024 && i < 5) {
        bytes /= 1024;
        i++;
    }
    (void)snprintf(buf, 32, i == 0 ? "%.0f %s" : bytes < 10 ? "%.2f %s" : "%.1f %s", bytes, unit[i]);
    return buf;
}

bool mz_cli_read_file(const char *path, size_t limit, char **data, size_t *n)
{
    bool is_stdin = strcmp(path, "-") == 0, ok = false;
    size_t len = 0, cap = 65536, got;
    char *buf = malloc(cap);
    FILE *f = is_stdin ? stdin : fopen(path, "re");
    if (!f) {
        (void)mz_cli_fail("%s: cannot open: %s", path, strerror(errno));
        goto out;
    }
    if (!buf) {
        (void)mz_cli_fail("out of memory");
        goto out;
    }
    errno = 0;
    while ((got = fread(buf + len, 1, cap - len - 1, f)) > 0) {
        len += got;
        if (len > limit) {
            (void)mz_cli_fail("%s: more than %zu bytes, the limit for this input", path, limit);
            goto out;
        }
        if (cap - len < 2) {
            char *grown = realloc(buf, cap * 2);
            if (!grown) {
                (void)mz_cli_fail("%s: out of memory", path);
                goto out;
            }
            buf = grown;
            cap *= 2;
        }
    }
    if (ferror(f)) {
        (void)mz_cli_fail("%s: cannot read: %s", path, strerror(errno));
        goto out;
    }
    buf[len] = '\0';
    *data = buf;
    *n = len;
    buf = NULL;
    ok = true;
out:
    free(buf);
    if (f && !is_stdin) (void)fclose(f);
    return ok;
}

#define IDS_FILE_LIMIT ((size_t)256 << 20)

bool mz_cli_get_ids(const char *arg, int32_t **ids, size_t *n, int *status)
{
    char message[MZ_CLI_MESSAGE_BYTES], *file = NULL;
    const char *list = arg;
    size_t n_list = strlen(arg);
    *status = MZ_EXIT_FAILED;
    if (arg[0] == '@') {
        if (!mz_cli_read_file(arg + 1, IDS_FILE_LIMIT, &file, &n_list)) return false;
        list = file;
    }
    bool ok = mz_cli_parse_ids(list, n_list, ids, n, message);
    if (!ok) *status = mz_cli_usage("%s", message);
    free(file);
    return ok;
}

/* ---- progress --------------------------------------------------------------------------------- */

void mz_cli_progress_start(mz_cli_progress *p, const char *what, bool in_bytes, bool off)
{
    *p = (mz_cli_progress){.what = what, .off = off, .in_bytes = in_bytes};
    p->t0_ms = p->t_last_ms = mz_cli_now_ms();
}

void mz_cli_progress_step(void *user, uint64_t done, uint64_t total)
{
    mz_cli_progress *p = user;
    double now = mz_cli_now_ms(), spent = now - p->t0_ms;
    bool tty = mz_cli_err_is_tty();
    if (p->off || total == 0 || done > total || spent < 1000 || now - p->t_last_ms < (tty ? 100 : 2000)) return;
    p->t_last_ms = now;
    double left_s = done ? spent * (double)(total - done) / (double)done / 1000 : -1;
    char size[32] = "", left[48] = "";
    if (p->in_bytes) (void)mz_cli_bytes_text((double)total, size);
    if (left_s >= 0) (void)snprintf(left, sizeof left, ", about %.0f s left", left_s + 0.5);
    (void)fprintf(stderr, "%s%s: %.0f %%%s%s%s%s", tty ? "\r" : "", p->what, 100.0 * (double)done / (double)total, size[0] ? " of " : "",
                  size, left, tty ? "\033[K" : "\n");
    (void)fflush(stderr);
    p->shown = tty;
}

void mz_cli_progress_end(mz_cli_progress *p)
{
    if (p->shown) (void)fprintf(stderr, "\r\033[K");
    p->shown = false;
}

/* ---- models ----------------------------------------------------------------------------------- */

static void load_progress(void *user, uint64_t done, uint64_t total)
{
    mz_cli_progress_step(user, done, total);
}

bool mz_cli_open_engine(const mz_cli_args *a, const char *model, mz_engine_options o, mz_engine **e, double *load_ms)
{
    mz_err err = {0};
    mz_cli_progress progress;
    double t0 = mz_cli_now_ms();
    o.n_thread = (int)a->threads;
    o.memory_bytes = a->memory_bytes;
    if (a->kv) o.kv = a->kv;
    if (a->isa) o.isa = a->isa;
    if (a->executor) o.executor = a->executor;
    o.chunk_tok = a->chunk;
    o.progress = load_progress;
    o.progress_user = &progress;
    mz_cli_progress_start(&progress, "loading", true, a->quiet);
    mz_status st = mz_engine_open(model, &o, e, &err);
    mz_cli_progress_end(&progress);
    *load_ms = mz_cli_now_ms() - t0;
    if (st != MZ_OK) {
        (void)mz_cli_fail_err(&err);
        return false;
    }
    if (a->verbose) {
        mz_engine_info i = mz_engine_get_info(*e);
        char w[32], s[32], b[32], name[1024];
        (void)snprintf(name, sizeof name, "%s", model);
        mz_cli_make_printable(name);
        (void)fprintf(stderr, "%s: %s, kernels %s, executor %s, %d threads, context %lld, kv %s\n", name, i.family, i.isa, i.executor,
                      i.n_thread, (long long)i.ctx_tok, i.kv);
        (void)fprintf(stderr, "weights %s, state %s, buffers %s, loaded in %.0f ms\n", mz_cli_bytes_text((double)i.weight_bytes, w),
                      mz_cli_bytes_text((double)i.state_pool_bytes, s), mz_cli_bytes_text((double)i.buffer_bytes, b), *load_ms);
    }
    return true;
}
