/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "run.h"

/* Runs that several questions are asked of: each is made when it is first asked for, and kept. */

struct hn_sim_runs {
        unsigned n_seeds, seconds;
        struct hn_sim_result **kept; /* [scenario * policies + policy], an element a seed */
        struct hn_sim_result *blank; /* what is answered once there is an error */
        int error; /* the first there was, -errno; to be asked for before answers are used */
};

int hn_sim_runs_init(struct hn_sim_runs *r, unsigned n_seeds, unsigned seconds);
void hn_sim_runs_deinit(struct hn_sim_runs *r);

/* The results with seeds 1 to `n_seeds`, one after the other; never NULL. */
const struct hn_sim_result *hn_sim_runs_of(struct hn_sim_runs *r, const struct hn_sim_scenario *scenario,
                                           const struct hn_sim_policy *policy);

/* Work a second, on average over the seeds. */
double hn_sim_runs_rate(struct hn_sim_runs *r, const struct hn_sim_scenario *scenario,
                        const struct hn_sim_policy *policy);
