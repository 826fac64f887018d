/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "policy/faults.h"
#include "policy/group.h"
#include "policy/scan.h"
#include "scanner.h"

/* numa_balancing_scan_delay: who is younger is not looked at. */
#define DELAY 1.0

/* Faults come by huge pages, so they are fewer and noisier than pages. */
#define HUGE_PAGES 512.0

/* In the first passes a page goes to a thread that has met it before, without asking from which node. */
#define FREE_PASSES 4

bool hn_sim_is_grouped(const struct hn_sim_process *p) {
        return p->job->n_threads > 1 && p->job->shared > 0;
}

/* Takes this step's share of a node's pages out of those to be scanned in this pass. */
static double take(struct hn_sim_set *set, unsigned node, double share) {
        double n = fmin(set->unscanned[node], set->pages[node]) * share;

        set->unscanned[node] -= n;
        return n;
}

static void settle_set(struct hn_sim_set *set) {
        double all = hn_sim_set_size(set);

        for (unsigned k = 0; all > 0 && k < HN_SIM_NODES; k++)
                set->touching[k] = set->pages[k] / all;
}

void hn_sim_scan_settle(struct hn_sim_process *p, struct hn_sim_task *first) {
        p->scan_seq = FREE_PASSES;
        settle_set(&p->shared);
        for (size_t i = 0; i < p->n_threads; i++)
                settle_set(&first[i].own);
}

/* How many faults are counted for so many scanned pages: more or fewer, as other threads come first or have
 * no use for a page just now. */
static double faults(struct hn_sim_world *w, double pages) {
        return HUGE_PAGES * hn_sim_random_poisson(&w->random, pages / HUGE_PAGES);
}

static void count(struct hn_sim_process *p, const struct hn_sim_task *t, unsigned node, double n) {
        if (node == t->node)
                p->local += n;
        else
                p->remote += n;
}

/* Nobody has met any page before the first pass. Later it takes two meetings in a row from the same node. */
static double willing(const struct hn_sim_process *p, const struct hn_sim_set *set, unsigned to, bool own) {
        return p->scan_seq == 0 || (own && p->scan_seq < FREE_PASSES) ? 1 : set->touched[to];
}

/* A step of a pass: `part` of all, `share` of what is left of it. */
struct step {
        double part, share;
};

/* Scanned pages of node `from` that this thread meets: some go to it, at its own expense. What went counts as
 * a fault on the node where it is now; whether it was local, by where it was. */
static void meet(struct hn_sim_world *w, struct hn_sim_process *p, struct hn_sim_task *t,
                 struct hn_sim_set *set, unsigned from, double pages, double part_to_go, double *faults_now) {
        double n = faults(w, pages), moved = 0;

        if (pages <= 0)
                return;
        if (from != t->node)
                moved = hn_sim_move_pages(w, set, from, t->node, pages * part_to_go);
        t->cold += moved * w->machine->page_us * 1e-6;
        faults_now[from] += n * (1 - moved / pages);
        faults_now[t->node] += n * moved / pages;
        if (set == &p->shared) {
                p->cpu_now[t->node] += n;
                p->shared_faults += n;
        }
        count(p, t, from, n);
}

static void scan_own(struct hn_sim_world *w, struct hn_sim_process *p, struct hn_sim_task *t,
                     const struct step *step) {
        double pages[HN_SIM_NODES];

        for (unsigned k = 0; k < w->n_nodes; k++)
                pages[k] = take(&t->own, k, step->share);
        for (unsigned k = 0; k < w->n_nodes; k++)
                meet(w, p, t, &t->own, k, pages[k], willing(p, &t->own, t->node, true), t->faults.priv_now);
        t->own.touching[t->node] += step->part;
}

static bool may_follow(const struct hn_sim_process *p, unsigned from, unsigned to) {
        return p->scan_seq == 0 || hn_page_move(p->cpu[to], p->cpu[from], p->memory[to], p->memory[from]);
}

/* Any of the threads may be the one that meets a shared page. */
static void scan_shared(struct hn_sim_world *w, struct hn_sim_process *p, struct hn_sim_task *first,
                        const struct step *step) {
        double each = 1 / (double) (unsigned) p->n_threads, pages[HN_SIM_NODES];

        for (unsigned k = 0; k < w->n_nodes; k++)
                pages[k] = take(&p->shared, k, step->share) * each;
        for (unsigned k = 0; k < w->n_nodes; k++)
                for (size_t i = 0; i < p->n_threads; i++) {
                        struct hn_sim_task *t = &first[i];
                        double go = may_follow(p, k, t->node) ? willing(p, &p->shared, t->node, false) : 0;

                        meet(w, p, t, &p->shared, k, pages[k], go, t->faults.shared_now);
                }
        for (size_t i = 0; i < p->n_threads; i++)
                p->shared.touching[first[i].node] += step->part * each;
}

