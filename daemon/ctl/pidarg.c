/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "pidarg.h"
#include "sample/procfs.h"
#include "verb.h"

int hn_pid_parse(const char *text, pid_t *ret) {
        unsigned pid;

        if (hn_parse_unsigned(text, strlen(text), &pid) < 0 || pid == 0 || pid > INT32_MAX) {
                hn_complain("\"%s\" is no process id; \"homenode ps\" lists them", text);
                return -EINVAL;
        }
        *ret = (pid_t) pid;
        return 0;
}

pid_t hn_pid_process(const struct hn_sysroot *root, pid_t tid) {
        struct hn_proc_status status;
        char buf[16384];
        ssize_t n = hn_read_at(root->fd, buf, sizeof(buf), "proc/%d/status", tid);

        return n >= 0 && hn_proc_status_parse(buf, (size_t) n, &status) == 0 ? status.tgid : tid;
}

void hn_pid_complain_gone(pid_t pid) {
        hn_complain("there is no process %d; \"homenode ps\" lists those there are", pid);
}
