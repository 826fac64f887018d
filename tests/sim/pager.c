/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "pager.h"

/* The target with most room, or HN_SIM_NO_NODE. */
static unsigned roomiest(const struct hn_sim_pager *p, const struct hn_sim_world *w, double *ret_room) {
        double floor_pages = p->keep_free * w->machine->node_mib * HN_SIM_PAGES_PER_MIB;
        unsigned best = HN_SIM_NO_NODE;

        *ret_room = 0;
        for (unsigned k = 0; k < w->n_nodes; k++)
                if ((p->to >> k & 1) && hn_sim_pages_free(w, k) - floor_pages > *ret_room) {
                        *ret_room = hn_sim_pages_free(w, k) - floor_pages;
                        best = k;
                }
        return best;
}

static double move_set(struct hn_sim_pager *p, struct hn_sim_world *w, struct hn_sim_set *set,
                       double budget) {
        double done = 0;

        for (unsigned k = 0; k < w->n_nodes; k++) {
                double room;
                unsigned to;

                if ((p->to >> k & 1) || !(p->source >> k & 1) || set->pages[k] <= 0)
                        continue;
                to = roomiest(p, w, &room);
                if (to == HN_SIM_NO_NODE)
                        break;
                done += hn_sim_move_pages(w, set, k, to, fmin(room, budget - done));
        }
        return done;
}

void hn_sim_pager_step(struct hn_sim_pager *p, struct hn_sim_world *w) {
        double budget = p->mib_per_second / 10 * HN_SIM_PAGES_PER_MIB, left = budget;
        struct hn_sim_process *process = &w->processes[p->process];

        if (!p->active)
                return;
        if (!process->alive || process->tgid != p->tgid) {
                p->active = false;
                return;
        }
        for (size_t i = 0; i < w->n_tasks && left > 0.5; i++)
                if (w->tasks[i].process == p->process)
                        left -= move_set(p, w, &w->tasks[i].own, left);
        if (left > 0.5) {
                left -= move_set(p, w, &process->shared, left);
                p->active = left <= 0.5;
        }
        for (size_t i = 0; i < w->n_tasks; i++)
                if (w->tasks[i].process == p->process) {
                        /* Its threads meet pages under way, and wait for them: all of the copying together.
                         */
                        w->tasks[i].cold += (budget - left) * w->machine->page_us * 1e-6 /
                                            (double) (unsigned) process->n_threads;
                        hn_sim_refresh(w, &w->tasks[i]);
                }
}
