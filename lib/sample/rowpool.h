/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The rows of counters by node that a snapshot shows (hn_snapshot.priv and .shared). A row is taken once by a
 * task or a process and keeps its number while it is held, so that what is carried from sweep to sweep is
 * never copied. */
struct hn_row_pool {
        size_t n_nodes;
        size_t n_rows, allocated; /* rows ever taken; room for */
        uint64_t *priv, *shared;  /* n_rows x n_nodes; they move when a row is taken */
        uint32_t *unused;         /* rows given back, n_unused of them */
        size_t n_unused;
};

#define HN_ROW_NONE      UINT32_MAX
#define HN_ROW_POOL_NULL ((struct hn_row_pool){})

void hn_row_pool_init(struct hn_row_pool *pool, size_t n_nodes);
void hn_row_pool_deinit(struct hn_row_pool *pool);

/* A row of zeroes. Returns 0 or -ENOMEM. */
int hn_row_pool_take(struct hn_row_pool *pool, uint32_t *ret);

/* Gives `*row` back and makes it HN_ROW_NONE, which may be given back as well. */
void hn_row_pool_release(struct hn_row_pool *pool, uint32_t *row);

static inline uint64_t *hn_row_priv(const struct hn_row_pool *pool, uint32_t row) {
        return pool->priv + (size_t) row * pool->n_nodes;
}

static inline uint64_t *hn_row_shared(const struct hn_row_pool *pool, uint32_t row) {
        return pool->shared + (size_t) row * pool->n_nodes;
}
