/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "base/macro.h"
#include "policy/bench.h"
#include "policy/hand.h"

/* Tasks that a hand has put somewhere: no gate, no load and no rule has a say. */

/* The mask the order comes to for tasks of one scope, HN_MASK_ID_NONE where it leaves no CPU. Returns whether
 * there was memory for it. */
static bool find_want(struct hn_plan *p, const struct hn_snapshot *s, const struct hn_task_sample *t,
                      const struct hn_hand *h, hn_mask_id *ret) {
        if (p->obeyed_hand != t->hand || p->obeyed_scope != t->scope) {
                struct hn_mask want = hn_hand_mask(p->topo, &h->nodes, &h->cpus, &s->scopes[t->scope].cpuset);
                hn_mask_id id = HN_MASK_ID_NONE;

                if (!hn_mask_empty(&want) && hn_mask_pool_intern(s->masks, &want, &id) < 0)
                        return false;
                p->obeyed = id;
                p->obeyed_hand = t->hand;
                p->obeyed_scope = t->scope;
        }
        *ret = p->obeyed;
        return true;
}

/* Where the task will be under the mask, which is of usable CPUs: where it runs, if it may stay there. */
static hn_node_index seat(const struct hn_plan *p, const struct hn_mask *want, hn_node_index now) {
        if (now < p->topo->n_nodes && hn_mask_intersects(&p->topo->nodes[now].usable, want))
                return now;
        return p->topo->cpu_node[hn_mask_next(want, 0)];
}

/* The first node of the order with room for all of the process, else the one with most; HN_NODE_NONE where
 * there is none at all. */
static hn_node_index roomy_node(const struct hn_plan *p, const struct hn_snapshot *s,
                                const struct hn_task_sample *t, const struct hn_hand *h) {
        hn_node_index best = HN_NODE_NONE;
        uint64_t most = 0;

        for (hn_node_index i = 0; i < p->topo->n_nodes; i++) {
                const struct hn_node *node = &p->topo->nodes[i];
                uint64_t free = s->nodes[i].free + s->nodes[i].reclaimable,
                         room = free - HN_MIN(free, node->memory / HN_FLOOR_DIVISOR);

                if (!hn_mask_has(&h->nodes, node->id) || !hn_mask_has(&s->scopes[t->scope].mems, node->id) ||
                    room <= most)
                        continue;
                if (room >= t->resident)
                        return i;
                most = room;
                best = i;
        }
        return best;
}

/* Whether there is a node from which pages could come. */
static bool leaves_nodes_out(const struct hn_plan *p, const struct hn_hand *h) {
        for (hn_node_index i = 0; i < p->topo->n_nodes; i++)
                if (!hn_mask_has(&h->nodes, p->topo->nodes[i].id))
                        return true;
        return false;
}

/* Once an override and process, by its first thread; again after a pause where the node was full. */
static void bring_pages(const struct hn_plan *p, const struct hn_snapshot *s, const struct hn_task_sample *t,
                        const struct hn_task_state *st, const struct hn_limits *limits,
                        struct hn_decision *d) {
        hn_node_index to;

        if (!d->hand->pages || !leaves_nodes_out(p, d->hand) || t->key.tid != t->tgid ||
            st->hand_pages == d->hand->id || (t->age > 0 && t->age < limits->min_age) ||
            (st->last_pages != 0 && st->last_pages >= st->pinned_at &&
             s->now < hn_usec_add(st->last_pages, limits->pages_pause)))
                return;
        to = roomy_node(p, s, t, d->hand);
        if (to == HN_NODE_NONE)
                return;
        d->act = HN_ACT_PAGES;
        d->to = to;
}

static void carry_out(struct hn_plan *p, const struct hn_snapshot *s, const struct hn_task_sample *t,
                      const struct hn_task_state *st, const struct hn_limits *limits, hn_mask_id want,
                      struct hn_decision *d) {
        if (t->flags & (HN_PF_KTHREAD | HN_PF_NO_SETAFFINITY))
                d->reason = HN_REASON_KERNEL_THREAD;
        else if (st->hands_off == d->hand->id)
                d->reason = st->order_refused ? HN_REASON_REFUSED_BY_KERNEL : HN_REASON_CHANGED_BY_OTHER;
        else if (want == HN_MASK_ID_NONE)
                d->reason = HN_REASON_NO_ALLOWED_CPU;
        else if (st->hand == d->hand->id && st->ours == want)
                bring_pages(p, s, t, st, limits, d);
        else if (t->mask != HN_MASK_ID_NONE) {
                d->act = HN_ACT_PIN;
                d->want = want;
                d->to = seat(p, hn_mask_pool_get(s->masks, want), t->node);
                d->share_to = p->share[d->to];
        }
}

int hn_plan_obey(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s, size_t i,
                 const struct hn_limits *limits) {
        const struct hn_task_sample *t = &s->tasks[i];
        const struct hn_task_state *st = hn_model_state(model, i);
        struct hn_decision *d = &p->decisions[i];
        const struct hn_hand *hand = t->hand > 0 ? &s->hands[t->hand - 1] : NULL;
        enum hn_reason reason = hand ? HN_REASON_OVERRIDE : HN_REASON_OVERRIDE_OVER;
        hn_mask_id want = HN_MASK_ID_NONE;

        if (hand && !find_want(p, s, t, hand, &want))
                return -ENOMEM;
        *d = hn_plan_facts(p, i, t, st, reason);
        d->by_hand = true;
        d->hand = hand;
        if (d->act == HN_ACT_FORGET && st->changed_by_other)
                d->reason = HN_REASON_CHANGED_BY_OTHER;
        if (d->act == HN_ACT_FORGET || d->act == HN_ACT_ADOPT)
                return 0;
        /* What came of it for its memory is the hand's own business. */
        d->act = HN_ACT_NONE;
        d->reason = reason;
        if (hand)
                carry_out(p, s, t, st, limits, want, d);
        else
                d->act = HN_ACT_RELEASE;
        return 0;
}
