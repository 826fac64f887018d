#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# exports.sh HEADER LIBRARY: the shared library shows what the public header declares, no more and no less.
set -eu
header=$1 library=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -D --defined-only "$library" | awk '$2 ~ /[A-Z]/ { print $3 }' | sort -u >"$work/shown"
# Prototypes only: comments are taken away first.
${CC:-cc} -fpreprocessed -dD -E -P "$header" 2>/dev/null | grep -oE '\bhn_[a-z0-9_]+ *\(' | tr -d ' (' |
        sort -u >"$work/declared"
[ -s "$work/declared" ] || { echo "exports: $header declares no function"; exit 1; }

if ! diff "$work/declared" "$work/shown" >"$work/diff"; then
        sed -n 's/^< /declared, but not in the library: /p; s/^> /in the library, but not declared: /p' "$work/diff"
        exit 1
fi
echo "$(wc -l <"$work/shown") functions"
