/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/mask.h"

/* Memory policies by system call: set_mempolicy(2), mbind(2) and get_mempolicy(2). The numbers are the
 * kernel's, given here because its headers and libnuma learn of new ones later than it does. */
enum {
        HN_MPOL_DEFAULT,
        HN_MPOL_PREFERRED,
        HN_MPOL_BIND,
        HN_MPOL_INTERLEAVE,
        HN_MPOL_LOCAL,
        HN_MPOL_PREFERRED_MANY,      /* Linux 5.15 */
        HN_MPOL_WEIGHTED_INTERLEAVE, /* Linux 6.9 */
        _HN_MPOL_MAX,
};

/* Linux 5.12, with HN_MPOL_BIND: the kernel's NUMA balancing goes on within the nodes. */
#define HN_MPOL_F_NUMA_BALANCING (1u << 13)
#define HN_MPOL_F_RELATIVE_NODES (1u << 14)
#define HN_MPOL_F_STATIC_NODES   (1u << 15)

struct hn_mempolicy {
        int mode;             /* HN_MPOL_*, or one that this program does not know */
        unsigned flags;       /* HN_MPOL_F_* */
        struct hn_mask nodes; /* empty for HN_MPOL_DEFAULT and HN_MPOL_LOCAL */
};

#define HN_MEMPOLICY_NULL ((struct hn_mempolicy){})

/* "bind"; NULL for a mode that is not known. */
const char *hn_mempolicy_name(int mode);

/* The first Linux that has this mode and these flags, "5.15"; NULL if all do that homenode runs on. */
const char *hn_mempolicy_since(int mode, unsigned flags);

/* Of the calling thread, for what it allocates from now on, and kept by execve(2). Returns 0; -EOPNOTSUPP
 * where the kernel does not know the mode or a flag; -ENOSYS where it has no NUMA; -EINVAL for nodes that
 * make no sense with the mode or of which none may be used; -EPERM. */
int hn_mempolicy_set(const struct hn_mempolicy *p);
int hn_mempolicy_get(struct hn_mempolicy *ret);

/* The node where the next page goes while an interleaving policy is set; -EINVAL else. */
int hn_mempolicy_next(unsigned *ret_node);

/* Of mapped memory, page-aligned. `strict`: -EIO if pages are there already that lie elsewhere. */
int hn_mempolicy_set_range(void *start, size_t length, const struct hn_mempolicy *p, bool strict);
int hn_mempolicy_get_at(const void *address, struct hn_mempolicy *ret);

/* The node of the page at an address, which is brought in if it is not there. */
int hn_mempolicy_node_at(const void *address, unsigned *ret_node);
