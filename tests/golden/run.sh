#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# run.sh HOMENODE MACHINES WORK NAME.test: compares what homenode prints with NAME.txt. Lines of a .test file:
#   tree NAME      archive NAME.tar.* in MACHINES, unpacked once into WORK; without it no archive is needed
#   root PATH      folder inside the archive that is the root of the machine, for --sysroot
#   exit CODE      expected exit code, 0 without it
#   args WORD...   arguments of homenode, quoted as in sh
set -eu

homenode=$1 machines=$2 work=$3 test=$4
tree='' root='' code=0 args=''

while read -r key value; do
        case $key in
        tree) tree=$value ;;
        root) root=$value ;;
        exit) code=$value ;;
        args) args=$value ;;
        '' | '#'*) ;;
        *)
                echo "$test: unknown line \"$key $value\"" >&2
                exit 1
                ;;
        esac
done <"$test"

skip() {
        echo "SKIP: $*" >&2
        exit 77
}

# Tests run side by side: each unpacks for itself, and one of them wins the name.
unpack() {
        [ -d "$work/$tree" ] && return
        set -- "$machines/$tree".tar.*
        [ -f "$1" ] || skip "no capture $machines/$tree.tar.*"
        mkdir -p "$work/$tree.$$"
        tar -xf "$1" -C "$work/$tree.$$" || skip "cannot unpack $1 (tar with bzip2 and xz is needed)"
        mv -T "$work/$tree.$$" "$work/$tree" 2>/dev/null || rm -rf "${work:?}/$tree.$$"
        [ -d "$work/$tree" ]
}

eval "set -- $args"
if [ -n "$tree" ]; then
        unpack
        set -- "$@" --sysroot "$work/$tree/$root"
fi

mkdir -p "$work"
output=$work/$(basename "$test" .test).out
got=0
"$homenode" "$@" >"$output" 2>&1 || got=$?
if [ "$got" -ne "$code" ]; then
        cat "$output"
        echo "$test: exit code $got, expected $code" >&2
        exit 1
fi
diff -u "${test%.test}.txt" "$output"
