/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "base/macro.h"
#include "policy/assign.h"

static uint32_t worth(const struct hn_unit *u, const uint32_t *score, hn_node_index node) {
        return score[node] + (node == u->incumbent ? u->bonus : 0);
}

/* The most it can have anywhere, and in `*ret_second` the next best: their distance is what it loses if its
 * best node is taken. */
static uint32_t most_worth(const struct hn_unit *u, const uint32_t *score, size_t n_nodes,
                           uint32_t *ret_second) {
        uint32_t best = 0, second = 0;

        for (hn_node_index i = 0; i < n_nodes; i++) {
                uint32_t w;

                if (score[i] == HN_SCORE_FORBIDDEN)
                        continue;
                w = worth(u, score, i);
                if (w > best) {
                        second = best;
                        best = w;
                } else if (w > second)
                        second = w;
        }
        if (ret_second)
                *ret_second = second;
        return best;
}

static hn_node_index best_score(const uint32_t *score, size_t n_nodes) {
        hn_node_index best = HN_NODE_NONE;

        for (size_t i = 0; i < n_nodes; i++)
                if (score[i] != HN_SCORE_FORBIDDEN && (best == HN_NODE_NONE || score[i] > score[best]))
                        best = (hn_node_index) i;
        return best;
}

static int unit_compare(const void *a, const void *b) {
        const struct hn_unit *x = *(struct hn_unit *const *) a, *y = *(struct hn_unit *const *) b;
        int r;

        r = HN_CMP(y->fixed, x->fixed);
        if (r == 0)
                r = HN_CMP(y->regret, x->regret);
        if (r == 0)
                r = HN_CMP(y->demand, x->demand);
        return r != 0 ? r : HN_CMP(x, y);
}

/* Total demand and capacity decide by how much all nodes are overbooked. Returns thousandths, at least 1000.
 */
static uint64_t overbooking(const struct hn_unit *units, size_t n_units, const uint32_t *capacity,
                            size_t n_nodes) {
        uint64_t demand = 0, total = 0;

        for (size_t i = 0; i < n_units; i++)
                demand += units[i].demand;
        for (size_t i = 0; i < n_nodes; i++)
                total += capacity[i];
        return total == 0 || demand <= total ? 1000 : (demand * 1000 + total - 1) / total;
}

/* What the nodes can give, seen by newcomers and by those in their places. */
struct rooms {
        const uint32_t *capacity, *lasting;
        uint64_t overbook, overbook_lasting;
};

static uint64_t room_on(const struct hn_unit *u, hn_node_index node, const struct rooms *rooms) {
        return u->urgent || (node == u->incumbent && u->placed)
                       ? rooms->lasting[node] * rooms->overbook_lasting / 1000 + HN_ASSIGN_STAY_SLACK
                       : rooms->capacity[node] * rooms->overbook / 1000 + HN_ASSIGN_SLACK;
}

static hn_node_index choose(const struct hn_topology *topo, const struct hn_unit *u, const uint32_t *score,
                            const struct rooms *rooms, const uint32_t *used) {
        hn_node_index home = best_score(score, topo->n_nodes), best = HN_NODE_NONE;
        uint32_t best_worth = 0;
        uint64_t best_room = 0;
        unsigned best_distance = 0;

        for (hn_node_index i = 0; i < topo->n_nodes; i++) {
                uint64_t room = room_on(u, i, rooms);
                unsigned distance;
                uint32_t w;

                if (score[i] == HN_SCORE_FORBIDDEN || rooms->capacity[i] + rooms->lasting[i] == 0 ||
                    used[i] + u->demand > room)
                        continue;
                /* Where scores tie it stays, else goes as near to its memory as it can, else where there is
                 * most room: the last two as one figure would let a far node win over a near one. */
                w = worth(u, score, i);
                distance = hn_topology_distance(topo, home, i);
                if (best == HN_NODE_NONE || w > best_worth ||
                    (w == best_worth && best != u->incumbent &&
                     (i == u->incumbent || distance < best_distance ||
                      (distance == best_distance && room - used[i] > best_room)))) {
                        best = i;
                        best_room = room - used[i];
                        best_worth = w;
                        best_distance = distance;
                }
        }
        return best;
}

