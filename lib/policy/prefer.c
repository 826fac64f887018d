/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/assign.h"
#include "policy/prefer.h"

/* By index: whether the node, or one without CPUs that it is the nearest to, is preferred. */
static bool is_preferred(const struct hn_topology *topo, const struct hn_mask *prefer, hn_node_index node) {
        for (unsigned id = hn_mask_next(prefer, 0); id != HN_MASK_NONE; id = hn_mask_next(prefer, id + 1)) {
                hn_node_index near = hn_topology_index(topo, id);

                if (near != HN_NODE_NONE && hn_topology_nearest_with_cpus(topo, near) == node)
                        return true;
        }
        return false;
}

void hn_prefer_add(const struct hn_topology *topo, const struct hn_mask *prefer, uint32_t bonus,
                   uint32_t *score) {
        for (hn_node_index i = 0; i < topo->n_nodes; i++)
                if (score[i] != HN_SCORE_FORBIDDEN && is_preferred(topo, prefer, i))
                        score[i] += bonus;
}

void hn_prefer_remove(const struct hn_topology *topo, const struct hn_mask *prefer, uint32_t bonus,
                      uint32_t *score) {
        for (hn_node_index i = 0; i < topo->n_nodes; i++)
                if (score[i] != HN_SCORE_FORBIDDEN && is_preferred(topo, prefer, i))
                        score[i] -= bonus;
}

/* What its memory alone says for a node. */
static uint32_t plain(const struct hn_topology *topo, const struct hn_mask *prefer, uint32_t bonus,
                      const uint32_t *score, hn_node_index node) {
        if (node == HN_NODE_NONE || score[node] == HN_SCORE_FORBIDDEN)
                return 0;
        return score[node] - (is_preferred(topo, prefer, node) ? bonus : 0);
}

bool hn_prefer_decides(const struct hn_topology *topo, const struct hn_mask *prefer, uint32_t bonus,
                       const uint32_t *score, hn_node_index node, hn_node_index from, uint32_t margin) {
        uint32_t here;

        if (node == HN_NODE_NONE || !is_preferred(topo, prefer, node))
                return false;
        here = plain(topo, prefer, bonus, score, node);
        if (node != from && here < plain(topo, prefer, bonus, score, from) + margin)
                return true;
        for (hn_node_index i = 0; i < topo->n_nodes; i++)
                if (plain(topo, prefer, bonus, score, i) >= here + margin)
                        return true;
        return false;
}
