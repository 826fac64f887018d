/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/maskpool.h"

void hn_mask_pool_deinit(struct hn_mask_pool *pool) {
        free(pool->masks);
        *pool = HN_MASK_POOL_NULL;
}

int hn_mask_pool_intern(struct hn_mask_pool *pool, const struct hn_mask *mask, hn_mask_id *ret) {
        /* Newest first: a sweep meets the same few masks in a row. Linear, as there are a dozen. */
        for (size_t i = pool->n; i-- > 0;)
                if (hn_mask_equal(&pool->masks[i], mask)) {
                        *ret = (hn_mask_id) i;
                        return 0;
                }

        if (pool->n == pool->allocated) {
                size_t more = pool->allocated ? 2 * pool->allocated : 8;
                struct hn_mask *masks = realloc(pool->masks, more * sizeof(*masks));

                if (!masks)
                        return -ENOMEM;
                pool->masks = masks;
                pool->allocated = more;
        }
        pool->masks[pool->n] = *mask;
        *ret = (hn_mask_id) pool->n++;
        return 0;
}

const struct hn_mask *hn_mask_pool_get(const struct hn_mask_pool *pool, hn_mask_id id) {
        assert(id < pool->n);
        return &pool->masks[id];
}
