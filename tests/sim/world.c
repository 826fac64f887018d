/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include "cpus.h"
#include "policy.h"
#include "policy/starvation.h"
#include "population.h"
#include "scanner.h"

/* Steps towards the fixed point in each tick. */
#define TRAFFIC_STEPS 3

/* Cold caches after a move to another node: some milliseconds more or less. */
#define WARM_UP_MIN 0.002
#define WARM_UP_VAR 0.003

#define PING_PONG_SECONDS 60.0

int hn_sim_world_init(struct hn_sim_world *w, const struct hn_sim_scenario *scenario,
                      const struct hn_sim_policy *policy, uint64_t seed) {
        int r;

        *w = (struct hn_sim_world){
                .scenario = scenario,
                .machine = scenario->machine,
                .policy = policy,
                .masks = HN_MASK_POOL_NULL,
                .random = { .state = seed * 1000003 },
                .n_nodes = scenario->machine->n_nodes,
                .node_cpus = hn_sim_machine_node_cpus(scenario->machine),
                .n_cpus = scenario->machine->n_nodes * hn_sim_machine_node_cpus(scenario->machine),
                .last_pid = 1000,
        };
        hn_sim_traffic_init(&w->traffic, w->machine);
        r = hn_sim_machine_topology(w->machine, &w->topo);
        if (r == 0)
                r = hn_mask_pool_intern(&w->masks, &w->topo.online, &w->everywhere);
        if (r == 0)
                r = hn_sim_population_init(w);
        if (r == 0 && policy->init)
                r = policy->init(w);
        if (r < 0)
                hn_sim_world_deinit(w);
        return r;
}

void hn_sim_world_deinit(struct hn_sim_world *w) {
        if (w->policy->deinit)
                w->policy->deinit(w);
        free(w->processes);
        free(w->tasks);
        free(w->sources);
        hn_mask_pool_deinit(&w->masks);
        hn_topology_deinit(&w->topo);
}

int hn_sim_mask_of(struct hn_sim_world *w, uint32_t nodes, hn_mask_id *ret) {
        struct hn_mask mask = HN_MASK_NULL;

        for (unsigned i = 0; i < w->n_nodes; i++)
                if (nodes >> i & 1)
                        mask = hn_mask_or(&mask, &w->topo.nodes[i].cpus);
        return hn_mask_pool_intern(&w->masks, &mask, ret);
}

void hn_sim_put(struct hn_sim_world *w, struct hn_sim_task *t, unsigned cpu) {
        struct hn_sim_cpu *from = &w->cpus[t->cpu], *to = &w->cpus[cpu];

        /* An empty CPU is empty, whatever the rounding. */
        from->load = from->nr > 1 ? from->load - t->demand : 0;
        from->nr--;
        to->load += t->demand;
        to->nr++;
        if (cpu / w->node_cpus != t->node)
                t->cold = WARM_UP_MIN + WARM_UP_VAR * hn_sim_random_unit(&w->random);
        t->cpu = cpu;
        t->node = cpu / w->node_cpus;
}

void hn_sim_set_mask(struct hn_sim_world *w, struct hn_sim_task *t, uint32_t nodes, hn_mask_id mask) {
        t->nodes = nodes;
        t->mask = mask;
        if (!hn_sim_may_run(t, t->node))
                hn_sim_put(w, t, hn_sim_birth_cpu(w, t, HN_SIM_NO_NODE));
}

void hn_sim_note_move(struct hn_sim_world *w, struct hn_sim_task *t, unsigned from, unsigned to) {
        w->counts.task_moves++;
        w->counts.last_act = w->now;
        w->counts.ping_pongs += t->came_from == to && w->now < t->moved_at + PING_PONG_SECONDS;
        w->counts.repeated_moves += t->came_from != HN_SIM_NO_NODE;
        w->counts.young_moves += hn_sim_is_young(w, t);
        t->came_from = from;
        t->moved_at = w->now;
}

double hn_sim_pages_free(const struct hn_sim_world *w, unsigned node) {
        return fmax(0, w->machine->node_mib * HN_SIM_PAGES_PER_MIB - w->pages_used[node]);
}

