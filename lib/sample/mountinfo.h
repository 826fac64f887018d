/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/* One line of /proc/PID/mountinfo, proc(5). The parts point into the line; `root` and `point` are still
 * escaped. */
struct hn_text {
        const char *p;
        size_t n;
};

struct hn_mount {
        struct hn_text root;    /* the folder of that file system which is mounted, "/" for all of it */
        struct hn_text point;   /* where */
        struct hn_text type;    /* "cgroup2", "cgroup", "ext4" */
        struct hn_text options; /* of the file system, "rw,cpuset,noprefix" */
};

/* Any number of optional fields may stand before the lone "-". Returns 0 or -EBADMSG. */
int hn_mount_parse(const char *line, size_t n, struct hn_mount *ret);

/* Undoes the octal escapes (\040 for a space) of `text` into `buf`, NUL-terminated.
 * Returns the length, or -ENAMETOOLONG if it does not fit. */
int hn_mount_unescape(struct hn_text text, char *buf, size_t size);
