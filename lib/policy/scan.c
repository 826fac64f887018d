/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/macro.h"
#include "policy/scan.h"

#define PERIOD_MIN_MS 1000u
#define PERIOD_MAX_MS 60000u

/* However large the task is: at most 2560 MiB a second, MAX_SCAN_WINDOW. */
#define PERIOD_FLOOR_MS 100u

/* NUMA_PERIOD_SLOTS, NUMA_PERIOD_THRESHOLD */
#define SLOTS     10u
#define THRESHOLD 7u

static uint64_t windows(uint64_t resident_mib) {
        return resident_mib == 0 ? 1 : (resident_mib - 1) / HN_SCAN_SIZE_MIB + 1;
}

uint32_t hn_scan_min(uint64_t resident_mib) {
        return (uint32_t) HN_MAX(PERIOD_MIN_MS / windows(resident_mib), (uint64_t) PERIOD_FLOOR_MS);
}

uint32_t hn_scan_max(uint64_t resident_mib) {
        return (uint32_t) HN_MAX((uint64_t) hn_scan_min(resident_mib), PERIOD_MAX_MS / windows(resident_mib));
}

/* `part` of both in tenths, rounded down. */
static unsigned tenths(uint64_t part, uint64_t other) {
        unsigned __int128 all = (unsigned __int128) part + other;

        return all == 0 ? 0 : (unsigned) ((unsigned __int128) part * SLOTS / all);
}

uint32_t hn_scan_period(uint32_t period, const struct hn_scan_window *w, uint32_t min, uint32_t max,
                        bool as_kernel) {
        unsigned local = tenths(w->local, w->remote), private = tenths(w->private, w->shared);
        bool nothing = w->local == 0 && (as_kernel ? w->shared == 0 : w->remote == 0);
        int64_t slot = ((int64_t) period + SLOTS - 1) / SLOTS, next = period;

        if (nothing || w->failed > 0)
                return (uint32_t) HN_MIN((uint64_t) period * 2, (uint64_t) max);
        if (private >= THRESHOLD)
                next += HN_MAX(private - THRESHOLD, 1u) * slot;
        else if (local >= THRESHOLD)
                next += HN_MAX(local - THRESHOLD, 1u) * slot;
        else
                next -= (THRESHOLD - HN_MAX(local, private)) * slot;
        return (uint32_t) HN_MAX(HN_MIN(next, (int64_t) max), (int64_t) min);
}
