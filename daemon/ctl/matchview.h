/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <sys/types.h>

#include "daemon/config.h"
#include "sample/cgroupfs.h"
#include "sample/sysroot.h"

/* Which rule of a configuration matches a process and why, as a value for people and for programs. */
struct hn_match_viewer {
        const struct hn_sysroot *root;
        const struct hn_cgroupfs *cgroups;
        const struct hn_config *config;
};

/* An object {"pid", "comm", "cgroup", "user", "uid", "exe", "exe_error", "opted_in", "kernel", "rule",
 * "rules":
 * [{"rule", "file", "line", "matches", "keys": [{"key", "answer", "value", "words"}]}], "settings"}. Rules
 * behind the one that matches are not asked. `tid` may be any thread of it: the cgroup is that thread's.
 * Returns 0, HN_TASK_GONE, -ENOMEM, or what reading it answered. The caller decrefs. */
int hn_match_view(const struct hn_match_viewer *viewer, pid_t tid, json_t **ret);

/* Prints it for people. */
void hn_match_print(const json_t *view);
