/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "chars.h"

static bool fail(char *message, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool fail(char *message, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(message, MZ_CLI_MESSAGE_BYTES, fmt, ap);
    va_end(ap);
    mz_cli_make_printable(message);
    return false;
}

void mz_cli_make_printable(char *text)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < n;) {
        size_t len = mz_char_len(text + i, n - i);
        bool bad = len == 0 || mz_char_is_control(mz_char_value(text + i, len));
        if (len == 0) len = 1;
        if (bad) memset(text + i, '?', len);
        i += len;
    }
}

/* ---- nearest spelling ------------------------------------------------------------------------- */

#define MAX_WORD 40

/* Edits (insert, delete, replace, swap of neighbours) from a to b; large when either is too long. */
static unsigned distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > MAX_WORD || m > MAX_WORD) return 1000;
    unsigned row[3][MAX_WORD + 1];
    for (size_t j = 0; j <= m; j++) row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned *now = row[i % 3], *prev = row[(i + 2) % 3], *prev2 = row[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = prev[j - 1] + (a[i - 1] != b[j - 1]);
            if (prev[j] + 1 < best) best = prev[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && prev2[j - 2] + 1 < best) best = prev2[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

static bool is_near(unsigned d, const char *word)
{
    size_t n = strlen(word);
    return d <= (n <= 3 ? 1u : n <= 6 ? 2u : 3u) && d < n;
}

const mz_cli_command *mz_cli_find_command(const char *name)
{
    for (size_t i = 0; i < mz_cli_n_command; i++)
        if (strcmp(mz_cli_commands[i].name, name) == 0) return &mz_cli_commands[i];
    return NULL;
}

const mz_cli_command *mz_cli_nearest_command(const char *name)
{
    const mz_cli_command *best = NULL;
    unsigned d_best = 1000;
    for (size_t i = 0; i < mz_cli_n_command; i++) {
        unsigned d = distance(name, mz_cli_commands[i].name);
        if (d < d_best) {
            d_best = d;
            best = &mz_cli_commands[i];
        }
    }
    return is_near(d_best, name) ? best : NULL;
}

static bool fail_unknown(const mz_cli_command *cmd, const char *word, const char *name, char *message)
{
    const mz_cli_option *best = NULL;
    unsigned d_best = 1000;
    for (size_t i = 0; i < mz_cli_n_option; i++) {
        const mz_cli_option *o = &mz_cli_options[i];
        if (!(o->cmds & cmd->bit)) continue;
        unsigned d = distance(name, o->name);
        if (d < d_best) {
            d_best = d;
            best = o;
        }
    }
    if (best && is_near(d_best, name)) return fail(message, "unknown option '%.80s'; did you mean '--%s'?", word, best->name);
    return fail(message, "unknown option '%.80s'; 'mizan help %s' lists the options", word, cmd->name);
}

/* ---- values ----------------------------------------------------------------------------------- */

static bool parse_i64(const char *s, int64_t *out)
{
    char *end;
    if (!(*s == '-' || *s == '+' || (*s >= '0' && *s <= '9'))) return false;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (end == s || *end || errno) return false;
    *out = v;
    return true;
}

static bool parse_real(const char *s, double *out)
{
    char *end;
    if (!*s || strspn(s, "+-.0123456789eE") != strlen(s)) return false; /* no hexadecimal, no nan, no white space */
    *out = strtod(s, &end);
    return end != s && !*end && isfinite(*out);
}

static bool parse_bytes(const char *s, uint64_t *out)
{
    char *end;
    if (*s < '0' || *s > '9') return false;
    size_t n = strspn(s, ".0123456789");
    double v = strtod(s, &end);
    if (end != s + n) return false;
    static const char units[] = "KMGT";
    const char *u = *end ? strchr(units, *end >= 'a' ? *end - 32 : *end) : NULL;
    if (u) {
        for (long i = 0; i <= u - units; i++) v *= 1024;
        end++;
        if (*end == 'i') end++;
    }
    if (*end == 'B') end++;
    if (*end || !(v >= 1) || v >= 9.0e18) return false;
    *out = (uint64_t)v;
    return true;
}

/* The choice as this table spells it, which outlives the command line. */
static const char *find_choice(const char *choices, const char *value)
{
    static const char *const words[] = {"f32",    "f16",   "bf16", "fp8", "reference", "workers", "auto",
                                        "always", "never", "on",   "off", "terminal",  "visual"};
    size_t n = strlen(value);
    for (const char *c = choices; *c; c += strcspn(c, "|"), c += *c == '|') {
        if (strcspn(c, "|") != n || strncasecmp(c, value, n) != 0) continue;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (strlen(words[i]) == n && strncasecmp(words[i], c, n) == 0) return words[i];
    }
    return NULL;
}

/* Names the option as it was given: "--temp" or "-n". */
typedef struct given {
    const char *word;
    int n;
} given;

static bool parse_ints(const mz_cli_option *o, given g, const char *value, mz_cli_ints *list, char *message)
{
    free(list->v);
    *list = (mz_cli_ints){0};
    for (const char *s = value;; s++) {
        size_t n = strcspn(s, ",");
        char item[32];
        int64_t v = 0;
        if (n < sizeof item) {
            memcpy(item, s, n);
            item[n] = '\0';
        }
        if (n >= sizeof item || !parse_i64(item, &v) || (double)v < o->lo || (double)v > o->hi)
            return fail(message, "%.*s: '%.*s' is not a whole number from %.0f to %.0f", g.n, g.word, n < 60 ? (int)n : 60, s, o->lo,
                        o->hi);
        if (list->n >= 256) return fail(message, "%.*s: more than 256 numbers", g.n, g.word);
        int64_t *grown = realloc(list->v, (list->n + 1) * sizeof *grown);
        if (!grown) return fail(message, "out of memory");
        list->v = grown;
        list->v[list->n++] = v;
        s += n;
        if (!*s) return true;
    }
}

static bool set_value(const mz_cli_option *o, given g, const char *value, mz_cli_args *a, char *message)
{
    void *field = (char *)a + o->field;
    switch (o->kind) {
    case MZ_CLI_FLAG: *(bool *)field = true; return true;
    case MZ_CLI_STR: *(const char **)field = value; return true;
    case MZ_CLI_STRS: {
        mz_cli_strs *list = field;
        const char **grown = realloc(list->v, (list->n + 1) * sizeof *grown);
        if (!grown) return fail(message, "out of memory");
        list->v = grown;
        list->v[list->n++] = value;
        return true;
    }
    case MZ_CLI_CHOICE: {
        const char *found = find_choice(o->choices, value);
        if (!found) return fail(message, "%.*s: '%.80s' is not one of %s", g.n, g.word, value, o->choices);
        *(const char **)field = found;
        return true;
    }
    case MZ_CLI_INT: {
        int64_t v;
        if (!parse_i64(value, &v)) return fail(message, "%.*s: '%.80s' is not a whole number", g.n, g.word, value);
        if ((double)v < o->lo || (double)v > o->hi)
            return fail(message, "%.*s: %.80s is out of range, expected %.0f to %.0f", g.n, g.word, value, o->lo, o->hi);
        *(int64_t *)field = v;
        return true;
    }
    case MZ_CLI_U64: {
        char *end;
        errno = 0;
        unsigned long long v = strtoull(value, &end, 10);
        if (*value < '0' || *value > '9' || *end || errno)
            return fail(message, "%.*s: '%.80s' is not a whole number from 0 to 18446744073709551615", g.n, g.word, value);
        *(uint64_t *)field = v;
        return true;
    }
    case MZ_CLI_REAL: {
        double v;
        if (!parse_real(value, &v)) return fail(message, "%.*s: '%.80s' is not a number", g.n, g.word, value);
        if (v < o->lo || v > o->hi)
            return fail(message, "%.*s: %.80s is out of range, expected %g to %g", g.n, g.word, value, o->lo, o->hi);
        *(double *)field = v;
        return true;
    }
    case MZ_CLI_BYTES: {
        if (!parse_bytes(value, field))
            return fail(message, "%.*s: '%.80s' is not a size in bytes, expected for example 4G, 512M or 1073741824", g.n, g.word, value);
        return true;
    }
    case MZ_CLI_INTS: return parse_ints(o, g, value, field, message);
    }
    return fail(message, "option '%.*s' has no kind", g.n, g.word);
}

/* ---- words ------------------------------------------------------------------------------------ */

static const mz_cli_option *find_option(unsigned bit, const char *name, size_t n, char letter)
{
    for (size_t i = 0; i < mz_cli_n_option; i++) {
        const mz_cli_option *o = &mz_cli_options[i];
        if (!(o->cmds & bit)) continue;
        if (letter ? o->letter == letter : (strlen(o->name) == n && memcmp(o->name, name, n) == 0)) return o;
    }
    return NULL;
}

static const mz_cli_args defaults = {
    .n_max = -1,
    .temp = 0.8,
    .top_k = 40,
    .top_p = 0.95,
    .min_p = 0.05,
    .repeat_penalty = 1,
    .repeat_last_n = 64,
    .logprobs = -1,
    .prefill = 512,
    .decode = 64,
    .repeats = 5,
};

static bool take_positional(const mz_cli_command *cmd, const char *word, mz_cli_args *a, char *message)
{
    if (a->model)
        return fail(message, "unexpected argument '%.80s' after the model '%.80s'; 'mizan help %s' shows the usage", word, a->model,
                    cmd->name);
    if (!*word) return fail(message, "the model's name is empty");
    a->model = word;
    return true;
}

static bool take_option(const mz_cli_command *cmd, const char *word, const char *next, bool *used_next, mz_cli_args *a, char *message)
{
    const mz_cli_option *o;
    const char *value = NULL;
    given g = {word, (int)strlen(word)};
    *used_next = false;
    if (word[1] == '-') {
        const char *name = word + 2;
        const char *eq = strchr(name, '=');
        size_t n = eq ? (size_t)(eq - name) : strlen(name);
        o = find_option(cmd->bit, name, n, 0);
        if (!o) {
            char short_name[MAX_WORD + 1];
            (void)snprintf(short_name, sizeof short_name, "%.*s", n < MAX_WORD ? (int)n : MAX_WORD, name);
            return fail_unknown(cmd, word, short_name, message);
        }
        if (eq) {
            value = eq + 1;
            g.n = (int)(eq - word);
        }
    } else {
        o = find_option(cmd->bit, NULL, 0, word[1]);
        if (!o) return fail_unknown(cmd, word, word + 1, message);
        if (word[2]) {
            if (o->kind == MZ_CLI_FLAG) return fail(message, "option '%.80s' is not known; write short options one by one", word);
            return fail(message, "option '%.80s': write the value as a word of its own, '-%c %.60s'", word, word[1], word + 2);
        }
    }
    if (o->kind == MZ_CLI_FLAG) {
        if (value) return fail(message, "option '--%s' takes no value", o->name);
    } else if (!value) {
        if (!next) return fail(message, "option '%.*s' needs a value: %s", g.n, g.word, o->arg);
        value = next;
        *used_next = true;
    }
    if (g.n > 60) g.n = 60;
    return set_value(o, g, value, a, message);
}

bool mz_cli_may_set(const mz_cli_option *o)
{
    bool single = o->kind != MZ_CLI_STR && o->kind != MZ_CLI_STRS && o->kind != MZ_CLI_INTS;
    return single && (o->cmds & MZ_CLI_RUN) && (strcmp(o->group, "Sampling") == 0 || strcmp(o->group, "Terminal") == 0);
}

bool mz_cli_set(const char *name, const char *value, mz_cli_args *a, char *message)
{
    given g = {name, (int)strnlen(name, 40)};
    const mz_cli_option *o = NULL;
    message[0] = '\0';
    while (*name == '-') name++;
    for (size_t i = 0; i < mz_cli_n_option && !o; i++) {
        const mz_cli_option *c = &mz_cli_options[i];
        if (mz_cli_may_set(c) && (strcmp(c->name, name) == 0 || (c->letter && name[0] == c->letter && !name[1]))) o = c;
    }
    if (!o) return fail(message, "there is no setting '%.40s'; /set lists them", name);
    if (o->kind != MZ_CLI_FLAG) return set_value(o, g, value, a, message);
    bool on = strcasecmp(value, "on") == 0;
    if (!on && strcasecmp(value, "off") != 0) return fail(message, "%.*s: '%.40s' is not one of on|off", g.n, g.word, value);
    *(bool *)(void *)((char *)a + o->field) = on;
    return true;
}

void mz_cli_value_text(const mz_cli_option *o, const mz_cli_args *a, char text[MZ_CLI_VALUE_BYTES])
{
    const void *field = (const char *)a + o->field;
    const char *choice = o->kind == MZ_CLI_CHOICE ? *(const char *const *)field : NULL;
    switch (o->kind) {
    case MZ_CLI_FLAG: (void)snprintf(text, MZ_CLI_VALUE_BYTES, "%s", *(const bool *)field ? "on" : "off"); break;
    case MZ_CLI_INT: (void)snprintf(text, MZ_CLI_VALUE_BYTES, "%lld", (long long)*(const int64_t *)field); break;
    case MZ_CLI_U64: (void)snprintf(text, MZ_CLI_VALUE_BYTES, "%llu", (unsigned long long)*(const uint64_t *)field); break;
    case MZ_CLI_REAL: (void)snprintf(text, MZ_CLI_VALUE_BYTES, "%g", *(const double *)field); break;
    default: (void)snprintf(text, MZ_CLI_VALUE_BYTES, "%s", choice ? choice : o->absent ? o->absent : ""); break;
    }
}

bool mz_cli_parse(const mz_cli_command *cmd, int argc, char **argv, mz_cli_args *out, char *message)
{
    bool only_positional = false;
    *out = defaults;
    message[0] = '\0';
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        bool ok, used_next = false;
        if (only_positional || word[0] != '-' || !word[1])
            ok = take_positional(cmd, word, out, message);
        else if (strcmp(word, "--") == 0)
            ok = only_positional = true;
        else
            ok = take_option(cmd, word, i + 1 < argc ? argv[i + 1] : NULL, &used_next, out, message);
        if (!ok) {
            mz_cli_args_free(out);
            return false;
        }
        if (out->help) return true;
        i += used_next;
    }
    if (!out->model && !(cmd->bit == MZ_CLI_INSPECT && out->cpu)) {
        mz_cli_args_free(out);
        return fail(message, "no model given; usage: mizan %s %s", cmd->name, cmd->usage);
    }
    return true;
}

void mz_cli_args_free(mz_cli_args *a)
{
    free(a->stop.v);
    free(a->logit_bias.v);
    free(a->depth.v);
    free(a->batch.v);
    *a = (mz_cli_args){0};
}

/* ---- lists of ids ----------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool mz_cli_parse_ids(const char *list, size_t n_list, int32_t **ids, size_t *n, char *message)
{
    int32_t *v = NULL;
    size_t count = 0, cap = 0, i = 0, end = n_list;
    bool want = true; /* an id must come next */
    while (i < end && is_space(list[i])) i++;
    while (end > i && is_space(list[end - 1])) end--;
    if (end - i >= 2 && list[i] == '[' && list[end - 1] == ']') {
        i++;
        end--;
    }
    while (i < end) {
        if (is_space(list[i])) {
            i++;
            continue;
        }
        if (list[i] == ',' && !want) {
            want = true;
            i++;
            continue;
        }
        size_t start = i;
        int64_t id = 0;
        while (i < end && list[i] >= '0' && list[i] <= '9' && id <= INT32_MAX) id = id * 10 + (list[i++] - '0');
        if (i == start || id > INT32_MAX || (i < end && list[i] != ',' && !is_space(list[i]))) {
            while (i < end && list[i] != ',' && !is_space(list[i])) i++;
            free(v);
            return fail(message, "--ids: '%.*s' (number %zu in the list) is not a token id", i - start < 40 ? (int)(i - start) : 40,
                        list + start, count + 1);
        }
        if (count == cap) {
            cap = cap ? cap * 2 : 64;
            int32_t *grown = realloc(v, cap * sizeof *v);
            if (!grown) {
                free(v);
                return fail(message, "out of memory");
            }
            v = grown;
        }
        v[count++] = (int32_t)id;
        want = false;
    }
    if (count == 0 || want) {
        free(v);
        return fail(message, count ? "--ids: the list ends in a comma" : "--ids: the list is empty");
    }
    *ids = v;
    *n = count;
    return true;
}

bool mz_cli_parse_bias(const char *s, int32_t *id, float *value, char *message)
{
    const char *eq = strchr(s, '=');
    char number[24];
    int64_t v;
    double x;
    if (!eq || eq == s || (size_t)(eq - s) >= sizeof number) goto bad;
    memcpy(number, s, (size_t)(eq - s));
    number[eq - s] = '\0';
    if (!parse_i64(number, &v) || v < 0 || v > INT32_MAX) goto bad;
    if (strcasecmp(eq + 1, "-inf") == 0)
        x = -INFINITY;
    else if (!parse_real(eq + 1, &x) || fabs(x) > 1e6)
        goto bad;
    *id = (int32_t)v;
    *value = (float)x;
    return true;
bad:
    return fail(message, "--logit-bias: '%.80s' is not ID=VALUE with a token id and a number (or -inf)", s);
}
