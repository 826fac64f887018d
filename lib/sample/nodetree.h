/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "policy/snapshot.h"
#include "policy/topology.h"
#include "sample/sysroot.h"

/* The nodes by the kernel's own words alone, without hwloc: a few dozen small files, for those who must
 * answer at once. machine.h has the whole machine. */

/* Reads nodes, CPUs, distances, tiers and memory below `root`, and what of the memory is free. Cores, caches,
 * packages and devices are not asked for: a CPU counts as a core, a node with CPUs has one cache, packages
 * are all 0. Without node folders there is one node with all CPUs and all memory.
 *
 * Returns 0; -ENOMEM; or -ENODEV for a root with no CPU in it. The caller deinits `*ret` and frees
 * `*ret_load`, one entry a node, whose `busy` is 0. */
int hn_nodetree_read(const struct hn_sysroot *root, struct hn_topology *ret, struct hn_node_load **ret_load);

/* parts of it, which machine.c has in common */

/* Gives node `i` those of its claimed CPUs that are online and on no node before it. */
void hn_nodetree_settle(struct hn_topology *t, hn_node_index i, const struct hn_mask *claimed);

/* What is left of a node's CPUs without the isolated and the nohz_full ones. */
struct hn_mask hn_nodetree_usable(const struct hn_topology *t, hn_node_index i);

/* Fills the matrix (n_nodes x n_nodes) by the node folders. Returns 1 where the whole of it could be read, 0
 * where not, or -ENOMEM. */
int hn_nodetree_distances(const struct hn_sysroot *root, const struct hn_topology *t, unsigned *matrix);

/* Takes a matrix over into the topology, if it makes sense. */
void hn_nodetree_set_distances(struct hn_topology *t, const unsigned *matrix);
