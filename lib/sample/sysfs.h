/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "base/mask.h"
#include "sample/sysroot.h"

/* What /sys/devices/system says about CPUs and nodes, as text. A file that is not there, cannot be read or
 * makes no sense is a value here, HN_SYSFS_ABSENT: kernels differ, captures have holes, and both are
 * ordinary. */
enum {
        _HN_SYSFS_OK,
        HN_SYSFS_ABSENT, /* the file says nothing */
};

/* No kernel has more nodes (MAX_NUMNODES is 1 << 10 at most). */
#define HN_SYSFS_NODES_MAX 1024u

/* parsers */

/* "00000000,0000ffff": hexadecimal words of 32 bits, the highest first, the first one possibly shorter.
 * Returns 0, -EINVAL for other text, -ERANGE for an id past HN_MASK_BITS. The empty text is the empty set. */
int hn_cpumap_parse(const char *text, size_t n, struct hn_mask *ret);

/* "10 16 22": one row of distances into `row`, at most `size` of them.
 * Returns 0, -EINVAL for a word that is no number, -ERANGE for a number or a row that does not fit. */
int hn_distances_parse(const char *text, size_t n, unsigned *row, size_t size, size_t *ret_n);

/* "node12" is 12, "memory_tier4" is 4 for their prefixes. Returns 0 or -EINVAL. */
int hn_numbered_name_parse(const char *name, const char *prefix, unsigned *ret);

/* readers: 0, HN_SYSFS_ABSENT, or -ENOMEM */

/* A list such as cpu/online, relative to the root. Empty or with nothing but a newline it is the empty
 * set. */
int hn_sysfs_read_list(const struct hn_sysroot *root, const char *path, struct hn_mask *ret);

/* Ids of the online nodes: node/online, else the folders node0, node1, ... that are there. */
int hn_sysfs_read_node_ids(const struct hn_sysroot *root, struct hn_mask *ret);

/* CPUs that a node claims, offline ones included: its cpulist, else its cpumap. */
int hn_sysfs_read_node_cpus(const struct hn_sysroot *root, unsigned id, struct hn_mask *ret);

/* A node's row of distances. */
int hn_sysfs_read_node_distances(const struct hn_sysroot *root, unsigned id, unsigned *row, size_t size,
                                 size_t *ret_n);
