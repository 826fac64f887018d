/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/mask.h"
#include "sample/sysroot.h"

/* The cgroup file systems of a machine, read only. Identity (which threads are in which cgroup) comes from
 * one hierarchy: v2 where it is mounted, else v1's name=systemd, else v1's cpuset. Limits on CPUs and nodes
 * come from v2's cpuset controller or, on hybrid and v1 machines, from v1's. Paths are relative to the
 * hierarchy's root and begin with a slash. */
enum hn_cgroup_layout {
        HN_CGROUP_NONE, /* nothing mounted: no cgroup is ever found */
        HN_CGROUP_V2,
        HN_CGROUP_HYBRID, /* v2 for identity, v1 for cpuset */
        HN_CGROUP_V1,
};

struct hn_cgroupfs {
        enum hn_cgroup_layout layout;
        int fd;             /* the identity hierarchy, O_PATH; -1 for none */
        int cpuset_fd;      /* the v1 cpuset hierarchy, O_PATH; -1 where limits are in `fd` or nowhere */
        int proc_fd;        /* /proc of the same machine, O_PATH; -1 if it has none */
        const char *prefix; /* of the v1 cpuset files: "cpuset." or "" */
        bool confined;      /* not the machine's root: a cgroup namespace, or only a part is mounted */
};

#define HN_CGROUPFS_NULL \
        ((struct hn_cgroupfs){ .fd = -1, .cpuset_fd = -1, .proc_fd = -1, .prefix = "cpuset." })

/* Finds the mounts in /proc/self/mountinfo. Returns 0 or -errno; none at all is HN_CGROUP_NONE and 0. */
int hn_cgroupfs_open(const struct hn_sysroot *root, struct hn_cgroupfs *ret);
void hn_cgroupfs_close(struct hn_cgroupfs *fs);

/* The ids in cgroup.threads (v2) or tasks (v1), in the kernel's order, a thread perhaps twice. `*list` has
 * room for `*allocated` and grows as needed; `*ret_n` of it are set, at most `limit`. A folder that is gone
 * has no threads. Returns 0, -ENOMEM, or what reading answered. */
int hn_cgroup_read_threads(const struct hn_cgroupfs *fs, const char *path, size_t limit, pid_t **list,
                           size_t *allocated, size_t *ret_n);

enum { HN_CGROUP_UNSAID = 1 };

/* The CPUs (node ids) that threads of this cgroup may use: cpuset.cpus.effective (cpuset.mems.effective) of
 * the nearest cgroup upwards which has the file. `tid` is a thread in it, by which v1 finds the cpuset; 0 if
 * none is known. Returns 0, or HN_CGROUP_UNSAID where no ancestor says anything. */
int hn_cgroup_read_cpus(const struct hn_cgroupfs *fs, const char *path, pid_t tid, struct hn_mask *ret);
int hn_cgroup_read_mems(const struct hn_cgroupfs *fs, const char *path, pid_t tid, struct hn_mask *ret);
