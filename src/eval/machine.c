/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/machine.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/workers.h"
#include "rt/engine_int.h"

static double now_s(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* ---- read bandwidth --------------------------------------------------------------------------- */

#define PASSES      7
#define LEAST_BYTES ((size_t)256 << 20)

typedef struct read_job {
    uint64_t *data;
    size_t n; /* words, a multiple of 8 per member */
    bool fill;
    atomic_uint_fast64_t sum; /* keeps the reads from being optimised away */
} read_job;

static void read_share(void *arg, int i, int n_member)
{
    read_job *j = arg;
    size_t begin = j->n / 8 * (size_t)i / (size_t)n_member * 8, end = j->n / 8 * ((size_t)i + 1) / (size_t)n_member * 8;
    uint64_t *p = j->data, s[8] = {0};
    if (j->fill) { /* pages come to the member that reads them */
        memset(p + begin, 1, (end - begin) * sizeof *p);
        return;
    }
    for (size_t k = begin; k < end; k += 8)
        for (int u = 0; u < 8; u++) s[u] += p[k + (size_t)u];
    uint64_t sum = 0;
    for (int u = 0; u < 8; u++) sum += s[u];
    atomic_fetch_add(&j->sum, sum);
}

static mz_status measure_bandwidth(mz_team *team, double *bytes_per_s, mz_err *err)
{
    long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE), pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t bytes = l3 > 0 ? (size_t)l3 * 4 : 0, most = pages > 0 && page > 0 ? (size_t)pages / 4 * (size_t)page : LEAST_BYTES;
    if (bytes < LEAST_BYTES) bytes = LEAST_BYTES;
    if (bytes > most) bytes = most;
    bytes &= ~(size_t)4095;
    read_job job = {.data = mz_reserve(bytes), .n = bytes / 8, .fill = true};
    if (!job.data) return mz_err_set(err, MZ_ENOMEM, "%zu bytes to measure the memory's speed could not be had", bytes);
    mz_team_run(team, read_share, &job);
    job.fill = false;
    *bytes_per_s = 0;
    for (int i = 0; i < PASSES; i++) {
        double t0 = now_s();
        mz_team_run(team, read_share, &job);
        double rate = (double)bytes / (now_s() - t0);
        if (rate > *bytes_per_s) *bytes_per_s = rate;
    }
    mz_unreserve(job.data, bytes);
    return MZ_OK;
}

/* ---- arithmetic ------------------------------------------------------------------------------- */

#define PEAK_ROWS   32                 /* activation rows: enough to reuse a weight from registers and the first cache */
#define SLICE_BYTES ((size_t)96 << 10) /* of weights a thread works on */
#define PEAK_TRIES  5
#define PEAK_S      0.01 /* least time of one try */

typedef struct peak_job {
    const mz_kern *kern;
    const mz_weight *w;
    const uint8_t *x; /* PEAK_ROWS rows, read by all */
    size_t x_bytes;
    float *y;        /* [n_member, PEAK_ROWS, n_slice] */
    int64_t n_slice; /* output rows a member computes again and again */
    int n_repeat;
} peak_job;

static void peak_share(void *arg, int i, int n_member)
{
    const peak_job *j = arg;
    (void)n_member;
    /* Members work on neighbouring slices, wrapping round when the weight is small. */
    int64_t n_slices = j->w->n_out / j->n_slice, at = (i % (n_slices ? n_slices : 1)) * j->n_slice;
    mz_weight slice = *j->w; /* rows and panels alike take row_bytes an output row */
    slice.data += (size_t)at * j->w->row_bytes;
    slice.n_out = j->n_slice;
    float *y = j->y + (size_t)i * PEAK_ROWS * (size_t)j->n_slice;
    for (int r = 0; r < j->n_repeat; r++)
        mz_kern_matmul(j->kern, &slice)->fn(&slice, j->x, j->x_bytes, PEAK_ROWS, y, j->n_slice, 0, j->n_slice);
}

/* Seconds the fastest try took for one operation on weight w, all members together. */
static double time_peak(mz_team *team, peak_job *job)
{
    double best = 0, ops = 2.0 * PEAK_ROWS * (double)job->n_slice * (double)job->w->n_in * mz_team_size(team);
    job->n_repeat = 1;
    for (int t = 0; t < PEAK_TRIES;) {
        double t0 = now_s();
        mz_team_run(team, peak_share, job);
        double spent = now_s() - t0;
        if (spent < PEAK_S && job->n_repeat < 1 << 20) { /* too short to time: it also warms up */
            job->n_repeat *= 2;
            continue;
        }
        double rate = ops * job->n_repeat / spent;
        if (rate > best) best = rate;
        t++;
    }
    return best > 0 ? 1 / best : 0;
}

