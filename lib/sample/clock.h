/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <time.h>

#include "base/usec.h"

/* The one place that asks a clock, 0 if it cannot be read: policy and plan are handed the time. */
static inline hn_usec_t hn_clock(clockid_t id) {
        struct timespec ts = { 0 };

        (void) clock_gettime(id, &ts);
        return (hn_usec_t) ts.tv_sec * HN_USEC_PER_SEC + (hn_usec_t) ts.tv_nsec / 1000;
}