static void next_pass(struct hn_sim_set *set) {
        memcpy(set->unscanned, set->pages, sizeof(set->unscanned));
        memcpy(set->touched, set->touching, sizeof(set->touched));
        memset(set->touching, 0, sizeof(set->touching));
}

static void decay(uint64_t *average, double *window) {
        for (unsigned k = 0; k < HN_SIM_NODES; k++) {
                average[k] = hn_decay(average[k], (uint64_t) window[k], /* clear_residue= */ false);
                window[k] = 0;
        }
}

static unsigned most(const uint64_t *faults_of, unsigned n, unsigned current) {
        unsigned best = 0;

        for (unsigned k = 1; k < n; k++)
                best = faults_of[k] > faults_of[best] ? k : best;
        return faults_of[best] > 0 ? best : current;
}

static void start_pass(struct hn_sim_process *p, struct hn_sim_task *first) {
        next_pass(&p->shared);
        for (size_t i = 0; i < p->n_threads; i++)
                next_pass(&first[i].own);
}

/* The end of a pass: old faults lose half their weight, and a new node may be preferred. */
static void finish_pass(struct hn_sim_world *w, struct hn_sim_process *p, struct hn_sim_task *first,
                        double mib) {
        const struct hn_scan_window window = {
                .local = (uint64_t) p->local,
                .remote = (uint64_t) p->remote,
                .private = (uint64_t) (p->local + p->remote - p->shared_faults),
                .shared = (uint64_t) p->shared_faults,
        };
        bool grouped = hn_sim_is_grouped(p);

        p->scan_seq++;
        p->period_ms = hn_scan_period((uint32_t) p->period_ms, &window, hn_scan_min((uint64_t) mib),
                                      hn_scan_max((uint64_t) mib), /* as_kernel= */ true);
        p->local = p->remote = p->shared_faults = 0;
        decay(p->cpu, p->cpu_now);
        memset(p->memory, 0, sizeof(p->memory));
        for (size_t i = 0; i < p->n_threads; i++) {
                struct hn_sim_faults *f = &first[i].faults;

                decay(f->priv, f->priv_now);
                decay(f->shared, f->shared_now);
                for (unsigned k = 0; k < w->n_nodes; k++)
                        p->memory[k] += f->priv[k] + f->shared[k];
        }
        for (size_t i = 0; i < p->n_threads; i++) {
                uint64_t own[HN_SIM_NODES];

                for (unsigned k = 0; k < HN_SIM_NODES; k++)
                        own[k] = first[i].faults.priv[k] + first[i].faults.shared[k];
                first[i].preferred = most(grouped ? p->memory : own, w->n_nodes, first[i].preferred);
        }
}

static void scan(struct hn_sim_world *w, struct hn_sim_process *p, struct hn_sim_task *first) {
        double pages = hn_sim_set_size(&p->shared), busy = 0, mib;
        struct step step;

        for (size_t i = 0; i < p->n_threads; i++) {
                pages += hn_sim_set_size(&first[i].own);
                busy += first[i].demand;
        }
        if (pages <= 0)
                return;
        mib = pages / HN_SIM_PAGES_PER_MIB;
        if (p->period_ms <= 0) {
                p->period_ms = hn_scan_min((uint64_t) mib);
                start_pass(p, first);
        }
        /* The scanner works on the threads' own time: who sleeps is not scanned. */
        step.part = fmin(1, HN_SCAN_SIZE_MIB / mib) * fmin(1, 100 / p->period_ms) * fmin(1, busy);
        step.part = fmin(step.part, 1 - p->scanned);
        step.share = p->scanned < 1 ? step.part / (1 - p->scanned) : 1;
        for (size_t i = 0; i < p->n_threads; i++)
                scan_own(w, p, &first[i], &step);
        scan_shared(w, p, first, &step);
        for (size_t i = 0; i < p->n_threads; i++)
                hn_sim_refresh(w, &first[i]);

        /* What all share is in every piece that is scanned, a thread's own in one piece of the pass. */
        p->met = p->job->shared > 0 ? fmin(1, 100 / p->period_ms) * fmin(1, busy) : step.part;
        p->scanned += step.part;
        if (p->scanned < 1 - 1e-9)
                return;
        p->scanned = 0;
        finish_pass(w, p, first, mib);
        start_pass(p, first);
}

void hn_sim_scan(struct hn_sim_world *w) {
        for (size_t i = 0; i < w->n_tasks;) {
                struct hn_sim_process *p = &w->processes[w->tasks[i].process];

                if (w->now >= p->born + DELAY)
                        scan(w, p, &w->tasks[i]);
                i += p->n_threads;
        }
}
