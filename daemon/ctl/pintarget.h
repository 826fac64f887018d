/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

/* What an override is for, as pin and unpin are told: by a number, by the path of a cgroup, or by a unit. */
struct hn_pin_target {
        const char *kind; /* "process", "thread" or "cgroup" */
        char *name;       /* decimal number, or the path without slashes at its ends */
        pid_t pid;        /* 0 for a cgroup */
};

#define HN_PIN_TARGET_NULL ((struct hn_pin_target){})

void hn_pin_target_deinit(struct hn_pin_target *t);

/* Finds out: one of the three is given, the others are NULL. A number that is a thread's and no process's
 * stands for that thread alone. Returns 0, or the exit code for what is wrong, which has been said. */
int hn_pin_target_find(const char *number, const char *cgroup, const char *unit, struct hn_pin_target *ret);

/* The cgroup of a unit, by systemd's bus or, where that does not answer, by its name in the tree. Returns 0
 * or an exit code, as above. The caller frees `*ret`. */
int hn_pin_unit_cgroup(const char *unit, char **ret);

/* A copy of `path` without slashes at its ends and without /sys/fs/cgroup before it. NULL without memory. */
char *hn_pin_cgroup_path(const char *path);
