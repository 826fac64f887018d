/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "world.h"

/* Who places tasks and memory, beside the balancing of load that there always is. */
struct hn_sim_policy {
        const char *name, *about;
        bool column; /* of the table */
        bool scans;  /* the kernel counts hinting faults and lets pages follow them */
        bool places; /* memory starts as `start` says and not as the scenario does */
        enum hn_sim_start start;

        int (*init)(struct hn_sim_world *w); /* makes `w->mind`; all but the name may be missing */
        void (*deinit)(struct hn_sim_world *w);

        /* The node a thread is bound to at birth. */
        unsigned (*node_of)(const struct hn_sim_world *w, size_t process, unsigned thread);

        int (*look)(struct hn_sim_world *w);   /* ten times a second */
        int (*second)(struct hn_sim_world *w); /* every second */
};

/* All of them, in the order of the table. */
size_t hn_sim_policies(const struct hn_sim_policy *const **ret);

/* NULL if there is none of that name. */
const struct hn_sim_policy *hn_sim_policy_find(const char *name);

extern const struct hn_sim_policy hn_sim_policy_none, hn_sim_policy_interleave, hn_sim_policy_hard,
        hn_sim_policy_inverse, hn_sim_policy_kernel, hn_sim_policy_shortcut, hn_sim_policy_numad,
        hn_sim_policy_homenode, hn_sim_policy_homenode_kernel, hn_sim_policy_oracle;
