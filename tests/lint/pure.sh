#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# pure.sh LIBRARY...: the archives, taken together, need nothing of the world: no file, no clock, no environment. What
# they may call works on memory alone.
set -eu
[ $# -gt 0 ] || { echo "usage: pure.sh LIBRARY..."; exit 1; }

symbols=$(nm "$@")
echo "$symbols" | grep -q ' [TR] ' || { echo "pure: no code in $*"; exit 1; }

echo "$symbols" | awk '
$1 == "U" { wanted[$2] = 1; next }
NF == 3   { ours[$3] = 1 }
END {
        for (s in wanted) {
                if (s in ours)
                        continue
                # The C library, on memory alone. snprintf belongs here: it writes to the buffer it is given. bcmp is what
                # clang makes of memcmp() == 0.
                if (s ~ /^(mem|str)[a-z]+$/ || s == "bcmp" || s ~ /^(malloc|calloc|realloc|free|qsort|snprintf|vsnprintf)$/)
                        continue
                # Assertions, the checked variants of the above, the stack protector.
                if (s ~ /^__assert_fail$/ || s ~ /^__[a-z_]*_chk(_fail)?$/ || s == "__stack_chk_fail")
                        continue
                # Run time of the compiler: wide arithmetic, sanitizers, coverage, fuzzer, position independent code.
                if (s ~ /^__(popcount|clz|ctz|div|mod|udiv|umod|mul)[dt]i[23]$/ || s == "_GLOBAL_OFFSET_TABLE_" ||
                    s ~ /^__(asan|ubsan|sanitizer|gcov|llvm|sancov)_/)
                        continue
                print "pure: foreign symbol " s
                bad = 1
        }
        exit bad
}'
