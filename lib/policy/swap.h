/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What two tasks gain by changing places: heuristics B6 and H2, after the kernel's task_numa_compare()
 * (kernel/sched/fair.c). Thousandths of the faults of both, so at most about 2000. A swap is for a
 * destination without spare capacity; the caller asks hn_load_too_imbalanced() first. */

/* A gain below this is noise: SMALLIMP. */
#define HN_SMALL_GAIN 30

struct hn_swap {
        int32_t gain_alone;  /* what the first task gains by going */
        uint32_t other_here; /* the other's weight on the node that the first one leaves, where it would go */
        uint32_t other_there; /* and on the one it is on now */
        bool same_group;      /* both in one group, or both in none */
        bool grouped;         /* the first one is in a group */
        bool other_at_home;   /* it is on its preferred node now */
        bool other_goes_home; /* it would come to it */
        int32_t best;         /* the gain of the best swap so far, 0 for none */
        bool best_goes_home;  /* and whether its partner comes home by it */
};

struct hn_swap_value {
        int32_t gain;
        bool accept; /* better than the best so far, and worth it at all */
};

struct hn_swap_value hn_swap(const struct hn_swap *s);
