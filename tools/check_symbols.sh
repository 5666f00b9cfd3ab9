#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_symbols.sh STATIC_LIB SHARED_LIB HEADER_FOLDER | --self-test
#
# Every external symbol of the static library starts with mz_, so that it can be linked into anything; the shared
# library exports exactly what the public headers declare with MZ_API.
set -eu

check() {
    static=$1 shared=$2 headers=$3 rc=0
    # Sanitizer builds add their own globals; those are not ours to name.
    alien=$(nm -g --defined-only "$static" 2>/dev/null | awk 'NF == 3 && $3 !~ /^(mz_|__asan_|__ubsan_|__odr_asan|__tsan_|__sancov_)/ { print $3 }' | sort -u)
    if [ -n "$alien" ]; then
        echo "external symbols without the mz_ prefix in $static:" $alien >&2
        rc=1
    fi
    work=$(mktemp -d)
    nm -D --defined-only "$shared" | awk 'NF == 3 && $2 ~ /[TDBRVWGSi]/ { sub(/@.*/, "", $3); print $3 }' |
        grep -v -E '^(_init|_fini|_edata|_end|__bss_start|__odr_asan.*|__asan_.*|__ubsan_.*|__tsan_.*)$' | sort -u >"$work/exported" || true
    cat "$headers"/*.h | tr '\n' ' ' | sed 's/MZ_API/\n&/g' |
        sed -n 's/^MZ_API [^(;]*[ *]\(mz_[a-z0-9_]*\)(.*/\1/p' | sort -u >"$work/declared"
    if ! diff -u "$work/declared" "$work/exported" >"$work/diff"; then
        echo "the public headers (-) and the exports of $shared (+) differ:" >&2
        grep '^[-+][a-z_]' "$work/diff" >&2 || true
        rc=1
    fi
    [ -s "$work/declared" ] || { echo "no MZ_API declaration found in $headers" >&2; rc=1; }
    rm -rf "$work"
    return $rc
}

self_test() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/h"
    echo '#define MZ_API __attribute__((visibility("default")))
MZ_API int mz_one(void);
MZ_API const char *mz_two(int a,
                          int b);' >"$work/h/h.h"
    echo '#include "h/h.h"
int mz_hidden(void); int mz_hidden(void) { return 1; }
int mz_one(void) { return mz_hidden(); }
const char *mz_two(int a, int b) { return a > b ? "x" : "y"; }' >"$work/good.c"
    (cat "$work/good.c"; echo 'int rogue(void); int rogue(void) { return 1; }') >"$work/rogue.c"
    (cat "$work/good.c"; echo '__attribute__((visibility("default"))) int mz_more; ') >"$work/more.c"
    sed '/mz_one(void) {/d' "$work/good.c" >"$work/less.c"
    bad=0
    for name in good rogue more less; do
        ${CC:-cc} -fPIC -fvisibility=hidden -I"$work" -c "$work/$name.c" -o "$work/$name.o"
        ar rcs "$work/$name.a" "$work/$name.o"
        ${CC:-cc} -shared "$work/$name.o" -o "$work/$name.so"
        if (check "$work/$name.a" "$work/$name.so" "$work/h") 2>/dev/null; then got=pass; else got=fail; fi
        if [ "$name" = good ]; then want=pass; else want=fail; fi
        [ $got = $want ] || { echo "check_symbols self-test: $name: $got, expected $want" >&2; bad=1; }
    done
    [ $bad = 0 ] && echo "check_symbols self-test: 3 seeded violations found"
    return $bad
}

if [ "${1:-}" = --self-test ]; then
    self_test
elif [ $# -eq 3 ]; then
    check "$@" && echo "check_symbols: only mz_ symbols, exports as declared"
else
    echo "usage: check_symbols.sh STATIC_LIB SHARED_LIB HEADER_FOLDER | --self-test" >&2
    exit 2
fi
