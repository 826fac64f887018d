/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/macro.h"
#include "policy/starvation.h"

unsigned hn_ilb_pick(const struct hn_mask *idle, const struct hn_mask *housekeeping,
                     const struct hn_mask *node) {
        struct hn_mask fit = hn_mask_and(idle, housekeeping);

        fit = hn_mask_and(&fit, node);
        return hn_mask_next(&fit, 0);
}

uint64_t hn_waiting(const uint32_t *n_running, size_t n_cpus) {
        uint64_t waiting = 0;

        for (size_t i = 0; i < n_cpus; i++)
                waiting += HN_MAX(n_running[i], 1u) - 1;
        return waiting;
}

bool hn_starved(hn_usec_t idle_since, hn_usec_t now, hn_usec_t patience, uint64_t waiting_elsewhere) {
        return waiting_elsewhere > 0 && idle_since != HN_USEC_INFINITY &&
               now >= hn_usec_add(idle_since, patience);
}
