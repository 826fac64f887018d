/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/maskpool.h"
#include "scenario.h"

/* Threads, processes and their memory. Amounts of memory are pages of 4 KiB, as fractions: a huge page here
 * or there makes no difference. */

#define HN_SIM_PAGES_PER_MIB 256.0
#define HN_SIM_NO_NODE       UINT32_MAX

/* Memory that is used in the same way by the same threads. */
struct hn_sim_set {
        double pages[HN_SIM_NODES];

        /* as the kernel's scanner has it */
        double unscanned[HN_SIM_NODES]; /* of these, in the pass under way */
        double touched[HN_SIM_NODES];   /* part that was met from each node in the pass before */
        double touching[HN_SIM_NODES];  /* and so far in this one */
};

double hn_sim_set_size(const struct hn_sim_set *set);

/* Moves up to `pages` from one node to another. Returns how many there were. */
double hn_sim_set_move(struct hn_sim_set *set, unsigned from, unsigned to, double pages);

/* A thread's hinting faults, as the kernel keeps them: decayed, and of the scan that is under way. */
struct hn_sim_faults {
        uint64_t priv[HN_SIM_NODES], shared[HN_SIM_NODES];
        double priv_now[HN_SIM_NODES], shared_now[HN_SIM_NODES];
};

struct hn_sim_process {
        const struct hn_sim_job *job;
        unsigned number; /* among those of its job */
        pid_t tgid;
        size_t n_threads; /* alive */
        bool alive;
        double start_at;   /* when the next one of this place starts, where none is alive */
        double next_phase; /* 0 for none */
        struct hn_sim_set shared;

        /* the kernel's scanner */
        double born, period_ms, scanned; /* the last: part of the pass under way */
        double met;                      /* chance that one of its threads met a hinting fault just now */
        uint64_t scan_seq;
        double local, remote, shared_faults; /* of this pass */
        double cpu_now[HN_SIM_NODES];
        uint64_t cpu[HN_SIM_NODES],
                memory[HN_SIM_NODES]; /* faults on what is shared: from where, and on it */

        /* what was last seen of its pages from outside */
        bool asked, resident;
        double asked_at, asked_cpu, cpu_used; /* seconds; the last: by those alive, at this look */
        uint64_t residency[HN_SIM_NODES];
};

struct hn_sim_task {
        pid_t tid;
        uint64_t start; /* serves as its start time, and never comes twice */
        size_t process; /* index */
        unsigned thread;
        unsigned cpu, node;
        uint32_t nodes;  /* it may run on, a bit each */
        hn_mask_id mask; /* the same, as the mask that was set */
        struct hn_sim_set own;
        double to_nodes[HN_SIM_NODES];    /* part of its accesses that goes to each */
        double demand, cold;              /* the last: seconds still to be lost to warming up */
        double share, speed;              /* CPU time in this tick as a part of it, and what that is worth */
        double born, runtime, wait, work; /* seconds */
        double due;                       /* work after which it ends, 0 for never */
        struct hn_sim_faults faults;
        unsigned preferred; /* of the kernel, HN_SIM_NO_NODE for none */
        double retry_at;
        unsigned came_from; /* the node a daemon last moved it away from */
        double moved_at;
};
