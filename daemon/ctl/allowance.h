/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base/mask.h"
#include "sample/sysroot.h"
#include "why.h"

/* What the caller may use of a machine: the terms of every list of nodes and CPUs. */
struct hn_allowance {
        struct hn_mask nodes; /* all there are */
        struct hn_mask mems;  /* of them, those of the caller's cpuset */
        struct hn_mask cpus;  /* all that could ever be online */
        struct hn_mask mine;  /* of them, those of the caller's affinity */
};

/* Reads /proc/self/status and /sys below `root`. A machine without node folders has node 0. Where nothing is
 * said of limits there are none. Returns 0 or -errno with the sentence. */
int hn_allowance_read(const struct hn_sysroot *root, struct hn_allowance *ret, struct hn_why *why);

/* All CPUs of these nodes, offline ones included. Returns 0; -ENODEV if one of them says nothing of CPUs,
 * -EINVAL if none has any; or -ENOMEM. */
int hn_allowance_cpus_of(const struct hn_sysroot *root, const struct hn_mask *nodes, struct hn_mask *ret,
                         struct hn_why *why);
