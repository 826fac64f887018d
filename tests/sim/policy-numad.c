/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "pager.h"
#include "policy.h"

/* Whole processes by free CPUs and free memory of nodes, as numad does it: every five seconds the largest
 * candidate is bound, with all of its memory. */

#define PERIOD       5
#define HOLD         30.0 /* seconds before a process is looked at again */
#define MIN_CPU      0.5
#define MIN_MIB      300.0
#define TARGET       0.85 /* utilisation it reckons with */
#define MIB_A_SECOND 1000.0

struct seen {
        pid_t tgid;
        double cpu; /* seconds used when last looked at */
        double held_until;
};

struct mind {
        struct hn_sim_pager pager;
        struct seen *seen; /* by process */
        unsigned seconds;
};

static void deinit(struct hn_sim_world *w) {
        struct mind *m = w->mind;

        if (m)
                free(m->seen);
        free(m);
        w->mind = NULL;
}

static int init(struct hn_sim_world *w) {
        struct mind *m = calloc(1, sizeof(*m));

        w->mind = m;
        if (!m)
                return -ENOMEM;
        m->seen = calloc(w->n_processes + 1, sizeof(*m->seen));
        return m->seen ? 0 : -ENOMEM;
}

static int look(struct hn_sim_world *w) {
        struct mind *m = w->mind;

        hn_sim_pager_step(&m->pager, w);
        return 0;
}

struct usage {
        double cpus, mib, pages[HN_SIM_NODES];
};

static void measure(const struct hn_sim_world *w, size_t process, struct usage *ret) {
        const struct hn_sim_process *p = &w->processes[process];

        *ret = (struct usage){ .cpus = 0 };
        for (unsigned k = 0; k < w->n_nodes; k++)
                ret->pages[k] = p->shared.pages[k];
        for (size_t i = 0; i < w->n_tasks; i++) {
                const struct hn_sim_task *t = &w->tasks[i];

                if (t->process != process)
                        continue;
                ret->cpus += t->runtime;
                for (unsigned k = 0; k < w->n_nodes; k++)
                        ret->pages[k] += t->own.pages[k];
        }
        for (unsigned k = 0; k < w->n_nodes; k++)
                ret->mib += ret->pages[k] / HN_SIM_PAGES_PER_MIB;
}

/* The nodes with most free CPUs times free memory, as many as it needs. What it has on a node itself counts
 * as free there: its memory, and that part of its CPU time. */
static uint32_t choose(const struct hn_sim_world *w, const struct usage *u, double cpus, double n_threads) {
        double cpus_left = fmin(cpus / TARGET, n_threads), mib_left = u->mib / TARGET;
        uint32_t nodes = 0;

        do {
                double best_cpu = 0, best_mib = 0, best = -1;
                unsigned node = HN_SIM_NO_NODE;

                for (unsigned k = 0; k < w->n_nodes; k++) {
                        double own = u->pages[k] / HN_SIM_PAGES_PER_MIB;
                        double cpu = fmax(0, w->node_cpus - hn_sim_node_load(w, k)) + cpus * own / u->mib;
                        double mib = hn_sim_pages_free(w, k) / HN_SIM_PAGES_PER_MIB + own;

                        cpu = fmin(fmax(cpu, 0.01), w->node_cpus);
                        if ((nodes >> k & 1) || cpu * mib <= best)
                                continue;
                        best = cpu * mib;
                        best_cpu = cpu;
                        best_mib = mib;
                        node = k;
                }
                if (node == HN_SIM_NO_NODE)
                        break;
                nodes |= 1u << node;
                cpus_left -= best_cpu;
                mib_left -= best_mib;
        } while (cpus_left > 0 || mib_left > 0);
        return nodes;
}

static int bind(struct hn_sim_world *w, size_t process, uint32_t nodes) {
        struct mind *m = w->mind;
        hn_mask_id mask;
        int r;

        r = hn_sim_mask_of(w, nodes, &mask);
        if (r < 0)
                return r;
        w->counts.decisions++;
        w->counts.last_act = w->now;
        for (size_t i = 0; i < w->n_tasks; i++) {
                struct hn_sim_task *t = &w->tasks[i];
                unsigned from = t->node;

                if (t->process != process)
                        continue;
                hn_sim_set_mask(w, t, nodes, mask);
                if (t->node != from)
                        hn_sim_note_move(w, t, from, t->node);
        }
        m->pager = (struct hn_sim_pager){
                .active = true,
                .process = process,
                .tgid = w->processes[process].tgid,
                .to = nodes,
                .source = UINT32_MAX,
                .mib_per_second = MIB_A_SECOND,
        };
        return 0;
}

static int second(struct hn_sim_world *w) {
        struct mind *m = w->mind;
        size_t best = SIZE_MAX;
        double most = 0, best_cpus = 0;
        struct usage of_best = { .cpus = 0 };

        if (++m->seconds % PERIOD != 0)
                return 0;
        for (size_t i = 0; i < w->n_processes; i++) {
                struct seen *seen = &m->seen[i];
                struct usage u;
                double cpus;

                if (!w->processes[i].alive)
                        continue;
                measure(w, i, &u);
                if (seen->tgid != w->processes[i].tgid) {
                        *seen = (struct seen){ .tgid = w->processes[i].tgid, .cpu = u.cpus };
                        continue;
                }
                cpus = (u.cpus - seen->cpu) / PERIOD;
                seen->cpu = u.cpus;
                if (cpus < MIN_CPU || u.mib < MIN_MIB || w->now < seen->held_until || cpus * u.mib <= most)
                        continue;
                most = cpus * u.mib;
                best = i;
                best_cpus = cpus;
                of_best = u;
        }
        if (best == SIZE_MAX || m->pager.active)
                return 0;
        m->seen[best].held_until = w->now + HOLD;
        return bind(w, best, choose(w, &of_best, best_cpus, w->processes[best].job->n_threads));
}

const struct hn_sim_policy hn_sim_policy_numad = {
        .name = "numad",
        .about = "whole processes by free CPUs and free memory, after numad",
        .column = true,
        .init = init,
        .deinit = deinit,
        .look = look,
        .second = second,
};
