/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/snapshot.h"

/* A process, and those that it and its children have forked since some moment. The kernel tells a task's
 * children in /proc/PID/task/TID/children, where it is built with that; who was seen once stays known when
 * its parent has ended. */
struct hn_kin {
        struct hn_task_key *processes; /* in the order in which they were met */
        size_t n, allocated;
        size_t turn; /* whose turn it is to be asked, where there are too many for all of them */
};

#define HN_KIN_NULL ((struct hn_kin){})

/* Processes followed; and of these, and of the threads of each, asked for their children at a time. */
#define HN_KIN_MAX     4096u
#define HN_KIN_ASK_MAX 64u

void hn_kin_deinit(struct hn_kin *k);

/* Adds a process. Returns 0, -ENOMEM, or -ENOSPC beyond HN_KIN_MAX. */
int hn_kin_add(struct hn_kin *k, const struct hn_task_key *key);

/* Forgets who has ended, then meets children born at or after `since` (clock ticks since boot): those of all
 * processes, and of the one thread `only`, if that is not 0, of a process that need not be one of them.
 * Returns 0 or -ENOMEM. */
int hn_kin_update(struct hn_kin *k, int proc_fd, uint64_t since, pid_t only);

/* The threads of a process, as /proc lists them, appended to (*list, *n). A process that is gone has none.
 * Returns 0 or -ENOMEM. */
int hn_kin_threads(int proc_fd, pid_t tgid, pid_t **list, size_t *n, size_t *allocated);
