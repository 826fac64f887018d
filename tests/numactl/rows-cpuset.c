/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What comes of limits. */

/* clang-format off */

#include "rows.h"

const struct row rows_cpuset[] = {
        /* In a cpuset of nodes 1 and 3; elsewhere only alike. */
        INSIDE(WANT_GOOD, "", "policy=default nodes= cpus=2-3,6-7 mems=1,3 "),
        INSIDE(WANT_GOOD, "-m all", "policy=bind nodes=1,3 "),
        INSIDE(WANT_GOOD, "-m +0", "policy=bind nodes=1 "),
        INSIDE(WANT_GOOD, "-m +1", "policy=bind nodes=3 "),
        INSIDE(WANT_GOOD, "-m +0-1", "policy=bind nodes=1,3 "),
        INSIDE(WANT_GOOD, "-m 1-3", "policy=bind nodes=1,3 "),
        INSIDE(WANT_GOOD, "-m !1", "policy=bind nodes=3 "),
        INSIDE(WANT_GOOD, "-m !+0", "policy=bind nodes=3 "),
        INSIDE(WANT_GOOD, "-a -m 0-3", "policy=bind nodes=1,3 "),
        INSIDE(WANT_GOOD, "-a -m +1", "policy=bind nodes=1 "),
        INSIDE(WANT_GOOD, "-b -m 3", "policy=bind+balancing nodes=3 "),
        INSIDE(WANT_GOOD, "-i all", "policy=interleave nodes=1,3 "),
        INSIDE(WANT_GOOD, "-i !3", "policy=interleave nodes=1 "),
        INSIDE(WANT_GOOD, "-i +1", "maps=interleave:3"),
        INSIDE(WANT_GOOD, "-p 3", "policy=preferred nodes=3 "),
        INSIDE(WANT_GOOD, "-p +0", "policy=preferred nodes=1 "),
        INSIDE(WANT_GOOD, "-l", "policy=local "),
        INSIDE(WANT_GOOD, "-N 1", "cpus=2-3 "),
        INSIDE(WANT_GOOD, "-N +1", "cpus=6-7 "),
        INSIDE(WANT_GOOD, "-N all", "cpus=2-3,6-7 "),
        INSIDE(WANT_GOOD, "-N !1", "cpus=6-7 "),
        INSIDE(WANT_GOOD, "-a -N 0-1", "cpus=2-3 "),
        INSIDE(WANT_GOOD, "-N 1 -m same", "policy=bind nodes=1 cpus=2-3 "),
        INSIDE(WANT_GOOD, "-N +1 -i same", "policy=interleave nodes=3 cpus=6-7 "),
        INSIDE(WANT_GOOD, "-C all", "cpus=2-3,6-7 "),
        INSIDE(WANT_GOOD, "-C +0", "cpus=2 "),
        INSIDE(WANT_GOOD, "-C +1-2", "cpus=3,6 "),
        INSIDE(WANT_GOOD, "-C 2-7", "cpus=2-3,6-7 "),
        INSIDE(WANT_GOOD, "-C !2", "cpus=3,6-7 "),
        INSIDE(WANT_GOOD, "-a -C 0-2", "cpus=2 "),
        INSIDE(WANT_GOOD, "-s @0", "physcpubind: 2 3 6 7\ncpubind: 1 3\nnodebind: 1 3\nmembind: 1 3\n"),
        INSIDE(WANT_GOOD, "-m all -s @0", "membind: 1 3\npreferred: 1 3\n"),
        INSIDE(WANT_GOOD, "-i +1 -s @0", "policy: interleave\ninterleavemask: 3\n"),
        INSIDE(WANT_GOOD, "-H @0", "available: 4 nodes (0-3)\n"),
        INSIDE(WANT_GOOD, "-L 16k -f @F -m all -T -V -d @0", "file=bind:1,3 x4"),
        INSIDE(WANT_GOOD, "-L 16k -S @K -m +1 -T -V -D @0", "shm=bind:3 x4"),
        INSIDE(WANT_BAD, "-m 0", "not among those this process may use"),
        INSIDE(WANT_BAD, "-m !1,3", "none of these nodes"),
        INSIDE(WANT_BAD, "-m 0-3", NULL),
        INSIDE(WANT_BAD, "-m +2", "past the end"),
        INSIDE(WANT_BAD, "-a -m 0", "none of these nodes"),
        INSIDE(WANT_BAD, "-p !0-2", NULL),
        INSIDE(WANT_BAD, "-N 0", NULL),
        INSIDE(WANT_BAD, "-a -N 0", "none of these CPUs"),
        INSIDE(WANT_BAD, "-C 0", NULL),
        INSIDE(WANT_BAD, "-C 2-5", NULL),
        INSIDE(WANT_BAD, "-C +4", "past the end"),
        INSIDE(WANT_BAD, "-a -C 0", "none of these CPUs"),
};

const size_t n_rows_cpuset = sizeof(rows_cpuset) / sizeof(rows_cpuset[0]);
