/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "base/mask.h"
#include "policy/topology.h"

/* Where tasks that work on the same memory are best off together. One node if they fit on one; else several,
 * near ones first, as each of them then works on the memory of all. The kernel places such tasks one by one
 * and only compares nodes (preferred_group_nid(), kernel/sched/fair.c; heuristics A7); which nodes have room
 * for all of them is homenode's own question. */

/* A node with less room than this takes none of them: half a core, in thousandths. */
#define HN_NODESET_ROOM_MIN 500u

/* The nodes, by index, that have room for `demand` together (thousandths of a core) and are worth most to
 * each thread: of k nodes it has the k-th part of the memory beside it, of what they hold now, and of all of
 * it once the memory has followed. Fewest nodes on ties, then nearest to each other, then lowest index.
 * `value[n]` is what node n holds of the memory, in thousandths; `room[n]` is what it can take, 0 where they
 * may not go. Empty where all nodes together have no room for them. */
struct hn_mask hn_nodeset(const struct hn_topology *topo, const uint32_t *value, const uint64_t *room,
                          uint64_t demand);
