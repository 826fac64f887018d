/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "numaplace.h"
#include "policy.h"

/* NUMA balancing as the kernel has it, and the same with the idea that was proposed for it in 2020 and given
 * up: a node with a spare CPU may take any task. */

static int look(struct hn_sim_world *w) {
        hn_sim_numa_place(w, /* shortcut= */ false);
        return 0;
}

const struct hn_sim_policy hn_sim_policy_kernel = {
        .name = "kernel",
        .about = "NUMA balancing after the kernel's: tasks and pages",
        .column = true,
        .scans = true,
        .look = look,
};

static int look_shortcut(struct hn_sim_world *w) {
        hn_sim_numa_place(w, /* shortcut= */ true);
        return 0;
}

const struct hn_sim_policy hn_sim_policy_shortcut = {
        .name = "shortcut",
        .about = "the same, but a node with a spare CPU takes any task",
        .column = true,
        .scans = true,
        .look = look_shortcut,
};
