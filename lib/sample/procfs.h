/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/mask.h"
#include "policy/snapshot.h"
#include "policy/topology.h"
#include "sample/sysroot.h"

/* The small files of /proc on a task. Parsers over bounded text, no NUL needed; names inside the text are of
 * the observed user's choosing. All return 0, -EBADMSG for a text that is no such file or was cut short. */

/* /proc/PID/task/TID/stat, proc(5). */
struct hn_proc_stat {
        pid_t tid;
        char comm[HN_TASK_COMM_MAX];
        char state;           /* field 3 */
        uint8_t sched_class;  /* field 41 */
        uint32_t flags;       /* field 9 */
        uint32_t n_threads;   /* field 20, of the whole process */
        int cpu;              /* field 39, -1 if not given */
        uint64_t ticks;       /* fields 14 and 15: CPU time in ticks of 1/100 s */
        uint64_t child_ticks; /* fields 16 and 17, the same of children that its process has waited for */
        uint64_t start;       /* field 22, ticks since boot */
        uint64_t resident;    /* field 24, pages of its process that are in memory */
};

int hn_proc_stat_parse(const char *buf, size_t n, struct hn_proc_stat *ret);

/* /proc/TID/schedstat, Documentation/scheduler/sched-stats.rst. A kernel that does not count says 0 0 0. */
struct hn_proc_schedstat {
        uint64_t run_ns, wait_ns;
};

int hn_proc_schedstat_parse(const char *buf, size_t n, struct hn_proc_schedstat *ret);

/* /proc/TID/sched, kernel/sched/debug.c: a debug file without a promise, so keys are looked up by their last
 * part and each may be missing. Nothing counts before the ruler, since the line above it holds the raw task
 * name. */
struct hn_proc_sched {
        bool has_faults;       /* there were numa_faults lines, even if all zero */
        uint32_t runnable_avg; /* 0 where missing */
        int preferred;         /* numa_preferred_nid as a node *id*, -1 for none */
        uint32_t numa_group;   /* numa_group_id, 0 for none */
        uint64_t scan_seq;     /* mm->numa_scan_seq */
        uint64_t total;        /* sum of the faults in the rows */
};

/* The hinting faults of this task by node go to `ret_priv` and `ret_shared`, topo->n_nodes each, zeroed
 * first; nodes that the topology does not know are left out. */
int hn_proc_sched_parse(const char *buf, size_t n, const struct hn_topology *topo, uint64_t *ret_priv,
                        uint64_t *ret_shared, struct hn_proc_sched *ret);

/* /proc/PID/task/TID/status. */
struct hn_proc_status {
        pid_t tgid;
        bool has_uid;
        uid_t uid;               /* effective */
        bool has_cpus, has_mems; /* whether the two lists were there and readable */
        uint64_t pinned;         /* VmPin, bytes */
        uint64_t locked;         /* VmLck, bytes */
        struct hn_mask cpus;     /* Cpus_allowed_list: the affinity in force, not the one asked for */
        struct hn_mask mems;     /* Mems_allowed_list, node ids */
};

int hn_proc_status_parse(const char *buf, size_t n, struct hn_proc_status *ret);

/* /proc/PID/cgroup: the path in the hierarchy that holds `controller` ("cpuset", "name=systemd"), or in the
 * v2 one for NULL. `*ret` points into `buf`. Returns 0 or -ENOENT where there is no such line. */
int hn_proc_cgroup_parse(const char *buf, size_t n, const char *controller, const char **ret,
                         size_t *ret_length);

/* kernel.numa_balancing: 0 off, 1 normal, 2 tiering, 3 both. Without the file it does not balance: 0. */
unsigned hn_proc_read_balancing(const struct hn_sysroot *root);
