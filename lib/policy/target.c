/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/macro.h"
#include "policy/target.h"

struct hn_mask hn_target_mask(const struct hn_mask *node, const struct hn_mask *cpuset,
                              const struct hn_mask *user) {
        struct hn_mask m = hn_mask_and(node, cpuset);

        return hn_mask_and(&m, user);
}

enum hn_owner hn_mask_owner(const struct hn_mask *now, const struct hn_mask *ours,
                            const struct hn_mask *cpuset, const struct hn_mask *isolated) {
        struct hn_mask free_to_all = hn_mask_andnot(cpuset, isolated);

        if (ours) {
                struct hn_mask expected = hn_mask_and(ours, cpuset);

                if (hn_mask_equal(now, &expected))
                        return HN_OWNER_US;
        }
        /* A cpuset of nothing but isolated CPUs leaves no wider mask to compare with. */
        if (hn_mask_empty(&free_to_all))
                free_to_all = *cpuset;
        return hn_mask_subset(&free_to_all, now) ? HN_OWNER_NOBODY : HN_OWNER_OTHER;
}

uint32_t hn_cooldown(uint32_t reversals, uint32_t base_ms, uint32_t max_ms) {
        uint64_t ms = (uint64_t) base_ms << HN_MIN(reversals, 16u);

        return (uint32_t) HN_MIN(ms, (uint64_t) max_ms);
}
