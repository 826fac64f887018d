#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# cppcheck.sh SOURCE: another pair of eyes, with other blind spots than the compilers'. Not
# for tests/, where wrong arguments are the point and cmocka's assertions are unknown to it.
set -eu
command -v cppcheck >/dev/null || { echo "cppcheck is not installed"; exit 77; }
cd "$1"
# memleak, resourceLeak: it does not know the cleanup attribute; LeakSanitizer looks at run time. readdirCalled: readdir_r
# is deprecated by glibc.
exec cppcheck --quiet --error-exitcode=1 --std=c11 --language=c -j "$(nproc)" -I lib -I daemon \
        --enable=warning,performance,portability --inline-suppr --max-configs=1 -D_GNU_SOURCE= -D__linux__ \
        --suppress=missingIncludeSystem --suppress=readdirCalled --suppress=memleak --suppress=resourceLeak \
        --library=posix,gnu lib daemon
