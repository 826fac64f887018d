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
};

/* Full at the start. A burst below a huge page would never let one through. */
static inline struct hn_bucket hn_bucket_make(uint64_t rate, hn_usec_t now) {
        int64_t burst = (int64_t) HN_MIN(HN_MAX(rate, UINT64_C(2) << 20), (uint64_t) INT64_MAX / 2);

        return (struct hn_bucket){ .rate = rate, .burst = burst, .level = rate ? burst : 0, .at = now };
}

/* What may be spent at `now`. */
static inline uint64_t hn_bucket_level(struct hn_bucket *b, hn_usec_t now) {
        hn_usec_t passed = hn_usec_sub(now, b->at);
        uint64_t drops;

        /* Whole bytes only, and the clock moves on by what they took: the rest of a byte is not lost. */
        if (b->rate > 0 && __builtin_mul_overflow(b->rate, passed, &drops))
                drops = UINT64_MAX;
        else
                drops = b->rate * passed;
        drops /= HN_USEC_PER_SEC;
        if (drops >= (uint64_t) (b->burst - b->level)) {
                b->level = b->rate ? b->burst : 0;
                b->at = HN_MAX(b->at, now);
        } else if (drops > 0) {
                b->level += (int64_t) drops;
                b->at += drops * HN_USEC_PER_SEC / b->rate;
        }
        return b->level > 0 ? (uint64_t) b->level : 0;
}

static inline void hn_bucket_spend(struct hn_bucket *b, uint64_t bytes) {
        b->level -= (int64_t) HN_MIN(bytes, (uint64_t) INT64_MAX / 4);
}
