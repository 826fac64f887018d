/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "cpus.h"
#include "policy.h"
#include "population.h"
#include "scanner.h"

int hn_sim_population_init(struct hn_sim_world *w) {
        const struct hn_sim_scenario *s = w->scenario;
        size_t n = 0;

        for (size_t i = 0; i < s->n_jobs; i++)
                n += s->jobs[i].n_processes;
        w->processes = calloc(n + 1, sizeof(*w->processes));
        if (!w->processes)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_jobs; i++)
                for (unsigned k = 0; k < s->jobs[i].n_processes; k++)
                        w->processes[w->n_processes++] = (struct hn_sim_process){
                                .job = &s->jobs[i],
                                .number = k,
                                .start_at = s->jobs[i].arrival + k * s->jobs[i].stagger,
                        };
        return 0;
}

static enum hn_sim_start start_of(const struct hn_sim_world *w, const struct hn_sim_job *job) {
        return w->policy->places ? w->policy->start : job->start;
}

/* Puts new pages on a node, or what does not fit there on the next. */
static void place(struct hn_sim_world *w, struct hn_sim_set *set, unsigned node, double pages) {
        for (unsigned k = 0; k < w->n_nodes && pages > 0; k++) {
                unsigned on = (node + k) % w->n_nodes;
                double n = fmin(pages, hn_sim_pages_free(w, on));

                set->pages[on] += n;
                w->pages_used[on] += n;
                pages -= n;
        }
}

static void start_set(struct hn_sim_world *w, const struct hn_sim_process *p, struct hn_sim_set *set,
                      unsigned node, double pages) {
        const struct hn_sim_job *job = p->job;
        enum hn_sim_start start = start_of(w, job);
        double astray = start == HN_SIM_START_INTERLEAVE ? 1 : w->policy->places ? 0 : job->strayed;

        for (unsigned k = 0; k < w->n_nodes; k++)
                place(w, set, k, pages * astray / w->n_nodes);
        switch (start) {
        case HN_SIM_START_NODE: node = job->start_node; break;
        case HN_SIM_START_NEXT: node = (job->start_node + p->number) % w->n_nodes; break;
        case HN_SIM_START_OPPOSITE: node = w->n_nodes - 1 - node; break;
        case HN_SIM_START_TOUCH:
        case HN_SIM_START_INTERLEAVE:
        case HN_SIM_START_BESIDE:
        case _HN_SIM_START_MAX: break;
        }
        place(w, set, node, pages * (1 - astray));
}

static int reserve(struct hn_sim_world *w, size_t n) {
        size_t more = HN_MAX(n, 2 * w->allocated);
        struct hn_sim_source *sources;
        struct hn_sim_task *tasks;

        if (n <= w->allocated)
                return 0;
        tasks = reallocarray(w->tasks, more, sizeof(*tasks));
        if (!tasks)
                return -ENOMEM;
        w->tasks = tasks;
        sources = reallocarray(w->sources, more, sizeof(*sources));
        if (!sources)
                return -ENOMEM;
        w->sources = sources;
        w->allocated = more;
        return 0;
}

static int bear_thread(struct hn_sim_world *w, size_t process, unsigned thread, unsigned here) {
        const struct hn_sim_process *p = &w->processes[process];
        const struct hn_sim_job *job = p->job;
        struct hn_sim_task *t = &w->tasks[w->n_tasks++];
        double uneven = job->uneven * (2 * hn_sim_random_unit(&w->random) - 1);
        unsigned bound = w->policy->node_of ? w->policy->node_of(w, process, thread) : HN_SIM_NO_NODE;

        *t = (struct hn_sim_task){
                .tid = p->tgid + (pid_t) thread,
                .start = (uint64_t) (p->tgid + (pid_t) thread),
                .process = process,
                .thread = thread,
                .nodes = (1u << w->n_nodes) - 1,
                .mask = w->everywhere,
                .demand = job->demand,
                .due = job->work * (1 + uneven),
                .preferred = HN_SIM_NO_NODE,
                .came_from = HN_SIM_NO_NODE,
                .born = w->now,
                .speed = 1,
        };
        if (bound != HN_SIM_NO_NODE) {
                int r = hn_sim_mask_of(w, 1u << bound, &t->mask);

                if (r < 0)
                        return r;
                t->nodes = 1u << bound;
        }
        t->cpu = hn_sim_birth_cpu(w, t, here);
        t->node = t->cpu / w->node_cpus;
        w->cpus[t->cpu].load += t->demand;
        w->cpus[t->cpu].nr++;
        start_set(w, p, &t->own, t->node, job->own_mib * HN_SIM_PAGES_PER_MIB);
        return 0;
}

