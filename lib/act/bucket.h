/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "base/macro.h"
#include "base/usec.h"

/* A token bucket over bytes: what has not been used for a while may be caught up on, but not more than
 * `burst`. A plain value; the time is the caller's. More may be spent than there is, which is then owed. */
struct hn_bucket {
        uint64_t rate; /* bytes per second; 0: nothing ever */
        int64_t burst; /* bytes */
        int64_t level; /* bytes, negative: owed */
        hn_usec_t at;  /* when `level` was right */
        uint64_t rest; /* millionths of a byte that have come in beyond it */
};

/* Full at the start. A burst below a huge page would never let one through. */
static inline struct hn_bucket hn_bucket_make(uint64_t rate, hn_usec_t now) {
        int64_t burst = (int64_t) HN_MIN(HN_MAX(rate, UINT64_C(2) << 20), (uint64_t) INT64_MAX / 2);

        return (struct hn_bucket){ .rate = rate, .burst = burst, .level = rate ? burst : 0, .at = now };
}

/* What may be spent at `now`. */
static inline uint64_t hn_bucket_level(struct hn_bucket *b, hn_usec_t now) {
        uint64_t flow;

        if (now <= b->at)
                return b->level > 0 ? (uint64_t) b->level : 0;
        if (__builtin_mul_overflow(b->rate, now - b->at, &flow) ||
            __builtin_add_overflow(flow, b->rest, &flow))
                flow = UINT64_MAX;
        b->at = now;
        b->rest = flow % HN_USEC_PER_SEC;
        if (b->rate > 0 && flow / HN_USEC_PER_SEC >= (uint64_t) (b->burst - b->level)) {
                b->level = b->burst;
                b->rest = 0;
        } else
                b->level += (int64_t) (flow / HN_USEC_PER_SEC);
        return b->level > 0 ? (uint64_t) b->level : 0;
}

static inline void hn_bucket_spend(struct hn_bucket *b, uint64_t bytes) {
        b->level -= (int64_t) HN_MIN(bytes, (uint64_t) INT64_MAX / 4);
}
