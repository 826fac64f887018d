/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "oracle.h"
#include "policy.h"

/* The best static placement, by the true parameters of the load: each thread on one node with its own memory
 * beside it, shared memory spread as the threads are. Where threads take over each other's memory, it comes
 * to them at no cost. A bound, not something a policy could do. */

/* Whole processes are tried on every node up to here; more than that is annealed. */
#define EXHAUSTIVE_PROCESSES 4u
#define EXHAUSTIVE_NODES     4u

#define SETTLE_STEPS    30
#define ANNEALING_STEPS 2500u
#define FIRST_HEAT      0.02 /* part of the value */

struct placement {
        unsigned *count; /* threads, [process * HN_SIM_NODES + node] */
        double value;
};

struct mind {
        struct placement best;
        struct hn_sim_source *sources; /* scratch */
        double (*to_nodes)[HN_SIM_NODES];
        const char *method;
};

static void deinit(struct hn_sim_world *w) {
        struct mind *m = w->mind;

        if (m) {
                free(m->best.count);
                free(m->sources);
                free(m->to_nodes);
        }
        free(m);
        w->mind = NULL;
}

static bool is_placed(const struct hn_sim_process *p) {
        return !p->job->unscored && !p->job->unmanaged;
}

/* What a node gives to all that runs on it, seconds of a core a second. */
static double capacity(const struct hn_sim_machine *m, double load) {
        double cores = m->n_cores, doubled;

        if (load <= cores || m->n_ways == 1)
                return fmin(load, cores);
        doubled = fmin(load - cores, cores);
        return cores - doubled + doubled * m->yield;
}

/* Work done a second, once all has settled. */
static double judge(const struct hn_sim_world *w, struct mind *m, const unsigned *count) {
        double load[HN_SIM_NODES] = { 0 }, value = 0;
        struct hn_sim_traffic traffic;
        size_t n = 0;

        for (size_t i = 0; i < w->n_processes; i++)
                for (unsigned k = 0; k < w->n_nodes; k++)
                        load[k] += count[i * HN_SIM_NODES + k] * w->processes[i].job->demand;
        for (size_t i = 0; i < w->n_processes; i++) {
                const struct hn_sim_job *job = w->processes[i].job;
                double shared = job->own_mib <= 0 ? 1 : job->shared_mib <= 0 ? 0 : job->shared;

                for (unsigned k = 0; k < w->n_nodes; k++) {
                        double *to = m->to_nodes[n], here = count[i * HN_SIM_NODES + k];

                        if (here <= 0)
                                continue;
                        for (unsigned j = 0; j < w->n_nodes; j++)
                                to[j] = shared * count[i * HN_SIM_NODES + j] / job->n_threads +
                                        (j == k ? 1 - shared : 0);
                        m->sources[n++] = (struct hn_sim_source){
                                .node = k,
                                .amount = here * job->demand * capacity(w->machine, load[k]) / load[k],
                                .misses = job->misses,
                                .overlap = job->overlap,
                                .to_nodes = to,
                        };
                }
        }
        hn_sim_traffic_init(&traffic, w->machine);
        hn_sim_traffic_settle(&traffic, w->machine, m->sources, n, SETTLE_STEPS);
        for (size_t i = 0; i < n; i++)
                value += m->sources[i].amount * m->sources[i].speed;
        return value;
}

static void keep_if_better(const struct hn_sim_world *w, struct mind *m, const unsigned *count,
                           double value) {
        if (value <= m->best.value)
                return;
        memcpy(m->best.count, count, w->n_processes * HN_SIM_NODES * sizeof(*count));
        m->best.value = value;
}

static void try_all(const struct hn_sim_world *w, struct mind *m, unsigned *count) {
        unsigned n = 1;

        for (size_t i = 0; i < w->n_processes; i++)
                n *= w->n_nodes;
        for (unsigned k = 0; k < n; k++) {
                memset(count, 0, w->n_processes * HN_SIM_NODES * sizeof(*count));
                for (size_t i = 0, rest = k; i < w->n_processes; i++, rest /= w->n_nodes)
                        count[i * HN_SIM_NODES + rest % w->n_nodes] = w->processes[i].job->n_threads;
                keep_if_better(w, m, count, judge(w, m, count));
        }
}

