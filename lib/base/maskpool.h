/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/mask.h"

/* Affinity masks by number. A host has a hundred thousand threads and a dozen different masks: a task holds a
 * 4-byte id, the mask itself stands here once. Ids are dense from 0 and stay valid as long as the pool. */
typedef uint32_t hn_mask_id;

#define HN_MASK_ID_NONE UINT32_MAX

struct hn_mask_pool {
        struct hn_mask *masks;
        size_t n, allocated;
};

#define HN_MASK_POOL_NULL ((struct hn_mask_pool){})

void hn_mask_pool_deinit(struct hn_mask_pool *pool);

/* The id of an equal mask, added when new. Returns 0 or -ENOMEM. */
int hn_mask_pool_intern(struct hn_mask_pool *pool, const struct hn_mask *mask, hn_mask_id *ret);

/* The mask of an id this pool gave out. Valid until the next intern. */
const struct hn_mask *hn_mask_pool_get(const struct hn_mask_pool *pool, hn_mask_id id);
