/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/machine.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/workers.h"
#include "eval/bandwidth.h"
#include "eval/fma_peak.h"
#include "rt/engine_int.h"

static double now_s(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
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

static bool is_float(mz_dtype t)
{
    return t == MZ_DTYPE_F32 || t == MZ_DTYPE_F16 || t == MZ_DTYPE_BF16;
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
    /* of one token; and of its logits, which a prefill wants for its last token only */
    double ops[MZ_DTYPE_COUNT][MZ_LAYOUT_COUNT] = {{0}}, logit_ops[MZ_DTYPE_COUNT][MZ_LAYOUT_COUNT] = {{0}}, total_ops = 0, most = 0;
    const mz_weight *largest[MZ_DTYPE_COUNT][MZ_LAYOUT_COUNT] = {{NULL}};
    for (int i = 0; i < p->n_op; i++) {
        const mz_op *op = &p->op[i];
        if (op->kind != MZ_OP_MATMUL) continue;
        const mz_weight *w = &p->weight[op->weight].w;
        double n = 2.0 * (double)w->n_out * (double)w->n_in;
        (p->buf[op->out].rows == MZ_ROWS_LOGIT ? logit_ops : ops)[w->type][w->layout] += n;
        const mz_weight **best = &largest[w->type][w->layout];
        if (!*best || (double)(*best)->n_out * (double)(*best)->n_in * 2 < n) *best = w;
    }
    for (int t = 0; t < MZ_DTYPE_COUNT; t++)
        for (int l = 0; l < MZ_LAYOUT_COUNT; l++) {
            double s_per_op = 0;
            if (!largest[t][l]) continue;
            if (is_float((mz_dtype)t))
                s_per_op = 1 / out->fma_per_s;
            else
                MZ_TRY(measure_weight(team, e->kern, largest[t][l], &s_per_op, err));
            double both = ops[t][l] + logit_ops[t][l];
            total_ops += both;
            out->token_s += ops[t][l] * s_per_op;
            out->logit_s += logit_ops[t][l] * s_per_op;
            if (both > most) {
                most = both;
                (void)snprintf(out->main_format, sizeof out->main_format, "%s", mz_dtype_get((uint32_t)t)->name);
            }
        }
    out->flop_per_s = total_ops > 0 ? total_ops / (out->token_s + out->logit_s) : 0;
out:
    return st;
}

/* ---- description ------------------------------------------------------------------------------ */

static void find_governor(char name[32])
{
    FILE *f = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "re");
    (void)snprintf(name, 32, "unknown");
    if (f && fgets(name, 32, f)) name[strcspn(name, "\n")] = '\0';
    if (f) (void)fclose(f);
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
    find_governor(out->governor);
    MZ_TRY(mz_team_create(mz_engine_get_info(e).n_thread, &team, err));
    MZ_TRY(mz_bandwidth_measure(team, &out->read_bytes_per_s, err));
    out->fma_per_s = mz_fma_peak_measure(team);
    MZ_TRY(measure_peak(team, e, out, err));
out:
    mz_team_free(team);
    return st;
}

/* ---- state ------------------------------------------------------------------------------------ */

double mz_machine_state_bytes(const mz_engine *e, int64_t n_tok)
{
    const mz_prog *p = e->m->prog;
    double sum = 0, elem = (double)mz_kv_elem_bytes(e->layout.kv);
    for (int s = 0; s < p->n_seg; s++) {
        int64_t seen = 0;
        for (int i = 0; i < p->n_op; i++) {
            const mz_op *op = &p->op[i];
            if (op->kind != MZ_OP_ATTEND || op->seg != s) continue;
            int64_t n = op->p.window > 0 && op->p.window < n_tok ? op->p.window : n_tok;
            if (n > seen) seen = n;
        }
        sum += (double)seen * elem * (double)(p->seg[s].n_head_kv * (p->seg[s].d_k + p->seg[s].d_v));
    }
    return sum;
}
