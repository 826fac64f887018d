/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "act/affinity.h"
#include "base/mask.h"
#include "policy/snapshot.h"
#include "sample/cgroupfs.h"
#include "sample/sysroot.h"

/* The live machine as the acts see it: /proc, the cgroups, and which CPUs anybody may use. Needs no daemon,
 * no configuration and no topology. Lives where it was made: `ops` points into it. */
struct hn_world {
        int proc_fd;
        struct hn_cgroupfs cgroups;
        struct hn_affinity_ops ops; /* the kernel's; a test may put its own here */
        struct hn_mask online;
        struct hn_mask isolated;
        struct hn_mask unrestricted; /* possible CPUs less the isolated ones */
};

/* Returns 0, -EROFS for a captured root (it can be read, never acted on), or -errno. */
int hn_world_init(struct hn_world *w, const struct hn_sysroot *root);
void hn_world_deinit(struct hn_world *w);

/* Reads the CPU lists anew: CPUs come and go. Returns 0 or -errno; on failure the old ones stay. */
int hn_world_refresh(struct hn_world *w, const struct hn_sysroot *root);

/* The task's cgroup in the hierarchy that tells who is who. Returns 0 or -errno (-ENOENT: it has none). */
int hn_world_cgroup(const struct hn_world *w, pid_t tid, char *buf, size_t size);

/* The CPUs that the task's cpuset leaves it; all online ones where nothing says so. */
void hn_world_allowed(const struct hn_world *w, pid_t tid, struct hn_mask *ret);

/* Whether this mask is nobody's wish: all that the cpuset allows, isolated CPUs aside. */
bool hn_world_is_unrestricted(const struct hn_world *w, const struct hn_mask *mask,
                              const struct hn_mask *allowed);

/* The process that a thread is of, 0 if that cannot be told. */
pid_t hn_world_process(const struct hn_world *w, pid_t tid);

/* The process `tgid`, its parent, its parent's parent, ... at most `max` of them. Returns how many. */
size_t hn_world_kin(const struct hn_world *w, pid_t tgid, struct hn_task_key *kin, size_t max);

/* Calls `f` for every thread there is, until it returns other than 0. Returns that, or -errno. */
int hn_world_each(const struct hn_world *w, int (*f)(void *userdata, pid_t tgid, pid_t tid), void *userdata);
