/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "policy/snapshot.h"
#include "sample/sysroot.h"

/* Who a task is and whose it is, for requests of people: may this user speak for it? */
struct hn_subject {
        struct hn_task_key key;
        pid_t tgid;
        char comm[HN_TASK_COMM_MAX]; /* raw */
        bool kernel;                 /* a kernel thread */
        bool privileged;             /* it has capabilities, or does not tell */
        uid_t real, effective, saved;
};

/* The lines Tgid, Uid, CapPrm and CapEff of /proc/PID/status into `ret`, the rest of which stays. Returns 0
 * or -EBADMSG for a text that lacks one of the first two or holds nonsense; without the last two the task
 * counts as privileged. */
int hn_subject_parse_status(const char *buf, size_t n, struct hn_subject *ret);

/* Reads it all from one folder of /proc, which stays that of the same task. `tid` may be any thread's.
 * Returns 0, -ESRCH (no such task, or only its corpse), or -errno. */
int hn_subject_read(const struct hn_sysroot *root, pid_t tid, struct hn_subject *ret);

/* Whether a user may speak for the task as for any other of his own: it runs as him and nobody else, and can
 * do nothing that he cannot. A set-user-ID program that he started is not his. */
bool hn_subject_is_of(const struct hn_subject *s, uid_t uid);
