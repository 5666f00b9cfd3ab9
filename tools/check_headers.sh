#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_headers.sh INCLUDE_FOLDER : each public header compiles alone, twice included, as C11 and as C++17, with
# all warnings as errors. Compilers: $CC and $CXX, else cc and c++.
set -eu
include=$1
rc=0 n=0
for header in "$include"/mizan/*.h; do
    name=mizan/$(basename "$header")
    for mode in c c++; do
        case $mode in
        c) compiler="${CC:-cc} -std=c11 -Wstrict-prototypes" ;;
        c++) compiler="${CXX:-c++} -std=c++17" ;;
        esac
        n=$((n + 1))
        printf '#include <%s>\n#include <%s>\nint main(void) { return 0; }\n' "$name" "$name" |
            $compiler -x $mode -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only -I"$include" - || {
            echo "check_headers: <$name> does not compile alone ($compiler)" >&2
            rc=1
        }
    done
done
[ $n -gt 0 ] || { echo "check_headers: no header in $include/mizan" >&2; rc=1; }
echo "check_headers: $n compilations"
exit $rc
