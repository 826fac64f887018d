/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/topology.h"

/* Where a task's memory is, from counts per node: heuristics H1, after "[PATCH] sched/numa: Move
 * task_numa_placement() closer to numa_migrate_preferred()" (2018) and the kernel's task_numa_placement(),
 * task_numa_fault() and numa_migrate_preferred() (kernel/sched/fair.c). */

/* Half of the past and the new window; a constant input b comes to rest at about 2b. task_numa_placement().
 * A residue of 1 never dies in the kernel; `clear_residue` lets it. */
uint64_t hn_decay(uint64_t average, uint64_t window, bool clear_residue);

/* CPU faults of a window, weighted by how busy the task was in it and decayed. task_numa_placement().
 * `runtime_ns` of `period_ns` used; `faults` of `all_faults` in the window were on this node. */
uint64_t hn_cpu_weight(uint64_t old, uint64_t runtime_ns, uint64_t period_ns, uint64_t faults,
                       uint64_t all_faults);

/* The node with most faults, lowest index on ties; `current` where there are none at all. Unlike the kernel
 * the incumbent keeps its seat unless it is beaten by more than 1/8 of its own faults, so that noise moves
 * nobody. */
hn_node_index hn_preferred(const uint64_t *faults, size_t n_nodes, hn_node_index current);

/* Decayed faults below which they tell nothing: the kernel's first figures are those of a stack page or two.
 */
#define HN_FAULTS_MIN 256u

/* Share of the faults in thousandths: 1000 * (own + near) / total, 0 of nothing. task_weight(). */
uint32_t hn_weight(uint64_t faults, uint64_t near, uint64_t total);

/* What a fault may trigger. The S3 patch: an evaluation never migrates by itself, it only comes before the
 * next attempt that is due anyway, so that one scan sequence moves a task once. */
struct hn_gate {
        bool evaluate; /* a new scan sequence: look again where home is */
        bool migrate;  /* the retry time has passed: one attempt may be made */
};

/* Times in milliseconds. `retry_at` strictly before `now` opens the gate. task_numa_fault() since v4.19. */
struct hn_gate hn_placement_gate(uint64_t now, uint64_t retry_at, uint64_t seq_now, uint64_t seq_seen);

/* Time until the next attempt: a sixteenth of the scan period, at most a second. numa_migrate_preferred(). */
uint32_t hn_retry(uint32_t scan_period_ms);
