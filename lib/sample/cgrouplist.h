/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sample/cgroupfs.h"

struct hn_cgroup {
        char *path;
        size_t pattern; /* the lowest index of those that match it or an ancestor */
};

struct hn_cgroup_list {
        struct hn_cgroup *items; /* by path */
        size_t n, allocated;
        bool cut; /* more than HN_CGROUPS_MAX, or deeper than HN_CGROUP_DEPTH_MAX: not all are here */
};

#define HN_CGROUP_LIST_NULL ((struct hn_cgroup_list){})

#define HN_CGROUPS_MAX      65536u
#define HN_CGROUP_DEPTH_MAX 64u

void hn_cgroup_list_deinit(struct hn_cgroup_list *list);

/* All cgroups that a pattern (see cgroupglob.h) covers. Walks only into folders that can still match; what
 * vanishes meanwhile is skipped. Returns 0 or -ENOMEM. */
int hn_cgroups_find(const struct hn_cgroupfs *fs, const char *const *patterns, size_t n_patterns,
                    struct hn_cgroup_list *ret);
