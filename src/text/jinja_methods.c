/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_methods.c: the methods of str, dict, list and tuple (and of loops and cyclers) that templates call. Methods which would
 * change a list or dict are known, so that using one fails as unsafe; Python methods left out fail as unsupported. */
#include <string.h>

#include "text/jinja_value.h"
#include "text/utf8.h"

typedef struct mz_jmethod_def mz_jmethod_def;
typedef bool (*method_fn)(mz_jst *st, mz_jv self, const mz_jv *a, int variant, mz_jv *out);

struct mz_jmethod_def {
    uint32_t types; /* bit per mz_jtype */
    const char *name;
    method_fn fn; /* NULL with raw NULL: unsafe (variant 0) or unsupported (1) */
    int variant;
    uint8_t n_required;
    const char *params[4];
    bool (*raw)(mz_jst *st, mz_jv self, const mz_jargs *a, mz_jv *out); /* instead of fn: takes any arguments */
};

static bool given(mz_jv v)
{
    return v.type != MZ_J_MISSING && v.type != MZ_J_NONE;
}

static bool need_str(mz_jst *st, mz_jv v, const char *who)
{
    if (v.type == MZ_J_STR) return true;
    return mz_j_fail(st, MZ_EINVAL, "%s: a str is needed, not %s", who, mz_j_type_name(v));
}

static bool need_int(mz_jst *st, mz_jv v, const char *who, int64_t *out)
{
    if (v.type == MZ_J_UNDEF) return mz_j_undef_fail(st, v);
    if (!mz_j_is_int(v)) return mz_j_fail(st, MZ_EINVAL, "%s: '%s' object cannot be interpreted as an integer", who, mz_j_type_name(v));
    *out = mz_j_as_int(v);
    return true;
}

static bool m_strip(mz_jst *st, mz_jv self, const mz_jv *a, int sides, mz_jv *out)
{
    if (given(a[0]) && !need_str(st, a[0], "strip")) return false;
    return mz_j_strip(st, self, given(a[0]) ? a[0].s : NULL, (unsigned)sides, out);
}

static bool m_case(mz_jst *st, mz_jv self, const mz_jv *a, int how, mz_jv *out)
{
    (void)a;
    return mz_j_case(st, self, (mz_jcase)how, out);
}

static bool m_class(mz_jst *st, mz_jv self, const mz_jv *a, int c, mz_jv *out)
{
    (void)a;
    *out = mz_j_bool(mz_j_is_class(self.s, (mz_jclass)c));
    return mz_j_charge(st, self.s->n / 2);
}

static bool push_sub(mz_jst *st, mz_jlist *l, mz_jv self, const char *p, size_t n)
{
    mz_jv v;
    if (!mz_j_str_borrow(st, p, n, &v)) return false;
    v.sub = self.sub;
    return mz_j_list_push(st, l, v);
}

static void reverse_list(mz_jlist *l)
{
    for (size_t i = 0, j = l->n; i + 1 < j; i++) {
        mz_jv t = l->v[i];
        l->v[i] = l->v[--j];
        l->v[j] = t;
    }
}

/* The last occurrence, by trying every place; so a long needle is paid for at once, a short one by the distance. */
static bool rfind_bytes(mz_jst *st, const char *p, size_t n, const mz_jstr *needle, const char **out)
{
    size_t k = needle->n, i = n;
    *out = NULL;
    if (k > n) return true;
    if (k > 64 && !mz_j_charge(st, n - k < SIZE_MAX / k ? (n - k) * k / 512 : SIZE_MAX)) return false;
    for (; i >= k; i--) {
        if (memcmp(p + i - k, needle->p, k) != 0) continue;
        *out = p + i - k;
        break;
    }
    return mz_j_charge(st, (n - i) / 8);
}