/* One way through the units nobody has placed yet. Returns how many remain. */
static size_t place(const struct hn_topology *topo, struct hn_unit **order, size_t n_units,
                    const uint32_t *scores, const struct rooms *rooms, uint32_t *used,
                    bool (*content)(const struct hn_topology *, const struct hn_unit *, const uint32_t *,
                                    hn_node_index)) {
        size_t n_left = 0;

        for (size_t i = 0; i < n_units; i++) {
                struct hn_unit *u = order[i];
                const uint32_t *score = &scores[u->score];
                hn_node_index node = u->fixed ? u->incumbent : choose(topo, u, score, rooms, used);

                if (!u->fixed && !content(topo, u, score, node)) {
                        order[n_left++] = u;
                        continue;
                }
                u->result = node;
                if (node != HN_NODE_NONE)
                        used[node] += u->demand;
        }
        return n_left;
}

static bool gets_its_best(const struct hn_topology *topo, const struct hn_unit *u, const uint32_t *score,
                          hn_node_index node) {
        uint32_t best = most_worth(u, score, topo->n_nodes, NULL);

        return node != HN_NODE_NONE && best > 0 && worth(u, score, node) == best;
}

static bool may_stay(const struct hn_topology *topo, const struct hn_unit *u, const uint32_t *score,
                     hn_node_index node) {
        (void) topo;
        (void) score;
        return node != HN_NODE_NONE && node == u->incumbent;
}

static bool takes_anything(const struct hn_topology *topo, const struct hn_unit *u, const uint32_t *score,
                           hn_node_index node) {
        (void) topo;
        (void) u;
        (void) score;
        (void) node;
        return true;
}

/* By how much a node is overbooked with the unit on it, in the long run. */
static int64_t overbooked_by(const struct hn_unit *u, hn_node_index node, const struct rooms *rooms,
                             const uint32_t *used) {
        return (int64_t) used[node] + u->demand -
               (int64_t) (rooms->lasting[node] * rooms->overbook_lasting / 1000);
}

/* A unit that fits nowhere stays where it was placed unless some node would be clearly less overbooked: then
 * it is let go, and the kernel takes it there, also where our own rules would not. */
static void stay_or_go(const struct hn_topology *topo, struct hn_unit *u, const struct rooms *rooms,
                       uint32_t *used) {
        int64_t here = overbooked_by(u, u->incumbent, rooms, used);

        for (hn_node_index i = 0; i < topo->n_nodes; i++)
                if (topo->nodes[i].n_cores > 0 &&
                    overbooked_by(u, i, rooms, used) + HN_ASSIGN_STAY_SLACK < here)
                        return;
        u->result = u->incumbent;
        used[u->result] += u->demand;
}

void hn_assign(const struct hn_topology *topo, struct hn_unit *units, size_t n_units, const uint32_t *scores,
               const uint32_t *capacity, const uint32_t *lasting, uint32_t *used, struct hn_unit **order) {
        const struct rooms rooms = {
                .capacity = capacity,
                .lasting = lasting,
                .overbook = overbooking(units, n_units, capacity, topo->n_nodes),
                .overbook_lasting = overbooking(units, n_units, lasting, topo->n_nodes),
        };
        size_t n = n_units;

        for (size_t i = 0; i < topo->n_nodes; i++)
                used[i] = 0;
        for (size_t i = 0; i < n_units; i++) {
                uint32_t second;

                units[i].result = HN_NODE_NONE;
                units[i].regret = most_worth(&units[i], &scores[units[i].score], topo->n_nodes, &second);
                units[i].regret -= second;
                order[i] = &units[i];
        }
        qsort(order, n_units, sizeof(*order), unit_compare);

        /* A unit that finds its best node full must not push others off theirs: it waits until they have
         * chosen. */
        n = place(topo, order, n, scores, &rooms, used, gets_its_best);
        n = place(topo, order, n, scores, &rooms, used, may_stay);
        place(topo, order, n, scores, &rooms, used, takes_anything);
        for (size_t i = 0; i < n_units; i++)
                if (units[i].result == HN_NODE_NONE && units[i].placed &&
                    scores[units[i].score + units[i].incumbent] != HN_SCORE_FORBIDDEN)
                        stay_or_go(topo, &units[i], &rooms, used);
}
