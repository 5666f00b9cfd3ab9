/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/term.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *env(const char *name)
{
    const char *v = getenv(name);
    return v ? v : "";
}

static bool begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

bool mz_term_is_dumb(void)
{
    const char *t = env("TERM");
    return !*t || strcmp(t, "dumb") == 0 || strcmp(t, "unknown") == 0;
}

bool mz_term_color(const char *option, int fd)
{
    if (option && strcmp(option, "always") == 0) return true;
    if (option && strcmp(option, "never") == 0) return false;
    return isatty(fd) == 1 && !mz_term_is_dumb() && !*env("NO_COLOR");
}

mz_bidi_mode mz_term_bidi(const char *option)
{
    if (option && strcmp(option, "terminal") == 0) return MZ_BIDI_TERMINAL;
    if (option && strcmp(option, "visual") == 0) return MZ_BIDI_VISUAL;
    if ((option && strcmp(option, "off") == 0) || mz_term_is_dumb()) return MZ_BIDI_OFF;
    const char *t = env("TERM"), *program = env("TERM_PROGRAM");
    /* VTE (GNOME Terminal and its kin) since 0.58, Konsole, mlterm, Apple's Terminal. */
    if (atoi(env("VTE_VERSION")) >= 5800 || *env("KONSOLE_VERSION") || *env("MLTERM") || begins(t, "mlterm") || begins(t, "konsole") ||
        strcmp(program, "Apple_Terminal") == 0)
        return MZ_BIDI_TERMINAL;
    static const char *const without[] = {"alacritty", "foot", "ghostty", "rxvt", "st-", "wezterm", "xterm-ghostty", "xterm-kitty"};
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
        if (begins(t, without[i])) return MZ_BIDI_VISUAL;
    if (*env("XTERM_VERSION") || strcmp(program, "vscode") == 0 || strcmp(program, "WezTerm") == 0 || strcmp(program, "ghostty") == 0)
        return MZ_BIDI_VISUAL;
    return MZ_BIDI_OFF;
}

size_t mz_term_width(int fd)
{
    struct winsize w = {0};
    return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}

void mz_term_use_utf8(void)
{
    /* Only character types: numbers must go on being written with a point. */
    if (setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0) return;
    if (!setlocale(LC_CTYPE, "C.UTF-8")) (void)setlocale(LC_CTYPE, "C");
}
