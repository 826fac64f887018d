/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "world.h"

/* The kernel's attempts to take tasks to their preferred nodes, after task_numa_migrate()
 * (kernel/sched/fair.c). `shortcut`: a destination with fewer tasks than CPUs is never imbalanced. */
void hn_sim_numa_place(struct hn_sim_world *w, bool shortcut);
