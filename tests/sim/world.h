/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "policy/topology.h"
#include "random.h"
#include "task.h"
#include "traffic.h"

/* A machine with its load, hundredth of a second by hundredth of a second. Everything in here is the truth;
 * policies see of it what their real models would.
 *
 * Not in it: caches beyond a fixed warm-up, page tables left behind, locks, clock rates, the cost of
 * deciding. So proportions between policies count, and who comes before whom, but no figure by itself. */

#define HN_SIM_TICK 0.01 /* seconds */

struct hn_sim_policy;

/* What has happened so far. */
struct hn_sim_counts {
        double work;             /* by scored tasks, seconds at full speed */
        double accesses, local;  /* theirs, and those of them on their own node; millions */
        double pages_moved;      /* by anybody */
        unsigned balancer_moves; /* of tasks from node to node, by the balancing of load */
        unsigned kernel_moves;   /* by the kernel's NUMA balancing */
        unsigned task_moves;     /* by a daemon */
        unsigned ping_pongs;     /* of these, back where the task came from within a minute */
        unsigned repeated_moves; /* and those of a task that had been moved before */
        unsigned young_moves;    /* and those of a task younger than two seconds */
        unsigned young_acts;     /* decisions about such a task that were carried out, moves or not */
        unsigned decisions;      /* of a daemon that were carried out */
        double last_act;         /* of a daemon, seconds */
        double imbalance;        /* sum over ticks of (most - mean) / mean of busy cores per node */
        double starved; /* the longest that a node had no task while others waited elsewhere, seconds */
};

struct hn_sim_cpu {
        double load; /* demand of the tasks on it */
        unsigned nr;
};

struct hn_sim_world {
        const struct hn_sim_scenario *scenario;
        const struct hn_sim_machine *machine;
        const struct hn_sim_policy *policy;
        void *mind; /* the policy's */
        struct hn_topology topo;
        struct hn_mask_pool masks;
        hn_mask_id everywhere;
        struct hn_sim_random random;
        unsigned n_cpus, node_cpus, n_nodes;
        unsigned long tick;
        double now;

        struct hn_sim_process *processes;
        size_t n_processes;
        struct hn_sim_task *tasks;     /* ascending tid */
        struct hn_sim_source *sources; /* parallel to the tasks */
        size_t n_tasks, allocated;
        pid_t last_pid;

        struct hn_sim_cpu cpus[HN_SIM_CPUS];
        double pages_used[HN_SIM_NODES];
        double node_busy[HN_SIM_NODES]; /* CPU seconds used, since the start */
        double starving[HN_SIM_NODES];  /* seconds it has had no task by now, while others waited elsewhere */
        struct hn_sim_traffic traffic;
        struct hn_sim_counts counts;
};

/* Returns 0 or -errno. */
int hn_sim_world_init(struct hn_sim_world *w, const struct hn_sim_scenario *scenario,
                      const struct hn_sim_policy *policy, uint64_t seed);
void hn_sim_world_deinit(struct hn_sim_world *w);

/* Lets one tick pass. Returns 0 or -errno. */
int hn_sim_world_step(struct hn_sim_world *w);

static inline bool hn_sim_may_run(const struct hn_sim_task *t, unsigned node) {
        return t->nodes >> node & 1;
}

/* Runnable tasks on a node, on average. */
double hn_sim_node_load(const struct hn_sim_world *w, unsigned node);

/* The mask of a set of nodes, a bit each. Returns 0 or -ENOMEM. */
int hn_sim_mask_of(struct hn_sim_world *w, uint32_t nodes, hn_mask_id *ret);

/* Whether a task has only just begun: who places it now may well have done so for nothing. */
static inline bool hn_sim_is_young(const struct hn_sim_world *w, const struct hn_sim_task *t) {
        return w->now - t->born < 2;
}

/* Puts a task on another CPU; going to another node costs it some milliseconds. */
void hn_sim_put(struct hn_sim_world *w, struct hn_sim_task *t, unsigned cpu);

/* What sched_setaffinity() does: a task outside of its new mask goes into it at once. */
void hn_sim_set_mask(struct hn_sim_world *w, struct hn_sim_task *t, uint32_t nodes, hn_mask_id mask);

/* A move by a daemon, for the counts; `from` and `to` are nodes. */
void hn_sim_note_move(struct hn_sim_world *w, struct hn_sim_task *t, unsigned from, unsigned to);

/* Pages a node can still take. */
double hn_sim_pages_free(const struct hn_sim_world *w, unsigned node);

/* Moves pages of a set as far as there is room, and counts them. The time it takes is not charged here.
 * Returns how many were moved. */
double hn_sim_move_pages(struct hn_sim_world *w, struct hn_sim_set *set, unsigned from, unsigned to,
                         double pages);

/* Once a set has changed: where the accesses of its users now go. */
void hn_sim_refresh(struct hn_sim_world *w, struct hn_sim_task *t);
