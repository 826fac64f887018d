#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# format.sh SOURCE: clang-format has nothing to change. To repair: clang-format -i FILE.
set -eu
command -v clang-format >/dev/null || { echo "clang-format is not installed"; exit 77; }
cd "$1"
find lib daemon tests -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run -Werror
