/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "policy/topology.h"
#include "sample/sysroot.h"

/* How many tasks wait for a CPU, from /proc/schedstat: cheap, by CPU, and an average instead of a moment.
 * Kernels without CONFIG_SCHEDSTATS do not have the file. */

/* Reads the lines "cpuN ..." into `waited`, by CPU id: nanoseconds that tasks have spent runnable but not
 * running there, summed over the tasks, since boot. That is the eighth number of a line (version 15 to 17 of
 * the file; Documentation/scheduler/sched-stats.rst). CPUs without a line read 0, damaged lines and ids from
 * `n_cpus` on are skipped. Returns the number of lines taken. */
size_t hn_runqueue_parse(const char *text, size_t n, uint64_t *waited, size_t n_cpus);

/* Reads the file. Returns the number of CPUs found, 0 where it is missing, or -ENOMEM. */
ssize_t hn_runqueue_read(const struct hn_sysroot *root, uint64_t *waited, size_t n_cpus);

/* Thousandths of a task that waited on each node's usable CPUs, on average over the `elapsed` nanoseconds
 * between two looks. CPUs whose counter fell count as idle. */
void hn_runqueue_between(const struct hn_topology *topo, const uint64_t *before, const uint64_t *now,
                         size_t n_cpus, uint64_t elapsed, uint32_t *ret_waiting);
