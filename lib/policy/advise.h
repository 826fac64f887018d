/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mask.h"
#include "policy/topology.h"
#include "policy/wish.h"

/* Where a new workload would go. In this order: no slower memory where the faster suffices; the fewest nodes;
 * of those few without CPUs; near a device; near each other; most left over afterwards, where of CPUs and
 * memory the scarcer counts first; the lowest numbers. */

/* Use of less than this part of a node's CPUs, in thousandths, is what every machine does by itself, and
 * takes no room: else no node of 8 CPUs ever had room for 8. What is reserved always takes room. */
#define HN_ADVISE_BACKGROUND 125u

/* The part of a node's memory that is not given away: below it the kernel itself begins to reclaim. */
#define HN_ADVISE_KEPT_DIVISOR 20u

/* Of a node, by its index. */
struct hn_advise_node {
        bool allowed;  /* may be on the list */
        uint64_t busy; /* thousandths of a CPU that its usable CPUs are at work */
        uint64_t
                claimed; /* the same as its work uses on average, waiting included: counts where it is more */
        uint64_t free;   /* bytes */
        uint64_t reclaimable;   /* bytes of page cache, which go when asked for; counts as free */
        uint64_t reserved_cpus; /* advised to others and not seen to have started */
        uint64_t reserved_memory;
};

enum hn_advise_verdict {
        HN_ADVISE_CHOSEN,
        HN_ADVISE_NOT_ASKED,    /* not among the nodes one was restricted to */
        HN_ADVISE_EMPTY,        /* neither usable CPUs nor memory */
        HN_ADVISE_NO_CPUS,      /* memory alone, which is taken where that of the others does not suffice */
        HN_ADVISE_CPUS_SHORT,   /* not all of the CPUs have room here */
        HN_ADVISE_MEMORY_SHORT, /* nor all of the memory */
        HN_ADVISE_BOTH_SHORT,
        HN_ADVISE_FARTHER,    /* has room, and is farther from the device */
        HN_ADVISE_LESS_SPARE, /* has room, and would have no more left over */
        _HN_ADVISE_VERDICT_MAX,
};

/* "chosen"; and a sentence without a full stop. */
const char *hn_advise_verdict_to_string(enum hn_advise_verdict v);
const char *hn_advise_verdict_to_sentence(enum hn_advise_verdict v);

/* What there is too little of on all nodes together that may be chosen. The list is then the best there is:
 * CPUs are shared with other work, memory is what can be had without a reserve. */
enum hn_advise_shortage {
        HN_ADVISE_FITS,
        HN_ADVISE_OUT_OF_CPUS,
        HN_ADVISE_OUT_OF_MEMORY,
        HN_ADVISE_OUT_OF_BOTH,
        _HN_ADVISE_SHORTAGE_MAX,
};

const char *hn_advise_shortage_to_string(enum hn_advise_shortage s); /* "cpus"; NULL for HN_ADVISE_FITS */
const char *hn_advise_shortage_to_sentence(enum hn_advise_shortage s);

/* Why, of a node. */
struct hn_advise_view {
        enum hn_advise_verdict verdict;
        uint64_t capacity;                 /* thousandths of a CPU: its usable CPUs */
        uint64_t used;                     /* the greater of busy and claimed */
        uint64_t available, kept;          /* bytes free and reclaimable; and of them not given away */
        uint64_t room_cpus, room_memory;   /* what a workload would find there */
        uint64_t share_cpus, share_memory; /* what of the wish it is to bear, if chosen */
};

struct hn_advice {
        struct hn_mask
                nodes; /* by index; at least one has CPUs, and one memory, if any that may be chosen has */
        enum hn_advise_shortage shortage;
};

/* What a node's `used` and `available` come to. */
uint64_t hn_advise_used(const struct hn_advise_node *node);
uint64_t hn_advise_available(const struct hn_advise_node *node);

/* Answers for the nodes of `topo`, of which `nodes` and `views` have an entry each. `near`: the node of a
 * device, or HN_NODE_NONE. Where all CPUs are isolated, all count as usable.
 *
 * On a machine where more than a few thousand sets of so many nodes would have to be looked at, sets are only
 * grown around each node, and may then be larger than need be. The same values give the same answer. Returns
 * 0, -ENOMEM, or -ENODEV if no node that is allowed has CPUs. */
int hn_advise(const struct hn_topology *topo, const struct hn_advise_node *nodes, const struct hn_wish *wish,
              hn_node_index near, struct hn_advise_view *views, struct hn_advice *ret);
