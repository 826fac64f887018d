/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/parse.h"
#include "sample/procfs.h"
#include "sample/subject.h"

/* A status of 8,192 CPUs and as many nodes in masks and lists. */
#define STATUS_MAX 65536

/* Real, effective, saved (and file system) user ids. */
static int parse_uids(const char *text, size_t n, struct hn_subject *s) {
        uid_t *const want[] = { &s->real, &s->effective, &s->saved };
        const char *word;
        size_t length;

        for (size_t i = 0; i < HN_ELEMENTS(want); i++) {
                unsigned v;

                if (!hn_next_word(&text, &n, &word, &length) || hn_parse_unsigned(word, length, &v) < 0)
                        return -EBADMSG;
                *want[i] = v;
        }
        return 0;
}

/* Whether a set of capabilities, hexadecimal digits, is empty. What is no such text is not. */
static bool is_no_capability(const char *text, size_t n) {
        hn_trim(&text, &n);
        for (size_t i = 0; i < n; i++)
                if (text[i] != '0')
                        return false;
        return n > 0;
}

int hn_subject_parse_status(const char *buf, size_t n, struct hn_subject *ret) {
        bool has_tgid = false, has_uids = false, no_permitted = false, no_effective = false;
        struct hn_subject s = *ret;
        const char *line;
        size_t length;

        while (hn_next_line(&buf, &n, &line, &length)) {
                const char *colon = memchr(line, ':', length), *value;
                size_t rest;
                unsigned v;

                if (!colon)
                        continue;
                value = colon + 1;
                rest = length - (size_t) (value - line);
                if (hn_has_prefix(line, length, "Tgid:")) {
                        if (hn_parse_unsigned(value, rest, &v) < 0 || v == 0 || v > INT32_MAX)
                                return -EBADMSG;
                        s.tgid = (pid_t) v;
                        has_tgid = true;
                } else if (hn_has_prefix(line, length, "Uid:")) {
                        if (parse_uids(value, rest, &s) < 0)
                                return -EBADMSG;
                        has_uids = true;
                } else if (hn_has_prefix(line, length, "CapPrm:"))
                        no_permitted = is_no_capability(value, rest);
                else if (hn_has_prefix(line, length, "CapEff:"))
                        no_effective = is_no_capability(value, rest);
        }
        if (!has_tgid || !has_uids)
                return -EBADMSG;
        s.privileged = !no_permitted || !no_effective;
        *ret = s;
        return 0;
}

static int read_below(int dir, struct hn_subject *ret) {
        _hn_cleanup_(hn_freep) char *status = NULL;
        struct hn_subject s = { .tgid = 0 };
        struct hn_proc_stat stat;
        char buf[2048];
        ssize_t n;
        int r;

        n = hn_read_at(dir, buf, sizeof(buf), "stat");
        if (n < 0)
                return (int) n;
        r = hn_proc_stat_parse(buf, (size_t) n, &stat);
        if (r < 0)
                return r;
        if (stat.state == 'Z' || stat.state == 'X')
                return -ESRCH;
        n = hn_read_all_at(dir, STATUS_MAX, &status, "status");
        if (n < 0)
                return (int) n;
        r = hn_subject_parse_status(status, (size_t) n, &s);
        if (r < 0)
                return r;
        s.key = (struct hn_task_key){ .tid = stat.tid, .start = stat.start };
        s.kernel = stat.flags & HN_PF_KTHREAD;
        memcpy(s.comm, stat.comm, sizeof(s.comm));
        *ret = s;
        return 0;
}

int hn_subject_read(const struct hn_sysroot *root, pid_t tid, struct hn_subject *ret) {
        char path[32];
        int dir, r;

        (void) snprintf(path, sizeof(path), "proc/%d", tid);
        dir = openat(root->fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
                return errno == ENOENT || errno == ENOTDIR ? -ESRCH : -errno;
        r = read_below(dir, ret);
        (void) close(dir);
        return hn_is_gone(r) ? -ESRCH : r;
}

bool hn_subject_is_of(const struct hn_subject *s, uid_t uid) {
        return !s->kernel && !s->privileged && s->real == uid && s->effective == uid && s->saved == uid;
}
