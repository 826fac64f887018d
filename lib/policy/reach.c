/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"
#include "policy/reach.h"
#include "policy/target.h"

void hn_reach_deinit(struct hn_reach *reach) {
        free(reach->rows);
        free(reach->want);
        *reach = HN_REACH_NULL;
}

void hn_reach_clear(struct hn_reach *reach) {
        reach->n = 0;
}

static bool reserve(struct hn_reach *reach, size_t n_nodes) {
        size_t more = reach->allocated ? 2 * reach->allocated : 16;
        struct hn_reach_row *rows;
        hn_mask_id *want;

        if (reach->n < reach->allocated)
                return true;
        rows = realloc(reach->rows, more * sizeof(*rows));
        if (!rows)
                return false;
        reach->rows = rows;
        want = realloc(reach->want, HN_MAX(more * n_nodes, 1u) * sizeof(*want));
        if (!want)
                return false;
        reach->want = want;
        reach->allocated = more;
        return true;
}

int hn_reach_find(struct hn_reach *reach, const struct hn_topology *topo, const struct hn_snapshot *s,
                  uint32_t scope, hn_mask_id user, size_t *ret_row) {
        const struct hn_scope *sc = &s->scopes[scope];
        struct hn_reach_row row = { .scope = scope, .user = user };
        struct hn_mask allowed;
        int r;

        for (size_t i = reach->n; i-- > 0;)
                if (reach->rows[i].scope == scope && reach->rows[i].user == user) {
                        *ret_row = i;
                        return 0;
                }
        if (!reserve(reach, topo->n_nodes))
                return -ENOMEM;

        allowed = user == HN_MASK_ID_NONE ? sc->cpuset : *hn_mask_pool_get(s->masks, user);
        for (size_t i = 0; i < topo->n_nodes; i++) {
                struct hn_mask m = hn_target_mask(&topo->nodes[i].usable, &sc->cpuset, &allowed);
                hn_mask_id *want = &reach->want[reach->n * topo->n_nodes + i];

                *want = HN_MASK_ID_NONE;
                if (hn_mask_empty(&m) ||
                    (!hn_mask_empty(&sc->nodes) && !hn_mask_has(&sc->nodes, topo->nodes[i].id)))
                        continue;
                r = hn_mask_pool_intern(s->masks, &m, want);
                if (r < 0)
                        return r;
                row.n_reachable++;
        }
        reach->rows[reach->n] = row;
        *ret_row = reach->n++;
        return 0;
}
