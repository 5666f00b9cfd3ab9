/* SPDX-License-Identifier: Apache-2.0
 *
 * mzcheck_bench.c: times every row of the kernel table of every set this processor runs: the median of
 * repeated runs on one core, weight bytes per second, and operations per second (two per multiply-add). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mzcheck.h"

enum { DIM = 2048, MANY = 16, N_ROW = 4096, MAX_SAMPLES = 31, CONTEXT = 1024, HEAD_DIM = 64 };

static bool as_csv;
static const char *only;

static double now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

typedef void work_fn(void *arg);

/* Median over samples of at least 50 µs each; stops after about 0.15 s, never before 3 samples. */
static double median_ns(work_fn *work, void *arg)
{
    double sample[MAX_SAMPLES], start = now_ns();
    work(arg); /* caches, page faults */
    double once = now_ns() - start;
    int inner = once < 50e3 ? (int)(50e3 / (once + 1)) + 1 : 1, n = 0;
    while (n < MAX_SAMPLES && (n < 3 || now_ns() - start < 150e6)) {
        double t = now_ns();
        for (int i = 0; i < inner; i++) work(arg);
        sample[n++] = (now_ns() - t) / inner;
    }
    qsort(sample, (size_t)n, sizeof *sample, by_size);
    return sample[n / 2];
}

static void report(const mz_kern *k, const char *row, const char *variant, int n, work_fn *work, void *arg, double bytes, double ops)
{
    char name[96];
    (void)snprintf(name, sizeof name, "%s/%s", k->name, row);
    if (only && !strstr(name, only)) return;
    double ns = median_ns(work, arg);
    if (as_csv)
        printf("%s,%s,%s,%d,%.1f,%.3f,%.3f\n", k->name, row, variant, n, ns, bytes / ns, ops / ns);
    else
        printf("%-34s %-14s %5d %14.0f ns %8.2f GB/s %8.2f GOPS\n", name, variant, n, ns, bytes / ns, ops / ns);
    (void)fflush(stdout);
}

static void *need(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 127) & ~(size_t)63);
    if (!p) abort();
    memset(p, 0, (bytes + 127) & ~(size_t)63);
    return p;
}

/* ---- matmul ---- */

typedef struct matmul_work {
    mz_matmul_fn *fn;
    mz_weight w;
    uint8_t *x;
    size_t x_bytes;
    int64_t n_tok;
    float *y;
} matmul_work;

static void do_matmul(void *arg)
{
    matmul_work *m = arg;
    m->fn(&m->w, m->x, m->x_bytes, m->n_tok, m->y, m->w.n_out, 0, m->w.n_out);
}

static void bench_matmul(mzc *c, const mz_kern *k, mz_dtype type, mz_layout layout)
{
    const mz_dtype_info *info = mz_dtype_get((uint32_t)type);
    size_t row_bytes = mzc_row_bytes(type, DIM), total = row_bytes * DIM;
    uint8_t *rows = need(total), *panels = NULL;
    mzc_fill_weight(c, MZC_W_SANE, type, rows, row_bytes, DIM);
    matmul_work m = {.fn = k->matmul[type][layout].fn, .w = {type, MZ_LAYOUT_ROWS, DIM, DIM, row_bytes, rows}};
    if (layout == MZ_LAYOUT_PANEL8) {
        panels = need(total);
        for (int64_t i = 0; i < DIM; i += 8) k->pack[type](&m.w, i, panels + (size_t)i * row_bytes);
        m.w.layout = layout;
        m.w.data = panels;
    }
    m.x_bytes = info->is_low_bit ? mz_q8_row_bytes(DIM) : DIM * sizeof(float);
    m.x = need(m.x_bytes * MANY);
    m.y = need(sizeof(float) * DIM * MANY);
    float *x = need(sizeof(float) * DIM);
    for (int t = 0; t < MANY; t++) {
        mzc_fill(c, MZC_UNIFORM, x, DIM);
        if (info->is_low_bit)
            k->quantise_row(x, DIM, m.x + (size_t)t * m.x_bytes);
        else
            memcpy(m.x + (size_t)t * m.x_bytes, x, m.x_bytes);
    }
    char row[64];
    (void)snprintf(row, sizeof row, "matmul/%s/%s", info->name, layout == MZ_LAYOUT_ROWS ? "rows" : "panel8");
    static const int64_t toks[] = {1, 4, MANY};
    for (size_t i = 0; i < 3; i++) {
        m.n_tok = toks[i];
        const mz_matmul_kernel *mk = &k->matmul[type][layout];
        report(k, row, m.n_tok == 1 ? mk->name_one : mk->name_many, (int)m.n_tok, do_matmul, &m, (double)total,
               2.0 * DIM * DIM * (double)m.n_tok);
    }
    free(rows);
    free(panels);
    free(m.x);
    free(m.y);
    free(x);
}

