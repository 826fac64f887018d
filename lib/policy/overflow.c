/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/mask.h"
#include "policy/overflow.h"

static hn_node_index fullest(const struct hn_topology *topo, const uint64_t *pages,
                             const struct hn_mask *seen) {
        hn_node_index best = HN_NODE_NONE;

        for (hn_node_index i = 0; i < topo->n_nodes; i++)
                if (!hn_mask_has(seen, i) && (best == HN_NODE_NONE || pages[i] > pages[best]))
                        best = i;
        return best;
}

uint64_t hn_cores_near(const struct hn_topology *topo, const uint64_t *pages) {
        struct hn_mask seen = HN_MASK_NULL, counted = HN_MASK_NULL; /* by index */
        uint64_t total = 0, found = 0, cores = 0;

        for (size_t i = 0; i < topo->n_nodes; i++)
                total += pages[i];
        if (total == 0)
                return UINT64_MAX;
        while (found * 1000 < total * HN_OVERFLOW_PART) {
                hn_node_index i = fullest(topo, pages, &seen), near = hn_topology_nearest_with_cpus(topo, i);

                (void) hn_mask_add(&seen, i);
                found += pages[i];
                if (near == HN_NODE_NONE || hn_mask_has(&counted, near))
                        continue;
                (void) hn_mask_add(&counted, near);
                cores += topo->nodes[near].n_cores * UINT64_C(1000);
        }
        return cores;
}
