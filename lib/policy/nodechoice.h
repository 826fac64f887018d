/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/topology.h"
#include "policy/wish.h"

/* The search behind hn_advise(): of all sets of candidates that fulfil a wish, the best. */

struct hn_candidate {
        hn_node_index node;
        bool has_cpus, has_memory;
        uint64_t cpus, memory;          /* what counts towards the wish */
        int64_t left_cpus, left_memory; /* what it has to spare; less than nothing where more is promised than
                                           there is */
        uint64_t all_cpus, all_memory;  /* what it has altogether */
};

struct hn_choice_terms {
        const struct hn_topology *topo;
        const struct hn_candidate *candidates; /* ascending node */
        size_t n;
        struct hn_wish wish;
        bool memory_exists; /* a set needs a node with memory */
        hn_node_index near;
};

/* Adds the chosen ones to `chosen` (n of them, by index of candidate). Returns 1, 0 if
 * even all candidates together do not do, or -ENOMEM. */
int hn_choice(const struct hn_choice_terms *terms, bool *chosen);
