/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"
#include "mempolicy.h"

/* Flags of the calls, from include/uapi/linux/mempolicy.h. */
#define F_NODE         1UL
#define F_ADDR         2UL
#define F_MEMS_ALLOWED 4UL
#define MF_STRICT      1UL

#define ALL_FLAGS (HN_MPOL_F_NUMA_BALANCING | HN_MPOL_F_RELATIVE_NODES | HN_MPOL_F_STATIC_NODES)

/* The kernel takes away one of the number of bits it is told. */
#define BITS_TOLD (HN_MASK_BITS + 1UL)

const char *hn_mempolicy_name(int mode) {
        static const char *const names[_HN_MPOL_MAX] = {
                [HN_MPOL_DEFAULT] = "default",
                [HN_MPOL_PREFERRED] = "preferred",
                [HN_MPOL_BIND] = "bind",
                [HN_MPOL_INTERLEAVE] = "interleave",
                [HN_MPOL_LOCAL] = "local",
                [HN_MPOL_PREFERRED_MANY] = "preferred-many",
                [HN_MPOL_WEIGHTED_INTERLEAVE] = "weighted-interleave",
        };

        return mode >= 0 && mode < _HN_MPOL_MAX ? names[mode] : NULL;
}

const char *hn_mempolicy_since(int mode, unsigned flags) {
        if (mode == HN_MPOL_WEIGHTED_INTERLEAVE)
                return "6.9";
        if (mode == HN_MPOL_PREFERRED_MANY)
                return "5.15";
        return flags & HN_MPOL_F_NUMA_BALANCING ? "5.12" : NULL;
}

static int set(int mode, const struct hn_mask *nodes) {
        bool none = hn_mask_empty(nodes);

        return syscall(SYS_set_mempolicy, mode, none ? NULL : nodes->word, none ? 0UL : BITS_TOLD) < 0
                       ? -errno
                       : 0;
}

static int get(const void *address, unsigned long how, struct hn_mempolicy *ret) {
        struct hn_mempolicy p = HN_MEMPOLICY_NULL;
        int mode = 0;

        if (syscall(SYS_get_mempolicy, &mode, p.nodes.word, BITS_TOLD, address, how) < 0)
                return -errno;
        p.flags = (unsigned) mode & ALL_FLAGS;
        p.mode = (int) ((unsigned) mode & ~ALL_FLAGS);
        *ret = p;
        return 0;
}

int hn_mempolicy_get(struct hn_mempolicy *ret) {
        return get(NULL, 0, ret);
}

int hn_mempolicy_get_at(const void *address, struct hn_mempolicy *ret) {
        return get(address, F_ADDR, ret);
}

static int get_node(const void *address, unsigned long how, unsigned *ret_node) {
        int node = 0;

        if (syscall(SYS_get_mempolicy, &node, NULL, 0UL, address, how) < 0)
                return -errno;
        if (node < 0)
                return -ENODATA;
        *ret_node = (unsigned) node;
        return 0;
}

int hn_mempolicy_next(unsigned *ret_node) {
        return get_node(NULL, F_NODE, ret_node);
}

int hn_mempolicy_node_at(const void *address, unsigned *ret_node) {
        return get_node(address, F_NODE | F_ADDR, ret_node);
}

/* Whether the kernel knows mode and flags at all: then it takes them with all nodes that may be used. What
 * was set is put back. */
static bool is_known(int mode, unsigned flags) {
        struct hn_mask allowed = HN_MASK_NULL;
        struct hn_mempolicy mine = HN_MEMPOLICY_NULL;
        bool known;

        if (!hn_mempolicy_since(mode, flags) || hn_mempolicy_get(&mine) < 0 ||
            syscall(SYS_get_mempolicy, NULL, allowed.word, BITS_TOLD, NULL, F_MEMS_ALLOWED) < 0)
                return true;
        known = set(mode | (int) flags, &allowed) != -EINVAL;
        (void) set(mine.mode | (int) mine.flags, &mine.nodes);
        return known;
}

int hn_mempolicy_set(const struct hn_mempolicy *p) {
        int r = set(p->mode | (int) p->flags, &p->nodes);

        return r == -EINVAL && !is_known(p->mode, p->flags) ? -EOPNOTSUPP : r;
}

int hn_mempolicy_set_range(void *start, size_t length, const struct hn_mempolicy *p, bool strict) {
        bool none = hn_mask_empty(&p->nodes);
        int r = 0;

        if (syscall(SYS_mbind, start, length, p->mode | (int) p->flags, none ? NULL : p->nodes.word,
                    none ? 0UL : BITS_TOLD, strict ? MF_STRICT : 0UL) < 0)
                r = -errno;
        return r == -EINVAL && !is_known(p->mode, p->flags) ? -EOPNOTSUPP : r;
}
