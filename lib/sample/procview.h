/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/mask.h"
#include "base/maskpool.h"
#include "policy/snapshot.h"
#include "policy/topology.h"
#include "sample/residency.h"
#include "sample/sysroot.h"

/* One look at one process for people: where its threads run and where its memory is. For every process of a
 * machine, with no state between two looks; the daemon's way of looking is the sampler's. */

struct hn_thread_view {
        struct hn_task_key key;
        char comm[HN_TASK_COMM_MAX]; /* raw */
        hn_node_index node;          /* of the CPU it last ran on */
        uint64_t ticks;              /* CPU time, 1/100 s */
        hn_mask_id mask;             /* affinity in force; HN_MASK_ID_NONE if not readable */
        enum hn_signal signal;       /* what `home` and `local` come from */
        hn_node_index home;          /* node of most faults or pages, HN_NODE_NONE if not known */
        int local;                   /* permille of faults or pages on the node it runs on, -1 if not known */
        uint64_t faults;             /* decayed hinting faults, all nodes */
        uint64_t remote;             /* bytes, its part of the process's memory that is not where it runs */
};

struct hn_proc_view {
        pid_t pid;
        char comm[HN_TASK_COMM_MAX]; /* of the process: its leader's */
        char *cgroup;                /* "" where it has none */
        size_t n_threads;
        struct hn_thread_view *threads; /* ascending tid; zombies are left out */

        struct hn_mask nodes; /* node ids its threads run on */
        hn_mask_id mask;      /* of all threads, HN_MASK_ID_NONE if they differ or cannot be read */
        bool masks_differ;
        enum hn_signal signal; /* the best of its threads */
        hn_node_index home;
        int local;         /* permille, threads weighted by faults or by CPU time; -1 */
        uint64_t bytes;    /* private resident memory: anonymous pages of this process */
        uint64_t remote;   /* bytes x (1 - local) */
        uint64_t *by_node; /* of `bytes`, by node index; estimated from a sample on a live machine */
        uint64_t *faults;  /* of all threads, by node index */
        bool has_pages;    /* by_node is known */
        bool pages_denied; /* it is not, for lack of rights */
};

#define HN_PROC_VIEW_NULL ((struct hn_proc_view){ .mask = HN_MASK_ID_NONE })

void hn_proc_view_deinit(struct hn_proc_view *v);

/* What is common to all looks. */
struct hn_proc_viewer {
        const struct hn_sysroot *root;
        const struct hn_topology *topo;
        struct hn_residency_reader residency;
        struct hn_mask_pool *masks; /* of the caller; the ids of the views are of this pool */
        bool pages;                 /* look for pages too: costs a walk over page tables per process */
};

enum { HN_PROC_GONE = 1, HN_PROC_KERNEL = 2 };

/* Returns 0, HN_PROC_GONE for a process that is not, no longer, or only as a zombie there, HN_PROC_KERNEL for
 * a kernel thread, -ENOMEM, or -errno of a /proc that cannot be read. The caller deinits `*ret`. */
int hn_proc_view_read(const struct hn_proc_viewer *viewer, pid_t pid, struct hn_proc_view *ret);

/* The arithmetic of it: home, local and remote of threads and process, from what was read. Pure. Thread i's
 * faults lie at rows[i * topo->n_nodes]. */
void hn_proc_view_settle(struct hn_proc_view *v, const struct hn_topology *topo, const uint64_t *rows);

/* All process ids, ascending. The caller frees. Returns 0 or -errno. */
int hn_proc_list(const struct hn_sysroot *root, pid_t **ret, size_t *ret_n);
