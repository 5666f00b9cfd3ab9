/* SPDX-License-Identifier: Apache-2.0
 *
 * jinja_filters.h: the filter functions, for the table in jinja_filters.c only. */
#ifndef MZ_TEXT_JINJA_FILTERS_H
#define MZ_TEXT_JINJA_FILTERS_H

#include "text/jinja_value.h"

/* a: the arguments by the table's parameter names, MISSING where not given. */
typedef bool (*mz_jfilter_fn)(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
typedef bool (*mz_jfilter_raw)(mz_jst *st, mz_jv v, const mz_jargs *a, mz_jv *out);

/* jinja_filters_text.c */
bool mz_jf_upper(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_lower(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_capitalize(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_title(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_trim(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_replace(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_string(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_safe(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_escape(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_forceescape(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_indent(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_truncate(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_center(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_wordcount(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_urlencode(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_format(mz_jst *st, mz_jv v, const mz_jargs *a, mz_jv *out);
bool mz_jf_join(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
/* jinja_filters_num.c */
bool mz_jf_abs(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_round(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_int(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_float(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_sum(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_min(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_max(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
/* jinja_filters_seq.c */
bool mz_jf_default(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_length(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_first(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_last(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_list(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_items(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_reverse(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_unique(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_batch(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_slice(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_sort(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_dictsort(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_groupby(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_attr(mz_jst *st, mz_jv v, const mz_jv *a, mz_jv *out);
bool mz_jf_select(mz_jst *st, mz_jv v, const mz_jargs *a, mz_jv *out);
bool mz_jf_reject(mz_jst *st, mz_jv v, const mz_jargs *a, mz_jv *out);
bool mz_jf_selectattr(mz_jst *st, mz_jv v, const mz_jargs *a, mz_jv *out);
bool mz_jf_rejectattr(mz_jst *st, mz_jv v, const mz_jargs *a, mz_jv *out);

/* For the three files: an optional integer argument. */
bool mz_jf_int_arg(mz_jst *st, mz_jv v, const char *who, int64_t fallback, int64_t *out);

#endif
