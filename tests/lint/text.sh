#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# text.sh SOURCE: what no tool of others looks for. Licence lines, comments of the wrong kind, work left undone, files
# grown too long.
set -eu
cd "$1"
bad=0
complain() {
        echo "$*"
        bad=1
}

list=$(mktemp)
trap 'rm -f "$list"' EXIT
find . \( -path ./build -o -path ./.git -o -path ./.cache -o -path '*/corpus' -o -path '*/machines' \
        -o -path '*/expect*' \) -prune -o -type f -print | sort >"$list"
[ -s "$list" ] || { echo "text: no files below $1"; exit 1; }

while read -r file; do
        case $file in
        ./LICENSE | *.md | *.json | *.txt.gz | *.tar.* | *.png | *.svg | ./tests/golden/*.txt | ./tests/golden/*.test) continue ;;
        esac
        head -n 6 "$file" | grep -q 'SPDX-License-Identifier: LGPL-2.1-or-later' || complain "$file: no licence line"
        case $file in
        ./tests/lint/*) ;;
        *) ! grep -nHwE 'TODO|FIXME|XXX' "$file" || complain "$file: finish it, or file an issue" ;;
        esac
        ! grep -nH '[[:blank:]]$' "$file" || complain "$file: blanks at the end of a line"
        case $file in
        *.[ch])
                [ "$(wc -l <"$file")" -le 500 ] || complain "$file: longer than 500 lines: which two nouns are in it?"
                # A // outside a string: after the line's strings and /* */ comments are taken away.
                ! sed 's/\\.//g; s/"[^"]*"//g; s#/\*.*\*/##g; s#^ \* .*##; s#/\*.*##' "$file" | grep -n '//' ||
                        complain "$file: // is for your desk only"
                ;;
        esac
done <"$list"
exit "$bad"
