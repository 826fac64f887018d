/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/snapshot.h"
#include "sample/privilege.h"

/* Who a process is, as far as rules ask: name, owner, program. Pid and start time say that it is still the
 * same one; name and program may change all the same, by exec(2). */
struct hn_proc_id {
        pid_t pid;
        uint64_t start;              /* clock ticks since boot */
        char comm[HN_TASK_COMM_MAX]; /* raw, of its first thread */
        bool kthread;                /* of the kernel */
        bool has_uid;
        uid_t uid;     /* effective */
        char *exe;     /* owned; NULL: not known. Without the " (deleted)" of a file that has been replaced */
        int exe_error; /* why not: 0 where nobody asked, -EACCES, -EPERM, -ENOENT for one that has none */
};

#define HN_PROC_ID_NULL ((struct hn_proc_id){})

void hn_proc_id_deinit(struct hn_proc_id *id);

/* What to read beside pid, start time and name. */
#define HN_PROC_ID_USER 1u
#define HN_PROC_ID_EXE  2u

/* Reads who has this pid now, below `proc_fd` (an open /proc). `tid` is a thread of it, by which the program
 * is found even where the first thread has ended; the process itself will do. Programs of other users'
 * processes need `privilege` (may be NULL), which is raised around that one read. What cannot be read is left
 * unknown. Returns 0, HN_TASK_GONE, -ENOMEM, or -errno of a stat that cannot be read. The caller deinits
 * `*ret`. */
int hn_proc_id_read(int proc_fd, pid_t pid, pid_t tid, unsigned wants, const struct hn_privilege *privilege,
                    struct hn_proc_id *ret);

/* Whether the program is unknown for lack of rights. */
bool hn_proc_id_exe_denied(const struct hn_proc_id *id);
