/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/topology.h"

/* Who goes where, seen as one question over the whole machine: units of work with a score per node are shared
 * out over nodes whose capacity is counted in cores. Homenode's own; the kernel decides task by task, and so
 * cannot turn a full machine round. */

#define HN_SCORE_FORBIDDEN UINT32_MAX

/* A thread, or all threads of a process where they cannot be told apart. */
struct hn_unit {
        uint32_t demand;         /* thousandths of a CPU */
        hn_node_index incumbent; /* node it is on, or held on */
        bool placed;             /* was put on its incumbent node, and not found there */
        bool urgent;             /* cannot wait for a passing load of others, on whichever node */
        bool fixed;              /* stays there, whatever the scores say */
        uint32_t bonus;          /* what being there already is worth, in points of score */
        size_t score;            /* offset of its row of n_nodes scores, thousandths or HN_SCORE_FORBIDDEN */
        size_t tag;              /* the caller's */

        uint32_t regret; /* scratch of hn_assign() */
        hn_node_index
                result; /* out: HN_NODE_NONE where no allowed node has room, and it is no worse off there */
};

/* A quarter of a core may be overbooked per node: the two sides of a balanced pair differ by no more (S2's
 * NODE_THRESHOLD 125), and our own and other small work must not push a task off an otherwise free node. */
#define HN_ASSIGN_SLACK 250u

/* Who is placed already may stay while its node is overbooked by up to half a core: a burst of other work
 * must not send it away and back. */
#define HN_ASSIGN_STAY_SLACK 500u

/* Fills in the results. `capacity[n]` is what the node can give to these units, in thousandths of a core; if
 * they ask for more than there is in all, every node is overbooked in the same proportion, so that no node is
 * stacked. Whoever loses most by not getting its best node chooses first; ties are decided by demand, then
 * order. `lasting[n]`, not less than `capacity[n]`, is the same for who is placed there: a passing load of
 * others sends nobody away. `used[n]` (out) is what was given away. `order` is scratch of n_units.
 * Deterministic. */
void hn_assign(const struct hn_topology *topo, struct hn_unit *units, size_t n_units, const uint32_t *scores,
               const uint32_t *capacity, const uint32_t *lasting, uint32_t *used, struct hn_unit **order);
