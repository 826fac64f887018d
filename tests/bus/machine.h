/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "fakeroot.h"

/* Two nodes of two CPUs, ids 0 and 8, and a few tasks in cgroups that the stage's configuration opts in.
 * Among them such as wish us ill. */
#define MACHINE_UID 1000u

enum {
        TASK_WORKER = 100,   /* of MACHINE_UID, runs on node 0, faults on node 8 */
        TASK_ROOT = 200,     /* of root */
        TASK_SETUID = 300,   /* of MACHINE_UID, but runs as root */
        TASK_CAPABLE = 301,  /* of MACHINE_UID, with capabilities */
        TASK_ODD = 400,      /* a name that is no text, in a cgroup whose name is none */
        TASK_OUTSIDE = 500,  /* of MACHINE_UID, in a cgroup that no rule names */
        TASK_REALTIME = 600, /* of root, in no cgroup at first */
        TASK_KERNEL = 2,
};

#define CGROUP_WORKER "/app.slice/a.service"
#define CGROUP_ROOT   "/app.slice/b.service"
#define CGROUP_ODD    "/odd\xff\n\".slice"

void machine_make(struct hn_tree *t);

/* A cgroup with one thread. */
void machine_add_cgroup(const struct hn_tree *t, const char *path, pid_t tid);
void machine_remove_cgroup(const struct hn_tree *t, const char *path);
