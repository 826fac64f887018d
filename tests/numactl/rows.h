/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What is to come of the same arguments with numactl and with "homenode run". */
enum want {
        WANT_SAME_AS_BEFORE, /* only for want_later */
        WANT_ALIKE,          /* both succeed, with the same effect and output, or both fail */
        WANT_GOOD,           /* the same, and both succeed on any machine */
        WANT_GOOD4,          /* the same, and both succeed on a machine of 4 nodes with 2 CPUs each */
        WANT_BAD,            /* both fail on any machine */
        WANT_BAD4,      /* both fail on a machine of 4 nodes with 2 CPUs each; elsewhere they are alike */
        WANT_OURS,      /* an expected difference: homenode succeeds, numactl fails */
        WANT_THEIRS,    /* another: numactl succeeds, homenode refuses */
        WANT_OTHERWISE, /* a third: both succeed, with another effect or output */
};

enum needs {
        NEEDS_NOTHING,
        NEEDS_WEIGHTED, /* a kernel with weighted interleaving, else both fail */
        NEEDS_FOUR,     /* 4 nodes with 2 CPUs each, else they are alike */
};

struct row {
        enum want want;       /* beside numactl 2.0.16 */
        enum want want_later; /* beside 2.0.17 and later */
        enum needs needs;
        const char *cpus;   /* the affinity it starts under, NULL for what there is */
        const char *args;   /* words as in sh, with '' for the empty one; see below */
        const char *effect; /* with 4 nodes this is in what homenode's side says, NULL for whatever */
        const char *why;    /* of a difference */
};

/* In the arguments @F is a file in tmpfs and @K a key file, neither of which is there at first, @D a folder
 * that is; " ; " begins another invocation, which finds what those before it left. Each ends with the probe
 * as its command, unless its last word is @0. */
extern const struct row rows[];
extern const size_t n_rows;