/* Threads in a row, cut into as many parts as there are nodes. */
static void start_in_blocks(const struct hn_sim_world *w, unsigned *count) {
        size_t all = 0, at = 0;

        for (size_t i = 0; i < w->n_processes; i++)
                all += is_placed(&w->processes[i]) ? w->processes[i].job->n_threads : 0;
        for (size_t i = 0; i < w->n_processes; i++)
                for (unsigned k = 0; is_placed(&w->processes[i]) && k < w->processes[i].job->n_threads; k++)
                        count[i * HN_SIM_NODES + at++ * w->n_nodes / all]++;
}

/* A thread of one process to another node, and half of the time one of another process in its stead. */
static bool change(const struct hn_sim_world *w, struct hn_sim_random *r, unsigned *count) {
        unsigned from = hn_sim_random_below(r, w->n_nodes), to = hn_sim_random_below(r, w->n_nodes);
        size_t p = hn_sim_random_below(r, (unsigned) w->n_processes);
        size_t q = hn_sim_random_below(r, (unsigned) w->n_processes);

        if (from == to || count[p * HN_SIM_NODES + from] == 0)
                return false;
        if (hn_sim_random_unit(r) < 0.5) {
                if (p == q || count[q * HN_SIM_NODES + to] == 0)
                        return false;
                count[q * HN_SIM_NODES + to]--;
                count[q * HN_SIM_NODES + from]++;
        }
        count[p * HN_SIM_NODES + from]--;
        count[p * HN_SIM_NODES + to]++;
        return true;
}

static void anneal(const struct hn_sim_world *w, struct mind *m, unsigned *count, unsigned *next) {
        struct hn_sim_random r = { .state = 1 };
        size_t size = w->n_processes * HN_SIM_NODES * sizeof(*count);
        double value, heat;

        start_in_blocks(w, count);
        value = judge(w, m, count);
        keep_if_better(w, m, count, value);
        for (unsigned step = 0; step < ANNEALING_STEPS; step++) {
                double after;

                memcpy(next, count, size);
                if (!change(w, &r, next))
                        continue;
                after = judge(w, m, next);
                heat = FIRST_HEAT * value * (1 - (double) step / ANNEALING_STEPS);
                if (after < value && hn_sim_random_unit(&r) >= exp((after - value) / fmax(heat, 1e-9)))
                        continue;
                memcpy(count, next, size);
                value = after;
                keep_if_better(w, m, count, value);
        }
}

static bool is_small(const struct hn_sim_world *w) {
        if (w->n_processes > EXHAUSTIVE_PROCESSES || w->n_nodes > EXHAUSTIVE_NODES)
                return false;
        for (size_t i = 0; i < w->n_processes; i++)
                if (!is_placed(&w->processes[i]) ||
                    w->processes[i].job->n_threads * w->processes[i].job->demand > w->node_cpus)
                        return false;
        return true;
}

static int init(struct hn_sim_world *w) {
        _hn_cleanup_(hn_freep) unsigned *count = NULL;
        _hn_cleanup_(hn_freep) unsigned *next = NULL;
        size_t n = w->n_processes * HN_SIM_NODES;
        struct mind *m = calloc(1, sizeof(*m));

        w->mind = m;
        if (!m)
                return -ENOMEM;
        count = calloc(n, sizeof(*count));
        next = calloc(n, sizeof(*next));
        m->best.count = calloc(n, sizeof(*m->best.count));
        m->sources = calloc(n, sizeof(*m->sources));
        m->to_nodes = calloc(n, sizeof(*m->to_nodes));
        if (!count || !next || !m->best.count || !m->sources || !m->to_nodes)
                return -ENOMEM;
        if (is_small(w)) {
                m->method = "exhaustive";
                try_all(w, m, count);
        } else {
                m->method = "annealing";
                anneal(w, m, count, next);
        }
        return 0;
}

static unsigned node_of(const struct hn_sim_world *w, size_t process, unsigned thread) {
        const struct mind *m = w->mind;

        for (unsigned k = 0; is_placed(&w->processes[process]) && k < w->n_nodes; k++) {
                unsigned here = m->best.count[process * HN_SIM_NODES + k];

                if (thread < here)
                        return k;
                thread -= here;
        }
        return HN_SIM_NO_NODE;
}

const struct hn_sim_policy hn_sim_policy_oracle = {
        .name = "oracle",
        .about = "the best static placement, known beforehand",
        .column = true,
        .places = true,
        .start = HN_SIM_START_BESIDE,
        .init = init,
        .deinit = deinit,
        .node_of = node_of,
};

const char *hn_sim_oracle_method(const struct hn_sim_world *w) {
        const struct mind *m = w->mind;

        return w->policy == &hn_sim_policy_oracle ? m->method : NULL;
}