double hn_sim_move_pages(struct hn_sim_world *w, struct hn_sim_set *set, unsigned from, unsigned to,
                         double pages) {
        double n = hn_sim_set_move(set, from, to, fmin(pages, hn_sim_pages_free(w, to)));

        w->pages_used[from] -= n;
        w->pages_used[to] += n;
        w->counts.pages_moved += n;
        return n;
}

void hn_sim_refresh(struct hn_sim_world *w, struct hn_sim_task *t) {
        const struct hn_sim_process *p = &w->processes[t->process];
        double own = hn_sim_set_size(&t->own), common = hn_sim_set_size(&p->shared);
        double of_shared = own <= 0 ? 1 : common <= 0 ? 0 : p->job->shared;

        for (unsigned k = 0; k < w->n_nodes; k++)
                t->to_nodes[k] = (own > 0 ? (1 - of_shared) * t->own.pages[k] / own : 0) +
                                 (common > 0 ? of_shared * p->shared.pages[k] / common : 0);
        /* Without any memory to speak of all is in caches. */
        if (own <= 0 && common <= 0)
                t->to_nodes[t->node] = 1;
}

static void run(struct hn_sim_world *w) {
        for (size_t i = 0; i < w->n_tasks; i++) {
                const struct hn_sim_job *job = w->processes[w->tasks[i].process].job;

                w->sources[i] = (struct hn_sim_source){
                        .node = w->tasks[i].node,
                        .amount = w->tasks[i].share,
                        .misses = job->misses,
                        .overlap = job->overlap,
                        .to_nodes = w->tasks[i].to_nodes,
                };
        }
        hn_sim_traffic_settle(&w->traffic, w->machine, w->sources, w->n_tasks, TRAFFIC_STEPS);
        for (size_t i = 0; i < w->n_tasks; i++) {
                struct hn_sim_task *t = &w->tasks[i];
                const struct hn_sim_job *job = w->processes[t->process].job;
                double seconds = t->share * HN_SIM_TICK, lost = fmin(t->cold, seconds);
                double work, accesses;

                t->speed = w->sources[i].speed;
                t->cold -= lost;
                work = (seconds - lost) * t->speed;
                t->work += work;
                if (job->unscored)
                        continue;
                accesses = work * job->misses;
                w->counts.work += work;
                w->counts.accesses += accesses;
                w->counts.local += accesses * t->to_nodes[t->node];
        }
}

/* Two tasks on a CPU are one that waits, though each may sleep half of its time: they sleep when they like,
 * and not in turns. Masks do not count as an excuse, as it is the daemon that sets them. */
static void watch_idle_nodes(struct hn_sim_world *w) {
        uint32_t running[HN_SIM_CPUS];
        bool waiting;

        for (unsigned c = 0; c < w->n_cpus; c++)
                running[c] = w->cpus[c].nr;
        waiting = hn_waiting(running, w->n_cpus) > 0;
        for (unsigned i = 0; i < w->n_nodes; i++) {
                unsigned n = 0;

                for (unsigned c = i * w->node_cpus; c < (i + 1) * w->node_cpus; c++)
                        n += running[c];
                w->starving[i] = waiting && n == 0 ? w->starving[i] + HN_SIM_TICK : 0;
                w->counts.starved = fmax(w->counts.starved, w->starving[i]);
        }
}

int hn_sim_world_step(struct hn_sim_world *w) {
        int r;

        r = hn_sim_population_step(w);
        if (r < 0)
                return r;
        hn_sim_balance(w);
        hn_sim_share_cpus(w);
        watch_idle_nodes(w);
        run(w);
        w->tick++;
        w->now = (double) (unsigned) w->tick * HN_SIM_TICK;

        if (w->tick % 10 == 0) {
                hn_sim_population_churn(w);
                if (w->policy->scans)
                        hn_sim_scan(w);
                r = w->policy->look ? w->policy->look(w) : 0;
                if (r < 0)
                        return r;
        }
        return w->tick % 100 == 0 && w->policy->second ? w->policy->second(w) : 0;
}
