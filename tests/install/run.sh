#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh MESON BUILD_FOLDER EXAMPLE.C MODEL MIZAN : installs into a scratch folder and uses the installed copy alone, as a
# user's program would: flags from pkg-config, shared and static, and the same words out of both as out of the binary.
set -eu
meson=$1 build=$2 source=$3 model=$4 mizan=$(realpath "$5")
[ -f "$model" ] || { echo "$model: no such file; tools/fetch_model.py brings the model" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"

"$meson" install -C "$build" --no-rebuild --quiet --destdir "$work/root" >install.log 2>&1 || { cat install.log >&2; exit 1; }
pc=$(find root -name mizan.pc)
[ -n "$pc" ] || { echo "no mizan.pc was installed" >&2; exit 1; }
lib=$work/$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH="$lib/pkgconfig"
for file in libmizan.so libmizan.a; do
    [ -e "$lib/$file" ] || { echo "$file was not installed" >&2; exit 1; }
done
for file in bin/mizan include/mizan/mizan.h share/man/man1/mizan.1; do
    find root -path "*/$file" | grep -q . || { echo "$file was not installed" >&2; exit 1; }
done
[ "$(pkg-config --modversion mizan)" = "$("$mizan" --version | sed 's/^mizan //')" ] || { echo "pkg-config and the binary disagree on the version" >&2; exit 1; }

# shellcheck disable=SC2046  # flags are words
${CC:-cc} -std=c11 -Wall -Wextra -Werror "$source" $(pkg-config --cflags --libs mizan) -o shared
readelf -d shared | grep -q 'libmizan\.so\.0' || { echo "the example is not linked to libmizan.so.0" >&2; exit 1; }

# Without the shared library -lmizan means libmizan.a.
mkdir static-lib && cp "$lib/libmizan.a" static-lib/
# shellcheck disable=SC2046
${CC:-cc} -std=c11 -Wall -Wextra -Werror "$source" $(pkg-config --cflags mizan) -Lstatic-lib $(pkg-config --static --libs mizan | sed "s#-L$work[^ ]*##g") -o static
readelf -d static | grep -q libmizan && { echo "the static example still needs libmizan.so" >&2; exit 1; }

prompt='The capital of France is'
LD_LIBRARY_PATH=$lib ./shared "$model" "$prompt" >shared.txt
./static "$model" "$prompt" >static.txt
"$mizan" run "$model" --raw -p "$prompt" -n 16 --temp 0 --quiet >binary.txt
grep -q Paris shared.txt || { echo "expected Paris, got: $(cat shared.txt)" >&2; exit 1; }
cmp shared.txt static.txt
# The binary may leave out or add the last line break.
[ "$(cat shared.txt)" = "$(cat binary.txt)" ] || { echo "library: $(cat shared.txt)"; echo "binary: $(cat binary.txt)"; exit 1; } >&2
echo "installed copy: shared and static say the same as the binary:$(cat shared.txt)"