static bool split_space(mz_jst *st, mz_jv self, int64_t max, bool right, mz_jlist *l)
{
    const mz_jstr *s = self.s;
    mz_jv rest = self, word;
    while (max != 0) {
        if (!mz_j_charge(st, 1) || !mz_j_strip(st, rest, NULL, right ? 2 : 1, &rest)) return false;
        if (rest.s->n == 0) return true;
        size_t from = 0, to = rest.s->n;
        int32_t cp;
        if (right) {
            while (to > 0) {
                size_t at = to - 1;
                while (at > 0 && ((unsigned char)rest.s->p[at] & 0xC0) == 0x80) at--;
                (void)mz_utf8_decode(rest.s->p + at, to - at, &cp);
                if (mz_j_is_space(cp)) break;
                to = at;
            }
            if (!push_sub(st, l, self, rest.s->p + to, rest.s->n - to) || !mz_j_str_borrow(st, rest.s->p, to, &word)) return false;
        } else {
            while (from < rest.s->n) {
                size_t k = mz_utf8_decode(rest.s->p + from, rest.s->n - from, &cp);
                if (mz_j_is_space(cp)) break;
                from += k;
            }
            if (!push_sub(st, l, self, rest.s->p, from) || !mz_j_str_borrow(st, rest.s->p + from, rest.s->n - from, &word)) return false;
        }
        if (!mz_j_charge(st, (rest.s->n - word.s->n) / 16)) return false;
        rest = word;
        max--;
    }
    if (!mz_j_strip(st, rest, NULL, right ? 2 : 1, &rest)) return false;
    (void)s;
    return rest.s->n == 0 || push_sub(st, l, self, rest.s->p, rest.s->n);
}

static bool m_split(mz_jst *st, mz_jv self, const mz_jv *a, int right, mz_jv *out)
{
    int64_t max = -1;
    mz_jv l;
    if (a[1].type != MZ_J_MISSING && !need_int(st, a[1], "split", &max)) return false;
    if (!mz_j_list(st, 0, &l)) return false;
    *out = l;
    if (!given(a[0])) {
        if (!split_space(st, self, max, right, l.l)) return false;
        if (right) reverse_list(l.l);
        return true;
    }
    if (!need_str(st, a[0], "split")) return false;
    const mz_jstr *s = self.s, *sep = a[0].s;
    if (sep->n == 0) return mz_j_fail(st, MZ_EINVAL, "empty separator");
    const char *lo = s->p, *hi = s->p + s->n;
    if (!mz_j_charge(st, s->n / 64)) return false;
    for (; max != 0; max--) {
        const char *hit = NULL;
        if (!right)
            hit = mz_j_find(lo, (size_t)(hi - lo), sep->p, sep->n);
        else if (!rfind_bytes(st, lo, (size_t)(hi - lo), sep, &hit))
            return false;
        if (!hit) break;
        const char *word = right ? hit + sep->n : lo, *end = right ? hi : hit;
        if (!mz_j_charge(st, 1) || !push_sub(st, l.l, self, word, (size_t)(end - word))) return false;
        if (right)
            hi = hit;
        else
            lo = hit + sep->n;
    }
    if (!push_sub(st, l.l, self, lo, (size_t)(hi - lo))) return false;
    if (right) reverse_list(l.l);
    return true;
}

static bool is_line_end(int32_t cp)
{
    return (cp >= 0x0a && cp <= 0x0d) || (cp >= 0x1c && cp <= 0x1e) || cp == 0x85 || cp == 0x2028 || cp == 0x2029;
}

static bool m_splitlines(mz_jst *st, mz_jv self, const mz_jv *a, int unused, mz_jv *out)
{
    const mz_jstr *s = self.s;
    bool keep = mz_j_truth(a[0]);
    mz_jv l;
    size_t start = 0, i = 0;
    (void)unused;
    if (!mz_j_list(st, 0, &l) || !mz_j_charge(st, s->n / 16)) return false;
    while (i < s->n) {
        int32_t cp;
        size_t at = i;
        i += mz_utf8_decode(s->p + i, s->n - i, &cp);
        if (!is_line_end(cp)) continue;
        if (cp == '\r' && i < s->n && s->p[i] == '\n') i++;
        if (!push_sub(st, l.l, self, s->p + start, (keep ? i : at) - start)) return false;
        start = i;
    }
    *out = l;
    return start == s->n || push_sub(st, l.l, self, s->p + start, s->n - start);
}

