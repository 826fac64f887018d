/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "trial.h"

/* What happens in a scenario, from the start of its load to the checks. Policies other than homenode make
 * sense in those that only measure. */
struct scenario {
        const char *name;
        bool balancing;   /* kernel.numa_balancing while it runs; the policies none and numad switch it off */
        unsigned seconds; /* measured after the opt-in */
        int (*run)(struct trial *t);
};

const struct scenario *scenario_find(const char *name);

/* Mean local share that hand placement reaches in that scenario, measured at first use and kept for the boot.
 * The trial's load must not be running. */
int scenario_reference(const struct trial *t, enum load load, double *ret);

/* The same of how many CPUs the busiest node uses more than the idlest, which nobody places. */
int scenario_reference_spread(const struct trial *t, enum load load, unsigned seconds, double *ret);

/* Samples before the opt-in, then the policy, then samples; the same for every policy. */
int scenario_measured(struct trial *t);

/* Every scenario that is a load of the table and bounds to judge it by. */
int scenario_loaded(struct trial *t);

int scenario_threads_apart(struct trial *t);
int scenario_numa02(struct trial *t);
int scenario_demo(struct trial *t);
int scenario_not_opted_in(struct trial *t);
int scenario_user_mask(struct trial *t);
int scenario_balancing_off(struct trial *t);
int scenario_balancing_off_threads(struct trial *t);

int scenario_stop(struct trial *t);
int scenario_kill9(struct trial *t);
int scenario_reload(struct trial *t);
int scenario_one_node(struct trial *t);
int scenario_bad_config(struct trial *t);
int scenario_installed(struct trial *t);

int scenario_override(struct trial *t);
/* Who may do what on the system bus, and what hostile calls come to. */
int scenario_bus(struct trial *t);
int scenario_advise(struct trial *t);
/* "homenode run" beside numactl, and in the care of a rule. Without a load and without the daemon. */
int scenario_numactl_side_by_side(struct trial *t);
