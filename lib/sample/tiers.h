/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base/mask.h"
#include "policy/topology.h"
#include "sample/sysroot.h"

/* Sets the `tier` of each node of `t`, whose CPUs, memory and distances are known by now. Masks are of node
 * indices.
 *
 * Nodes that claim CPUs (`claimed`, offline ones included) are tier 0. Where the kernel sorts memory into
 * tiers (/sys/devices/virtual/memory_tiering/memory_tierN/nodelist, lower N = faster), a node without CPUs
 * gets the number of tiers that its memory lies behind that of the nodes with CPUs. Elsewhere it is tier 1,
 * unless it is known as faster than DRAM (`fast`), has no memory, or is what a memory-less node with CPUs has
 * for its memory: the nearest.
 *
 * `root` NULL: no kernel to ask. Returns 0 or -ENOMEM. */
int hn_tiers_read(const struct hn_sysroot *root, const struct hn_mask *claimed, const struct hn_mask *fast,
                  struct hn_topology *t);
