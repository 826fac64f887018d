/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "cpus.h"
#include "numaplace.h"
#include "policy/balance.h"
#include "policy/faults.h"
#include "policy/group.h"
#include "policy/swap.h"
#include "scanner.h"

/* One task's weights, in thousandths of its faults and of its group's. */
struct weights {
        int32_t task[HN_SIM_NODES], group[HN_SIM_NODES];
        bool grouped;
};

static void weigh(const struct hn_sim_world *w, const struct hn_sim_task *t, struct weights *ret) {
        const struct hn_sim_process *p = &w->processes[t->process];
        uint64_t of_task = 0, of_group = 0;

        for (unsigned k = 0; k < w->n_nodes; k++) {
                of_task += t->faults.priv[k] + t->faults.shared[k];
                of_group += p->memory[k];
        }
        for (unsigned k = 0; k < w->n_nodes; k++) {
                ret->task[k] = (int32_t) hn_weight(t->faults.priv[k] + t->faults.shared[k], 0, of_task);
                ret->group[k] = (int32_t) hn_weight(p->memory[k], 0, of_group);
        }
        ret->grouped = hn_sim_is_grouped(p);
}

static uint32_t tasks_on(const struct hn_sim_world *w, unsigned node) {
        return (uint32_t) (hn_sim_node_load(w, node) + 0.5);
}

static enum hn_node_class classify(const struct hn_sim_world *w, unsigned node) {
        double util = 0;

        for (unsigned c = node * w->node_cpus; c < (node + 1) * w->node_cpus; c++)
                util += fmin(1, w->cpus[c].load);
        return hn_node_classify(tasks_on(w, node), w->node_cpus, w->node_cpus * UINT64_C(1024),
                                (uint64_t) (util * 1024), (uint64_t) (hn_sim_node_load(w, node) * 1024),
                                HN_IMBALANCE_PCT);
}

static bool too_imbalanced(const struct hn_sim_world *w, unsigned from, unsigned to, double task) {
        return hn_load_too_imbalanced((uint64_t) (hn_sim_node_load(w, from) * 1024),
                                      (uint64_t) (hn_sim_node_load(w, to) * 1024), (uint64_t) (task * 1024),
                                      w->node_cpus, w->node_cpus);
}

static void go(struct hn_sim_world *w, struct hn_sim_task *t, unsigned cpu) {
        w->counts.kernel_moves++;
        hn_sim_put(w, t, cpu);
}

static int32_t gain_of(const struct weights *x, unsigned from, unsigned to) {
        return x->grouped ? x->group[to] - x->group[from] : x->task[to] - x->task[from];
}

static bool change_places(struct hn_sim_world *w, struct hn_sim_task *t, unsigned to,
                          const struct weights *mine) {
        struct hn_sim_task *partner = NULL;
        int32_t best = 0;
        bool best_goes_home = false;
        unsigned here = t->cpu;

        for (size_t i = 0; i < w->n_tasks; i++) {
                struct hn_sim_task *other = &w->tasks[i];
                struct hn_swap_value value;
                struct weights its;
                struct hn_swap s;

                if (other->node != to || !hn_sim_may_run(other, t->node))
                        continue;
                if (other->demand != t->demand &&
                    too_imbalanced(w, t->node, to, fmax(0, t->demand - other->demand)))
                        continue;
                weigh(w, other, &its);
                s = (struct hn_swap){
                        .same_group = other->process == t->process || (!mine->grouped && !its.grouped),
                        .grouped = mine->grouped,
                        .other_at_home = other->preferred == to,
                        .other_goes_home = other->preferred == t->node,
                        .best = best,
                        .best_goes_home = best_goes_home,
                };
                s.gain_alone = s.same_group ? mine->task[to] - mine->task[t->node]
                                            : gain_of(mine, t->node, to);
                s.other_here = (uint32_t) (its.grouped && !s.same_group ? its.group : its.task)[t->node];
                s.other_there = (uint32_t) (its.grouped && !s.same_group ? its.group : its.task)[to];
                value = hn_swap(&s);
                if (!value.accept)
                        continue;
                partner = other;
                best = value.gain;
                best_goes_home = s.other_goes_home;
        }
        if (!partner)
                return false;
        go(w, t, partner->cpu);
        go(w, partner, here);
        return true;
}

static bool try_node(struct hn_sim_world *w, struct hn_sim_task *t, unsigned to, const struct weights *mine,
                     bool shortcut) {
        bool spare = classify(w, to) == HN_CLASS_HAS_SPARE, may;
        unsigned cpu;

        if (!hn_sim_may_run(t, to))
                return false;
        if (spare && shortcut)
                may = true;
        else if (spare)
                may = hn_may_move(tasks_on(w, t->node), tasks_on(w, to),
                                  hn_imb_numa_nr(w->node_cpus, 1, 1, 1));
        else
                may = !too_imbalanced(w, t->node, to, t->demand);
        cpu = hn_sim_calmest_cpu(w, to);
        if (may && (w->cpus[cpu].nr == 0 || !spare)) {
                go(w, t, cpu);
                return true;
        }
        return !spare && change_places(w, t, to, mine);
}

static void attempt(struct hn_sim_world *w, struct hn_sim_task *t, bool shortcut) {
        const struct hn_sim_process *p = &w->processes[t->process];
        struct hn_mask active;
        struct weights mine;
        unsigned from = t->node;

        weigh(w, t, &mine);
        if (try_node(w, t, t->preferred, &mine, shortcut) || !mine.grouped)
                return;
        active = hn_active_nodes(p->cpu, w->n_nodes);
        for (unsigned k = 0; k < w->n_nodes; k++) {
                if (k == from || k == t->preferred || hn_mask_count(&active) <= 1)
                        continue;
                if (mine.task[k] - mine.task[from] < 0 && mine.group[k] - mine.group[from] < 0)
                        continue;
                if (try_node(w, t, k, &mine, shortcut)) {
                        t->preferred = k;
                        return;
                }
        }
        /* What cannot be had is wanted no longer. */
        t->preferred = from;
}

void hn_sim_numa_place(struct hn_sim_world *w, bool shortcut) {
        for (size_t i = 0; i < w->n_tasks; i++) {
                struct hn_sim_task *t = &w->tasks[i];
                const struct hn_sim_process *p = &w->processes[t->process];

                if (t->preferred == HN_SIM_NO_NODE || t->preferred == t->node || w->now <= t->retry_at)
                        continue;
                /* Only a hinting fault gives the occasion. */
                if (hn_sim_random_unit(&w->random) >= p->met)
                        continue;
                t->retry_at = w->now + hn_retry((uint32_t) p->period_ms) / 1000.0;
                attempt(w, t, shortcut);
        }
}
