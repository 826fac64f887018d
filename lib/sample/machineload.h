/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "policy/snapshot.h"
#include "policy/topology.h"
#include "sample/procstat.h"
#include "sample/sysroot.h"

/* How much of each node is in use. */

/* Free and reclaimable bytes of each node into nodes[0 .. topo->n_nodes - 1], which keep their `busy`. Where
 * a node has no such file both are 0. Returns 0 or -ENOMEM. */
int hn_machine_read_memory(const struct hn_sysroot *root, const struct hn_topology *topo,
                           struct hn_node_load *nodes);

/* The last look at /proc/stat, kept between two calls. It may outlive a topology: after a change it starts
 * anew. */
struct hn_machine_busy {
        size_t n_cpus;
        struct hn_cpu_ticks *before, *now;
        bool primed; /* `before` holds something */
};

#define HN_MACHINE_BUSY_NULL ((struct hn_machine_busy){})

void hn_machine_busy_deinit(struct hn_machine_busy *b);

enum {
        _HN_MACHINE_OK,
        HN_MACHINE_UNKNOWN, /* nothing to compare with: the first look, or no /proc/stat */
};

/* Thousandths of a CPU in use on each node's usable CPUs since the last call, into nodes[].busy; the other
 * members stay. CPUs that came, went or were reset in between count as idle.
 * Returns 0; HN_MACHINE_UNKNOWN, with `busy` 0; or -ENOMEM. */
int hn_machine_read_busy(const struct hn_sysroot *root, const struct hn_topology *topo,
                         struct hn_machine_busy *b, struct hn_node_load *nodes);

/* The arithmetic of it: what two looks at the CPUs, n_cpus each, say about the nodes. */
void hn_machine_busy_between(const struct hn_topology *topo, const struct hn_cpu_ticks *before,
                             const struct hn_cpu_ticks *now, size_t n_cpus, struct hn_node_load *nodes);
