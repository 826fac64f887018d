/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/macro.h"
#include "policy/bench.h"
#include "policy/starvation.h"

/* Last half of a plan: no node of ours keeps tasks waiting while another has nothing to do (S4). Rooms and
 * gates see to that in the long run; this is for what they take for passing, and it comes before all other
 * acts. */

/* What tasks that we hold on `node` wait for, in thousandths of a CPU. */
static uint32_t waiting_on(const struct hn_plan *p, const struct hn_model *model, hn_node_index node) {
        uint32_t sum = 0;

        for (size_t i = 0; i < p->n; i++)
                if (hn_model_state(model, i)->pinned == node)
                        sum += hn_model_state(model, i)->waited;
        return sum;
}

/* A node that has been idle for long enough, and where nothing is planned to go; HN_NODE_NONE if there is
 * none. */
static hn_node_index idle_node(const struct hn_plan *p, const struct hn_model *model, hn_usec_t now,
                               uint64_t waiting) {
        for (hn_node_index i = 0; i < p->topo->n_nodes; i++)
                if (p->topo->nodes[i].n_cores > 0 && p->used[i] == 0 &&
                    hn_starved(hn_model_idle_since(model, i), now, HN_RELIEF_PATIENCE, waiting))
                        return i;
        return HN_NODE_NONE;
}

/* Of those we hold on `node` and that may run on `idle`, who has least of its memory there. */
static struct hn_decision *least_at_home(const struct hn_plan *p, const struct hn_model *model,
                                         hn_node_index node, hn_node_index idle) {
        struct hn_decision *best = NULL;

        for (size_t k = 0; k < p->n_members; k++) {
                const struct hn_member *m = &p->members[k];
                struct hn_decision *d = &p->decisions[m->task];

                if (hn_model_state(model, m->task)->pinned == node && d->act == HN_ACT_NONE &&
                    p->reach.want[m->reach * p->topo->n_nodes + idle] != HN_MASK_ID_NONE &&
                    (!best || d->share_from < best->share_from))
                        best = d;
        }
        return best;
}

void hn_plan_relieve(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s) {
        /* Seldom is any node idle: only then is it worth counting who waits. */
        if (idle_node(p, model, s->now, 1) == HN_NODE_NONE)
                return;
        for (hn_node_index node = 0; node < p->topo->n_nodes; node++) {
                uint32_t waiting = waiting_on(p, model, node);
                hn_node_index idle = idle_node(p, model, s->now, waiting / 1000);
                struct hn_decision *d = idle == HN_NODE_NONE ? NULL : least_at_home(p, model, node, idle);

                /* One at a time: what comes of it is seen at the next sweep. */
                if (!d)
                        continue;
                d->act = HN_ACT_RELEASE;
                d->reason = HN_REASON_NODE_IDLE;
                d->to = d->from;
        }
}
