/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "sample/procfs.h"
#include "sample/procid.h"
#include "sample/sysroot.h"
#include "sample/taskref.h"

#define DELETED " (deleted)"

void hn_proc_id_deinit(struct hn_proc_id *id) {
        free(id->exe);
        *id = HN_PROC_ID_NULL;
}

bool hn_proc_id_exe_denied(const struct hn_proc_id *id) {
        return id->exe_error == -EACCES || id->exe_error == -EPERM;
}

static int read_stat(int proc_fd, struct hn_proc_id *id) {
        struct hn_proc_stat stat;
        char buf[2048]; /* as in hn_task_key_read() */
        ssize_t n;
        int r;

        n = hn_read_at(proc_fd, buf, sizeof(buf), "%d/task/%d/stat", id->pid, id->pid);
        if (n < 0)
                return hn_is_gone((int) n) ? HN_TASK_GONE : (int) n;
        r = hn_proc_stat_parse(buf, (size_t) n, &stat);
        if (r < 0)
                return r;
        id->start = stat.start;
        id->kthread = (stat.flags & HN_PF_KTHREAD) != 0;
        memcpy(id->comm, stat.comm, sizeof(id->comm));
        return 0;
}

static void read_user(int proc_fd, struct hn_proc_id *id) {
        struct hn_proc_status status;
        char buf[16384];
        ssize_t n = hn_read_at(proc_fd, buf, sizeof(buf), "%d/task/%d/status", id->pid, id->pid);

        if (n < 0 || hn_proc_status_parse(buf, (size_t) n, &status) < 0)
                return;
        id->has_uid = status.has_uid;
        id->uid = status.uid;
}

/* Where a program was replaced, as by an upgrade, what runs is still that program to everybody. */
static size_t without_deleted(const char *path, size_t n) {
        size_t length = strlen(DELETED);

        return n > length && memcmp(path + n - length, DELETED, length) == 0 ? n - length : n;
}

static int read_exe(int proc_fd, pid_t tid, const struct hn_privilege *privilege, struct hn_proc_id *id) {
        char name[64], path[PATH_MAX];
        ssize_t n;
        int r;

        (void) snprintf(name, sizeof(name), "%d/task/%d/exe", id->pid, tid);
        r = hn_privilege_raise(privilege);
        if (r < 0) {
                id->exe_error = r;
                return 0;
        }
        n = readlinkat(proc_fd, name, path, sizeof(path));
        id->exe_error = n < 0 ? -errno : 0;
        hn_privilege_lower(privilege);
        if (n < 0)
                return 0;
        if ((size_t) n == sizeof(path)) {
                id->exe_error = -ENAMETOOLONG;
                return 0;
        }
        id->exe = strndup(path, without_deleted(path, (size_t) n));
        return id->exe ? 0 : -ENOMEM;
}

int hn_proc_id_read(int proc_fd, pid_t pid, pid_t tid, unsigned wants, const struct hn_privilege *privilege,
                    struct hn_proc_id *ret) {
        _hn_cleanup_(hn_proc_id_deinit) struct hn_proc_id id = { .pid = pid };
        int r;

        r = read_stat(proc_fd, &id);
        if (r == 0 && (wants & HN_PROC_ID_EXE))
                r = read_exe(proc_fd, tid, privilege, &id);
        if (r != 0)
                return r;
        if (wants & HN_PROC_ID_USER)
                read_user(proc_fd, &id);
        *ret = id;
        id = HN_PROC_ID_NULL;
        return 0;
}
