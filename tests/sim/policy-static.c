/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy.h"

/* The policies that decide once or not at all. */

const struct hn_sim_policy hn_sim_policy_none = {
        .name = "none",
        .about = "balancing of load only",
        .column = true,
};

const struct hn_sim_policy hn_sim_policy_interleave = {
        .name = "interleave",
        .about = "balancing of load, memory evenly on all nodes",
        .column = true,
        .places = true,
        .start = HN_SIM_START_INTERLEAVE,
};

/* Threads in blocks, as the bound variants of autonuma-benchmark have it. */
static unsigned block_of(const struct hn_sim_world *w, size_t process, unsigned thread) {
        const struct hn_sim_job *job = w->processes[process].job;
        unsigned i = w->processes[process].number * job->n_threads + thread;

        return (unsigned) ((size_t) i * w->n_nodes / ((size_t) job->n_processes * job->n_threads));
}

const struct hn_sim_policy hn_sim_policy_hard = {
        .name = "hard",
        .about = "threads bound in blocks, memory beside them",
        .places = true,
        .start = HN_SIM_START_BESIDE,
        .node_of = block_of,
};

const struct hn_sim_policy hn_sim_policy_inverse = {
        .name = "inverse",
        .about = "threads bound in blocks, memory on the opposite node",
        .places = true,
        .start = HN_SIM_START_OPPOSITE,
        .node_of = block_of,
};
