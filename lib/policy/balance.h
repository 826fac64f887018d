/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether a move leaves the nodes well loaded: heuristics H2, after "Re: [RFC 2/4] sched/numa: replace
 * runnable_load_avg by load_avg" (2020) and the kernel's numa_classify(), load_too_imbalanced(),
 * adjust_numa_imbalance() and task_numa_find_cpu() (kernel/sched/fair.c, form since 6.0).
 *
 * The RFC's shortcut "a destination with spare capacity is never imbalanced" is not here on purpose: it
 * pulled two jobs onto one node, and they lost 30 %. */

/* Utilisation may exceed 100/108 of the capacity before a node counts as full: the kernel's imbalance_pct of
 * a NUMA domain, halved ("Reduce minimal imbalance threshold", 5.10). */
#define HN_IMBALANCE_PCT 108u

enum hn_node_class {
        HN_CLASS_HAS_SPARE,
        HN_CLASS_FULLY_BUSY,
        HN_CLASS_OVERLOADED,
        _HN_CLASS_MAX,
};

const char *hn_node_class_to_string(enum hn_node_class c);

/* `nr` runnable tasks on `weight` CPUs (or cores, where SMT siblings are not counted); `capacity`, `util` and
 * `runnable` in the kernel's unit, 1024 per full CPU. numa_classify(). */
enum hn_node_class hn_node_classify(uint32_t nr, uint32_t weight, uint64_t capacity, uint64_t util,
                                    uint64_t runnable, uint32_t pct);

/* Whether moving `task` of load from source to destination makes |dst/cap_dst - src/cap_src| larger than it
 * is. Loads before the move. Equal is allowed. load_too_imbalanced(). */
bool hn_load_too_imbalanced(uint64_t src, uint64_t dst, uint64_t task, uint64_t cap_src, uint64_t cap_dst);

/* How many more tasks than another a node may run before the CPU balancer steps in. `node_cpus` CPUs under
 * `llcs` last-level caches; `span` CPUs in this level of the machine, `first_span` in its first NUMA level.
 * build_sched_domains(), kernel/sched/topology.c. */
uint32_t hn_imb_numa_nr(uint32_t node_cpus, uint32_t llcs, uint32_t span, uint32_t first_span);

/* An imbalance of up to two tasks is none while the destination runs at most `nr`. adjust_numa_imbalance().
 */
int64_t hn_adjust_imbalance(int64_t imbalance, uint32_t dst_running, uint32_t nr);

/* Whether one task may go to a destination that has spare capacity, judged by task counts: would the CPU
 * balancer object afterwards? task_numa_find_cpu(). */
bool hn_may_move(uint32_t nr_src, uint32_t nr_dst, uint32_t nr);
