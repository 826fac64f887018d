/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "policy/topology.h"

/* Faults on neighbouring nodes count as well where a machine has more than one kind of "far": heuristics A6,
 * A7 and H1, after the kernel's init_numa_topology_type() (kernel/sched/topology.c), score_nearby_nodes() and
 * preferred_group_nid() (kernel/sched/fair.c). */

enum hn_topology_type {
        HN_TOPOLOGY_DIRECT,    /* every other node is equally far */
        HN_TOPOLOGY_MESH,      /* the far ones are reached by way of nearer ones */
        HN_TOPOLOGY_BACKPLANE, /* groups of near nodes, all else behind one crossing */
        _HN_TOPOLOGY_MAX,
};

const char *hn_topology_type_to_string(enum hn_topology_type t);

enum hn_topology_type hn_topology_type(const struct hn_topology *t);

/* What the faults of other nodes are worth on `node`. Mesh: the less the farther they are, nothing at the
 * greatest distance. Backplane: all of those nearer than `limit`, the distance between the two nodes that are
 * being compared. Direct: nothing. */
uint64_t hn_near(const struct hn_topology *t, enum hn_topology_type type, const uint64_t *faults,
                 hn_node_index node, unsigned limit);

/* The node where tasks that share memory are best off together. Direct: most faults. Mesh: most faults with
 * the neighbours' counted. Backplane: from the widest distance inwards, the group of nodes with most faults,
 * then the best group in it, down to a node: the best node need not be the one with most faults. Lowest index
 * on ties; `current` where there are no faults at all. */
hn_node_index hn_preferred_together(const struct hn_topology *t, enum hn_topology_type type,
                                    const uint64_t *faults, hn_node_index current);
