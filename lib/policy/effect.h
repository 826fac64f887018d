/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "base/usec.h"

/* Whether a move did what it was made for. The local share before it and after it are compared over the same
 * window: both are read from counters that fade at the same rate, or from the same number of sampled pages.
 * Only moves that promised a better share are put on trial; one that makes room on an overloaded node is to
 * be judged by that. Homenode's own: the kernel never looks back at a task it has moved. */

/* How long the memory, and what is known of it, has to come round. */
#define HN_EFFECT_WINDOW (15 * HN_USEC_PER_SEC)

/* A move in vain counts as so many returns to a node: the pause after it is eight times as long. */
#define HN_EFFECT_REVERSALS 3u

enum hn_verdict {
        HN_VERDICT_NONE,     /* nothing to judge */
        HN_VERDICT_ON_TRIAL, /* moved a short while ago */
        HN_VERDICT_HELPED,
        HN_VERDICT_IN_VAIN,
};

struct hn_effect {
        enum hn_verdict verdict;
        uint32_t before, after; /* local share, thousandths */
        hn_usec_t since;        /* the move */
        hn_usec_t judged;       /* when the verdict was found */
};

#define HN_EFFECT_NULL ((struct hn_effect){})

/* A move at `now`, from where the local share was `before`. */
struct hn_effect hn_effect_begin(uint32_t before, hn_usec_t now);

/* A look at it at `now`, when the local share is `share`: after the window there is a verdict, for good. */
struct hn_effect hn_effect_look(struct hn_effect e, uint32_t share, hn_usec_t now);
