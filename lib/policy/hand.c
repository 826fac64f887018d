/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/hand.h"

struct hn_mask hn_hand_mask(const struct hn_topology *topo, const struct hn_mask *nodes,
                            const struct hn_mask *cpus, const struct hn_mask *cpuset) {
        struct hn_mask m = HN_MASK_NULL;

        for (hn_node_index i = 0; i < topo->n_nodes; i++)
                if (hn_mask_has(nodes, topo->nodes[i].id))
                        m = hn_mask_or(&m, &topo->nodes[i].usable);
        if (!hn_mask_empty(cpus))
                m = hn_mask_and(&m, cpus);
        return hn_mask_and(&m, cpuset);
}
