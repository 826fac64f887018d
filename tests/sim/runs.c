/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"
#include "runs.h"

static size_t n_cells(void) {
        const struct hn_sim_policy *const *policies;
        const struct hn_sim_scenario *scenarios;

        return hn_sim_scenarios(&scenarios) * hn_sim_policies(&policies);
}

int hn_sim_runs_init(struct hn_sim_runs *r, unsigned n_seeds, unsigned seconds) {
        *r = (struct hn_sim_runs){
                .n_seeds = n_seeds,
                .seconds = seconds,
                .kept = calloc(n_cells(), sizeof(*r->kept)),
                .blank = calloc(n_seeds, sizeof(*r->blank)),
        };
        if (r->kept && r->blank)
                return 0;
        hn_sim_runs_deinit(r);
        return -ENOMEM;
}

void hn_sim_runs_deinit(struct hn_sim_runs *r) {
        for (size_t i = 0; r->kept && i < n_cells(); i++)
                free(r->kept[i]);
        free(r->kept);
        free(r->blank);
        *r = (struct hn_sim_runs){ .error = 0 };
}

static struct hn_sim_result **cell(struct hn_sim_runs *r, const struct hn_sim_scenario *scenario,
                                   const struct hn_sim_policy *policy) {
        const struct hn_sim_policy *const *policies;
        const struct hn_sim_scenario *scenarios;
        size_t n = hn_sim_policies(&policies), k = 0;

        (void) hn_sim_scenarios(&scenarios);
        while (policies[k] != policy)
                k++;
        return &r->kept[(size_t) (scenario - scenarios) * n + k];
}

const struct hn_sim_result *hn_sim_runs_of(struct hn_sim_runs *r, const struct hn_sim_scenario *scenario,
                                           const struct hn_sim_policy *policy) {
        struct hn_sim_result **ret = cell(r, scenario, policy);
        _hn_cleanup_(hn_freep) struct hn_sim_result *results = NULL;

        if (*ret || r->error < 0)
                return *ret ? *ret : r->blank;
        results = calloc(r->n_seeds, sizeof(*results));
        if (!results)
                r->error = -ENOMEM;
        for (unsigned i = 0; i < r->n_seeds && r->error == 0; i++)
                r->error = hn_sim_run(scenario, policy, i + 1, r->seconds, &results[i]);
        if (r->error < 0)
                return r->blank;
        *ret = HN_TAKE_PTR(results);
        return *ret;
}

double hn_sim_runs_rate(struct hn_sim_runs *r, const struct hn_sim_scenario *scenario,
                        const struct hn_sim_policy *policy) {
        const struct hn_sim_result *x = hn_sim_runs_of(r, scenario, policy);
        double sum = 0;

        for (unsigned i = 0; i < r->n_seeds; i++)
                sum += x[i].rate;
        return sum / r->n_seeds;
}
