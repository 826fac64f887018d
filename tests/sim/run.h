/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>

#include "policy.h"

/* One run from beginning to end, and what came of it. */

#define HN_SIM_SECONDS 120u /* unless told otherwise */

struct hn_sim_result {
        double rate;   /* work a second, over all of the run */
        double steady; /* over its last quarter */
        double worst;  /* over the worst ten seconds in a row */
        double settle; /* seconds until five in a row first came to 95 % of `steady` */
        double local;  /* part of the accesses */
        double fair;   /* the slowest of threads that are alike, as a part of their mean; the worst kind */
        double imbalance;
        struct hn_sim_counts counts;
        const char *method; /* of the oracle, else NULL */
};

/* Returns 0 or -errno. */
int hn_sim_run(const struct hn_sim_scenario *scenario, const struct hn_sim_policy *policy, uint64_t seed,
               unsigned seconds, struct hn_sim_result *ret);

/* Returns 0 or -EIO. */
int hn_sim_result_print(const struct hn_sim_scenario *scenario, const struct hn_sim_policy *policy,
                        uint64_t seed, unsigned seconds, const struct hn_sim_result *result, FILE *file);

/* Scenarios down, policies across, as a part of the oracle. Returns 0 or -errno. */
int hn_sim_table(unsigned n_seeds, unsigned seconds, FILE *file);
