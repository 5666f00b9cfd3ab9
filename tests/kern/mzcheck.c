/* SPDX-License-Identifier: Apache-2.0
 *
 * mzcheck.c: checks every kernel of every set against the reference bit by bit, the reference against double
 * arithmetic, and itself against deliberately wrong kernels; times them with --bench. Output is TAP. */
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mzcheck.h"

enum { MAX_CHECKS = 1024, EXIT_FAULT = 3 };

typedef struct check {
    char name[72];
    const mz_kern *k;
    void (*run)(mzc *c);
    mz_dtype type;
    mz_layout layout;
} check;

static check checks[MAX_CHECKS];
static int n_checks;
static bool quick;
static mzc ctx = {.seed = 1, .only_case = -1};

/* ---- cases ---- */

static uint64_t hash(const char *s)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *s; s++) h = (h ^ (uint8_t)*s) * UINT64_C(0x100000001b3);
    return h;
}

bool mzc_case(mzc *c)
{
    if (c->failed) return false;
    int64_t i = c->n_case++;
    if (c->only_case >= 0 && i != c->only_case) return false;
    /* The set's name is left out: all sets see the same operands. */
    const char *rest = strchr(c->name, '/');
    c->rng = c->seed * UINT64_C(0x9e3779b97f4a7c15) ^ hash(rest ? rest : c->name) ^ (uint64_t)i << 32;
    (void)mzc_u64(c);
    c->place = i % 2 == 0 ? 0 : (int)(1 + i / 2 % 16);
    return true;
}

void mzc_fail(mzc *c, const char *fmt, ...)
{
    size_t used = c->failed ? strlen(c->text) : 0;
    if (c->failed && fmt[0] != ';') return; /* the first failure counts; "; …" adds circumstances */
    c->failed = true;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(c->text + used, sizeof c->text - used, fmt, ap);
    va_end(ap);
}

static void replay_line(char *buf, size_t n)
{
    (void)snprintf(buf, n, "# replay: mzcheck --seed %llu --filter '%s' --case %lld%s\n", (unsigned long long)ctx.seed, ctx.name,
                   (long long)ctx.n_case - 1, quick ? " --quick" : "");
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    (void)context;
    char line[512], replay[256];
    replay_line(replay, sizeof replay);
    int n = snprintf(line, sizeof line, "not ok - %s: signal %d, touched memory outside its operands at %p\n%s", ctx.name, sig,
                     info->si_addr, replay);
    if (n > 0 && write(STDOUT_FILENO, line, (size_t)n) < 0) _exit(EXIT_FAULT + 1);
    _exit(EXIT_FAULT);
}

static void run_check(const check *k)
{
    ctx.ref = &mz_kern_ref;
    ctx.k = k->k;
    /* The reference against itself only shows that it keeps to its operands: the short ladder is enough. */
    ctx.quick = quick || k->k == &mz_kern_ref;
    ctx.type = k->type;
    ctx.layout = k->layout;
    ctx.name = k->name;
    ctx.n_case = 0;
    ctx.failed = false;
    ctx.text[0] = '\0';
    for (int i = 0; i < MZC_N_SLOT; i++) ctx.slot[i].used = false;
    k->run(&ctx);
}

/* ---- the list ---- */

