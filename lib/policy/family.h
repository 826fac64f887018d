/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/model.h"
#include "policy/snapshot.h"

/* Which tasks belong together: the threads of a process, and processes that the kernel has found to work on
 * the same memory (numa_group_id of /proc/TID/sched; heuristics A9, H1, after task_numa_group() of
 * kernel/sched/fair.c). */

/* Whether faults are mostly private, by the kernel's own measure: seven tenths (NUMA_PERIOD_THRESHOLD;
 * heuristics A10). Of two threads that touch the same pages each meets the other's in every second fault
 * only, so that half of all would be asking too much. */
bool hn_mostly_private(uint64_t priv, uint64_t shared);

/* The threads of one process that are in a snapshot. Sums go over its whole group, but for `demand`. */
struct hn_family {
        pid_t tgid;
        uint32_t scope;        /* where its threads are in several, the lowest */
        uint32_t group;        /* the kernel's, 0 for none; where they are in several, the highest */
        uint32_t key;          /* the same for all families of a group */
        uint64_t demand;       /* of the process: thousandths of a CPU, may be more than one */
        uint64_t priv, shared; /* hinting faults on memory of one's own, and on that of several */
        size_t n_busy;         /* threads that are worth placing */
        bool sharing; /* what they touch is not mostly private, so that they are best off side by side */
};

/* Fills `families` (room for one a task) in order of tgid and returns their number. `min_demand` thousandths
 * of a CPU make a thread busy, and fewer than `min_faults` faults tell nothing. */
size_t hn_families_meet(struct hn_family *families, const struct hn_model *model, const struct hn_snapshot *s,
                        uint32_t min_demand, uint64_t min_faults);

/* The family of a process, or NULL. */
const struct hn_family *hn_families_find(const struct hn_family *families, size_t n, pid_t tgid);
