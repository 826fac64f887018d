/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "policy/topology.h"

/* A process may want more cores than there are beside its memory. Then some of its threads cannot go to their
 * memory, whichever is whose, and while the kernel balances that memory comes to the threads, if these keep
 * still: a page goes to the node whose CPU touches it twice (Linux, mm/memory.c, do_numa_page(), and
 * kernel/sched/fair.c, should_numa_migrate_memory()). Newer kernels scan a mapping at will only in the first
 * two passes (vma_is_accessed()), so what is missed then comes late or never. Homenode's own conclusion. */

/* The part of a process's pages that counts as its memory: a few strays open no node to it. Thousandths. */
#define HN_OVERFLOW_PART 900u

/* The cores of the fewest nodes that hold HN_OVERFLOW_PART of the pages, in thousandths of a core; memory
 * without CPUs counts for the nearest node that has some. `pages[n]` is the number of pages found on node n.
 * UINT64_MAX where no page was found. */
uint64_t hn_cores_near(const struct hn_topology *topo, const uint64_t *pages);
