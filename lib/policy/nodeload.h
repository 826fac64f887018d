/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/topology.h"

/* The load of whole nodes, and how eagerly to look beyond one's own: heuristics C3 to C6, C9 and H3, after
 * "Re: [PATCH 2.5.58] new NUMA scheduler: fix" (2003) and the node-affine scheduler before it. */

/* Runnable tasks per CPU, in tenths, smoothed by half: a constant input comes to rest at about twice itself.
 * For nodes to be comparable all of them are fed in the same passes. */
uint32_t hn_node_load(uint32_t before, uint32_t n_running, uint32_t n_cpus);

/* How much more another node must have, in hundredths: NODE_THRESHOLD. */
#define HN_NODE_THRESHOLD 125u

/* The most loaded node that exceeds `here` by the threshold, or HN_NODE_NONE. */
hn_node_index hn_find_busiest(const uint32_t *load, size_t n_nodes, hn_node_index here, unsigned threshold);

/* A node is only worth taking from if some CPU of it has a task that waits: find_busiest_queue(). */
bool hn_worth_taking_from(uint32_t most_on_one_cpu);

struct hn_rate {
        uint32_t passes; /* passes within the node that found nothing to do before one looks beyond it */
        bool may_take;   /* it has less than the average */
};

#define HN_RATE_MIN 10u
#define HN_RATE_MAX 50u

/* Soon where a node has less than half of the average, late elsewhere. */
struct hn_rate hn_rate(const uint32_t *load, size_t n_nodes, hn_node_index here, uint32_t min, uint32_t max);

/* Where a task that starts is best put: it stays unless its CPU has more than two, else goes to the node with
 * least load per CPU; `here` on ties. */
hn_node_index hn_exec_node(uint32_t on_this_cpu, const uint32_t *n_running, const uint32_t *n_cpus,
                           size_t n_nodes, hn_node_index here);

/* For how long another node must stay the most loaded before one takes from it, milliseconds: the farther the
 * longer, and hardly at all while one's own has less than the average. */
uint32_t hn_steal_delay(unsigned distance, bool underloaded);

/* The same in passes of `interval_ms`, whose load figures need some eight of them to follow. At least 1. */
uint32_t hn_steal_passes(uint32_t delay_ms, uint32_t interval_ms);

/* Loads of `most` and `this` in hundredths of a task: balanced where half the difference is less than a
 * quarter of the mean, and where there is at most one task. */
bool hn_balanced(uint32_t most, uint32_t this);
