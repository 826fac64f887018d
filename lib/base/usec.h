/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* Microseconds of whatever clock the caller uses. Policy is handed a time and never asks for one. */
typedef uint64_t hn_usec_t;

#define HN_USEC_PER_MSEC ((hn_usec_t) 1000)
#define HN_USEC_PER_SEC  ((hn_usec_t) 1000000)
#define HN_USEC_INFINITY ((hn_usec_t) UINT64_MAX)

/* a + b, which stays at infinity instead of wrapping round. */
static inline hn_usec_t hn_usec_add(hn_usec_t a, hn_usec_t b) {
        return a > HN_USEC_INFINITY - b ? HN_USEC_INFINITY : a + b;
}

/* a - b, but never below zero: a clock sample may be older than the state it is compared with. */
static inline hn_usec_t hn_usec_sub(hn_usec_t a, hn_usec_t b) {
        return a > b ? a - b : 0;
}

/* Clock ticks of /proc (USER_HZ, 100 a second wherever there is systemd), which count from the boot. */
#define HN_USEC_PER_TICK ((hn_usec_t) 10000)

static inline hn_usec_t hn_usec_from_ticks(uint64_t ticks) {
        return ticks > HN_USEC_INFINITY / HN_USEC_PER_TICK ? HN_USEC_INFINITY : ticks * HN_USEC_PER_TICK;
}

/* Growth of a counter. One that fell belongs to a new subject (a reused id, a reset): it starts over. */
static inline uint64_t hn_counter_delta(uint64_t before, uint64_t after) {
        return after >= before ? after - before : after;
}
