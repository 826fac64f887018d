/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>

#include "base/macro.h"
#include "policy/nearby.h"

static const char *const type_names[_HN_TOPOLOGY_MAX] = {
        [HN_TOPOLOGY_DIRECT] = "direct",
        [HN_TOPOLOGY_MESH] = "mesh",
        [HN_TOPOLOGY_BACKPLANE] = "backplane",
};

const char *hn_topology_type_to_string(enum hn_topology_type t) {
        return (size_t) t < HN_ELEMENTS(type_names) ? type_names[t] : NULL;
}

/* The largest distance below `below` between two nodes, that of a node to itself for none. */
static unsigned largest_distance(const struct hn_topology *t, unsigned below) {
        unsigned largest = HN_DISTANCE_LOCAL;

        for (hn_node_index i = 0; i < t->n_nodes; i++)
                for (hn_node_index k = 0; k < t->n_nodes; k++) {
                        unsigned d = hn_topology_distance(t, i, k);

                        if (d < below)
                                largest = HN_MAX(largest, d);
                }
        return largest;
}

static bool has_go_between(const struct hn_topology *t, hn_node_index a, hn_node_index b, unsigned distance) {
        for (hn_node_index i = 0; i < t->n_nodes; i++)
                if (hn_topology_distance(t, a, i) < distance && hn_topology_distance(t, i, b) < distance &&
                    i != a && i != b)
                        return true;
        return false;
}

enum hn_topology_type hn_topology_type(const struct hn_topology *t) {
        unsigned far = largest_distance(t, UINT32_MAX), next = largest_distance(t, far);

        /* Local and one other. */
        if (next <= HN_DISTANCE_LOCAL)
                return HN_TOPOLOGY_DIRECT;
        for (hn_node_index a = 0; a < t->n_nodes; a++)
                for (hn_node_index b = 0; b < t->n_nodes; b++)
                        if (hn_topology_distance(t, a, b) == far && t->nodes[a].n_cpus > 0 &&
                            t->nodes[b].n_cpus > 0)
                                return has_go_between(t, a, b, far) ? HN_TOPOLOGY_MESH
                                                                    : HN_TOPOLOGY_BACKPLANE;
        return HN_TOPOLOGY_DIRECT;
}

uint64_t hn_near(const struct hn_topology *t, enum hn_topology_type type, const uint64_t *faults,
                 hn_node_index node, unsigned limit) {
        unsigned far = largest_distance(t, UINT32_MAX);
        uint64_t near = 0;

        if (type == HN_TOPOLOGY_DIRECT)
                return 0;
        for (hn_node_index i = 0; i < t->n_nodes; i++) {
                unsigned d = hn_topology_distance(t, node, i);

                if (i == node || d >= far)
                        continue;
                if (type == HN_TOPOLOGY_MESH)
                        near += (uint64_t) ((unsigned __int128) faults[i] * (far - d) /
                                            (far - HN_DISTANCE_LOCAL));
                else if (d < limit)
                        near += faults[i];
        }
        return near;
}

/* The best by its own faults and, in a mesh, by those around it. */
static hn_node_index best_node(const struct hn_topology *t, enum hn_topology_type type,
                               const uint64_t *faults) {
        hn_node_index best = HN_NODE_NONE;
        uint64_t most = 0;

        for (hn_node_index i = 0; i < t->n_nodes; i++) {
                uint64_t here = faults[i] + hn_near(t, type, faults, i, HN_DISTANCE_LOCAL);

                if (here > most) {
                        most = here;
                        best = i;
                }
        }
        return best;
}

/* The nodes of `among` that are nearer to `node` than `distance`, itself included. */
static struct hn_mask group_of(const struct hn_topology *t, const struct hn_mask *among, hn_node_index node,
                               unsigned distance) {
        struct hn_mask group = HN_MASK_NULL;

        for (unsigned i = hn_mask_next(among, 0); i != HN_MASK_NONE; i = hn_mask_next(among, i + 1))
                if (i == (unsigned) node || hn_topology_distance(t, node, (hn_node_index) i) < distance)
                        (void) hn_mask_add(&group, i);
        return group;
}

static uint64_t faults_of(const struct hn_mask *group, const uint64_t *faults) {
        uint64_t sum = 0;

        for (unsigned i = hn_mask_next(group, 0); i != HN_MASK_NONE; i = hn_mask_next(group, i + 1))
                sum += faults[i];
        return sum;
}

/* One step inwards. Returns the group with most faults, empty if there are none. */
static struct hn_mask best_group(const struct hn_topology *t, const struct hn_mask *among,
                                 const uint64_t *faults, unsigned distance) {
        struct hn_mask left = *among, best = HN_MASK_NULL;
        uint64_t most = 0;

        for (unsigned i = hn_mask_next(&left, 0); i != HN_MASK_NONE; i = hn_mask_next(&left, i + 1)) {
                struct hn_mask group = group_of(t, &left, (hn_node_index) i, distance);
                uint64_t sum = faults_of(&group, faults);

                if (sum > most) {
                        most = sum;
                        best = group;
                }
                left = hn_mask_andnot(&left, &group);
        }
        return best;
}

hn_node_index hn_preferred_together(const struct hn_topology *t, enum hn_topology_type type,
                                    const uint64_t *faults, hn_node_index current) {
        struct hn_mask among = HN_MASK_NULL;
        hn_node_index best;

        if (type != HN_TOPOLOGY_BACKPLANE) {
                best = best_node(t, type, faults);
                return best == HN_NODE_NONE ? current : best;
        }
        for (unsigned i = 0; i < t->n_nodes; i++)
                (void) hn_mask_add(&among, i);
        for (unsigned d = largest_distance(t, UINT32_MAX); d > HN_DISTANCE_LOCAL;
             d = largest_distance(t, d)) {
                among = best_group(t, &among, faults, d);
                if (hn_mask_empty(&among))
                        return current;
        }
        return (hn_node_index) hn_mask_next(&among, 0);
}
