/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "world.h"

/* Who runs where: CPUs shared by their tasks, and the kernel's balancing of load, which knows nothing of
 * memory. */

/* The other CPU of the core, or the CPU itself. */
unsigned hn_sim_sibling(const struct hn_sim_world *w, unsigned cpu);

/* How little a new task would be disturbed on a CPU: its load, and less so its sibling's. */
double hn_sim_pressure(const struct hn_sim_world *w, unsigned cpu);

/* The CPU of a node with least pressure, lowest number on ties. */
unsigned hn_sim_calmest_cpu(const struct hn_sim_world *w, unsigned node);

/* Where a new task starts: on the node it was born on, unless that has more tasks than balancing tolerates.
 */
unsigned hn_sim_birth_cpu(const struct hn_sim_world *w, const struct hn_sim_task *t, unsigned here);

/* Divides this tick's CPU time. */
void hn_sim_share_cpus(struct hn_sim_world *w);

/* One tick's worth of load balancing, with a little noise. */
void hn_sim_balance(struct hn_sim_world *w);
