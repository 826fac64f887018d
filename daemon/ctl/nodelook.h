/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policy/snapshot.h"
#include "policy/topology.h"

/* A machine, and what its nodes do at the moment. */
struct hn_node_look {
        struct hn_topology topology;
        struct hn_node_load *load; /* one a node */
        uint32_t *waiting;         /* one a node: thousandths of a task that waits for a CPU there */
        bool has_memory;           /* free and reclaimable of `load` are known */
        bool has_busy;             /* busy of `load` is known */
        bool has_waiting;          /* so is `waiting` */
};

#define HN_NODE_LOOK_NULL ((struct hn_node_look){})

void hn_node_look_deinit(struct hn_node_look *l);

/* Reads the machine below `sysroot` (NULL: the live one), or the one that `machine` describes, if not NULL.
 * With `measure`, and where there is something to measure, it takes a fifth of a second.
 * Returns 0, or the exit code for what went wrong, which has been said by then. */
int hn_node_look_take(const char *sysroot, const char *machine, bool measure, struct hn_node_look *ret);
