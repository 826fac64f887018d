#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# shell.sh SOURCE: shellcheck on every shell script, known by its first line and not by its name.
set -eu
command -v shellcheck >/dev/null || { echo "shellcheck is not installed"; exit 77; }
cd "$1"
scripts=$(find . -path ./build -prune -o -path ./.git -prune -o -path ./.cache -prune -o -path '*/corpus' -prune -o -type f -size -200k -print |
        sort | while read -r file; do
                if head -n 1 "$file" | LC_ALL=C grep -aqE '^#! ?/(usr/)?bin/(env )?(ba|da)?sh'; then
                        echo "$file"
                fi
        done)
[ -n "$scripts" ] || { echo "shell: no scripts below $1"; exit 1; }
# shellcheck disable=SC2086  # one word a file
exec shellcheck -x $scripts
