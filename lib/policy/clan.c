/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "policy/bench.h"
#include "policy/faults.h"
#include "policy/nodeset.h"
#include "policy/prefer.h"

/* Half of a plan's second step: nodes for those who share memory, chosen for all of them, before each thread
 * is given its own. */

/* Who has a place for most of its threads chooses first, then who wants most: a newcomer comes round those
 * that are settled. */
static int clan_compare(const void *a, const void *b) {
        const struct hn_clan *x = a, *y = b;
        int r = HN_CMP(y->held * x->demand, x->held * y->demand);

        if (r == 0)
                r = HN_CMP(y->demand, x->demand);
        return r != 0 ? r : HN_CMP(x->first, y->first);
}

/* What the nodes can take of clans: what is there for all units, overbooked in the same proportion where they
 * ask for more than that, less those who are placed and alone. */
static void find_room(struct hn_plan *p) {
        uint64_t demand = 0, total = 0;

        for (size_t i = 0; i < p->n_units; i++)
                demand += p->units[i].demand;
        for (size_t i = 0; i < p->topo->n_nodes; i++)
                total += p->lasting[i];
        for (size_t i = 0; i < p->topo->n_nodes; i++) {
                p->room[i] = p->lasting[i];
                if (p->room[i])
                        p->room[i] = p->room[i] * HN_MAX(demand, total) / total;
        }
        for (size_t i = 0; i < p->n_units; i++) {
                const struct hn_unit *u = &p->units[i];
                const struct hn_member *m = &p->members[p->crews[i].first];

                if (u->placed && !(m->whole && m->signal == HN_SIGNAL_FAULTS))
                        p->room[u->incumbent] -= HN_MIN(p->room[u->incumbent], (uint64_t) u->demand);
        }
}

/* Where the clan's memory is, into `p->faults`, and where its threads are held, into `p->used`. Returns the
 * sum of the faults. */
static uint64_t look_round(struct hn_plan *p, const struct hn_snapshot *s, const struct hn_clan *c) {
        size_t n = p->topo->n_nodes;
        uint64_t total = 0;

        memset(p->faults, 0, n * sizeof(*p->faults));
        memset(p->used, 0, n * sizeof(*p->used));
        for (size_t k = 0; k < c->n; k++) {
                const struct hn_unit *u = &p->units[c->first + k];
                const struct hn_task_sample *t = &s->tasks[p->members[p->crews[u->tag].first].task];

                if (u->placed)
                        p->used[u->incumbent] += u->demand;
                for (hn_node_index i = 0; t->signal == HN_SIGNAL_FAULTS && i < n; i++) {
                        uint64_t here = s->priv[t->row * n + i] + s->shared[t->row * n + i];
                        hn_node_index near = hn_topology_nearest_with_cpus(p->topo, i);

                        total += here;
                        if (near != HN_NODE_NONE)
                                p->faults[near] += here;
                }
        }
        return total;
}

/* A node that is closed to one of them is closed to all. */
static bool is_closed(const struct hn_plan *p, const struct hn_clan *c, size_t node) {
        for (size_t k = 0; k < c->n; k++)
                if (p->scores[p->units[c->first + k].score + node] == HN_SCORE_FORBIDDEN)
                        return true;
        return false;
}

/* The nodes for a clan, and into `p->share` where its memory is, in thousandths of its faults. */
static struct hn_mask choose(struct hn_plan *p, const struct hn_snapshot *s, const struct hn_clan *c,
                             const struct hn_limits *limits) {
        const struct hn_crew *first = &p->crews[p->units[c->first].tag];
        const struct hn_mask *prefer = &s->scopes[s->tasks[p->members[first->first].task].scope].prefer;
        uint64_t total = look_round(p, s, c);
        size_t n = p->topo->n_nodes;

        memset(p->open, 0, n * sizeof(*p->open));
        for (size_t i = 0; i < n; i++) {
                bool held = p->used[i];

                p->share[i] = p->value[i] = hn_weight(p->faults[i], 0, total);
                if (held)
                        p->value[i] += (uint32_t) (limits->incumbent_bonus * (uint64_t) p->used[i] /
                                                   c->demand);
                if (p->room[i] && !is_closed(p, c, i))
                        p->open[i] = p->room[i] + (held ? HN_ASSIGN_STAY_SLACK : HN_ASSIGN_SLACK);
        }
        hn_prefer_add(p->topo, prefer, HN_PREFER_BONUS, p->value);
        return hn_nodeset(p->topo, p->value, p->open, c->demand);
}

/* On its nodes each thread finds as much as the best node has, or all that they have together; elsewhere,
 * half of what is there: so that it stays with the others even where most of the memory is yet to come. */
static void score(struct hn_plan *p, const struct hn_clan *c, const struct hn_mask *set) {
        size_t n = p->topo->n_nodes;
        uint32_t most = 0;

        for (unsigned i = hn_mask_next(set, 0); i != HN_MASK_NONE; i = hn_mask_next(set, i + 1))
                most += p->share[i];
        for (size_t i = 0; i < n; i++)
                most = HN_MAX(most, p->share[i]);
        for (size_t k = 0; k < c->n; k++) {
                const struct hn_unit *u = &p->units[c->first + k];
                uint32_t *row = &p->scores[u->score];

                p->crews[u->tag].sharing = true;
                for (size_t i = 0; i < n; i++)
                        if (row[i] != HN_SCORE_FORBIDDEN)
                                row[i] = hn_mask_has(set, (unsigned) i) ? most : p->share[i] / 2;
        }
}

/* Each of its nodes gives in proportion to what it has; nothing where all of them are taken. */
static void claim(struct hn_plan *p, const struct hn_clan *c, const struct hn_mask *set) {
        uint64_t total = 0;

        for (unsigned i = hn_mask_next(set, 0); i != HN_MASK_NONE; i = hn_mask_next(set, i + 1))
                total += p->room[i];
        if (total == 0)
                return;
        for (unsigned i = hn_mask_next(set, 0); i != HN_MASK_NONE; i = hn_mask_next(set, i + 1))
                p->room[i] -= p->room[i] * HN_MIN(c->demand, total) / total;
}

/* Who needs all nodes, or more than there is, is as well off on one as on another: what its threads happened
 * to meet last is no reason to change places. */
static struct hn_mask all_nodes(const struct hn_plan *p) {
        struct hn_mask all = HN_MASK_NULL;

        for (size_t i = 0; i < p->topo->n_nodes; i++)
                if (p->topo->nodes[i].n_cores > 0)
                        (void) hn_mask_add(&all, (unsigned) i);
        return all;
}

void hn_plan_lodge_clans(struct hn_plan *p, const struct hn_snapshot *s, const struct hn_limits *limits) {
        if (p->n_clans == 0)
                return;
        find_room(p);
        qsort(p->clans, p->n_clans, sizeof(*p->clans), clan_compare);
        for (size_t i = 0; i < p->n_clans; i++) {
                const struct hn_clan *c = &p->clans[i];
                struct hn_mask set;

                if (c->n < 2)
                        continue;
                set = choose(p, s, c, limits);
                if (hn_mask_empty(&set))
                        set = all_nodes(p);
                score(p, c, &set);
                claim(p, c, &set);
        }
}