/* Optional start and end (code points) of find, count, startswith …; false in *any: an empty range past the end. */
static bool sub_range(mz_jst *st, mz_jv self, mz_jv lo_v, mz_jv hi_v, const char *who, size_t *lo, size_t *hi, bool *any)
{
    mz_jstr *s = self.s;
    int64_t n = (int64_t)mz_j_str_len(s), a = 0, b = n;
    if ((given(lo_v) && !need_int(st, lo_v, who, &a)) || (given(hi_v) && !need_int(st, hi_v, who, &b))) return false;
    if (a < 0) a = a < -n ? 0 : a + n;
    if (b < 0) b = b < -n ? 0 : b + n;
    if (b > n) b = n;
    *any = a <= b;
    *lo = *any ? mz_j_cp_offset(s, (size_t)a) : 0;
    *hi = *any ? mz_j_cp_offset(s, (size_t)b) : 0;
    return mz_j_charge(st, s->n / 64);
}

enum { FIND, RFIND, INDEX, RINDEX, COUNT };

static bool m_find(mz_jst *st, mz_jv self, const mz_jv *a, int how, mz_jv *out)
{
    size_t lo, hi;
    bool any;
    if (!need_str(st, a[0], "find") || !sub_range(st, self, a[1], a[2], "find", &lo, &hi, &any)) return false;
    const char *p = self.s->p;
    if (how == COUNT) {
        int64_t n = 0;
        if (any && a[0].s->n == 0) n = (int64_t)mz_j_cp_count(p + lo, hi - lo) + 1;
        while (any && a[0].s->n) {
            const char *hit = mz_j_find(p + lo, hi - lo, a[0].s->p, a[0].s->n);
            if (!hit) break;
            if (!mz_j_charge(st, 1)) return false;
            n++;
            lo = (size_t)(hit - p) + a[0].s->n;
        }
        *out = mz_j_int(n);
        return true;
    }
    const char *hit = NULL;
    if (any && (how == FIND || how == INDEX))
        hit = mz_j_find(p + lo, hi - lo, a[0].s->p, a[0].s->n);
    else if (any && !rfind_bytes(st, p + lo, hi - lo, a[0].s, &hit))
        return false;
    if (!hit && (how == INDEX || how == RINDEX)) return mz_j_fail(st, MZ_EINVAL, "substring not found");
    *out = mz_j_int(hit ? (int64_t)mz_j_cp_count(p, (size_t)(hit - p)) : -1);
    return true;
}

static bool has_affix(const char *p, size_t n, const mz_jstr *x, int at_end)
{
    return x->n <= n && memcmp(at_end ? p + n - x->n : p, x->p, x->n) == 0;
}

static bool m_affix(mz_jst *st, mz_jv self, const mz_jv *a, int at_end, mz_jv *out)
{
    size_t lo, hi;
    bool any, yes = false;
    if (!sub_range(st, self, a[1], a[2], "startswith", &lo, &hi, &any)) return false;
    if (a[0].type == MZ_J_TUPLE) {
        for (size_t i = 0; i < a[0].l->n && !yes; i++) {
            if (!mz_j_charge(st, 1) || !need_str(st, a[0].l->v[i], "startswith/endswith")) return false;
            yes = any && has_affix(self.s->p + lo, hi - lo, a[0].l->v[i].s, at_end);
        }
    } else {
        if (a[0].type != MZ_J_STR)
            return mz_j_fail(st, MZ_EINVAL, "startswith/endswith: the first argument must be str or a tuple of str, not %s",
                             mz_j_type_name(a[0]));
        yes = any && has_affix(self.s->p + lo, hi - lo, a[0].s, at_end);
    }
    *out = mz_j_bool(yes);
    return true;
}

static bool m_remove_affix(mz_jst *st, mz_jv self, const mz_jv *a, int at_end, mz_jv *out)
{
    if (!need_str(st, a[0], "removeprefix/removesuffix")) return false;
    *out = self;
    if (!has_affix(self.s->p, self.s->n, a[0].s, at_end)) return true;
    if (!mz_j_str_borrow(st, at_end ? self.s->p : self.s->p + a[0].s->n, self.s->n - a[0].s->n, out)) return false;
    out->sub = self.sub;
    return true;
}

