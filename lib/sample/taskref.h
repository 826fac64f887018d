/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "policy/snapshot.h"

/* A task is its tid and its start time together. A tid alone may be somebody else by the time it is used. */

enum { HN_TASK_GONE = 1 };

/* Reads the key of the task that has this tid now, below `proc_fd` (an open /proc).
 * Returns 0, HN_TASK_GONE (no such task, or only its corpse), or -errno. */
int hn_task_key_read(int proc_fd, pid_t tid, struct hn_task_key *ret);

/* Returns 0 while the task of this key lives, HN_TASK_GONE once it does not or its tid has another owner, or
 * -errno. */
int hn_task_verify(int proc_fd, const struct hn_task_key *key);
