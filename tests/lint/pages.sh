#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# pages.sh SOURCE HOMENODED HOMENODE: verb by verb the manual says what --help says, both ways: the options in the
# synopsis, the columns; and the exit codes of both programs are those of their pages. A help text fits a screen.
# A synopsis that says ".Op Ar option ..." stands for all options of its verb.
set -eu
source=$1 homenoded=$2 homenode=$3
page=$source/man/homenode.1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
complain() {
        echo "pages: $*"
        bad=1
}

# same WHAT FILE WHAT FILE
same() {
        diff "$2" "$4" >"$work/diff" && return
        sed -n "s|^< \(.*\)|pages: \1: in $1, not in $3|p; s|^> \(.*\)|pages: \1: in $3, not in $1|p" "$work/diff"
        bad=1
}

# fits WHAT: the help text in $work/help
fits() {
        [ "$(wc -l <"$work/help")" -le 40 ] || complain "$1 --help is longer than 40 lines"
        [ "$(wc -L <"$work/help")" -le 80 ] || complain "$1 --help is wider than 80 columns"
}

# Options of a help text by their long names, and beside each its letter, if it has one. Only lines that explain one.
options_of_help() {
        sed -n 's/^  -\(.\), --\([a-z][a-z-]*\).*/\2 \1/p; s/^ \{6\}--\([a-z][a-z-]*\).*/\1/p' "$work/help" |
                grep -v '^help\b' | sort -u
}

# What the synopsis of a verb names: -long, or letters one by one.
options_of_synopsis() {
        awk -v verb="$1" '
        /^\.Sh/ { inside = $2 == "SYNOPSIS"; here = 0 }
        !inside { next }
        /^\.Nm/ { here = 0 }
        $1 == ".Cm" { here = $2 == verb; next }
        here && $1 == ".Op" && $2 == "Ar" && $3 ~ /^option/ { print "*" }
        here {
                for (i = 1; i < NF; i++)
                        if ($i == "Fl" || $i == ".Fl") {
                                flag = $(i + 1)
                                if (flag ~ /^-/)
                                        print substr(flag, 2)
                                else
                                        for (k = 1; k <= length(flag); k++)
                                                print "letter", substr(flag, k, 1)
                        }
        }' "$page"
}

# The letters of a synopsis under their long names.
canonical() {
        while read -r name letter; do
                if [ "$name" = letter ]; then
                        long=$(awk -v l="$letter" '$2 == l { print $1 }' "$work/options")
                        echo "${long:-letter $letter}"
                else
                        echo "$name"
                fi
        done | sort -u
}

# Names of a table's columns: of a help text, and of a page.
columns_of_help() { sed -n '/^Columns/,/^$/s/^ [ *] \([A-Z][A-Z%-]*\) .*/\1/p' "$work/help" | sort -u; }
columns_of_page() {
        awk -v verb="$1" '
        /^\.S[sh]/ { inside = $0 == ".Ss Columns of " verb }
        inside && $1 == ".It" { gsub(/,/, ""); for (i = 2; i <= NF; i++) print $i }' "$page" | sort -u
}

"$homenode" --help >"$work/help" || complain "homenode --help fails"
fits homenode
sed -n 's/^  \([a-z][a-z-]*\)\( .*\)\{0,1\}  .*/\1/p' "$work/help" | sort -u >"$work/verbs"
[ -s "$work/verbs" ] || complain "homenode --help names no verb"
while read -r verb; do
        "$homenode" "$verb" --help >"$work/help" || complain "homenode $verb --help fails"
        [ -s "$work/help" ] || complain "homenode $verb --help says nothing"
        fits "homenode $verb"
        options_of_help >"$work/options"
        cut -d' ' -f1 "$work/options" >"$work/in-help"
        options_of_synopsis "$verb" >"$work/named"
        if ! grep -q '^\*$' "$work/named"; then
                canonical <"$work/named" >"$work/in-page"
                same "homenode $verb --help" "$work/in-help" "its synopsis in homenode(1)" "$work/in-page"
        fi
        columns_of_help >"$work/in-help"
        columns_of_page "$verb" >"$work/in-page"
        same "the columns of homenode $verb --help" "$work/in-help" "homenode(1)" "$work/in-page"
done <"$work/verbs"

# Exit codes: what the sources name of <sysexits.h>, and 0, against the tags of EXIT STATUS.
codes_of_sources() {
        printf '#include <sysexits.h>\n' | ${CC:-cc} -E -dM - | sed -n 's/^#define \(EX_[A-Z]*\) \([0-9]*\)$/\1 \2/p' |
                sort >"$work/sysexits"
        { cat "$@" | grep -oE '\bEX_[A-Z]+' || :; } | sort -u | join - "$work/sysexits" | cut -d' ' -f2 >"$work/codes"
        # Those that are not of <sysexits.h>.
        sed -n 's/^#define EXIT_[A-Z_]* *\([0-9]*\)$/\1/p' "$@" >>"$work/codes"
        echo 0 >>"$work/codes"
        sort -u "$work/codes"
}
codes_of_page() {
        awk '/^\.Sh/ { inside = $0 == ".Sh EXIT STATUS" } inside && $1 == ".It" { print $2 }' "$1" | sort -u
}
codes_of_sources "$source"/daemon/ctl/*.c >"$work/in-sources"
codes_of_page "$page" >"$work/in-page"
same "the exit codes of daemon/ctl" "$work/in-sources" "homenode(1)" "$work/in-page"
codes_of_sources "$source"/daemon/*.c >"$work/in-sources"
codes_of_page "$source/man/homenoded.8" >"$work/in-page"
same "the exit codes of daemon" "$work/in-sources" "homenoded(8)" "$work/in-page"
"$homenoded" --help >"$work/help" || complain "homenoded --help fails"
fits homenoded
exit "$bad"
