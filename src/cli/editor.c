/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/editor.h"

#include <histedit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/chars.h"
#include "cli/cli.h"
#include "cli/history.h"
#include "cli/signals.h"
#include "cli/term.h"

struct mz_editor {
    bool tty;
    EditLine *el; /* NULL: no editing */
    History *shown;
    FILE *no_messages;
    char *history_path; /* NULL: none */
    mz_history typed;   /* in this chat */
    const char *prompt;
    bool styled, had_text; /* had_text: when the signal came */
    struct termios before;
    bool has_before;
};

/* ---- libedit's callbacks ---------------------------------------------------------------------- */

static char *give_prompt(EditLine *el)
{
    static char text[64];
    mz_editor *e = NULL;
    (void)el_get(el, EL_CLIENTDATA, &e);
    /* \1 encloses what takes no room on the screen; libedit writes it together with the character behind it. */
    (void)snprintf(text, sizeof text, e->styled ? "\1\033[1m\1%s\1\033[0m\1 " : "%s ", e->prompt);
    return text;
}

/* Signals that came: false when the line must end. */
static bool heed_signals(EditLine *el)
{
    if (mz_signal_interrupt) return false;
    if (mz_signal_window) {
        mz_signal_window = 0;
        el_resize(el);
        (void)el_set(el, EL_REFRESH);
    }
    if (mz_signal_continue) { /* the shell has set the terminal as it likes it */
        mz_signal_continue = 0;
        (void)el_set(el, EL_PREP_TERM, 0);
        (void)el_set(el, EL_PREP_TERM, 1);
        (void)el_set(el, EL_REFRESH);
    }
    return true;
}

static int get_byte(EditLine *el, char *c)
{
    for (;;) {
        if (!heed_signals(el)) {
            mz_editor *e = NULL;
            const LineInfo *line = el_line(el);
            (void)el_get(el, EL_CLIENTDATA, &e);
            e->had_text = line->lastchar > line->buffer;
            (void)tcflush(0, TCIFLUSH);
            return -1;
        }
        if (mz_signals_wait_input()) break;
    }
    return read(0, c, 1) == 1 ? 1 : 0;
}

/* What is no character is passed over. */
static int get_char(EditLine *el, wchar_t *out)
{
    char s[4];
    size_t n = 0;
    for (;;) {
        int rc = get_byte(el, &s[n]);
        if (rc != 1) return rc;
        n++;
        if (n > 1 && mz_char_len(s, n) != n && !mz_char_is_begun(s, n)) { /* the byte that broke it may begin another */
            s[0] = s[n - 1];
            n = 1;
        }
        if (n == 1 && s[0] == '\0') n = 0; /* Ctrl-Space would set a mark that nothing uses */
        if (n > 0 && mz_char_len(s, n) == n) break;
        if (!mz_char_is_begun(s, n)) n = 0;
    }
    *out = (wchar_t)mz_char_value(s, n);
    return 1;
}

static unsigned char insert_newline(EditLine *el, int c)
{
    (void)c;
    return el_winsertstr(el, L"\n") == 0 ? CC_REFRESH : CC_ERROR;
}

/* Between CSI 200~ and CSI 201~ a terminal sends what is pasted: newlines in it do not end the line. */
static unsigned char insert_paste(EditLine *el, int first)
{
    static const wchar_t end[] = L"\033[201~";
    wchar_t buf[512], c;
    size_t n = 0, n_end = 0;
    bool after_cr = false;
    (void)first;
    while (end[n_end] && el_wgetc(el, &c) == 1) {
        if (c == end[n_end]) {
            n_end++;
            continue;
        }
        n_end = c == end[0]; /* a sequence other than the end: its letters are lost, and harmless */
        bool newline = c == L'\r' || (c == L'\n' && !after_cr);
        after_cr = c == L'\r';
        if (newline) c = L'\n';
        if (!newline && c != L'\t' && mz_char_is_control((uint32_t)c)) continue;
        buf[n++] = c;
        if (n + 1 < sizeof buf / sizeof buf[0]) continue;
        buf[n] = L'\0';
        (void)el_winsertstr(el, buf);
        n = 0;
    }
    buf[n] = L'\0';
    if (n > 0) (void)el_winsertstr(el, buf);
    return CC_REFRESH;
}

/* ---- opening and closing ---------------------------------------------------------------------- */

static void open_history(mz_editor *e, bool wanted)
{
    HistEvent ev;
    mz_history old = {0};
    e->shown = history_init();
    if (!e->shown) return;
    (void)history(e->shown, &ev, H_SETSIZE, MZ_HISTORY_LIMIT);
    (void)history(e->shown, &ev, H_SETUNIQUE, 1);
    (void)el_set(e->el, EL_HIST, history, e->shown);
    e->history_path = wanted ? mz_history_path() : NULL;
    if (e->history_path) mz_history_read(e->history_path, &old);
    for (size_t i = 0; i < old.n; i++) (void)history(e->shown, &ev, H_ENTER, old.entry[i]);
    mz_history_free(&old);
}

/* Between two lines, while an answer is written, what is typed ahead must not show in it, and an end of input (Ctrl-D) must wait
 * for the editor with the rest. */
static void rest_terminal(void)
{
    struct termios t;
    if (tcgetattr(0, &t) != 0) return;
    t.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
    (void)tcsetattr(0, TCSANOW, &t);
}

