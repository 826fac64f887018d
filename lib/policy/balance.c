/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stddef.h>

#include "base/macro.h"
#include "policy/balance.h"

#define IMBALANCE_MIN 2 /* NUMA_IMBALANCE_MIN: a pair of tasks that talk to each other may stay together */

typedef unsigned __int128 u128;

static const char *const class_names[_HN_CLASS_MAX] = {
        [HN_CLASS_HAS_SPARE] = "has-spare",
        [HN_CLASS_FULLY_BUSY] = "fully-busy",
        [HN_CLASS_OVERLOADED] = "overloaded",
};

const char *hn_node_class_to_string(enum hn_node_class c) {
        return (size_t) c < HN_ELEMENTS(class_names) ? class_names[c] : NULL;
}

enum hn_node_class hn_node_classify(uint32_t nr, uint32_t weight, uint64_t capacity, uint64_t util,
                                    uint64_t runnable, uint32_t pct) {
        u128 cap = capacity;

        if (nr > weight && (cap * 100 < (u128) util * pct || cap * pct < (u128) runnable * 100))
                return HN_CLASS_OVERLOADED;
        if (nr < weight || (cap * 100 > (u128) util * pct && cap * pct > (u128) runnable * 100))
                return HN_CLASS_HAS_SPARE;
        return HN_CLASS_FULLY_BUSY;
}

static u128 distance(u128 a, u128 b) {
        return HN_MAX(a, b) - HN_MIN(a, b);
}

bool hn_load_too_imbalanced(uint64_t src, uint64_t dst, uint64_t task, uint64_t cap_src, uint64_t cap_dst) {
        u128 before = distance((u128) dst * cap_src, (u128) src * cap_dst);
        uint64_t left = HN_MAX(src, task) - task;

        return distance(((u128) dst + task) * cap_src, (u128) left * cap_dst) > before;
}

uint32_t hn_imb_numa_nr(uint32_t node_cpus, uint32_t llcs, uint32_t span, uint32_t first_span) {
        uint32_t nr = llcs > 1 ? llcs : node_cpus / 8;

        return HN_MAX(nr, 1u) * HN_MAX(first_span ? span / first_span : 1u, 1u);
}

int64_t hn_adjust_imbalance(int64_t imbalance, uint32_t dst_running, uint32_t nr) {
        if (dst_running > nr)
                return imbalance;
        return imbalance <= IMBALANCE_MIN ? 0 : imbalance;
}

bool hn_may_move(uint32_t nr_src, uint32_t nr_dst, uint32_t nr) {
        int64_t src = (int64_t) nr_src - 1, dst = (int64_t) nr_dst + 1;

        return hn_adjust_imbalance(HN_MAX(dst - src, INT64_C(0)), (uint32_t) dst, nr) == 0;
}
