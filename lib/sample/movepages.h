/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <errno.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* move_pages(2), for which there is no function but libnuma's. That library reads half of /sys and sets the
 * memory policy of the process whenever a program starts that is linked to it: more than all the rest of a
 * short program's start. */

/* Only pages that no other process has, from include/uapi/linux/mempolicy.h. */
#define HN_MOVE_PAGES_OWN 2

/* Moves, or with `nodes` NULL only asks where they are. Returns the number of pages that were not moved, or
 * -errno. */
static inline long hn_move_pages(pid_t pid, size_t n, void *const *addresses, const int *nodes, int *status,
                                 int flags) {
        long k = syscall(SYS_move_pages, pid, n, addresses, nodes, status, flags);

        return k < 0 ? -errno : k;
}