/* ---- attention ---- */

typedef struct attend_work {
    mz_attend_fn *fn;
    mz_attend_args a;
    int64_t n_q;
    float *q, *o, *scratch;
} attend_work;

static void do_attend(void *arg)
{
    attend_work *w = arg;
    w->fn(&w->a, w->q, HEAD_DIM, w->n_q, CONTEXT - w->n_q, 0, w->o, HEAD_DIM, w->scratch);
}

static void bench_attend(mzc *c, const mz_kern *k, mz_kv_type kv)
{
    static const char *const kv_name[MZ_KV_COUNT] = {"f32", "f16", "bf16", "fp8"};
    size_t e = mz_kv_elem_bytes(kv), half = e * HEAD_DIM * MZ_PAGE_TOK;
    int32_t page[CONTEXT / MZ_PAGE_TOK];
    uint8_t *pool = need(2 * half * (CONTEXT / MZ_PAGE_TOK));
    float *values = need(sizeof(float) * HEAD_DIM);
    attend_work w = {.fn = k->attend,
                     .a = {.kv = kv,
                           .n_head_kv = 1,
                           .d_k = HEAD_DIM,
                           .d_v = HEAD_DIM,
                           .pool = pool,
                           .page_bytes = 2 * half,
                           .v_offset = half,
                           .page = page,
                           .scale = 0.125f}};
    for (int i = 0; i < CONTEXT / MZ_PAGE_TOK; i++) page[i] = i;
    for (int64_t pos = 0; pos < CONTEXT; pos++) {
        mzc_fill(c, MZC_UNIFORM, values, HEAD_DIM);
        (void)k->kv_store(&w.a, pool, pos, values, values);
    }
    w.q = need(sizeof(float) * HEAD_DIM * 8);
    w.o = need(sizeof(float) * HEAD_DIM * 8);
    w.scratch = need(sizeof(float) * MZ_ATTEND_SCRATCH(8, HEAD_DIM));
    mzc_fill(c, MZC_UNIFORM, w.q, HEAD_DIM * 8);
    char row[32];
    (void)snprintf(row, sizeof row, "attend/%s", kv_name[kv]);
    for (w.n_q = 1; w.n_q <= 8; w.n_q += 7)
        report(k, row, "head 64 ctx 1k", (int)w.n_q, do_attend, &w, 2.0 * (double)half * (CONTEXT / MZ_PAGE_TOK),
               4.0 * HEAD_DIM * CONTEXT * (double)w.n_q);
    free(pool);
    free(values);
    free(w.q);
    free(w.o);
    free(w.scratch);
}

/* ---- rows of f32 ---- */

typedef struct row_work {
    const mz_kern *k;
    float *x, *w, *y;
    void *q;
    int32_t *ids;
    mz_glu glu;
} row_work;

