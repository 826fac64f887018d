/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mask.h"

/* Tasks that work on the same memory: heuristics A8, A9, A12 and H1, after the kernel's
 * numa_group_count_active_nodes(), task_numa_group() and should_numa_migrate_memory() (kernel/sched/fair.c).
 */

/* The nodes, by index, from which a group really works: those with more than a third of the CPU faults of the
 * busiest. */
struct hn_mask hn_active_nodes(const uint64_t *cpu_faults, size_t n_nodes);

/* Whether the smaller group goes over to the other: never the larger into the smaller, and only where they
 * share an address space or a writable mapping. Of two of the same size one has to be told that it is not the
 * smaller one, or they would change places for ever. */
bool hn_group_join(unsigned mine, unsigned theirs, bool same_memory, bool shared_mapping,
                   bool tie_against_me);

/* Whether a page of a group is to go from one node to another: much more is done from there, or what is done
 * there is out of proportion to the memory by more than a third. */
bool hn_page_move(uint64_t cpu_to, uint64_t cpu_from, uint64_t memory_to, uint64_t memory_from);
