/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/mask.h"
#include "base/maskpool.h"
#include "base/usec.h"
#include "policy/topology.h"

/* What one look at the machine yields: plain values, filled by lib/sample (or by a test, or by a simulator)
 * and read by the policy. A snapshot is made of arrays that are reused from sweep to sweep. */

/* Where a figure on the placement of memory came from, best first. "none" is not "0 % remote". */
enum hn_signal {
        HN_SIGNAL_NONE,      /* nothing known, and `why_no_signal` of the snapshot may say why */
        HN_SIGNAL_RESIDENCY, /* sampled resident pages of the whole process: threads cannot be told apart */
        HN_SIGNAL_FAULTS,    /* the kernel's NUMA hinting faults of this very thread */
        _HN_SIGNAL_MAX,
};

const char *hn_signal_to_string(enum hn_signal s);

/* How far homenode may go. A rule's mode is capped by the daemon's. */
enum hn_mode {
        HN_MODE_OBSERVE, /* look */
        HN_MODE_ADVISE,  /* decide and say so */
        HN_MODE_MANAGE,  /* act */
        _HN_MODE_MAX,
        _HN_MODE_INVALID = -22,
};

const char *hn_mode_to_string(enum hn_mode m);
enum hn_mode hn_mode_from_string(const char *s);

/* One opted-in cgroup with the settings of the rule that matched it. The strings belong to whoever made it.
 */
struct hn_scope {
        const char *path;      /* from the cgroup root, "/system.slice/web-1.service" */
        const char *rule;      /* name of the rule */
        enum hn_mode mode;     /* already capped by the daemon's own */
        bool pages;            /* pages may be moved */
        bool within_user_mask; /* UserMask=within: choose inside a narrower mask instead of leaving it alone
                                */
        struct hn_mask nodes;  /* node *ids* the rule allows; empty = all */
        struct hn_mask prefer; /* node ids near the devices that the rule prefers; empty = none */

        /* Rules may take single processes of a cgroup. Then one scope stands for the cgroup and has no tasks,
         * and each rule that takes one of its processes has a scope of its own, and so have those whom only a
         * hand has ordered something for; all of them say so, and name the first. */
        bool by_process;
        uint32_t place;

        /* Opted in by nobody: it is here for tasks that a hand has ordered something for. Then only these
         * threads of it are looked at, or all of them where `tids` is NULL. */
        bool by_hand;
        const pid_t *tids;
        size_t n_tids;

        /* filled by the sampler */
        struct hn_mask cpuset; /* cpuset.cpus.effective; all online CPUs where the cgroup does not say */
        struct hn_mask mems;   /* cpuset.mems.effective, node ids; all nodes where the cgroup does not say */
        bool populated;        /* had a thread at the last sweep */
};

/* What scopes of the same cgroup have in common. */
static inline uint32_t hn_scope_place(const struct hn_scope *scopes, uint32_t i) {
        return scopes[i].by_process ? scopes[i].place : i;
}

/* What a hand has ordered for a task: it outranks rules and heuristics, and the user's own mask. */
struct hn_hand {
        uint64_t id;          /* of the override it comes from, never 0 */
        struct hn_mask nodes; /* node ids, never empty */
        struct hn_mask cpus;  /* empty: all CPUs of the nodes */
        bool pages;           /* the memory of its process is to come too */
};

/* A thread, identified by tid and start time together: tids are reused. */
struct hn_task_key {
        pid_t tid;
        uint64_t start; /* clock ticks since boot, field 22 of /proc/TID/stat */
};

#define HN_TASK_COMM_MAX 16 /* TASK_COMM_LEN, with its NUL */

/* Task flags of the kernel (include/linux/sched.h), field 9 of /proc/TID/stat. */
#define HN_PF_KTHREAD        0x00200000u
#define HN_PF_NO_SETAFFINITY 0x04000000u

struct hn_task_sample {
        struct hn_task_key key;
        pid_t tgid;                  /* its process */
        char comm[HN_TASK_COMM_MAX]; /* raw bytes of the observed user's choosing: escape before printing */
        char state;                  /* field 3 of stat: R, S, D, Z, ... */
        uint8_t sched_class;         /* SCHED_OTHER 0, FIFO 1, RR 2, BATCH 3, IDLE 5, DEADLINE 6 */
        uint32_t flags;              /* PF_* */
        hn_node_index node;          /* node of the CPU it last ran on, HN_NODE_NONE if unknown */
        int cpu;                     /* that CPU */
        hn_mask_id mask;     /* affinity in force, in the snapshot's pool; HN_MASK_ID_NONE if not readable */
        uint32_t scope;      /* index into the snapshot's scopes */
        uint32_t hand;       /* which of the snapshot's hands holds it, counted from 1; 0: none */
        uint64_t runtime_ns; /* CPU time since its start */
        uint64_t wait_ns;    /* time spent runnable but not running, since its start */
        uint64_t child_ns;   /* CPU time of children that its process has waited for, since its start */
        hn_usec_t age;       /* since its start; 0 where that is not known */
        uint64_t resident;   /* bytes of its process that are in memory, 0 if unknown */
        uint32_t runnable_avg; /* PELT, 0..1024 and more; 0 if unknown */
        enum hn_signal signal;
        bool fresh; /* faults (or pages) were read in this sweep; else carried over from an earlier one */
        int kernel_preferred; /* the kernel's own numa_preferred_nid as node index, or -1 */
        uint32_t numa_group;  /* the kernel's numa_group_id, 0 for none */
        uint64_t scan_seq;    /* mm->numa_scan_seq: finished scan sequences */
        size_t row;           /* its row in the snapshot; valid if signal is not NONE */
        bool alone;           /* the only thread of its process, so that all of its pages are its own */
        bool pages_known;     /* where its process's pages lie, whatever the signal: in `pages_row` */
        size_t pages_row;
        hn_usec_t pages_at; /* when that was looked up */
};

struct hn_node_load {
        uint32_t busy; /* thousandths of a CPU in use on usable CPUs since the last sweep, steal left out */
        uint64_t free; /* bytes */
        uint64_t reclaimable; /* bytes of clean page cache that a page move may push out */
};

struct hn_snapshot {
        hn_usec_t now;  /* CLOCK_MONOTONIC (CLOCK_BOOTTIME where it matters not) when the sweep began */
        size_t n_nodes; /* as in the topology */
        struct hn_node_load *nodes;
        bool busy_known; /* `busy` of them was measured: false in a first sweep, and without /proc/stat */

        size_t n_scopes;
        const struct hn_scope *scopes;

        size_t n_hands;
        const struct hn_hand *hands;

        size_t n_tasks;
        struct hn_task_sample *tasks; /* ascending tid */

        /* Rows of n_nodes counters: [row * n_nodes + node]. For faults: decayed hinting faults by the node of
         * the page, private ones in `priv`, shared ones in `shared`. For residency: pages found, all in
         * `priv`. */
        size_t n_rows;
        uint64_t *priv, *shared;

        struct hn_mask_pool *masks; /* the masks the tasks' ids stand for; outlives the snapshot */

        unsigned kernel_balancing; /* kernel.numa_balancing, a bit mask: 1 normal, 2 tiering */
        const char *why_no_signal; /* static text where some tasks had to do without faults, else NULL */
        hn_usec_t cost;            /* CPU time this sweep took, microseconds */
        size_t n_denied;           /* tasks of which something could not be read for lack of rights */
        size_t n_gone;             /* tasks that vanished in mid-sweep */
};