/* All threads at once: a program that starts them one after another is done with it in no time. */
static int bear(struct hn_sim_world *w, size_t process) {
        struct hn_sim_process *p = &w->processes[process];
        const struct hn_sim_job *job = p->job;
        double part = job->shared_mib * HN_SIM_PAGES_PER_MIB / job->n_threads;
        size_t first = w->n_tasks;
        int r;

        r = reserve(w, w->n_tasks + job->n_threads);
        if (r < 0)
                return r;
        *p = (struct hn_sim_process){
                .job = job,
                .number = p->number,
                .tgid = w->last_pid + 1,
                .n_threads = job->n_threads,
                .alive = true,
                .next_phase = job->phase > 0 ? w->now + job->phase : 0,
                .born = w->now,
        };
        w->last_pid += (pid_t) job->n_threads;
        for (unsigned i = 0; i < job->n_threads; i++) {
                r = bear_thread(w, process, i, i == 0 ? HN_SIM_NO_NODE : w->tasks[first].node);
                if (r < 0)
                        return r;
        }
        for (size_t i = first; i < w->n_tasks; i++)
                start_set(w, p, &p->shared, w->tasks[i].node, part);
        if (job->settled)
                hn_sim_scan_settle(p, &w->tasks[first]);
        for (size_t i = first; i < w->n_tasks; i++)
                hn_sim_refresh(w, &w->tasks[i]);
        return 0;
}

static void free_set(struct hn_sim_world *w, struct hn_sim_set *set) {
        for (unsigned k = 0; k < w->n_nodes; k++)
                w->pages_used[k] = fmax(0, w->pages_used[k] - set->pages[k]);
}

static void bury(struct hn_sim_world *w, size_t i) {
        struct hn_sim_task *t = &w->tasks[i];
        struct hn_sim_process *p = &w->processes[t->process];

        free_set(w, &t->own);
        w->cpus[t->cpu].load = w->cpus[t->cpu].nr > 1 ? w->cpus[t->cpu].load - t->demand : 0;
        w->cpus[t->cpu].nr--;
        if (--p->n_threads == 0) {
                free_set(w, &p->shared);
                p->alive = false;
                p->start_at = p->job->respawn ? w->now : INFINITY;
        }
        memmove(t, t + 1, (w->n_tasks - i - 1) * sizeof(*t));
        w->n_tasks--;
}

/* Each thread goes on with the memory that another one had, one that may well run on another node. */
static void change_phase(struct hn_sim_world *w, struct hn_sim_process *p) {
        unsigned by = HN_MAX(p->job->n_threads / w->n_nodes, 1u);
        struct hn_sim_task *first = NULL;

        p->next_phase += p->job->phase;
        if (start_of(w, p->job) == HN_SIM_START_BESIDE || p->n_threads < p->job->n_threads)
                return;
        for (size_t i = 0; i < w->n_tasks && !first; i++)
                first = &w->processes[w->tasks[i].process] == p ? &w->tasks[i] : NULL;
        for (unsigned turn = 0; first && turn < by; turn++) {
                struct hn_sim_set last = first[p->n_threads - 1].own;

                for (size_t k = p->n_threads - 1; k > 0; k--)
                        first[k].own = first[k - 1].own;
                first->own = last;
        }
        for (size_t k = 0; first && k < p->n_threads; k++)
                hn_sim_refresh(w, &first[k]);
}

int hn_sim_population_step(struct hn_sim_world *w) {
        for (size_t i = w->n_tasks; i-- > 0;)
                if (w->tasks[i].due > 0 && w->tasks[i].work >= w->tasks[i].due)
                        bury(w, i);
        for (size_t i = 0; i < w->n_processes; i++) {
                struct hn_sim_process *p = &w->processes[i];

                if (p->alive && p->next_phase > 0 && w->now >= p->next_phase)
                        change_phase(w, p);
                if (!p->alive && w->now >= p->start_at) {
                        int r = bear(w, i);

                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

void hn_sim_population_churn(struct hn_sim_world *w) {
        for (size_t i = 0; i < w->n_tasks; i++) {
                struct hn_sim_task *t = &w->tasks[i];
                double part = w->processes[t->process].job->churn / 10 * t->share;

                if (part <= 0)
                        continue;
                for (unsigned k = 0; k < w->n_nodes; k++) {
                        double n = t->own.pages[k] * part;

                        t->own.pages[k] -= n;
                        w->pages_used[k] -= n;
                        if (w->policy->places && w->policy->start == HN_SIM_START_INTERLEAVE)
                                place(w, &t->own, k, n);
                        else
                                place(w, &t->own, t->node, n);
                }
                hn_sim_refresh(w, t);
        }
}