static bool m_replace(mz_jst *st, mz_jv self, const mz_jv *a, int unused, mz_jv *out)
{
    int64_t count = -1;
    mz_jv to = a[1];
    (void)unused;
    if (!need_str(st, a[0], "replace") || !need_str(st, a[1], "replace")) return false;
    if (a[2].type != MZ_J_MISSING && !need_int(st, a[2], "replace", &count)) return false;
    if (self.sub && !mz_j_escape(st, to, &to)) return false;
    if (!mz_j_replace(st, self.s, a[0].s, to.s, count, out)) return false;
    out->sub = self.sub;
    return true;
}

static bool m_join(mz_jst *st, mz_jv self, const mz_jv *a, int unused, mz_jv *out)
{
    mz_jiter *it;
    mz_jv v;
    mz_buf b = {0};
    size_t n = 0;
    int r;
    (void)unused;
    if (!mz_j_iter(st, a[0], &it)) return false;
    while ((r = mz_j_next(st, it, &v)) == 1) {
        bool ok =
            v.type == MZ_J_STR || mz_j_fail(st, MZ_EINVAL, "sequence item %zu: expected str instance, %s found", n, mz_j_type_name(v));
        if (ok && self.sub) ok = mz_j_escape(st, v, &v);
        ok = ok && (n == 0 || mz_j_buf_str(st, &b, self.s)) && mz_j_buf_str(st, &b, v.s);
        if (!ok) {
            mz_buf_free(&b);
            return false;
        }
        n++;
    }
    return mz_j_str_end(st, r >= 0, &b, self.sub, out);
}

static bool m_partition(mz_jst *st, mz_jv self, const mz_jv *a, int right, mz_jv *out)
{
    const mz_jstr *s = self.s;
    mz_jv l;
    if (!need_str(st, a[0], "partition")) return false;
    if (a[0].s->n == 0) return mz_j_fail(st, MZ_EINVAL, "empty separator");
    if (!mz_j_list(st, 3, &l) || !mz_j_charge(st, s->n / 64)) return false;
    l.type = MZ_J_TUPLE;
    *out = l;
    const char *hit = NULL, *end = s->p + s->n;
    if (!right)
        hit = mz_j_find(s->p, s->n, a[0].s->p, a[0].s->n);
    else if (!rfind_bytes(st, s->p, s->n, a[0].s, &hit))
        return false;
    if (!hit) { /* the whole and two empty strings */
        const char *cut = right ? s->p : end;
        return push_sub(st, l.l, self, s->p, (size_t)(cut - s->p)) && push_sub(st, l.l, self, cut, 0) &&
               push_sub(st, l.l, self, cut, (size_t)(end - cut));
    }
    return push_sub(st, l.l, self, s->p, (size_t)(hit - s->p)) && push_sub(st, l.l, self, hit, a[0].s->n) &&
           push_sub(st, l.l, self, hit + a[0].s->n, (size_t)(end - hit) - a[0].s->n);
}

static bool add_fill(mz_jst *st, mz_buf *b, const mz_jstr *fill, int64_t n)
{
    for (; n > 0; n--)
        if (!mz_j_charge(st, n % 16 == 0) || !mz_j_buf_str(st, b, fill)) return false;
    return true;
}

enum { LJUST, RJUST, CENTER, ZFILL };

static bool m_pad(mz_jst *st, mz_jv self, const mz_jv *a, int how, mz_jv *out)
{
    int64_t width = 0, n = (int64_t)mz_j_str_len(self.s), left = 0, skip = 0;
    mz_jstr fill = {.p = how == ZFILL ? "0" : " ", .n = 1, .n_cp = 1};
    mz_buf b = {0};
    if (!need_int(st, a[0], "padding", &width)) return false;
    if (how != ZFILL && a[1].type != MZ_J_MISSING) {
        if (!need_str(st, a[1], "padding")) return false;
        if (mz_j_str_len(a[1].s) != 1) return mz_j_fail(st, MZ_EINVAL, "the fill character must be exactly one character long");
        fill = *a[1].s;
    }
    *out = self;
    if (width <= n) return true;
    int64_t pad = width - n;
    left = how == LJUST ? 0 : how == CENTER ? pad / 2 + (pad & width & 1) : pad;
    if (how == ZFILL && self.s->n && (self.s->p[0] == '-' || self.s->p[0] == '+')) skip = 1;
    bool ok = mz_j_buf_add(st, &b, self.s->p, (size_t)skip) && add_fill(st, &b, &fill, left) &&
              mz_j_buf_add(st, &b, self.s->p + skip, self.s->n - (size_t)skip) && add_fill(st, &b, &fill, pad - left);
    return mz_j_str_end(st, ok, &b, self.sub, out);
}