static void add(const mz_kern *k, void (*run)(mzc *), mz_dtype type, mz_layout layout, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
static void add(const mz_kern *k, void (*run)(mzc *), mz_dtype type, mz_layout layout, const char *fmt, ...)
{
    if (n_checks == MAX_CHECKS) abort();
    check *c = &checks[n_checks++];
    *c = (check){.k = k, .run = run, .type = type, .layout = layout};
    int n = snprintf(c->name, sizeof c->name, "%s/", k->name);
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(c->name + n, sizeof c->name - (size_t)n, fmt, ap);
    va_end(ap);
}

/* prev: the set before k in the table, whose kernels k may have taken over; they are checked there. */
static void list_set(const mz_kern *k, const mz_kern *prev)
{
    const mz_kern *ref = &mz_kern_ref;
    bool is_ref = k == ref;
/* A set that took the reference's kernel over has nothing to compare; the reference itself is held to its memory. */
#define ROW(field) \
    if (is_ref || (k->field != ref->field && k->field != prev->field)) add(k, check_##field, MZ_DTYPE_F32, MZ_LAYOUT_ROWS, #field)
    ROW(quantise_row);
    ROW(rms_norm);
    ROW(layer_norm);
    ROW(rope);
    ROW(attend);
    ROW(kv_store);
    ROW(softmax);
    ROW(glu);
    ROW(add);
    ROW(scale);
    ROW(softcap);
    ROW(top_k);
    ROW(exp);
#undef ROW
    static const char *const layout_name[MZ_LAYOUT_COUNT] = {"rows", "panel8"};
    for (int t = 0; t < MZ_DTYPE_COUNT; t++) {
        mz_dtype type = (mz_dtype)t;
        if (!ref->matmul[t][MZ_LAYOUT_ROWS].fn) continue;
        const char *name = mz_dtype_get((uint32_t)t)->name;
        for (int l = 0; l < MZ_LAYOUT_COUNT; l++)
            if (k->matmul[t][l].fn &&
                (is_ref || (k->matmul[t][l].fn != ref->matmul[t][l].fn && k->matmul[t][l].fn != prev->matmul[t][l].fn)))
                add(k, check_matmul, type, (mz_layout)l, "matmul/%s/%s", name, layout_name[l]);
        if (is_ref || (k->weight_row != ref->weight_row && k->weight_row != prev->weight_row))
            add(k, check_weight_row, type, MZ_LAYOUT_ROWS, "weight_row/%s", name);
        if (k->pack[t] && k->pack[t] != prev->pack[t]) add(k, check_pack, type, MZ_LAYOUT_PANEL8, "pack/%s", name);
        if (is_ref) add(k, check_double_matmul, type, MZ_LAYOUT_ROWS, "double/matmul/%s", name);
    }
    if (!is_ref) return;
    add(k, check_double_quantise, MZ_DTYPE_F32, MZ_LAYOUT_ROWS, "double/quantise_row");
    add(k, check_double_norms, MZ_DTYPE_F32, MZ_LAYOUT_ROWS, "double/norms");
    add(k, check_double_rope, MZ_DTYPE_F32, MZ_LAYOUT_ROWS, "double/rope");
    add(k, check_double_glu, MZ_DTYPE_F32, MZ_LAYOUT_ROWS, "double/glu");
    add(k, check_double_top_k, MZ_DTYPE_F32, MZ_LAYOUT_ROWS, "double/top_k");
    add(k, check_double_attend, MZ_DTYPE_F32, MZ_LAYOUT_ROWS, "double/attend");
}

static bool table_is_sound(void)
{
    int n;
    const mz_kern *const *list = mz_kern_list(&n), *k = NULL;
    mz_err err = {.text = ""};
    bool ok = n >= 1 && list[0] == &mz_kern_ref && mz_kern_runs(list[0]);
    ok = ok && mz_kern_get("no such set", &k, &err) == MZ_EINVAL && k == NULL && strstr(err.text, "ref") != NULL;
    ok = ok && mz_kern_get(NULL, &k, &err) == MZ_OK && k && mz_kern_runs(k);
    for (int i = 0; i < n; i++) {
        mz_status st = mz_kern_get(list[i]->name, &k, &err);
        ok = ok && (mz_kern_runs(list[i]) ? st == MZ_OK && k == list[i] : st == MZ_ESUPPORT);
        /* What the reference offers, every set offers; a layout comes with its packer. */
        for (int t = 0; t < MZ_DTYPE_COUNT; t++) {
            ok = ok && (!mz_kern_ref.matmul[t][MZ_LAYOUT_ROWS].fn || list[i]->matmul[t][MZ_LAYOUT_ROWS].fn);
            ok = ok && (!list[i]->matmul[t][MZ_LAYOUT_PANEL8].fn == !list[i]->pack[t]);
            for (int l = 0; l < MZ_LAYOUT_COUNT; l++)
                ok = ok && (!list[i]->matmul[t][l].fn || (list[i]->matmul[t][l].name_one && list[i]->matmul[t][l].name_many));
        }
    }
    return ok;
}

/* ---- modes ---- */

static int run_all(const char *filter)
{
    int n, n_run = 0, n_failed = 0;
    const mz_kern *const *list = mz_kern_list(&n);
    for (int i = 0; i < n; i++) {
        if (mz_kern_runs(list[i]))
            list_set(list[i], list[i ? i - 1 : 0]);
        else
            printf("# this processor cannot run the set \"%s\"\n", list[i]->name);
    }
    if (!filter && !table_is_sound()) n_failed++;
    if (!filter) printf("%s %d - table\n", n_failed ? "not ok" : "ok", ++n_run);
    for (int i = 0; i < n_checks; i++) {
        if (filter && !strstr(checks[i].name, filter)) continue;
        run_check(&checks[i]);
        if (ctx.n_case == 0 && !ctx.failed) mzc_fail(&ctx, "no case was run");
        printf("%s %d - %s (%lld cases)\n", ctx.failed ? "not ok" : "ok", ++n_run, checks[i].name, (long long)ctx.n_case);
        if (ctx.failed) {
            char replay[256];
            replay_line(replay, sizeof replay);
            printf("# %s\n%s", ctx.text, replay);
            n_failed++;
        }
        (void)fflush(stdout);
    }
    if (n_run == 0) printf("not ok 1 - no check matches the filter\n"), n_run = n_failed = 1;
    printf("1..%d\n", n_run);
    return n_failed ? 1 : 0;
}

static bool wrong_is_caught(const mzc_wrong *w)
{
    mz_kern k = mz_kern_ref;
    k.name = "wrong";
    w->spoil(&k);
    check c = {.k = &k, .run = w->check, .type = w->type, .layout = k.pack[w->type] ? MZ_LAYOUT_PANEL8 : MZ_LAYOUT_ROWS};
    (void)snprintf(c.name, sizeof c.name, "wrong/%.60s", w->what);
    if (!w->faults) {
        run_check(&c);
        return ctx.failed;
    }
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stdout)) _exit(EXIT_FAULT + 2);
        run_check(&c);
        _exit(0); /* reached only when the fault went unnoticed */
    }
    int status = 0;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAULT;
}

