/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"

/* What our own passes may cost: heuristics H4, after "Re: [PATCH v3 0/5] Improve newidle lb
 * cost tracking and early abort" (2021) and the kernel's update_newidle_cost() (kernel/sched/fair.c). */

/* The dearest pass of late. A new maximum holds for a second, then fades by 3/256 a second. Microseconds. */
struct hn_cost {
        uint64_t max;
        hn_usec_t stamp; /* of the last change */
};

#define HN_COST_NULL ((struct hn_cost){})

struct hn_cost hn_cost_update(struct hn_cost c, uint64_t cost, hn_usec_t now);

/* When the next pass is due: one interval after the last, but never in the past and never in a burst after a
 * suspend (the clamp that was proposed for the kernel and not merged). */
hn_usec_t hn_next_due(hn_usec_t last, hn_usec_t interval, hn_usec_t now);

/* How far a pass may go, from the cheap levels to the dear: it stops before one whose dearest time of late
 * does not fit into what is left. `actual` is what each level then takes. sched_balance_newidle(). */
struct hn_levels {
        size_t n;
        uint64_t spent;
};

struct hn_levels hn_levels_to_scan(uint64_t budget, const uint64_t *dearest, const uint64_t *actual,
                                   size_t n_levels);

/* A running average that closes an eighth of the gap, at most `cap`. The kernel's update_avg() as it is used
 * for avg_idle (kernel/sched/core.c). */
uint64_t hn_average(uint64_t average, uint64_t sample, uint64_t cap);

/* The interval at which passes that cost `average` microseconds stay within `permille` thousandths of one
 * CPU; at least `interval`, and not stretched beyond a minute, so that a dear pass is seen to have become
 * cheap again. The average and not the maximum: one dear pass, such as the first, must not blind us for the
 * next minute. */
hn_usec_t hn_cost_interval(uint64_t average, unsigned permille, hn_usec_t interval);
