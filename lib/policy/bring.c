/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/macro.h"
#include "policy/bench.h"
#include "policy/payback.h"

/* Memory to the task, where the task cannot go to its memory. */

/* How many threads a plan compares with their siblings: one process's pages move at a time anyway. */
#define SEARCHES_MAX 16

/* Whether the pages of a process on `home` can be nobody's but this thread's: no other busy thread of it has
 * its own there, or is there. Faults tell how many pages a thread has on a node, not which. */
static bool owns_pages_on(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s,
                          size_t task, hn_node_index home, const struct hn_limits *limits) {
        if (p->n_searches++ >= SEARCHES_MAX)
                return false;
        for (size_t i = 0; i < s->n_tasks; i++) {
                const struct hn_task_state *st = hn_model_state(model, i);

                if (i == task || s->tasks[i].tgid != s->tasks[task].tgid || st->demand < limits->min_demand)
                        continue;
                if (st->home == home || st->pinned == home || s->tasks[i].node == home ||
                    st->signal == HN_SIGNAL_NONE)
                        return false;
        }
        return true;
}

/* Whether the unit may not go to `home`: no core is left there for it, or a gate has refused. */
static bool is_kept_from(const struct hn_plan *p, const struct hn_unit *u, hn_node_index home) {
        return p->crews[u->tag].verdict == HN_REASON_LOAD_IMBALANCE ||
               p->used[home] + u->demand > p->lasting[home] + HN_ASSIGN_SLACK;
}

/* From where the pages of a settled unit may be brought to it. Returns whether they may. */
static bool find_source(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s,
                        const struct hn_unit *u, size_t task, const struct hn_limits *limits,
                        hn_node_index *ret_source) {
        const struct hn_task_state *st = hn_model_state(model, task);

        switch (st->signal) {
        case HN_SIGNAL_NONE:
        case _HN_SIGNAL_MAX: return false;
        case HN_SIGNAL_RESIDENCY:
                /* The whole process is one unit, so all of its pages are. Where the kernel balances it brings
                 * them, but one that gives this thread no faults is not about to. */
                *ret_source = HN_NODE_NONE;
                return !(s->kernel_balancing & 1) ||
                       (s->tasks[task].signal == HN_SIGNAL_FAULTS && st->home != HN_NODE_NONE &&
                        is_kept_from(p, u, st->home));
        case HN_SIGNAL_FAULTS:
                /* The kernel would bring them too, and to the same node, but only as fast as it scans. */
                if (st->home == HN_NODE_NONE || st->home == st->pinned ||
                    hn_plan_score(p, u, st->home) < 500 || !is_kept_from(p, u, st->home) ||
                    !owns_pages_on(p, model, s, task, st->home, limits))
                        return false;
                *ret_source = st->home;
                return true;
        }
        return false;
}

/* Whether a hand has ordered something for any thread of the process: its memory is not ours to move then. */
static bool is_in_hand(const struct hn_snapshot *s, pid_t tgid) {
        if (s->n_hands == 0)
                return false;
        for (size_t i = 0; i < s->n_tasks; i++)
                if (s->tasks[i].hand > 0 && s->tasks[i].tgid == tgid)
                        return true;
        return false;
}

/* Whether what the process has elsewhere is worth bringing: which part that is matters not, as less of it
 * costs less and saves less. Where its size is not known, the rate limit and the pause between two such moves
 * are all there is. */
static bool pays_back(const struct hn_task_sample *t, const struct hn_unit *u,
                      const struct hn_limits *limits) {
        uint64_t accesses = HN_PAYBACK_MISSES * u->demand / 1000;

        return hn_payback(t->resident, HN_PAYBACK_BYTES_PER_SEC, accesses, HN_PAYBACK_EXTRA_NS) <=
               limits->payback;
}

/* A task in its place whose memory is elsewhere, as that node is full. One decision a unit. */
void hn_plan_bring_pages(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s,
                         const struct hn_unit *u, const struct hn_limits *limits) {
        size_t task = p->members[p->crews[u->tag].first].task;
        const struct hn_task_state *st = hn_model_state(model, task);
        const struct hn_scope *scope = &s->scopes[s->tasks[task].scope];
        struct hn_decision *d = &p->decisions[task];
        uint32_t share;

        if (d->act != HN_ACT_NONE || st->pinned == HN_NODE_NONE || !scope->pages ||
            !hn_mask_has(&scope->mems, p->topo->nodes[st->pinned].id))
                return;
        if (st->last_pages != 0 && s->now < hn_usec_add(st->last_pages, limits->pages_pause))
                return;
        share = p->scores[u->score + st->pinned];
        if (share == HN_SCORE_FORBIDDEN || share >= limits->pages_share ||
            !find_source(p, model, s, u, task, limits, &d->source) || is_in_hand(s, s->tasks[task].tgid))
                return;
        if (!pays_back(&s->tasks[task], u, limits)) {
                d->reason = HN_REASON_NO_PAYBACK;
                return;
        }
        d->act = HN_ACT_PAGES;
        d->reason = HN_REASON_MEMORY_TO_TASK;
        d->to = st->pinned;
        d->benefit = (uint64_t) (1000 - share) * u->demand;
}
