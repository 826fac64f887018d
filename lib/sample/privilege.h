/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/* What a read needs that may look into other people's processes (CAP_SYS_PTRACE for /proc/PID/maps and for
 * asking move_pages). Capabilities are the business of the layer above; it hands the reader this pair of
 * hooks, which are called around single reads. Empty hooks: nothing to do. */
struct hn_privilege {
        int (*raise)(void *userdata);  /* 0 or -errno; -errno means that the read is not tried */
        void (*lower)(void *userdata); /* called after each raise that returned 0 */
        void *userdata;
};

#define HN_PRIVILEGE_NULL ((struct hn_privilege){ .raise = NULL })

static inline int hn_privilege_raise(const struct hn_privilege *p) {
        return p && p->raise ? p->raise(p->userdata) : 0;
}

static inline void hn_privilege_lower(const struct hn_privilege *p) {
        if (p && p->lower)
                p->lower(p->userdata);
}