static bool m_format_map(mz_jst *st, mz_jv self, const mz_jv *a, int unused, mz_jv *out)
{
    mz_jargs args = {0};
    (void)unused;
    if (a[0].type != MZ_J_DICT) return mz_j_fail(st, MZ_EINVAL, "format_map: a dict is needed, not %s", mz_j_type_name(a[0]));
    if (!(args.kw = mz_j_alloc(st, a[0].d->n + 1, sizeof *args.kw))) return false;
    for (size_t i = 0; i < a[0].d->n; i++) {
        if (a[0].d->e[i].key.type != MZ_J_STR) continue;
        args.kw[args.n_kw].name = a[0].d->e[i].key;
        args.kw[args.n_kw++].val = a[0].d->e[i].val;
    }
    return mz_j_format(st, self, &args, out);
}

static bool m_dict_get(mz_jst *st, mz_jv self, const mz_jv *a, int unused, mz_jv *out)
{
    (void)unused;
    if (!mz_j_dict_get(st, self.d, a[0], true, out)) return false;
    if (out->type == MZ_J_MISSING) *out = a[1].type == MZ_J_MISSING ? mz_j_none() : a[1];
    return true;
}

static bool m_dict_view(mz_jst *st, mz_jv self, const mz_jv *a, int view, mz_jv *out)
{
    (void)st;
    (void)a;
    *out = (mz_jv){.type = MZ_J_VIEW, .sub = (uint8_t)view, .d = self.d};
    return true;
}

static bool m_copy(mz_jst *st, mz_jv self, const mz_jv *a, int unused, mz_jv *out)
{
    (void)st;
    (void)a;
    (void)unused;
    *out = self; /* nothing can change it, so nothing can tell */
    return true;
}

static bool m_list_index(mz_jst *st, mz_jv self, const mz_jv *a, int unused, mz_jv *out)
{
    int64_t n = (int64_t)self.l->n, lo = 0, hi = n;
    bool eq;
    (void)unused;
    if ((given(a[1]) && !need_int(st, a[1], "index", &lo)) || (given(a[2]) && !need_int(st, a[2], "index", &hi))) return false;
    if (lo < 0) lo = lo < -n ? 0 : lo + n;
    if (hi < 0) hi = hi < -n ? 0 : hi + n;
    for (int64_t i = lo; i < hi && i < n; i++) {
        if (!mz_j_charge(st, 1) || !mz_j_eq(st, self.l->v[i], a[0], &eq)) return false;
        if (!eq) continue;
        *out = mz_j_int(i);
        return true;
    }
    return mz_j_fail(st, MZ_EINVAL, "the value is not in the %s", mz_j_type_name(self));
}

static bool m_list_count(mz_jst *st, mz_jv self, const mz_jv *a, int unused, mz_jv *out)
{
    int64_t n = 0;
    bool eq;
    (void)unused;
    for (size_t i = 0; i < self.l->n; i++) {
        if (!mz_j_charge(st, 1) || !mz_j_eq(st, self.l->v[i], a[0], &eq)) return false;
        n += eq;
    }
    *out = mz_j_int(n);
    return true;
}

static bool m_is_integer(mz_jst *st, mz_jv self, const mz_jv *a, int unused, mz_jv *out)
{
    (void)st;
    (void)a;
    (void)unused;
    *out = mz_j_bool(self.f - self.f == 0 &&
                     (self.f >= 9007199254740992.0 || self.f <= -9007199254740992.0 || (double)(int64_t)self.f == self.f));
    return true;
}

static bool m_cycler(mz_jst *st, mz_jv self, const mz_jv *a, int reset, mz_jv *out)
{
    (void)st;
    (void)a;
    *out = reset ? mz_j_none() : self.cy->items[self.cy->pos];
    self.cy->pos = reset ? 0 : (self.cy->pos + 1) % self.cy->n;
    return true;
}

