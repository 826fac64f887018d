/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "base/macro.h"
#include "run.h"

#define POLICIES_MAX 16u

/* Means over the seeds. */
struct cell {
        double rate, mib, settle;
};

static int fill(const struct hn_sim_scenario *s, const struct hn_sim_policy *policy, unsigned n_seeds,
                unsigned seconds, struct cell *ret) {
        struct cell cell = { .rate = 0 };

        for (unsigned seed = 1; seed <= n_seeds; seed++) {
                struct hn_sim_result x;
                int r = hn_sim_run(s, policy, seed, seconds, &x);

                if (r < 0)
                        return r;
                cell.rate += x.rate / n_seeds;
                cell.mib += x.counts.pages_moved / HN_SIM_PAGES_PER_MIB / n_seeds;
                cell.settle += x.settle / n_seeds;
        }
        *ret = cell;
        return 0;
}

static int print_row(const struct hn_sim_scenario *s, const struct hn_sim_policy *const *policies, size_t n,
                     unsigned n_seeds, unsigned seconds, FILE *file) {
        struct cell cells[POLICIES_MAX];
        double bound = 0;

        for (size_t i = 0; i < n; i++) {
                int r = policies[i]->column ? fill(s, policies[i], n_seeds, seconds, &cells[i]) : 0;

                if (r < 0)
                        return r;
                if (policies[i] == &hn_sim_policy_oracle)
                        bound = cells[i].rate;
        }
        fprintf(file, "| %s |", s->name);
        for (size_t i = 0; i < n; i++)
                if (policies[i] == &hn_sim_policy_oracle)
                        fprintf(file, " %.2f |", bound);
                else if (policies[i]->column)
                        fprintf(file, " %.1f, %.0f, %.0f |", 100 * cells[i].rate / bound, cells[i].mib,
                                cells[i].settle);
        return fputc('\n', file) == EOF || fflush(file) == EOF ? -EIO : 0;
}

int hn_sim_table(unsigned n_seeds, unsigned seconds, FILE *file) {
        const struct hn_sim_policy *const *policies;
        const struct hn_sim_scenario *scenarios;
        size_t n_policies = hn_sim_policies(&policies), n_scenarios = hn_sim_scenarios(&scenarios);

        fprintf(file,
                "%u seeds, %u simulated seconds each. A cell: work done as %% of the oracle, MiB moved, seconds to "
                "95 %% of the last quarter. The oracle: work a second.\n\n| scenario |",
                n_seeds, seconds);
        for (size_t i = 0; i < n_policies; i++)
                if (policies[i]->column)
                        fprintf(file, " %s |", policies[i]->name);
        fprintf(file, "\n|---|");
        for (size_t i = 0; i < n_policies; i++)
                if (policies[i]->column)
                        fprintf(file, "---|");
        fprintf(file, "\n");
        for (size_t i = 0; i < n_scenarios; i++) {
                int r = scenarios[i].row ? print_row(&scenarios[i], policies,
                                                     HN_MIN(n_policies, POLICIES_MAX), n_seeds, seconds, file)
                                         : 0;

                if (r < 0)
                        return r;
        }
        return 0;
}
