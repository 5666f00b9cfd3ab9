/* SPDX-License-Identifier: Apache-2.0 */
#include "sp_normal.h"

#include <string.h>

#include "utf8.h"

void mz_sp_normal_done(mz_sp_normal *x)
{
    mz_buf_free(&x->text);
    mz_buf_free(&x->guard);
    mz_buf_free(&x->raw);
}

/* One step: what stands at s [n > 0] becomes *to; gives the bytes consumed. *raw: an ill-formed byte that stays. */
static size_t step(const mz_sp *sp, const char *s, size_t n, bool guarded, mz_str *to, bool *raw)
{
    unsigned char c = (unsigned char)*s;
    size_t len;
    int32_t cp;
    *raw = false;
    if (!guarded && sp->user.first[c] != sp->user.first[c + 1] && mz_special_match(&sp->user, s, n, &len) >= 0) {
        *to = (mz_str){s, len};
        return len;
    }
    if ((len = mz_sp_charsmap_match(&sp->map, s, n, to))) return len;
    len = c < 0x80 ? 1 : mz_utf8_decode(s, n, &cp);
    if (c < 0x80 || cp >= 0) {
        *to = (mz_str){s, len};
        return len;
    }
    *raw = sp->has_bytes;
    *to = *raw ? (mz_str){s, 1} : (mz_str){"\xEF\xBF\xBD", 3};
    return 1;
}

static bool add_spelled(mz_buf *out, mz_str s)
{
    while (s.n) {
        const char *space = memchr(s.s, ' ', s.n);
        size_t n = space ? (size_t)(space - s.s) : s.n;
        if (n && !mz_buf_add(out, s.s, n)) return false;
        if (!space) break;
        if (!mz_buf_add(out, MZ_SP_SPACE, MZ_SP_SPACE_LEN)) return false;
        s.s += n + 1;
        s.n -= n + 1;
    }
    return true;
}

/* Bytes from s [n] on that stay as they are: no space, no rule, no user-defined piece, no guard can concern them. */
static size_t plain_run(const mz_sp *sp, const char *s, size_t n)
{
    size_t i = 0;
    if (sp->map.unit) return 0;
    while (i < n && (unsigned char)s[i] < 0x80 && s[i] != ' ' &&
           sp->user.first[(unsigned char)s[i]] == sp->user.first[(unsigned char)s[i] + 1])
        i++;
    return i;
}

/* Ill-formed bytes that lie side by side only because a rule took away what was between them are no space. */
static bool ends_with_space(const mz_sp_normal *x)
{
    const mz_buf *b = &x->text;
    size_t last = 0;
    if (x->raw.len) memcpy(&last, x->raw.data + x->raw.len - sizeof last, sizeof last);
    if (x->raw.len && last + MZ_SP_SPACE_LEN >= b->len) return false;
    return b->len >= MZ_SP_SPACE_LEN && memcmp(b->data + b->len - MZ_SP_SPACE_LEN, MZ_SP_SPACE, MZ_SP_SPACE_LEN) == 0;
}

mz_status mz_sp_normalise(const mz_sp *sp, const char *s, size_t n, const size_t *guard, size_t n_guard, mz_sp_normal *out, mz_err *err)
{
    mz_status st = MZ_OK;
    size_t i = 0, i_guard = 0;
    mz_str to;
    bool raw, after_space = sp->trim, bad = false;
    out->text.len = out->guard.len = out->raw.len = 0;
    while (sp->trim && i < n) {
        size_t len = step(sp, s + i, n - i, false, &to, &raw);
        if (to.n != 1 || *to.s != ' ') break;
        i += len;
    }
    if (i == n) return MZ_OK;
    if (sp->add_prefix) bad = !mz_buf_add(&out->text, MZ_SP_SPACE, MZ_SP_SPACE_LEN);
    while (i < n && !bad) {
        while (i_guard < n_guard && guard[i_guard] < i) i_guard++;
        bool guarded = i_guard < n_guard && guard[i_guard] == i;
        size_t end = i_guard < n_guard ? guard[i_guard] : n, run = guarded ? 0 : plain_run(sp, s + i, end - i);
        if (run) {
            bad = !mz_buf_add(&out->text, s + i, run);
            after_space = false;
            i += run;
            continue;
        }
        i += step(sp, s + i, n - i, guarded, &to, &raw);
        while (after_space && to.n && *to.s == ' ') {
            to.s++;
            to.n--;
        }
        size_t place = out->text.len;
        if (guarded) bad = !mz_buf_add(&out->guard, &place, sizeof place);
        if (raw) bad = bad || !mz_buf_add(&out->raw, &place, sizeof place);
        if (to.n == 0) continue;
        bad = bad || !add_spelled(&out->text, to);
        after_space = sp->trim && to.s[to.n - 1] == ' ';
    }
    while (sp->trim && !bad && ends_with_space(out)) out->text.len -= MZ_SP_SPACE_LEN;
    if (bad) MZ_FAIL(MZ_ENOMEM, err, "no memory to normalise a text of %zu bytes", n);
out:
    return st;
}
