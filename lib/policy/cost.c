/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/macro.h"
#include "policy/cost.h"

#define INTERVAL_MAX (60 * HN_USEC_PER_SEC)

struct hn_cost hn_cost_update(struct hn_cost c, uint64_t cost, hn_usec_t now) {
        if (cost > c.max)
                return (struct hn_cost){ .max = cost, .stamp = now };
        if (now > hn_usec_add(c.stamp, HN_USEC_PER_SEC))
                return (struct hn_cost){ .max = c.max * 253 / 256, .stamp = now };
        return c;
}

hn_usec_t hn_next_due(hn_usec_t last, hn_usec_t interval, hn_usec_t now) {
        return HN_MAX(hn_usec_add(last, interval), hn_usec_add(now, 1));
}

uint64_t hn_average(uint64_t average, uint64_t sample, uint64_t cap) {
        uint64_t up = HN_MAX(sample, average) - average, down = average - HN_MIN(sample, average);

        return HN_MIN(average + up / 8 - down / 8, cap);
}

hn_usec_t hn_cost_interval(uint64_t average, unsigned permille, hn_usec_t interval) {
        uint64_t needed = permille ? HN_MIN(average, INTERVAL_MAX) * 1000 / permille : INTERVAL_MAX;

        return HN_MAX(interval, HN_MIN(needed, INTERVAL_MAX));
}

struct hn_levels hn_levels_to_scan(uint64_t budget, const uint64_t *dearest, const uint64_t *actual,
                                   size_t n_levels) {
        struct hn_levels l = { .n = 0 };

        /* Subtracted, as a sum might wrap. */
        while (l.n < n_levels && budget >= l.spent && budget - l.spent >= dearest[l.n])
                l.spent = hn_usec_add(l.spent, actual[l.n++]);
        return l;
}
