#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage.sh SOURCE HOMENODED HOMENODE: --help, getopt's tables, the manual and the configuration speak of the same things.
set -eu
source=$1 homenoded=$2 homenode=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# same WHAT FILE WHAT FILE: both lists are equal and not empty.
same() {
        [ -s "$2" ] || { echo "usage: nothing found: $1"; bad=1; return; }
        diff "$2" "$4" >"$work/diff" && return
        sed -n "s|^< \(.*\)|usage: \1: in $1, not in $3|p; s|^> \(.*\)|usage: \1: in $3, not in $1|p" "$work/diff"
        bad=1
}

# Long options: of a help text, of C files, of an mdoc page (.Fl -option, anywhere in a line).
of_help() { grep -oE -- '--[a-z][a-z-]*' | sort -u; }
of_table() { sed -n 's/^[[:blank:]]*{ *"\([a-z][a-z-]*\)", *\(no\|required\|optional\)_argument.*/--\1/p' "$@" | sort -u; }
of_page() { grep -oE 'Fl -[a-z][a-z-]*' "$1" | sed 's/^Fl -/--/' | sort -u; }

"$homenoded" --help >"$work/help" || { echo "usage: homenoded --help fails"; bad=1; }
of_help <"$work/help" >"$work/daemon-help"
of_table "$source"/daemon/*.c >"$work/daemon-table"
of_page "$source/man/homenoded.8" >"$work/daemon-page"
same 'homenoded --help' "$work/daemon-help" "daemon/*.c" "$work/daemon-table"
same 'homenoded --help' "$work/daemon-help" "homenoded(8)" "$work/daemon-page"

# homenode: its own help, then that of every verb it names.
"$homenode" --help >"$work/help" || { echo "usage: homenode --help fails"; bad=1; }
cp "$work/help" "$work/all-help"
# A verb stands at the beginning of an indented line, and is explained behind at least two blanks.
sed -n 's/^  \([a-z][a-z-]*\)\( .*\)\{0,1\}  .*/\1/p' "$work/help" | sort -u >"$work/verbs"
sed -n 's/^\.It Cm \([a-z][a-z-]*\).*/\1/p' "$source/man/homenode.1" | sort -u >"$work/verbs-page"
same 'homenode --help' "$work/verbs" "homenode(1)" "$work/verbs-page"
while read -r verb; do
        "$homenode" "$verb" --help >>"$work/all-help" || { echo "usage: homenode $verb --help fails"; bad=1; }
done <"$work/verbs"
of_help <"$work/all-help" >"$work/ctl-help"
of_table "$source"/daemon/ctl/*.[ch] >"$work/ctl-table"
of_page "$source/man/homenode.1" >"$work/ctl-page"
same 'homenode --help' "$work/ctl-help" "daemon/ctl" "$work/ctl-table"
same 'homenode --help' "$work/ctl-help" "homenode(1)" "$work/ctl-page"

# Keys: the parser's table { "Key", parse_..., the commented file, the page (.It Va Key Ns = ...).
sed -n 's/^[[:blank:]]*{ *"\([A-Z][A-Za-z]*\)", *parse_.*/\1/p' "$source"/daemon/*.c | sort -u >"$work/keys-table"
sed -n 's/^#\([A-Z][A-Za-z]*\)=.*/\1/p' "$source/conf/homenode.conf" | sort -u >"$work/keys-file"
sed -n 's/^\.It \(Va\|Cm\|Ic\) \([A-Z][A-Za-z]*\)\( Ns\)\{0,1\} \{0,1\}=.*/\2/p' "$source/man/homenode.conf.5" | sort -u >"$work/keys-page"
same 'conf/homenode.conf' "$work/keys-file" "homenode.conf(5)" "$work/keys-page"
same 'conf/homenode.conf' "$work/keys-file" "the daemon's table" "$work/keys-table"
exit "$bad"
