/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/maskpool.h"
#include "policy/snapshot.h"
#include "policy/topology.h"

/* Which mask a task would get on each node. Tasks of one scope with one user mask share the answer, so that
 * a thousand threads cost a handful of set operations. Valid for one snapshot. */
struct hn_reach_row {
        uint32_t scope;
        hn_mask_id user;    /* HN_MASK_ID_NONE: the user set no mask */
        size_t n_reachable; /* nodes with at least one allowed CPU */
};

struct hn_reach {
        size_t n, allocated;
        struct hn_reach_row *rows;
        hn_mask_id *want; /* [row * n_nodes + node], HN_MASK_ID_NONE where the node is out of reach */
};

#define HN_REACH_NULL ((struct hn_reach){})

void hn_reach_deinit(struct hn_reach *reach);

/* Forgets all answers and keeps the memory. */
void hn_reach_clear(struct hn_reach *reach);

/* Finds or makes the row for tasks of `scope` with the user's mask `user`. Returns 0 or -ENOMEM. */
int hn_reach_find(struct hn_reach *reach, const struct hn_topology *topo, const struct hn_snapshot *s,
                  uint32_t scope, hn_mask_id user, size_t *ret_row);