static bool raw_loop_cycle(mz_jst *st, mz_jv self, const mz_jargs *a, mz_jv *out)
{
    if (a->n == 0 || a->n_kw) return mz_j_fail(st, MZ_EINVAL, "no items for cycling given");
    *out = a->v[self.loop->index0 % (int64_t)a->n];
    return true;
}

static bool raw_loop_changed(mz_jst *st, mz_jv self, const mz_jargs *a, mz_jv *out)
{
    mz_jv now;
    bool eq = false;
    if (!mz_j_list(st, a->n, &now)) return false;
    now.type = MZ_J_TUPLE;
    for (size_t i = 0; i < a->n; i++) now.l->v[now.l->n++] = a->v[i];
    if (self.loop->changed.type != MZ_J_MISSING && !mz_j_eq(st, self.loop->changed, now, &eq)) return false;
    self.loop->changed = now;
    *out = mz_j_bool(!eq);
    return true;
}

#define T(t) (1u << MZ_J_##t)
#define STR(name_, fn_, variant_, required_, ...)                                                                          \
    {                                                                                                                      \
        .types = T(STR), .name = name_, .fn = fn_, .variant = variant_, .n_required = required_, .params = { __VA_ARGS__ } \
    }
#define LEFT_OUT(types_, name_)                      \
    {                                                \
        .types = types_, .name = name_, .variant = 1 \
    }
#define UNSAFE(types_, name_)          \
    {                                  \
        .types = types_, .name = name_ \
    }

