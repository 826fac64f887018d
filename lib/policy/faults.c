/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/macro.h"
#include "policy/faults.h"

/* An eighth: more than the noise of one scan sequence, less than a real change of phase. */
#define INCUMBENT_DIVISOR 8

uint64_t hn_decay(uint64_t average, uint64_t window, bool clear_residue) {
        uint64_t next = average + window - average / 2;

        return clear_residue && window == 0 && next < 2 ? 0 : next;
}

uint64_t hn_cpu_weight(uint64_t old, uint64_t runtime_ns, uint64_t period_ns, uint64_t faults,
                       uint64_t all_faults) {
        uint64_t weight = (uint64_t) (((unsigned __int128) runtime_ns << 16) /
                                      ((unsigned __int128) period_ns + 1));

        weight = (uint64_t) ((unsigned __int128) weight * faults / ((unsigned __int128) all_faults + 1));
        return old + weight - old / 2;
}

hn_node_index hn_preferred(const uint64_t *faults, size_t n_nodes, hn_node_index current) {
        hn_node_index best = HN_NODE_NONE;

        for (size_t i = 0; i < n_nodes; i++)
                if (faults[i] > (best == HN_NODE_NONE ? 0 : faults[best]))
                        best = (hn_node_index) i;

        if (best == HN_NODE_NONE)
                return current;
        if (current < n_nodes && faults[best] <= faults[current] + faults[current] / INCUMBENT_DIVISOR)
                return current;
        return best;
}

uint32_t hn_weight(uint64_t faults, uint64_t near, uint64_t total) {
        uint64_t sum;

        if (total == 0)
                return 0;
        /* Asked for each task and node in each plan: the long way round is for figures nobody has seen yet.
         */
        if (!__builtin_add_overflow(faults, near, &sum) && sum <= UINT64_MAX / 1000)
                return (uint32_t) (1000 * sum / total);
        return (uint32_t) ((unsigned __int128) 1000 * ((unsigned __int128) faults + near) / total);
}

struct hn_gate hn_placement_gate(uint64_t now, uint64_t retry_at, uint64_t seq_now, uint64_t seq_seen) {
        bool due = now > retry_at;

        return (struct hn_gate){ .evaluate = due && seq_now != seq_seen, .migrate = due };
}

uint32_t hn_retry(uint32_t scan_period_ms) {
        return HN_MIN(UINT32_C(1000), scan_period_ms / 16);
}
