/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Machines that more is known of beforehand than that both do the same. */
#define ON_ANY      1u /* one without restrictions that is none of the following */
#define ON_FOUR     2u /* nodes 0-3 with CPUs 0-1, 2-3, 4-5, 6-7 */
#define ON_CPUSET   4u /* the same, in a cpuset of nodes 1 and 3 and their CPUs */
#define ON_FREE     (ON_ANY | ON_FOUR)
#define ON_ALL      (ON_FREE | ON_CPUSET)
#define ON_WEIGHTED 8u  /* besides: a kernel that interleaves by weight; on others both fail */
#define ON_ONLY     16u /* nowhere else: there another row has the same arguments */

/* What is to come of the same arguments with numactl and with "homenode run". */
enum want {
        WANT_ALIKE, /* both succeed, with the same effect and output, or both fail */
        WANT_GOOD,  /* the same, and both succeed */
        WANT_BAD,   /* both fail, by themselves */
        WANT_ENDS,  /* the command fails, with the same exit status under both */
        /* known differences */
        WANT_OURS,      /* homenode succeeds, numactl fails */
        WANT_THEIRS,    /* numactl succeeds, homenode refuses */
        WANT_OTHERWISE, /* both succeed, with another effect or output */
};

struct row {
        unsigned on;      /* the machines that `want` is for; on others both are alike */
        enum want want;   /* beside numactl 2.0.16 */
        enum want later;  /* of a difference: beside 2.0.17 and later; 0: alike */
        const char *cpus; /* the affinity it starts under, NULL for what there is */
        const char *args; /* words as in sh, with '' for the empty one; see below */
        const char
                *numactl; /* of a difference: in what numactl prints if it succeeds, else in its complaint */
        const char *ours; /* the same of homenode; of other rows too, NULL for whatever */
        const char *why;  /* of a difference */
};

/* In the arguments @F is a file in tmpfs and @K a key file, neither of which is there at first, @D a folder
 * that is; a word @ENAME=VALUE goes into the environment; " ; " begins another invocation, which finds what
 * those before it left. Each ends with the probe as its command, unless it has the word @0; @P is the probe
 * where it stands. */

/* The rows of all tables one after the other; what is known to be different comes last. */
size_t rows_count(void);
const struct row *rows_at(size_t i);

/* Both do the same. */
extern const struct row rows_policy[], rows_place[], rows_show[], rows_shared[], rows_cpuset[];
extern const size_t n_rows_policy, n_rows_place, n_rows_show, n_rows_shared, n_rows_cpuset;

/* All that is known to be different: with numactl 2.0.16 both outcomes have to be as they are told here. The
 * manual page homenode(1) tells them to its readers. */
extern const struct row differences[];
extern const size_t n_differences;

/* clang-format off */
/* Wherever nothing is restricted; on four nodes; there with an effect; in a cpuset; under an affinity. */
#define ROW(want_, args_) { .on = ON_FREE, .want = (want_), .args = (args_) }
#define ONLY(args_, effect_) { .on = ON_FREE | ON_ONLY, .want = WANT_GOOD, .args = (args_), .ours = (effect_) }
#define FOUR(want_, args_) { .on = ON_FOUR, .want = (want_), .args = (args_) }
#define EFFECT(args_, effect_) { .on = ON_FOUR, .want = WANT_GOOD, .args = (args_), .ours = (effect_) }
#define INSIDE(want_, args_, effect_) { .on = ON_CPUSET, .want = (want_), .args = (args_), .ours = (effect_) }
#define ENDS(args_) { .on = ON_ALL, .want = WANT_ENDS, .args = (args_) }
#define UNDER(want_, cpus_, args_, effect_) \
        { .on = ON_FREE, .want = (want_), .cpus = (cpus_), .args = (args_), .ours = (effect_) }
#define UNDER4(want_, cpus_, args_, effect_) \
        { .on = ON_FOUR, .want = (want_), .cpus = (cpus_), .args = (args_), .ours = (effect_) }
/* clang-format on */