mz_editor *mz_editor_open(const mz_cli_args *a)
{
    mz_editor *e = mz_cli_alloc(1, sizeof *e);
    e->tty = isatty(0) == 1;
    if (!e->tty || isatty(2) != 1 || mz_term_is_dumb()) return e;
    e->has_before = tcgetattr(0, &e->before) == 0;
    /* Its complaints (a terminal it has no description of) are not for the user. */
    e->no_messages = fopen("/dev/null", "we");
    e->el = e->no_messages ? el_init("mizan", stdin, stderr, e->no_messages) : NULL;
    if (!e->el) return e;
    e->styled = mz_term_color(a->color, 2);
    e->prompt = ">";
    (void)el_set(e->el, EL_CLIENTDATA, e);
    (void)el_set(e->el, EL_PROMPT_ESC, give_prompt, '\1');
    (void)el_set(e->el, EL_SIGNAL, 0);
    (void)el_set(e->el, EL_EDITOR, "emacs");
    (void)el_set(e->el, EL_GETCFN, get_char);
    /* Else the system throws away what is typed when Ctrl-C comes, perhaps between our seeing it and our reading it, and the
     * read waits for a key. The interrupted line's rest is thrown away by get_byte. */
    (void)el_set(e->el, EL_SETTY, "-d", "+noflsh", NULL);
    open_history(e, !a->no_history);
    /* Wide: of narrow names libedit makes copies that it never frees. */
    (void)el_wset(e->el, EL_ADDFN, L"mizan-paste", L"Insert pasted text", insert_paste);
    (void)el_wset(e->el, EL_ADDFN, L"mizan-newline", L"Insert a newline", insert_newline);
    (void)el_set(e->el, EL_BIND, "\033[200~", "mizan-paste", NULL);
    (void)el_set(e->el, EL_BIND, "\033\r", "mizan-newline", NULL);
    (void)el_set(e->el, EL_BIND, "\033\n", "mizan-newline", NULL);
    (void)el_set(e->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
    (void)el_source(e->el, NULL);
    rest_terminal();
    return e;
}

void mz_editor_close(mz_editor *e)
{
    const char *why = "";
    if (!e) return;
    if (e->history_path && e->typed.n > 0 && !mz_history_append(e->history_path, &e->typed, &why))
        (void)mz_cli_fail("%s: the history cannot be written: %s", e->history_path, why);
    if (e->el) el_end(e->el);
    if (e->shown) history_end(e->shown);
    if (e->no_messages) (void)fclose(e->no_messages);
    if (e->has_before) (void)tcsetattr(0, TCSADRAIN, &e->before);
    mz_history_free(&e->typed);
    free(e->history_path);
    free(e);
}

bool mz_editor_is_terminal(const mz_editor *e)
{
    return e->tty;
}

/* ---- reading ---------------------------------------------------------------------------------- */

static mz_typed read_edited(mz_editor *e, char **line, size_t *n, bool *had_text)
{
    int count = 0;
    (void)fputs("\033[?2004h", stderr); /* pasted text comes marked */
    (void)fflush(stderr);
    (void)el_set(e->el, EL_PREP_TERM, 1); /* before the prompt invites to type */
    const char *got = el_gets(e->el, &count);
    rest_terminal();
    (void)fputs("\033[?2004l", stderr);
    (void)fflush(stderr);
    if (!got || count <= 0) {
        *had_text = e->had_text;
        (void)fputs(mz_signal_interrupt && !mz_signal_end ? "^C\n" : "\n", stderr);
        el_reset(e->el);
        return mz_signal_interrupt && !mz_signal_end ? MZ_TYPED_INTERRUPT : MZ_TYPED_END;
    }
    size_t len = strlen(got);
    while (len > 0 && got[len - 1] == '\n') len--;
    *line = mz_cli_alloc(len + 1, 1);
    memcpy(*line, got, len);
    *n = len;
    return MZ_TYPED_LINE;
}

static mz_typed read_plain(const mz_editor *e, const char *prompt, char **line, size_t *n, bool *had_text)
{
    size_t cap = 0;
    ssize_t len;
    *line = NULL;
    *had_text = false;
    if (e->tty) {
        (void)fprintf(stderr, "%s ", prompt);
        (void)fflush(stderr);
        while (!mz_signal_interrupt && !mz_signals_wait_input()) mz_signal_window = mz_signal_continue = 0;
        if (mz_signal_interrupt) {
            (void)fputc('\n', stderr);
            return mz_signal_end ? MZ_TYPED_END : MZ_TYPED_INTERRUPT;
        }
    }
    if ((len = getline(line, &cap, stdin)) < 0) {
        free(*line);
        *line = NULL;
        if (e->tty) (void)fputc('\n', stderr);
        return MZ_TYPED_END;
    }
    if (len > 0 && (*line)[len - 1] == '\n') (*line)[--len] = '\0';
    if (len > 0 && (*line)[len - 1] == '\r') (*line)[--len] = '\0';
    *n = (size_t)len;
    return MZ_TYPED_LINE;
}

mz_typed mz_editor_read(mz_editor *e, const char *prompt, char **line, size_t *n, bool *had_text)
{
    mz_signal_interrupt = mz_signal_end;
    e->prompt = prompt;
    *had_text = false;
    return e->el ? read_edited(e, line, n, had_text) : read_plain(e, prompt, line, n, had_text);
}

void mz_editor_remember(mz_editor *e, const char *text, size_t n)
{
    HistEvent ev;
    if (!e->el || !e->shown || n == 0) return;
    if (text[0] == ' ') return; /* as in the shells: a blank in front keeps a line out of the history */
    if (e->typed.n > 0 && strcmp(e->typed.entry[e->typed.n - 1], text) == 0) return;
    (void)history(e->shown, &ev, H_ENTER, text);
    mz_history_add(&e->typed, text, n);
}
