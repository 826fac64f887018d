#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# manual.sh SOURCE: every page is sound mdoc, and every page that a page refers to as ours exists.
set -eu
command -v mandoc >/dev/null || { echo "mandoc is not installed"; exit 77; }
cd "$1"
pages=$(find man -name '*.[1-8]' | sort)
[ -n "$pages" ] || { echo "manual: no pages below $1/man"; exit 1; }
bad=0
# shellcheck disable=SC2086  # one word a file
mandoc -Tlint -W warning $pages || bad=1
for page in $pages; do
        sed -n 's/^\.Xr \([^ ]*homenode[^ ]*\) \([1-8]\).*/\1.\2/p' "$page" | while read -r other; do
                [ -f "man/$other" ] || echo "$page: no such page: $other"
        done | grep . && bad=1
done
exit "$bad"
