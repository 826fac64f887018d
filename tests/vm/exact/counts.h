/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "load.h"

/* The counter outside of the guest, seen from within. */

#define COUNTS_NODES 8U /* machines of the test have no more */

/* Accesses since the look before. Nodes are indices of hn_load_cpus.nodes, buffers those of the load. */
struct counts {
        uint64_t loads, stores;
        uint64_t on[COUNTS_NODES][COUNTS_NODES]; /* by node of the CPU, then of the memory */
        uint64_t all[HN_LOAD_THREADS_MAX], local[HN_LOAD_THREADS_MAX];
};

/* Finds the counter behind `port` and probes it: from each CPU, a known number of loads of memory on each
 * node, which must be what it counts, neither more nor fewer. That also tells which of its numbers is which
 * node. -EBADMSG: it counts something else. */
int counts_open(const char *port, const struct hn_load_cpus *cpus);
bool counts_are_open(void);

/* Switches counting; looks. A look of NULL only forgets what was counted so far. */
void counts_switch(bool on);
int counts_look(struct counts *ret);

/* Adds `more` to `sum`. */
void counts_add(struct counts *sum, const struct counts *more);

/* Of all accesses; NaN when there are none. */
double counts_local_share(const struct counts *counts);