static const mz_jmethod_def methods[] = {
    STR("strip", m_strip, 3, 0, "chars"),
    STR("lstrip", m_strip, 1, 0, "chars"),
    STR("rstrip", m_strip, 2, 0, "chars"),
    STR("split", m_split, 0, 0, "sep", "maxsplit"),
    STR("rsplit", m_split, 1, 0, "sep", "maxsplit"),
    STR("splitlines", m_splitlines, 0, 0, "keepends"),
    STR("lower", m_case, MZ_J_LOWER, 0, NULL),
    STR("upper", m_case, MZ_J_UPPER, 0, NULL),
    STR("capitalize", m_case, MZ_J_CAPITALIZE, 0, NULL),
    STR("title", m_case, MZ_J_TITLE, 0, NULL),
    STR("swapcase", m_case, MZ_J_SWAPCASE, 0, NULL),
    STR("casefold", m_case, MZ_J_CASEFOLD, 0, NULL),
    STR("isalpha", m_class, MZ_J_ALPHA, 0, NULL),
    STR("isdigit", m_class, MZ_J_DIGIT, 0, NULL),
    STR("isdecimal", m_class, MZ_J_DECIMAL, 0, NULL),
    STR("isnumeric", m_class, MZ_J_NUMERIC, 0, NULL),
    STR("isalnum", m_class, MZ_J_ALNUM, 0, NULL),
    STR("isspace", m_class, MZ_J_SPACE, 0, NULL),
    STR("islower", m_class, MZ_J_ISLOWER, 0, NULL),
    STR("isupper", m_class, MZ_J_ISUPPER, 0, NULL),
    STR("isascii", m_class, MZ_J_ASCII, 0, NULL),
    STR("find", m_find, FIND, 1, "sub", "start", "end"),
    STR("rfind", m_find, RFIND, 1, "sub", "start", "end"),
    STR("index", m_find, INDEX, 1, "sub", "start", "end"),
    STR("rindex", m_find, RINDEX, 1, "sub", "start", "end"),
    STR("count", m_find, COUNT, 1, "sub", "start", "end"),
    STR("startswith", m_affix, 0, 1, "prefix", "start", "end"),
    STR("endswith", m_affix, 1, 1, "suffix", "start", "end"),
    STR("removeprefix", m_remove_affix, 0, 1, "prefix"),
    STR("removesuffix", m_remove_affix, 1, 1, "suffix"),
    STR("replace", m_replace, 0, 2, "old", "new", "count"),
    STR("join", m_join, 0, 1, "iterable"),
    STR("partition", m_partition, 0, 1, "sep"),
    STR("rpartition", m_partition, 1, 1, "sep"),
    STR("ljust", m_pad, LJUST, 1, "width", "fillchar"),
    STR("rjust", m_pad, RJUST, 1, "width", "fillchar"),
    STR("center", m_pad, CENTER, 1, "width", "fillchar"),
    STR("zfill", m_pad, ZFILL, 1, "width"),
    STR("format_map", m_format_map, 0, 1, "mapping"),
    {.types = T(STR), .name = "format", .raw = mz_j_format},
    LEFT_OUT(T(STR), "encode"),
    LEFT_OUT(T(STR), "expandtabs"),
    LEFT_OUT(T(STR), "translate"),
    LEFT_OUT(T(STR), "maketrans"),
    LEFT_OUT(T(STR), "isidentifier"),
    LEFT_OUT(T(STR), "isprintable"),
    LEFT_OUT(T(STR), "istitle"),
    {.types = T(DICT), .name = "get", .fn = m_dict_get, .n_required = 1, .params = {"key", "default"}},
    {.types = T(DICT), .name = "keys", .fn = m_dict_view, .variant = MZ_J_KEYS},
    {.types = T(DICT), .name = "values", .fn = m_dict_view, .variant = MZ_J_VALUES},
    {.types = T(DICT), .name = "items", .fn = m_dict_view, .variant = MZ_J_ITEMS},
    {.types = T(DICT) | T(LIST), .name = "copy", .fn = m_copy},
    {.types = T(LIST) | T(TUPLE), .name = "index", .fn = m_list_index, .n_required = 1, .params = {"value", "start", "stop"}},
    {.types = T(LIST) | T(TUPLE), .name = "count", .fn = m_list_count, .n_required = 1, .params = {"value"}},
    {.types = T(FLOAT), .name = "is_integer", .fn = m_is_integer},
    {.types = T(CYCLER), .name = "next", .fn = m_cycler, .variant = 0},
    {.types = T(CYCLER), .name = "reset", .fn = m_cycler, .variant = 1},
    {.types = T(LOOP), .name = "cycle", .raw = raw_loop_cycle},
    {.types = T(LOOP), .name = "changed", .raw = raw_loop_changed},
    LEFT_OUT(T(DICT), "fromkeys"),
    LEFT_OUT(T(RANGE), "index"),
    LEFT_OUT(T(RANGE), "count"),
    LEFT_OUT(T(INT) | T(BOOL), "bit_length"),
    LEFT_OUT(T(INT) | T(BOOL), "bit_count"),
    LEFT_OUT(T(INT) | T(BOOL), "to_bytes"),
    LEFT_OUT(T(INT) | T(BOOL) | T(FLOAT), "as_integer_ratio"),
    LEFT_OUT(T(INT) | T(BOOL) | T(FLOAT), "conjugate"),
    LEFT_OUT(T(FLOAT), "hex"),
    UNSAFE(T(DICT) | T(LIST), "clear"),
    UNSAFE(T(DICT) | T(LIST), "pop"),
    UNSAFE(T(DICT), "popitem"),
    UNSAFE(T(DICT), "setdefault"),
    UNSAFE(T(DICT), "update"),
    UNSAFE(T(LIST), "append"),
    UNSAFE(T(LIST), "reverse"),
    UNSAFE(T(LIST), "insert"),
    UNSAFE(T(LIST), "sort"),
    UNSAFE(T(LIST), "extend"),
    UNSAFE(T(LIST), "remove"),
};

mz_jattr mz_j_method_find(mz_jv self, const mz_jstr *name, const mz_jmethod_def **def)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const mz_jmethod_def *m = &methods[i];
        if (!((m->types >> self.type) & 1) || strlen(m->name) != name->n || memcmp(m->name, name->p, name->n) != 0) continue;
        *def = m;
        return m->fn || m->raw ? MZ_J_ATTR_METHOD : m->variant ? MZ_J_ATTR_UNSUPPORTED : MZ_J_ATTR_UNSAFE;
    }
    return MZ_J_ATTR_NONE;
}

bool mz_j_method_call(mz_jst *st, const mz_jmethod *m, const mz_jargs *a, mz_jv *out)
{
    mz_jv slots[4] = {{0}};
    if (m->def->raw) return m->def->raw(st, m->self, a, out);
    return mz_j_bind(st, m->def->name, a, m->def->params, m->def->n_required, slots) &&
           m->def->fn(st, m->self, slots, m->def->variant, out);
}

const char *mz_j_method_name(const mz_jmethod *m)
{
    return m->def->name;
}
