/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/maskpool.h"
#include "base/usec.h"
#include "policy/snapshot.h"
#include "policy/topology.h"
#include "sample/cgroupfs.h"
#include "sample/chooser.h"
#include "sample/machineload.h"
#include "sample/privilege.h"
#include "sample/residency.h"
#include "sample/rowpool.h"
#include "sample/taskfiles.h"
#include "sample/tasktable.h"

/* One sweep over the opted-in threads of a machine gives one snapshot.
 *
 * Most threads of most machines sleep. Hence two stages: `schedstat` of every thread, by a descriptor that
 * stays open; `stat`, `sched` and the affinity only of those whose run time moved since the last sweep. */

/* What the sweep met, beside what the snapshot tells. */
struct hn_sweep_counts {
        size_t listed;   /* threads that the scopes named, each once */
        size_t twice;    /* listed more than once: it moved between two scopes while we read */
        size_t kthreads; /* kernel threads, skipped */
        size_t zombies;  /* skipped */
        size_t looked;   /* threads that had run and were looked at closely */
        size_t asked;    /* processes asked for the whereabouts of their pages */
        size_t cut;      /* not looked at: more than HN_SAMPLER_TASKS_MAX */
        size_t others;   /* listed, but no rule takes their processes */
        size_t turned;   /* of these, how many are so only since this sweep */
        size_t unnamed;  /* of these, how many because their program cannot be read for lack of rights */
};

#define HN_SAMPLER_TASKS_MAX (1u << 20)
#define HN_SAMPLER_ID_SWEEPS 64u

struct hn_sampler {
        /* given */
        const struct hn_sysroot *root;
        const struct hn_topology *topo;
        struct hn_privilege privilege;
        struct hn_residency_reader residency; /* .query may be replaced by a test */
        struct hn_chooser chooser;            /* the caller's to set, before each sweep if need be */

        /* what the last sweep met */
        struct hn_sweep_counts counts;

        /* its own */
        struct hn_cgroupfs cgroups;
        struct hn_task_reader reader;
        struct hn_task_table table;
        struct hn_row_pool rows;
        struct hn_mask_pool masks;
        struct hn_machine_busy busy;
        uint64_t n_sweeps;
        unsigned balancing;
        struct hn_scope *scopes; /* of this sweep; the chooser may make more of them */
        size_t n_scopes;
        struct hn_task_sample *tasks;
        size_t tasks_allocated;
        struct hn_node_load *nodes;
        struct hn_listed *listed;
        size_t n_listed, listed_allocated;
        unsigned *n_mems;      /* nodes in each scope's mems */
        uint32_t fewest_cores; /* of a node that has any */
        pid_t *list;
        size_t list_allocated;
        struct hn_process **due;
        size_t due_allocated;
};

/* `root` and `topo` stay the caller's and outlive the sampler, or are replaced by the two setters below; the
 * hooks of `privilege` (may be NULL) are copied. The struct must stay where it is from then on. Returns 0,
 * -ENOMEM, or what opening /proc answered. */
int hn_sampler_init(struct hn_sampler *s, const struct hn_sysroot *root, const struct hn_topology *topo,
                    const struct hn_privilege *privilege);

/* A struct of zeroes, or one deinited before, holds nothing and may be given here as well. */
void hn_sampler_deinit(struct hn_sampler *s);

/* Goes on with another root (the next capture of the same machine) or another topology. The first keeps what
 * is known of the tasks, the second forgets it, since node indices change their meaning. Return as
 * hn_sampler_init(). */
int hn_sampler_set_root(struct hn_sampler *s, const struct hn_sysroot *root);
int hn_sampler_set_topology(struct hn_sampler *s, const struct hn_topology *topo);

/* Looks once. In a cgroup whose scope says `by_process`, the chooser says which scope takes a process, which
 * may be one that it has made just now, in the same array behind those that are there; others are left out.
 * What a process is called is read when it is new or a thread of it is, once more a few sweeps later, and
 * else every HN_SAMPLER_ID_SWEEPS sweeps.
 *
 * Path and settings of `scopes` are the caller's, cpuset, mems and populated are filled in here;
 * they must stay while the snapshot is used. `now` becomes the snapshot's. What `*ret` points to is the
 * sampler's, and valid until its next call.
 *
 * Of a scope with a list of threads these are looked at, whether or not they are in its cgroup, else all that
 * are in it. Tasks that vanish, zombies and kernel threads are left out and counted. A thread in two scopes
 * counts for the first. Which signal a task carries is told by hn_signal_choose() in lib/sample/signal.h.
 *
 * Returns 0 or -ENOMEM; whatever the machine does is no error. */
int hn_sampler_sweep(struct hn_sampler *s, struct hn_scope *scopes, size_t n_scopes, hn_usec_t now,
                     struct hn_snapshot *ret);