static int self_test(void)
{
    int n, n_failed = 0;
    const mzc_wrong *list = mzc_wrong_list(&n);
    printf("1..%d\n", n);
    for (int i = 0; i < n; i++) {
        bool caught = wrong_is_caught(&list[i]);
        printf("%s %d - caught: %s\n", caught ? "ok" : "not ok", i + 1, list[i].what);
        if (caught && !list[i].faults) printf("# case %lld: %s\n", (long long)ctx.n_case - 1, ctx.text);
        n_failed += !caught;
    }
    return n_failed ? 1 : 0;
}

/* The table, and the set it chooses for this processor. */
static int best_is(const char *name)
{
    const mz_kern *k = NULL;
    bool sound = table_is_sound();
    mz_status st = mz_kern_get(NULL, &k, NULL);
    bool best = st == MZ_OK && strcmp(k->name, name) == 0;
    printf("1..2\n%s 1 - table\n%s 2 - the set for this processor is %s\n", sound ? "ok" : "not ok", best ? "ok" : "not ok", name);
    if (!best && k) printf("# it is %s\n", k->name);
    return sound && best ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"seed", required_argument, 0, 's'}, {"filter", required_argument, 0, 'f'},
                                            {"case", required_argument, 0, 'c'}, {"quick", no_argument, 0, 'q'},
                                            {"self-test", no_argument, 0, 't'},  {"bench", no_argument, 0, 'b'},
                                            {"csv", no_argument, 0, 'v'},        {"best", required_argument, 0, 'B'},
                                            {"serial", no_argument, 0, '1'},     {0, 0, 0, 0}};
    const char *filter = NULL, *best = NULL;
    bool test_self = false, bench = false, csv = false;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (o) {
        case 's': ctx.seed = strtoull(optarg, NULL, 0); break;
        case 'f': filter = optarg; break;
        case 'c': ctx.only_case = strtoll(optarg, NULL, 0); break;
        case 'q': quick = true; break;
        case 't': test_self = true; break;
        case 'b': bench = true; break;
        case 'v': csv = true; break;
        case 'B': best = optarg; break;
        case '1': ctx.serial = true; break;
        default:
            fprintf(
                stderr,
                "usage: mzcheck [--quick] [--serial] [--seed N] [--filter TEXT] [--case N] | --self-test | --best SET | --bench [--csv] "
                "[--filter TEXT]\n");
            return 2;
        }
    }
    if (best) return best_is(best);
    if (bench) {
        mzc_bench(filter, csv);
        return 0;
    }
    struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    if (sigaction(SIGSEGV, &sa, NULL) != 0 || sigaction(SIGBUS, &sa, NULL) != 0) return 1;
    int rc = test_self ? self_test() : run_all(filter);
    for (int i = 0; i < MZC_N_SLOT; i++) free(ctx.slot[i].frozen);
    return rc;
}