static mz_status make_rows(const mz_kern *k, const mz_weight *w, uint8_t **x, size_t *x_bytes, mz_err *err)
{
    mz_status st = MZ_OK;
    bool low_bit = mz_dtype_get(w->type)->is_low_bit;
    *x_bytes = low_bit ? mz_q8_row_bytes(w->n_in) : ((size_t)w->n_in * sizeof(float) + 63) & ~(size_t)63;
    float *row = mz_calloc((size_t)w->n_in, sizeof *row);
    *x = mz_calloc_aligned(*x_bytes * PEAK_ROWS);
    if (!row || !*x) MZ_FAIL(MZ_ENOMEM, err, "out of memory while measuring the processor");
    for (int t = 0; t < PEAK_ROWS; t++) {
        for (int64_t i = 0; i < w->n_in; i++) row[i] = (float)(2 * mz_rng_uniform(11, (uint64_t)(t * w->n_in + i)) - 1);
        if (low_bit)
            k->quantise_row(row, w->n_in, *x + (size_t)t * *x_bytes);
        else
            memcpy(*x + (size_t)t * *x_bytes, row, (size_t)w->n_in * sizeof *row);
    }
out:
    mz_free(row);
    return st;
}

static mz_status measure_weight(mz_team *team, const mz_kern *k, const mz_weight *w, double *s_per_op, mz_err *err)
{
    mz_status st = MZ_OK;
    uint8_t *x = NULL;
    peak_job job = {.kern = k, .w = w};
    int64_t n = (int64_t)(SLICE_BYTES / (w->row_bytes ? w->row_bytes : 1)) / 8 * 8;
    if (n < 8) n = 8;
    job.n_slice = n < w->n_out ? n : w->n_out;
    MZ_TRY(make_rows(k, w, &x, &job.x_bytes, err));
    job.x = x;
    job.y = mz_calloc((size_t)mz_team_size(team) * PEAK_ROWS * (size_t)job.n_slice, sizeof *job.y);
    if (!job.y) MZ_FAIL(MZ_ENOMEM, err, "out of memory while measuring the processor");
    *s_per_op = time_peak(team, &job);
out:
    mz_free(x);
    mz_free(job.y);
    return st;
}

static mz_status measure_peak(mz_team *team, const mz_engine *e, mz_machine *out, mz_err *err)
{
    mz_status st = MZ_OK;
    const mz_prog *p = e->m->prog;
    double ops[MZ_DTYPE_COUNT][MZ_LAYOUT_COUNT] = {{0}}, total_ops = 0, total_s = 0, most = 0;
    const mz_weight *largest[MZ_DTYPE_COUNT][MZ_LAYOUT_COUNT] = {{NULL}};
    for (int i = 0; i < p->n_weight; i++) {
        const mz_weight *w = &p->weight[i].w;
        if (!p->weight[i].is_matmul || p->weight[i].is_vector) continue;
        double n = 2.0 * (double)w->n_out * (double)w->n_in;
        ops[w->type][w->layout] += n;
        const mz_weight **best = &largest[w->type][w->layout];
        if (!*best || (double)(*best)->n_out * (double)(*best)->n_in * 2 < n) *best = w;
    }
    for (int t = 0; t < MZ_DTYPE_COUNT; t++)
        for (int l = 0; l < MZ_LAYOUT_COUNT; l++) {
            double s_per_op = 0;
            if (!largest[t][l]) continue;
            MZ_TRY(measure_weight(team, e->kern, largest[t][l], &s_per_op, err));
            total_ops += ops[t][l];
            total_s += ops[t][l] * s_per_op;
            if (ops[t][l] > most) {
                most = ops[t][l];
                (void)snprintf(out->main_format, sizeof out->main_format, "%s", mz_dtype_get((uint32_t)t)->name);
            }
        }
    out->flop_per_s = total_s > 0 ? total_ops / total_s : 0;
out:
    return st;
}

static void find_cpu_name(char name[96])
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "re");
    (void)snprintf(name, 96, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "model name", 10) != 0) continue;
        const char *value = strchr(line, ':');
        if (!value) break;
        value += 1 + strspn(value + 1, " ");
        (void)snprintf(name, 96, "%.*s", (int)(strcspn(value, "\n") < 95 ? strcspn(value, "\n") : 95), value);
        break;
    }
    if (f) (void)fclose(f);
}

mz_status mz_machine_measure(const mz_engine *e, mz_machine *out, mz_err *err)
{
    mz_status st = MZ_OK;
    mz_team *team = NULL;
    *out = (mz_machine){0};
    find_cpu_name(out->cpu);
    MZ_TRY(mz_team_create(mz_engine_get_info(e).n_thread, &team, err));
    MZ_TRY(measure_bandwidth(team, &out->read_bytes_per_s, err));
    MZ_TRY(measure_peak(team, e, out, err));
out:
    mz_team_free(team);
    return st;
}
