/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sample/rowpool.h"

void hn_row_pool_init(struct hn_row_pool *pool, size_t n_nodes) {
        *pool = (struct hn_row_pool){ .n_nodes = n_nodes };
}

void hn_row_pool_deinit(struct hn_row_pool *pool) {
        free(pool->priv);
        free(pool->shared);
        free(pool->unused);
        *pool = HN_ROW_POOL_NULL;
}

static int grow(struct hn_row_pool *pool) {
        size_t more = pool->allocated ? 2 * pool->allocated : 64;
        size_t width = pool->n_nodes > 0 ? pool->n_nodes * sizeof(uint64_t) : 1;
        uint64_t *priv, *shared;
        uint32_t *unused;

        priv = reallocarray(pool->priv, more, width);
        if (!priv)
                return -ENOMEM;
        pool->priv = priv;
        shared = reallocarray(pool->shared, more, width);
        if (!shared)
                return -ENOMEM;
        pool->shared = shared;
        /* As long as the rows, so that giving one back cannot fail. */
        unused = reallocarray(pool->unused, more, sizeof(*unused));
        if (!unused)
                return -ENOMEM;
        pool->unused = unused;
        pool->allocated = more;
        return 0;
}

int hn_row_pool_take(struct hn_row_pool *pool, uint32_t *ret) {
        uint32_t row;
        int r;

        if (pool->n_unused > 0)
                row = pool->unused[--pool->n_unused];
        else {
                if (pool->n_rows == pool->allocated) {
                        r = grow(pool);
                        if (r < 0)
                                return r;
                }
                row = (uint32_t) pool->n_rows++;
        }
        memset(hn_row_priv(pool, row), 0, pool->n_nodes * sizeof(uint64_t));
        memset(hn_row_shared(pool, row), 0, pool->n_nodes * sizeof(uint64_t));
        *ret = row;
        return 0;
}

void hn_row_pool_release(struct hn_row_pool *pool, uint32_t *row) {
        if (*row == HN_ROW_NONE)
                return;
        assert(*row < pool->n_rows && pool->n_unused < pool->allocated);
        pool->unused[pool->n_unused++] = *row;
        *row = HN_ROW_NONE;
}
