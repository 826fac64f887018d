/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mask.h"

/* Which CPUs we may give a task, whose mask it carries, and how soon it may be moved again: heuristics H6. */

/* The mask to set: node AND cpuset AND user mask. Empty means leave alone. `node` holds no isolated CPU. */
struct hn_mask hn_target_mask(const struct hn_mask *node, const struct hn_mask *cpuset,
                              const struct hn_mask *user);

enum hn_owner {
        HN_OWNER_NOBODY, /* as wide as the cpuset allows, isolated CPUs aside: nobody restricted it */
        HN_OWNER_US,     /* what we set, as far as the cpuset lets it through */
        HN_OWNER_OTHER,  /* narrower, or not what we set: somebody else spoke */
};

/* Who owns the mask `now` of a task whose cpuset allows `cpuset`. `ours` is what we set before, NULL for
 * never. The kernel ANDs any request with the cpuset, so both sides are compared under it. */
enum hn_owner hn_mask_owner(const struct hn_mask *now, const struct hn_mask *ours,
                            const struct hn_mask *cpuset, const struct hn_mask *isolated);

/* Milliseconds before the next move of a task that came back `reversals` times to a node it had just left. */
uint32_t hn_cooldown(uint32_t reversals, uint32_t base_ms, uint32_t max_ms);

#define HN_COOLDOWN_BASE_MS 2000u
#define HN_COOLDOWN_MAX_MS  60000u
