/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "world.h"

/* The kernel's scan of memory for NUMA balancing: hinting faults, of which only some are ever seen, and the
 * pages that follow them. A tenth of a second's worth. */
void hn_sim_scan(struct hn_sim_world *w);

/* A process that was there long before: its memory has been met from where it lies, pass after pass. */
void hn_sim_scan_settle(struct hn_sim_process *p, struct hn_sim_task *first);

/* Whether faults of its process are weighed together: the kernel's numa_group. */
bool hn_sim_is_grouped(const struct hn_sim_process *p);
