/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/judge.h"
#include "policy/target.h"

/* The numbers of include/uapi/linux/sched.h. */
static bool is_realtime(uint8_t sched_class) {
        return sched_class == 1 || sched_class == 2 || sched_class == 6;
}

static bool mask_is_foreign(const struct hn_snapshot *s, const struct hn_task_sample *t,
                            const struct hn_topology *topo) {
        const struct hn_scope *sc = &s->scopes[t->scope];

        return hn_mask_owner(hn_mask_pool_get(s->masks, t->mask), NULL, &sc->cpuset, &topo->isolated) ==
               HN_OWNER_OTHER;
}

/* Too few faults are noise, and no pages at all tell nothing. */
static bool has_signal(const struct hn_snapshot *s, const struct hn_task_state *st,
                       const struct hn_limits *limits) {
        uint64_t found = 0;

        if (st->signal == HN_SIGNAL_NONE)
                return false;
        for (size_t i = 0; i < s->n_nodes; i++)
                found += s->priv[st->row * s->n_nodes + i] + s->shared[st->row * s->n_nodes + i];
        return found >= (st->signal == HN_SIGNAL_FAULTS ? limits->min_faults : 1);
}

bool hn_judge(const struct hn_snapshot *s, size_t i, const struct hn_task_state *st, size_t n_reachable,
              const struct hn_topology *topo, const struct hn_limits *limits, enum hn_reason *ret_reason) {
        const struct hn_task_sample *t = &s->tasks[i];
        const struct hn_scope *sc = &s->scopes[t->scope];
        bool pinned = st->pinned != HN_NODE_NONE;
        enum hn_reason no = _HN_REASON_INVALID;

        if (t->flags & (HN_PF_KTHREAD | HN_PF_NO_SETAFFINITY))
                no = HN_REASON_KERNEL_THREAD;
        else if (sc->mode == HN_MODE_OBSERVE)
                no = HN_REASON_OBSERVE_ONLY;
        else if (is_realtime(t->sched_class))
                no = HN_REASON_REALTIME;
        else if (st->changed_by_other)
                no = HN_REASON_CHANGED_BY_OTHER;
        else if (st->refused)
                no = HN_REASON_REFUSED_BY_KERNEL;
        else if (t->mask == HN_MASK_ID_NONE)
                no = HN_REASON_NO_SIGNAL;
        else if (!pinned && !sc->within_user_mask && mask_is_foreign(s, t, topo))
                no = HN_REASON_USER_MASK;
        else if (n_reachable == 0)
                no = HN_REASON_NO_ALLOWED_CPU;
        else if (n_reachable == 1)
                no = HN_REASON_ONE_NODE;
        else if (t->runtime_ns < limits->min_runtime_ns || (t->age > 0 && t->age < limits->min_age))
                no = HN_REASON_TOO_YOUNG;
        else if (st->children >= limits->max_children)
                no = HN_REASON_FORKS;
        else if (!has_signal(s, st, limits) || st->samples == 0)
                no = HN_REASON_NO_SIGNAL;
        else if (st->demand < limits->min_demand)
                no = HN_REASON_IDLE;

        if (no != _HN_REASON_INVALID) {
                *ret_reason = no;
                return false;
        }
        return true;
}
