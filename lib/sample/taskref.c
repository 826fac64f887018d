/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "sample/procfs.h"
#include "sample/sysroot.h"
#include "sample/taskref.h"

int hn_task_key_read(int proc_fd, pid_t tid, struct hn_task_key *ret) {
        struct hn_proc_stat stat;
        char buf[2048]; /* 52 fields of up to 20 digits and a name stay under 1,200 */
        ssize_t n;
        int r;

        /* Not TID/stat: that one adds up the times of all threads of the process first. */
        n = hn_read_at(proc_fd, buf, sizeof(buf), "%d/task/%d/stat", tid, tid);
        if (n < 0)
                return hn_is_gone((int) n) ? HN_TASK_GONE : (int) n;
        r = hn_proc_stat_parse(buf, (size_t) n, &stat);
        if (r < 0)
                return r;
        /* A corpse takes masks without complaint, but nobody is left to run under them. */
        if (stat.state == 'Z' || stat.state == 'X' || stat.state == 'x')
                return HN_TASK_GONE;
        *ret = (struct hn_task_key){ .tid = tid, .start = stat.start };
        return 0;
}

int hn_task_verify(int proc_fd, const struct hn_task_key *key) {
        struct hn_task_key now;
        int r = hn_task_key_read(proc_fd, key->tid, &now);

        if (r != 0)
                return r;
        return now.start == key->start ? 0 : HN_TASK_GONE;
}
