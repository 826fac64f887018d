/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "cpus.h"
#include "policy/balance.h"

/* A move within a node must pay by a quarter of the task: the kernel's imbalance of 25 %. */
#define WORTH 1.25

/* A CPU that ran dry looks at other nodes in about so many of the ticks. The periodic pass comes every so
 * many ticks, but rarely gets hold of a task, as all are running; how rarely decides for how long a stacked
 * node stays stacked, and was chosen after what was measured of that (test-shortcut.c). */
#define PULL_CHANCE     0.5
#define PERIODIC_TICKS  10u
#define PERIODIC_CHANCE 0.12

/* Wake-ups, interrupts and kernel threads push tasks about: so many times a second, and for each task. Chosen
 * so that numa02 on four nodes of two CPUs, with the kernel's NUMA balancing, has the 85 % of local accesses
 * that were counted in a guest of that size. */
#define NOISE_RATE     0.25
#define NOISE_PER_TASK 0.008

static bool waits(const struct hn_sim_world *w, unsigned cpu) {
        return w->cpus[cpu].nr >= 2 && w->cpus[cpu].load > 1.1;
}

/* Any of the tasks on a CPU that may go to `node`; of several one that has less reason to stay, as the kernel
 * has it: tasks off their preferred node go first. Starts somewhere by chance. */
static struct hn_sim_task *victim(struct hn_sim_world *w, unsigned cpu, unsigned node) {
        size_t first = w->n_tasks ? hn_sim_random_below(&w->random, (unsigned) w->n_tasks) : 0;
        struct hn_sim_task *found = NULL;

        for (size_t k = 0; k < w->n_tasks; k++) {
                struct hn_sim_task *t = &w->tasks[(first + k) % w->n_tasks];

                if (t->cpu != cpu || !hn_sim_may_run(t, node))
                        continue;
                if (t->preferred == node || t->preferred != t->node)
                        return t;
                found = found ? found : t;
        }
        return found;
}

static void carry(struct hn_sim_world *w, struct hn_sim_task *t, unsigned cpu) {
        w->counts.balancer_moves += t->node != cpu / w->node_cpus;
        hn_sim_put(w, t, cpu);
}

/* From the most to the least troubled CPU of a node; no CPU stays idle while a task waits. */
static void balance_within(struct hn_sim_world *w, unsigned node) {
        unsigned first = node * w->node_cpus, from = first, to = hn_sim_calmest_cpu(w, node);
        struct hn_sim_task *t;

        for (unsigned c = first; c < first + w->node_cpus; c++)
                if (w->cpus[c].nr > 0 && hn_sim_pressure(w, c) > hn_sim_pressure(w, from))
                        from = c;
        if (hn_sim_pressure(w, from) - hn_sim_pressure(w, to) <= 0.3)
                return;
        t = victim(w, from, node);
        if (t && ((waits(w, from) && w->cpus[to].nr == 0) ||
                  hn_sim_pressure(w, from) - hn_sim_pressure(w, to) > WORTH * t->demand))
                carry(w, t, to);
}

/* A CPU with nothing to do takes a task that waits on another node. */
static void pull_to(struct hn_sim_world *w, unsigned node) {
        unsigned to = hn_sim_calmest_cpu(w, node), from = HN_SIM_CPUS;
        struct hn_sim_task *t;

        if (w->cpus[to].load > 0.05 || hn_sim_random_unit(&w->random) > PULL_CHANCE)
                return;
        for (unsigned c = 0; c < w->n_cpus; c++)
                if (c / w->node_cpus != node && waits(w, c) &&
                    (from == HN_SIM_CPUS || w->cpus[c].load > w->cpus[from].load))
                        from = c;
        t = from == HN_SIM_CPUS ? NULL : victim(w, from, node);
        if (t)
                carry(w, t, to);
}

/* How many tasks ought to go from one node to another: by numbers while there are idle CPUs, up to what is
 * tolerated; once there are none, where the load differs by more than a quarter. */
static int64_t surplus(const struct hn_sim_world *w, double from, double to) {
        int64_t gap = (int64_t) floor((from - to) / 2 + 0.1);

        if (to < w->node_cpus)
                return hn_adjust_imbalance(gap, (uint32_t) to + 1, hn_imb_numa_nr(w->node_cpus, 1, 1, 1));
        return from < WORTH * to ? 0 : gap;
}

static bool move_between(struct hn_sim_world *w, unsigned from, unsigned to) {
        unsigned first = from * w->node_cpus, busiest = first;
        struct hn_sim_task *t;

        for (unsigned c = first; c < first + w->node_cpus; c++)
                if (hn_sim_pressure(w, c) > hn_sim_pressure(w, busiest))
                        busiest = c;
        t = victim(w, busiest, to);
        /* The busiest CPU's tasks may all be bound: any other's will do. */
        for (unsigned c = first; c < first + w->node_cpus && !t; c++)
                t = victim(w, c, to);
        if (t)
                carry(w, t, hn_sim_calmest_cpu(w, to));
        return t;
}

static void balance_between(struct hn_sim_world *w) {
        double load[HN_SIM_NODES];
        unsigned from = 0, to = 0;

        for (unsigned i = 0; i < w->n_nodes; i++) {
                load[i] = hn_sim_node_load(w, i);
                from = load[i] > load[from] ? i : from;
                to = load[i] < load[to] ? i : to;
        }
        if (surplus(w, load[from], load[to]) < 1 || hn_sim_random_unit(&w->random) > PERIODIC_CHANCE)
                return;
        for (int64_t n = surplus(w, load[from], load[to]); n > 0; n--)
                if (!move_between(w, from, to))
                        break;
}

/* A task is pushed to any node it may run on; where all CPUs there have work it changes places. */
static void disturb(struct hn_sim_world *w) {
        struct hn_sim_task *t = &w->tasks[hn_sim_random_below(&w->random, (unsigned) w->n_tasks)], *other;
        unsigned node = hn_sim_random_below(&w->random, w->n_nodes), to, back = t->cpu;

        if (node == t->node || !hn_sim_may_run(t, node))
                return;
        to = hn_sim_calmest_cpu(w, node);
        other = w->cpus[to].load > 0.5 ? victim(w, to, t->node) : NULL;
        if (w->cpus[to].load > 0.5 && !other)
                return;
        carry(w, t, to);
        if (other)
                carry(w, other, back);
}

void hn_sim_balance(struct hn_sim_world *w) {
        double noise = HN_SIM_TICK * (NOISE_RATE + NOISE_PER_TASK * (double) (unsigned) w->n_tasks);

        if (w->n_tasks == 0)
                return;
        for (unsigned i = 0; i < w->n_nodes; i++) {
                balance_within(w, i);
                pull_to(w, i);
        }
        if (w->tick % PERIODIC_TICKS == 0)
                balance_between(w);
        if (hn_sim_random_unit(&w->random) < noise)
                disturb(w);
}