static void do_quantise(void *arg)
{
    row_work *r = arg;
    r->k->quantise_row(r->x, N_ROW, r->q);
}
static void do_rms_norm(void *arg)
{
    row_work *r = arg;
    r->k->rms_norm(r->x, r->w, N_ROW, 1e-5f, r->y);
}
static void do_layer_norm(void *arg)
{
    row_work *r = arg;
    r->k->layer_norm(r->x, r->w, r->w, N_ROW, 1e-5f, r->y);
}
static void do_rope(void *arg)
{
    row_work *r = arg;
    r->k->rope(r->y, N_ROW / 64, 64, 64, r->w, false);
}
static void do_softmax(void *arg)
{
    row_work *r = arg;
    r->k->softmax(r->y, N_ROW);
}
static void do_glu(void *arg)
{
    row_work *r = arg;
    r->k->glu(r->glu, r->x, r->w, N_ROW, r->y);
}
static void do_add(void *arg)
{
    row_work *r = arg;
    r->k->add(r->x, r->w, N_ROW, r->y);
}
static void do_scale(void *arg)
{
    row_work *r = arg;
    r->k->scale(r->x, 0.5f, N_ROW, r->y);
}
static void do_softcap(void *arg)
{
    row_work *r = arg;
    r->k->softcap(r->x, 30.0f, N_ROW, r->y);
}
static void do_top_k(void *arg)
{
    row_work *r = arg;
    r->k->top_k(r->x, N_ROW, 40, r->ids);
}
static void do_exp(void *arg)
{
    row_work *r = arg;
    r->k->exp(r->x, N_ROW, r->y);
}

static void bench_rows(mzc *c, const mz_kern *k)
{
    row_work r = {.k = k,
                  .x = need(N_ROW * sizeof(float)),
                  .w = need(N_ROW * sizeof(float)),
                  .y = need(N_ROW * sizeof(float)),
                  .q = need(mz_q8_row_bytes(N_ROW)),
                  .ids = need(N_ROW * sizeof(int32_t))};
    mzc_fill(c, MZC_UNIFORM, r.x, N_ROW);
    mzc_fill(c, MZC_UNIFORM, r.w, N_ROW);
    static const struct {
        const char *name;
        work_fn *work;
        mz_glu glu;
    } rows[] = {{"quantise_row", do_quantise, 0},
                {"rms_norm", do_rms_norm, 0},
                {"layer_norm", do_layer_norm, 0},
                {"rope", do_rope, 0},
                {"softmax", do_softmax, 0},
                {"glu/silu", do_glu, MZ_GLU_SILU},
                {"glu/gelu_tanh", do_glu, MZ_GLU_GELU_TANH},
                {"glu/gelu_erf", do_glu, MZ_GLU_GELU_ERF},
                {"glu/relu", do_glu, MZ_GLU_RELU},
                {"add", do_add, 0},
                {"scale", do_scale, 0},
                {"softcap", do_softcap, 0},
                {"top_k", do_top_k, 0},
                {"exp", do_exp, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        r.glu = rows[i].glu;
        memcpy(r.y, r.x, N_ROW * sizeof(float));
        report(k, rows[i].name, "4096 values", 1, rows[i].work, &r, N_ROW * sizeof(float), N_ROW);
    }
    free(r.x);
    free(r.w);
    free(r.y);
    free(r.q);
    free(r.ids);
}

void mzc_bench(const char *filter, bool csv)
{
    mzc c = {.ref = &mz_kern_ref, .rng = 1};
    int n;
    const mz_kern *const *list = mz_kern_list(&n);
    as_csv = csv;
    only = filter;
    if (csv) printf("set,row,variant,n,median_ns,gb_per_s,gops\n");
    for (int i = 0; i < n; i++) {
        const mz_kern *k = list[i];
        if (!mz_kern_runs(k)) continue;
        for (int t = 0; t < MZ_DTYPE_COUNT; t++) {
            for (int l = 0; l < MZ_LAYOUT_COUNT; l++) {
                const mz_matmul_kernel *m = &k->matmul[t][l];
                if (!m->fn || (i > 0 && m->fn == mz_kern_ref.matmul[t][l].fn)) continue;
                char name[64];
                (void)snprintf(name, sizeof name, "%s/matmul/%s/%s", k->name, mz_dtype_get((uint32_t)t)->name, l ? "panel8" : "rows");
                if (filter && !strstr(name, filter)) continue;
                bench_matmul(&c, k, (mz_dtype)t, (mz_layout)l);
            }
        }
        for (int kv = 0; kv < MZ_KV_COUNT; kv++) bench_attend(&c, k, (mz_kv_type)kv);
        bench_rows(&c, k);
    }
}
