/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "machine.h"

/* A machine and the load on it, as data. */

/* Where memory is when a process starts. */
enum hn_sim_start {
        HN_SIM_START_TOUCH, /* each thread has touched its own first, and all have touched what is shared */
        HN_SIM_START_NODE,  /* one thread has touched all of it, on `start_node` */
        HN_SIM_START_NEXT,  /* on `start_node` + the number of the process */
        HN_SIM_START_INTERLEAVE, /* evenly on all nodes */
        HN_SIM_START_OPPOSITE,   /* on the node that is farthest from the thread */
        HN_SIM_START_BESIDE,     /* where the threads of the process are meant to run; moves with them */
        _HN_SIM_START_MAX,
};

/* Processes of one kind. */
struct hn_sim_job {
        const char *comm;
        unsigned n_processes, n_threads; /* threads of each */
        double demand;                   /* of a thread, CPUs */
        double misses;  /* millions of accesses a second that a thread waits for, were there no wait at all */
        double overlap; /* accesses in flight together, of which it waits for one */
        double own_mib, shared_mib; /* of each thread, and of each process */
        double shared;              /* part of the accesses that goes to what is shared */
        double strayed;             /* part of what is not on its start node, but on all of them */
        double churn;               /* part of a thread's own memory that is freed and made anew a second */
        enum hn_sim_start start;
        unsigned start_node;
        double arrival, stagger; /* of the first process, and from each to the next, seconds */
        double work;             /* seconds at full speed after which a process ends, 0 for never */
        double uneven;           /* by how much more or less, as a part of it */
        double phase;            /* seconds after which threads take over each other's memory, 0 for never */
        bool settled;            /* it has run for long before, and the kernel knows its memory */
        bool respawn;            /* another one takes its place */
        bool unmanaged;          /* no rule of homenode's opts it in */
        bool unscored;           /* does not count as work done */
};

#define HN_SIM_JOBS 3

struct hn_sim_scenario {
        char name[24];
        const char *about;
        const struct hn_sim_machine *machine;
        struct hn_sim_job jobs[HN_SIM_JOBS];
        size_t n_jobs;
        bool row; /* of the table */
};

/* All of them, in the order of the table. */
size_t hn_sim_scenarios(const struct hn_sim_scenario **ret);

/* NULL if there is none of that name. */
const struct hn_sim_scenario *hn_sim_scenario_find(const char *name);
