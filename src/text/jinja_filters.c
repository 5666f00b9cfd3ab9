/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_filters.c: which filters there are, with their parameters. */
#include <string.h>

#include "text/jinja_filters.h"

static const struct {
    const char *name;
    mz_jfilter_fn fn;
    mz_jfilter_raw raw;
    size_t n_required;
    const char *params[7];
} filters[] = {
    {"abs", mz_jf_abs, NULL, 0, {NULL}},
    {"attr", mz_jf_attr, NULL, 1, {"name"}},
    {"batch", mz_jf_batch, NULL, 1, {"linecount", "fill_with"}},
    {"capitalize", mz_jf_capitalize, NULL, 0, {NULL}},
    {"center", mz_jf_center, NULL, 0, {"width"}},
    {"count", mz_jf_length, NULL, 0, {NULL}},
    {"d", mz_jf_default, NULL, 0, {"default_value", "boolean"}},
    {"default", mz_jf_default, NULL, 0, {"default_value", "boolean"}},
    {"dictsort", mz_jf_dictsort, NULL, 0, {"case_sensitive", "by", "reverse"}},
    {"e", mz_jf_escape, NULL, 0, {NULL}},
    {"escape", mz_jf_escape, NULL, 0, {NULL}},
    {"first", mz_jf_first, NULL, 0, {NULL}},
    {"float", mz_jf_float, NULL, 0, {"default"}},
    {"forceescape", mz_jf_forceescape, NULL, 0, {NULL}},
    {"format", NULL, mz_jf_format, 0, {NULL}},
    {"groupby", mz_jf_groupby, NULL, 1, {"attribute", "default", "case_sensitive"}},
    {"indent", mz_jf_indent, NULL, 0, {"width", "first", "blank"}},
    {"int", mz_jf_int, NULL, 0, {"default", "base"}},
    {"items", mz_jf_items, NULL, 0, {NULL}},
    {"join", mz_jf_join, NULL, 0, {"d", "attribute"}},
    {"last", mz_jf_last, NULL, 0, {NULL}},
    {"length", mz_jf_length, NULL, 0, {NULL}},
    {"list", mz_jf_list, NULL, 0, {NULL}},
    {"lower", mz_jf_lower, NULL, 0, {NULL}},
    {"map", NULL, mz_j_iter_map, 0, {NULL}},
    {"max", mz_jf_max, NULL, 0, {"case_sensitive", "attribute"}},
    {"min", mz_jf_min, NULL, 0, {"case_sensitive", "attribute"}},
    {"reject", NULL, mz_jf_reject, 0, {NULL}},
    {"rejectattr", NULL, mz_jf_rejectattr, 0, {NULL}},
    {"replace", mz_jf_replace, NULL, 2, {"old", "new", "count"}},
    {"reverse", mz_jf_reverse, NULL, 0, {NULL}},
    {"round", mz_jf_round, NULL, 0, {"precision", "method"}},
    {"safe", mz_jf_safe, NULL, 0, {NULL}},
    {"select", NULL, mz_jf_select, 0, {NULL}},
    {"selectattr", NULL, mz_jf_selectattr, 0, {NULL}},
    {"slice", mz_jf_slice, NULL, 1, {"slices", "fill_with"}},
    {"sort", mz_jf_sort, NULL, 0, {"reverse", "case_sensitive", "attribute"}},
    {"string", mz_jf_string, NULL, 0, {NULL}},
    {"sum", mz_jf_sum, NULL, 0, {"attribute", "start"}},
    {"title", mz_jf_title, NULL, 0, {NULL}},
    {"tojson", NULL, mz_j_tojson, 0, {NULL}},
    {"trim", mz_jf_trim, NULL, 0, {"chars"}},
    {"truncate", mz_jf_truncate, NULL, 0, {"length", "killwords", "end", "leeway"}},
    {"unique", mz_jf_unique, NULL, 0, {"case_sensitive", "attribute"}},
    {"upper", mz_jf_upper, NULL, 0, {NULL}},
    {"urlencode", mz_jf_urlencode, NULL, 0, {NULL}},
    {"wordcount", mz_jf_wordcount, NULL, 0, {NULL}},
};

int mz_j_filter_find(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (strlen(filters[i].name) == n && memcmp(filters[i].name, name, n) == 0) return (int)i;
    return -1;
}

bool mz_j_filter_call(mz_jst *st, int id, mz_jv v, const mz_jargs *a, mz_jv *out)
{
    mz_jv slots[7] = {{0}};
    if (!mz_j_charge(st, 1)) return false;
    if (filters[id].raw) return filters[id].raw(st, v, a, out);
    return mz_j_bind(st, filters[id].name, a, filters[id].params, filters[id].n_required, slots) && filters[id].fn(st, v, slots, out);
}

bool mz_jf_int_arg(mz_jst *st, mz_jv v, const char *who, int64_t fallback, int64_t *out)
{
    *out = fallback;
    if (v.type == MZ_J_MISSING) return true;
    if (v.type == MZ_J_UNDEF) return mz_j_undef_fail(st, v);
    if (!mz_j_is_int(v)) return mz_j_fail(st, MZ_EINVAL, "%s: an integer is needed, not %s", who, mz_j_type_name(v));
    *out = mz_j_as_int(v);
    return true;
}
