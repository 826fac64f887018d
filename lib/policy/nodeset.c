/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/macro.h"
#include "policy/nodeset.h"

/* A set in the making. */
struct set {
        struct hn_mask nodes;
        uint64_t n, room, value, spread; /* the last: sum of the distances from the first node */
};

static void add(const struct hn_topology *topo, struct set *s, hn_node_index first, hn_node_index node,
                const uint32_t *value, const uint64_t *room) {
        (void) hn_mask_add(&s->nodes, node);
        s->n++;
        s->room += room[node];
        s->value += value[node];
        s->spread += hn_topology_distance(topo, first, node);
}

/* The nearest node to `first` that is not in the set yet; of several the most valuable. */
static hn_node_index next_near(const struct hn_topology *topo, const struct set *s, hn_node_index first,
                               const uint32_t *value, const uint64_t *room) {
        hn_node_index best = HN_NODE_NONE;

        for (hn_node_index i = 0; i < topo->n_nodes; i++) {
                unsigned far, best_far;

                if (room[i] < HN_NODESET_ROOM_MIN || hn_mask_has(&s->nodes, i))
                        continue;
                if (best == HN_NODE_NONE) {
                        best = i;
                        continue;
                }
                far = hn_topology_distance(topo, first, i);
                best_far = hn_topology_distance(topo, first, best);
                if (far < best_far || (far == best_far && value[i] > value[best]))
                        best = i;
        }
        return best;
}

/* What the n nodes hold now counts twice, against the n-th part that each thread will have beside it once the
 * memory has followed: a better future elsewhere has to make up for all that is on the way. */
static bool is_better(const struct set *a, const struct set *b) {
        uint64_t mine = (2 * a->value + 1000) * b->n, theirs = (2 * b->value + 1000) * a->n;
        int r = HN_CMP(theirs, mine);

        if (b->n == 0)
                return true;
        if (r == 0)
                r = HN_CMP(a->n, b->n);
        if (r == 0)
                r = HN_CMP(a->spread, b->spread);
        return r < 0;
}

struct hn_mask hn_nodeset(const struct hn_topology *topo, const uint32_t *value, const uint64_t *room,
                          uint64_t demand) {
        struct set best = { .n = 0 };

        for (hn_node_index first = 0; first < topo->n_nodes; first++) {
                struct set s = { .n = 0 };

                if (room[first] < HN_NODESET_ROOM_MIN)
                        continue;
                for (hn_node_index next = first; next != HN_NODE_NONE;
                     next = s.room < demand ? next_near(topo, &s, first, value, room) : HN_NODE_NONE)
                        add(topo, &s, first, next, value, room);
                if (s.room >= demand && is_better(&s, &best))
                        best = s;
        }
        return best.nodes;
}
