/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef HOMENODE_H
#define HOMENODE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* libhomenode: where the memory of a thread is, and how to keep the thread there.
 *
 * The library looks and answers; it never logs, never starts threads and keeps no state beyond the objects it
 * hands out. Functions return 0 (or a positive answer they name) on success and a negative errno on failure;
 * outputs are written on success only. An object may be used by one thread at a time.
 *
 * Nodes are given by the kernel's own numbers, which have holes and need not start at 0. */

/* "0.1.0" */
const char *hn_library_version(void);

/* A machine with its nodes, as it was when it was opened. */
struct hn_machine;

/* Reads the machine below `root`: NULL or "/" is this one, anything else a captured /sys (and /proc) tree,
 * which can be looked at but not acted on. The caller closes `*ret`. Returns 0, -ENOMEM, -ENODEV or what
 * opening `root` answered. */
int hn_machine_open(const char *root, struct hn_machine **ret);

/* Frees the machine; NULL is fine. Returns NULL. */
struct hn_machine *hn_machine_close(struct hn_machine *m);

/* Node numbers, ascending, into `ids` (at most `n` of them). Returns how many nodes there are, which may be
 * more. */
size_t hn_machine_nodes(const struct hn_machine *m, unsigned *ids, size_t n);

/* The CPUs of a node on which a task may be placed (online, not isolated) as the kernel's list form: "0-3,8".
 * Returns its length, -ENOENT for no such node, or -ENOBUFS. */
int hn_machine_node_cpus(const struct hn_machine *m, unsigned node, char *buf, size_t size);

/* Memory of a node in bytes: 0 for a node without any, or for no such node. */
uint64_t hn_machine_node_memory(const struct hn_machine *m, unsigned node);

/* Distance as in the SLIT, 10 being local. Returns 0 for a node that is not there. */
unsigned hn_machine_node_distance(const struct hn_machine *m, unsigned from, unsigned to);

/* What an answer about a thread's memory rests on. */
enum hn_home_source {
        HN_HOME_UNKNOWN = 0, /* nothing known: not "0 % remote" */
        HN_HOME_PAGES = 1,   /* a sample of the resident pages of its process */
        HN_HOME_FAULTS = 2   /* the kernel's NUMA hinting faults of this thread */
};

struct hn_home {
        enum hn_home_source source;
        unsigned node;    /* with most of its faults or pages; valid unless the source is UNKNOWN */
        unsigned share;   /* thousandths of its faults or pages that are there */
        unsigned local;   /* thousandths on the node it last ran on */
        unsigned runs_on; /* that node */
};

/* Where thread `tid` has its memory: by hinting faults (kernel.numa_balancing and /proc/TID/sched; the
 * kernel's task_numa_placement() without its groups), else by the pages of its process, which needs the right
 * to trace it. Returns 0, -ESRCH for a thread that is gone, or -errno. */
int hn_machine_find_home(const struct hn_machine *m, pid_t tid, struct hn_home *ret);

/* Gives thread `tid` all CPUs of `node` that its cpuset and its present mask allow, and makes sure that it
 * has them. Needs CAP_SYS_NICE for other users' threads. There is no way back but to set the old mask again
 * (read it first). Returns 0; -ESRCH; -ENOENT for no such node; -EINVAL where nothing of the node is allowed;
 * -EROFS for a captured machine; -EPERM or what the kernel answered. */
int hn_machine_pin(const struct hn_machine *m, pid_t tid, unsigned node);

#ifdef __cplusplus
}
#endif

#endif
