#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# tidy.sh BUILD FOLDER: clang-tidy with the checks of .clang-tidy on all C files of FOLDER which BUILD compiles.
set -eu
command -v clang-tidy >/dev/null || { echo "clang-tidy is not installed"; exit 77; }
build=$1 folder=$2
database=$build/compile_commands.json
[ -f "$database" ] || { echo "tidy: no $database: configure by a preset"; exit 1; }

files=$(sed -n 's/^  "file": "\(.*\)",\{0,1\}$/\1/p' "$database" | grep -F "$folder/" | sort -u)
[ -n "$files" ] || { echo "tidy: nothing of $folder is compiled in $build"; exit 1; }

# gcc's own flags are none of clang's business.
echo "$files" | xargs -n 4 -P "$(nproc)" clang-tidy --quiet -p "$build" \
        --extra-arg=-Wno-unknown-warning-option --extra-arg=-Qunused-arguments
