/* SPDX-License-Identifier: Apache-2.0
 *
 * turns.c: mizan as one of several engines that beside_peers.py measures in turn. It loads a model once and then times what each
 * line of standard input asks for, answering each with one line of JSON on standard output:
 *
 *     hold DEPTH [FILE]    session 0 holds the first DEPTH ids, from FILE when it exists, else computed and kept there
 *     prefill N            N tokens from nothing
 *     decode N DEPTH       N tokens after DEPTH
 *     batch N SESSIONS     N steps of one token in each session, after 8 tokens each
 *     machine              read bandwidth and peaks, as `mizan bench` measures them
 *
 * It is not a user's tool: `mizan bench` is. It uses the public interface only.
 *
 * usage: mizan-turns MODEL THREADS CTX SESSIONS [KV] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mizan/bench.h>
#include <mizan/engine.h>
#include <mizan/session.h>

#define LONGEST     (1 << 17)
#define MOST_BATCH  256
#define BATCH_START 8

static mz_engine *engine;
static mz_session *session[MOST_BATCH];
static int32_t ids[LONGEST];
static int n_session;
static mz_err err;

static void need(mz_status st)
{
    if (st == MZ_OK) return;
    (void)fprintf(stderr, "mizan-turns: %s\n", err.text);
    exit(1);
}

static double now_s(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void hold(long depth, const char *file)
{
    if (file && access(file, R_OK) == 0) {
        need(mz_session_load(session[0], file, NULL, NULL, &err));
        if (mz_session_len(session[0]) == (size_t)depth) return;
    }
    need(mz_session_sync(session[0], ids, (size_t)depth, NULL, &err));
    if (file) need(mz_session_save(session[0], file, NULL, 0, &err));
}

static double prefill(long n)
{
    need(mz_session_rewind(session[0], 0, &err));
    double t0 = now_s();
    need(mz_session_sync(session[0], ids, (size_t)n, NULL, &err));
    return now_s() - t0;
}

static double decode(long n, long depth)
{
    if (mz_session_len(session[0]) > (size_t)depth)
        need(mz_session_rewind(session[0], (size_t)depth, &err));
    else if (mz_session_len(session[0]) < (size_t)depth)
        need(mz_session_sync(session[0], ids, (size_t)depth, NULL, &err));
    double t0 = now_s();
    for (long i = 0; i < n; i++) need(mz_step(engine, session, &ids[depth + i], 1, &err));
    return now_s() - t0;
}

/* Session s reads the ids from s * 100 on, so that the sessions differ. */
static double batch(long n, int n_batch)
{
    int32_t next[MOST_BATCH];
    for (int s = 0; s < n_batch; s++) {
        need(mz_session_rewind(session[s], 0, &err));
        need(mz_session_sync(session[s], ids + s * 100, BATCH_START, NULL, &err));
    }
    double t0 = now_s();
    for (long i = 0; i < n; i++) {
        for (int s = 0; s < n_batch; s++) next[s] = ids[s * 100 + BATCH_START + i];
        need(mz_step(engine, session, next, n_batch, &err));
    }
    return now_s() - t0;
}

static void answer_machine(void)
{
    const int64_t zero = 0, one = 1;
    mz_bench_options o = {.decode_tok = 1, .depth = &zero, .n_depth = 1, .batch = &one, .n_batch = 1, .repeats = 1};
    char *json;
    need(mz_bench_run(engine, &o, &json, &err));
    (void)printf("%s\n", json);
    mz_text_release(json);
}

static void answer(char *line)
{
    char *save, *verb = strtok_r(line, " \n", &save), *first = strtok_r(NULL, " \n", &save), *second = strtok_r(NULL, " \n", &save);
    long n = first ? strtol(first, NULL, 10) : 0;
    double spent = 0;
    if (!verb) return;
    if (n < 0 || n > LONGEST / 4) need(mz_step(engine, NULL, NULL, -1, &err)); /* says what is wrong with such a number */
    if (strcmp(verb, "machine") == 0) {
        answer_machine();
        return;
    }
    if (strcmp(verb, "hold") == 0)
        hold(n, second);
    else if (strcmp(verb, "prefill") == 0)
        spent = prefill(n);
    else if (strcmp(verb, "decode") == 0)
        spent = decode(n, second ? strtol(second, NULL, 10) : 0);
    else if (strcmp(verb, "batch") == 0 && second && atoi(second) >= 1 && atoi(second) <= n_session)
        spent = batch(n, atoi(second));
    else
        exit(2);
    (void)printf("{\"s\": %.9f}\n", spent);
}

int main(int argc, char **argv)
{
    char line[4096];
    if (argc < 5) return 2;
    mz_engine_options o = mz_engine_options_default();
    n_session = atoi(argv[4]);
    if (n_session < 1 || n_session > MOST_BATCH) return 2;
    o.n_thread = atoi(argv[2]);
    o.ctx_tok = atoll(argv[3]);
    o.n_session = n_session + 1; /* one for mz_bench_run */
    if (argc > 5) o.kv = argv[5];
    double t0 = now_s();
    need(mz_engine_open(argv[1], &o, &engine, &err));
    for (int s = 0; s < n_session; s++) need(mz_session_create(engine, &session[s], &err));
    mz_engine_info i = mz_engine_get_info(engine);
    for (long k = 0; k < LONGEST; k++) ids[k] = (int32_t)((k * 7919 + 13) % (i.n_vocab - 200) + 100);
    (void)printf("{\"version\": \"mizan %s\", \"flags\": \"isa %s, executor %s, kv %s, %d threads\", \"load_s\": %.3f, "
                 "\"weight_step_bytes\": %llu, \"state_bytes_per_tok\": %llu, \"flop_per_tok\": %.0f}\n",
                 mz_version(), i.isa, i.executor, i.kv, i.n_thread, now_s() - t0, (unsigned long long)i.weight_step_bytes,
                 (unsigned long long)i.state_bytes_per_tok, i.flop_per_tok);
    for (;;) {
        (void)fflush(stdout);
        if (!fgets(line, sizeof line, stdin)) break;
        answer(line);
    }
    for (int s = 0; s < n_session; s++) mz_session_close(session[s]);
    mz_engine_close(engine);
    return 0;
}
