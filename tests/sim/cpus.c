/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <math.h>

#include "cpus.h"
#include "policy/balance.h"

/* What a busy sibling counts for in the choice of a CPU. */
#define SIBLING 0.4

unsigned hn_sim_sibling(const struct hn_sim_world *w, unsigned cpu) {
        return w->machine->n_ways == 2 ? cpu ^ 1u : cpu;
}

double hn_sim_pressure(const struct hn_sim_world *w, unsigned cpu) {
        unsigned sibling = hn_sim_sibling(w, cpu);

        return w->cpus[cpu].load + (sibling != cpu ? SIBLING * w->cpus[sibling].load : 0);
}

unsigned hn_sim_calmest_cpu(const struct hn_sim_world *w, unsigned node) {
        unsigned first = node * w->node_cpus, best = first;
        double least = hn_sim_pressure(w, first);

        for (unsigned c = first + 1; c < first + w->node_cpus; c++) {
                double pressure = hn_sim_pressure(w, c);

                if (pressure < least) {
                        best = c;
                        least = pressure;
                }
        }
        return best;
}

double hn_sim_node_load(const struct hn_sim_world *w, unsigned node) {
        double sum = 0;

        for (unsigned c = node * w->node_cpus; c < (node + 1) * w->node_cpus; c++)
                sum += w->cpus[c].load;
        return sum;
}

unsigned hn_sim_birth_cpu(const struct hn_sim_world *w, const struct hn_sim_task *t, unsigned here) {
        double tolerated = hn_imb_numa_nr(w->node_cpus, 1, 1, 1), least = INFINITY;
        unsigned best = HN_SIM_NO_NODE;

        for (unsigned i = 0; i < w->n_nodes; i++)
                if (hn_sim_may_run(t, i) && hn_sim_node_load(w, i) < least) {
                        least = hn_sim_node_load(w, i);
                        best = i;
                }
        if (here != HN_SIM_NO_NODE && hn_sim_may_run(t, here) &&
            hn_sim_node_load(w, here) <= least + tolerated && hn_sim_node_load(w, here) < w->node_cpus)
                best = here;
        assert(best < w->n_nodes);
        return hn_sim_calmest_cpu(w, best);
}

void hn_sim_share_cpus(struct hn_sim_world *w) {
        double busy[HN_SIM_CPUS] = { 0 }, most = 0, mean = 0;

        for (unsigned c = 0; c < w->n_cpus; c++)
                busy[c] = fmin(1, w->cpus[c].load);
        for (size_t i = 0; i < w->n_tasks; i++) {
                struct hn_sim_task *t = &w->tasks[i];
                unsigned sibling = hn_sim_sibling(w, t->cpu);
                double crowd = fmax(1, w->cpus[t->cpu].load);
                double beside = sibling != t->cpu ? busy[sibling] : 0;
                double got = t->demand / crowd;

                t->runtime += got * HN_SIM_TICK;
                t->wait += (t->demand - got) * HN_SIM_TICK;
                t->share = got * (1 - beside + beside * w->machine->yield / 2);
        }
        for (unsigned i = 0; i < w->n_nodes; i++) {
                double cores = 0;

                for (unsigned c = i * w->node_cpus; c < (i + 1) * w->node_cpus; c += w->machine->n_ways) {
                        unsigned sibling = hn_sim_sibling(w, c);

                        cores += sibling == c ? busy[c] : 1 - (1 - busy[c]) * (1 - busy[sibling]);
                        w->node_busy[i] += busy[c] * HN_SIM_TICK;
                        if (sibling != c)
                                w->node_busy[i] += busy[sibling] * HN_SIM_TICK;
                }
                most = fmax(most, cores);
                mean += cores / w->n_nodes;
        }
        if (mean > 0)
                w->counts.imbalance += (most - mean) / mean;
}
