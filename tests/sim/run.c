/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "base/macro.h"
#include "oracle.h"
#include "run.h"

#define TICKS_PER_SECOND 100u

static double mean(const double *series, size_t n) {
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += series[i];
        return n > 0 ? sum / (double) (unsigned) n : 0;
}

static double fairness_of(const struct hn_sim_world *w, const struct hn_sim_job *job) {
        double least = INFINITY, sum = 0;
        unsigned n = 0;

        for (size_t i = 0; i < w->n_tasks; i++)
                if (w->processes[w->tasks[i].process].job == job) {
                        least = fmin(least, w->tasks[i].work);
                        sum += w->tasks[i].work;
                        n++;
                }
        return n > 0 && sum > 0 ? least * n / sum : 1;
}

/* Only threads that are alike and of one age are compared. */
static double fairness(const struct hn_sim_world *w) {
        double least = 1;

        for (size_t i = 0; i < w->scenario->n_jobs; i++) {
                const struct hn_sim_job *job = &w->scenario->jobs[i];

                if (!job->unscored && !job->respawn && job->stagger <= 0)
                        least = fmin(least, fairness_of(w, job));
        }
        return least;
}

static void judge(const struct hn_sim_world *w, const double *series, unsigned seconds,
                  struct hn_sim_result *ret) {
        unsigned last = HN_MAX(seconds / 4, 1u), window = HN_MIN(10u, seconds), few = HN_MIN(5u, seconds);

        ret->rate = mean(series, seconds);
        ret->steady = mean(series + seconds - last, last);
        ret->worst = INFINITY;
        for (unsigned i = 0; i + window <= seconds; i++)
                ret->worst = fmin(ret->worst, mean(series + i, window));
        ret->settle = seconds;
        for (unsigned i = 0; i + few <= seconds; i++)
                if (mean(series + i, few) >= 0.95 * ret->steady) {
                        ret->settle = i;
                        break;
                }
        ret->local = w->counts.accesses > 0 ? w->counts.local / w->counts.accesses : 1;
        ret->fair = fairness(w);
        ret->imbalance = w->counts.imbalance / (seconds * TICKS_PER_SECOND);
        ret->counts = w->counts;
        ret->method = hn_sim_oracle_method(w);
}

int hn_sim_run(const struct hn_sim_scenario *scenario, const struct hn_sim_policy *policy, uint64_t seed,
               unsigned seconds, struct hn_sim_result *ret) {
        _hn_cleanup_(hn_freep) double *series = calloc(seconds, sizeof(*series));
        struct hn_sim_world w;
        int r;

        if (!series)
                return -ENOMEM;
        r = hn_sim_world_init(&w, scenario, policy, seed);
        if (r < 0)
                return r;
        for (unsigned i = 0; i < seconds && r == 0; i++) {
                double before = w.counts.work;

                for (unsigned tick = 0; tick < TICKS_PER_SECOND && r == 0; tick++)
                        r = hn_sim_world_step(&w);
                series[i] = w.counts.work - before;
        }
        if (r == 0)
                judge(&w, series, seconds, ret);
        hn_sim_world_deinit(&w);
        return r;
}

int hn_sim_result_print(const struct hn_sim_scenario *scenario, const struct hn_sim_policy *policy,
                        uint64_t seed, unsigned seconds, const struct hn_sim_result *x, FILE *file) {
        const struct hn_sim_counts *n = &x->counts;
        json_t *j;
        int r = 0;

        j = json_pack("{s:s, s:s, s:s, s:I, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "scenario",
                      scenario->name, "machine", scenario->machine->name, "policy", policy->name, "seed",
                      (json_int_t) seed, "seconds", (int) seconds, "rate", x->rate, "steady", x->steady,
                      "worst_10s", x->worst, "settle_s", x->settle, "local", x->local, "fairness", x->fair,
                      "core_imbalance", x->imbalance);
        if (!j ||
            json_object_update_new(
                    j, json_pack("{s:f, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:f}", "moved_mib",
                                 n->pages_moved / HN_SIM_PAGES_PER_MIB, "balancer_moves",
                                 (int) n->balancer_moves, "kernel_moves", (int) n->kernel_moves, "task_moves",
                                 (int) n->task_moves, "ping_pongs", (int) n->ping_pongs, "repeated_moves",
                                 (int) n->repeated_moves, "young_moves", (int) n->young_moves, "young_acts",
                                 (int) n->young_acts, "decisions", (int) n->decisions, "last_act_s",
                                 n->last_act, "starved_s", n->starved)) < 0 ||
            (x->method && json_object_set_new(j, "method", json_string(x->method)) < 0) ||
            json_dumpf(j, file, JSON_INDENT(2)) < 0 || fputc('\n', file) == EOF)
                r = -EIO;
        json_decref(j);
        return r;
}
