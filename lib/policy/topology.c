/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "policy/topology.h"

/* What SLIT-less machines are given by the kernel as well (REMOTE_DISTANCE). */
#define REMOTE_DISTANCE 20u

void hn_topology_deinit(struct hn_topology *t) {
        free(t->nodes);
        free(t->distances);
        free(t->cpu_node);
        free(t->devices);
        *t = HN_TOPOLOGY_NULL;
}

int hn_topology_init(struct hn_topology *t, size_t n_nodes, size_t n_cpu_ids) {
        struct hn_topology n = { .n_nodes = n_nodes, .n_cpu_ids = n_cpu_ids };

        /* At least one, so that an empty machine is not mistaken for a failed allocation. */
        n.nodes = calloc(HN_MAX(n_nodes, 1u), sizeof(*n.nodes));
        n.distances = calloc(HN_MAX(n_nodes * n_nodes, 1u), sizeof(*n.distances));
        n.cpu_node = calloc(HN_MAX(n_cpu_ids, 1u), sizeof(*n.cpu_node));
        if (!n.nodes || !n.distances || !n.cpu_node) {
                hn_topology_deinit(&n);
                return -ENOMEM;
        }
        for (size_t from = 0; from < n_nodes; from++)
                for (size_t to = 0; to < n_nodes; to++)
                        n.distances[from * n_nodes + to] = from == to ? HN_DISTANCE_LOCAL : REMOTE_DISTANCE;
        for (size_t i = 0; i < n_cpu_ids; i++)
                n.cpu_node[i] = HN_NODE_NONE;
        *t = n;
        return 0;
}

hn_node_index hn_topology_index(const struct hn_topology *t, unsigned id) {
        size_t low = 0, high = t->n_nodes;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (t->nodes[middle].id < id)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < t->n_nodes && t->nodes[low].id == id ? (hn_node_index) low : HN_NODE_NONE;
}

hn_node_index hn_topology_node_of_cpu(const struct hn_topology *t, int cpu) {
        return cpu < 0 || (size_t) cpu >= t->n_cpu_ids ? HN_NODE_NONE : t->cpu_node[cpu];
}

unsigned hn_topology_distance(const struct hn_topology *t, hn_node_index from, hn_node_index to) {
        assert(from < t->n_nodes && to < t->n_nodes);
        return t->distances[from * t->n_nodes + to];
}

bool hn_topology_is_numa(const struct hn_topology *t) {
        size_t n = 0;

        for (size_t i = 0; i < t->n_nodes; i++)
                n += t->nodes[i].n_cpus > 0;
        return n >= 2;
}

hn_node_index hn_topology_nearest_with_cpus(const struct hn_topology *t, hn_node_index node) {
        hn_node_index best = HN_NODE_NONE;

        if (node >= t->n_nodes)
                return HN_NODE_NONE;
        if (t->nodes[node].n_cpus > 0)
                return node;
        for (hn_node_index i = 0; i < t->n_nodes; i++)
                if (t->nodes[i].n_cpus > 0 &&
                    (best == HN_NODE_NONE ||
                     hn_topology_distance(t, node, i) < hn_topology_distance(t, node, best)))
                        best = i;
        return best;
}

struct hn_mask hn_topology_unrestricted(const struct hn_topology *t) {
        return hn_mask_andnot(&t->possible, &t->isolated);
}
