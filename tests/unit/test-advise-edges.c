/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "fixture.h"
#include "policy/advise.h"
#include "rows.h"

#define NODES 3

/* What one node has: room for so many thousandths of a CPU and so many bytes. */
struct room {
        uint64_t cpus, memory;
};

/* Nodes of 8 CPUs and 20 bytes, of which one is kept. */
static void rooms(struct hn_topology *topo, const struct room *room, struct hn_advise_node *nodes) {
        fixture_topology(topo, NODES, 8);
        for (size_t i = 0; i < NODES; i++) {
                topo->nodes[i].memory = 20;
                nodes[i] = (struct hn_advise_node){ .allowed = true,
                                                    .free = 1 + room[i].memory,
                                                    .reserved_cpus = 8000 - room[i].cpus };
        }
}

/* By what each has room for, rounded up, until all is dealt out. */
static void shares(void **state) {
        static const struct {
                struct room rooms[NODES];
                struct hn_wish wish;
                struct room shares[NODES];
        } rows[] = {
                { { { 0, 0 }, { 0, 0 }, { 0, 0 } }, { 0, 0 }, { { 0, 0 }, { 0, 0 }, { 0, 0 } } },
                { { { 0, 5 }, { 0, 5 }, { 0, 5 } }, { 0, 5 }, { { 0, 5 }, { 0, 0 }, { 0, 0 } } },
                { { { 5, 0 }, { 5, 0 }, { 5, 0 } }, { 5, 0 }, { { 5, 0 }, { 0, 0 }, { 0, 0 } } },
                { { { 3, 3 }, { 4, 4 }, { 0, 0 } }, { 5, 5 }, { { 3, 3 }, { 2, 2 }, { 0, 0 } } },
                { { { 3, 3 }, { 0, 0 }, { 4, 4 } }, { 5, 5 }, { { 3, 3 }, { 0, 0 }, { 2, 2 } } },
                { { { 0, 0 }, { 3, 3 }, { 4, 4 } }, { 5, 5 }, { { 0, 0 }, { 3, 3 }, { 2, 2 } } },
                { { { 3, 4 }, { 4, 3 }, { 0, 0 } }, { 7, 7 }, { { 3, 4 }, { 4, 3 }, { 0, 0 } } },
                { { { 2, 1 }, { 2, 2 }, { 2, 3 } }, { 5, 4 }, { { 2, 1 }, { 2, 2 }, { 1, 1 } } },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_advise_node nodes[NODES];
                struct hn_advise_view views[NODES];
                struct hn_topology topo;
                struct hn_advice got;

                rooms(&topo, rows[i].rooms, nodes);
                ROW_EQUAL(i, hn_advise(&topo, nodes, &rows[i].wish, HN_NODE_NONE, views, &got), 0);
                ROW_EQUAL(i, got.shortage, HN_ADVISE_FITS);
                for (size_t k = 0; k < NODES; k++) {
                        ROW_EQUAL(i * 10 + k, views[k].room_cpus, rows[i].rooms[k].cpus);
                        ROW_EQUAL(i * 10 + k, views[k].room_memory, rows[i].rooms[k].memory);
                        ROW_EQUAL(i * 10 + k, views[k].share_cpus, rows[i].shares[k].cpus);
                        ROW_EQUAL(i * 10 + k, views[k].share_memory, rows[i].shares[k].memory);
                }
                hn_topology_deinit(&topo);
        }
}

/* Figures that cannot be true are large, and never come round to small ones. */
static void figures_that_lie(void **state) {
        static const struct room eight = { 8000, 19 };
        static const struct {
                uint64_t busy, free, reclaimable, reserved_cpus, reserved_memory;
                uint64_t room_cpus, room_memory;
        } rows[] = {
                { UINT64_MAX / 1000 + 1, 11, 0, 0, 0, 0, 10 }, /* a thousand times that is next to nothing */
                { UINT64_MAX, 11, 0, UINT64_MAX, UINT64_MAX, 0, 0 },
                { 1, UINT64_MAX, UINT64_MAX, 0, 0, 8000, UINT64_MAX - 1 },
                { 1, UINT64_MAX - 1, 1, 0, UINT64_MAX - 2, 8000, 1 },
                { 1, UINT64_MAX - 1, 2, 1, 1, 7999, UINT64_MAX - 2 },
                { 999, 1, 0, 0, 0, 8000, 0 },
                { 1000, 0, 0, 0, 0, 7000, 0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                const struct room room[NODES] = { eight, eight, eight };
                const struct hn_wish wish = { 1000, 1 };
                struct hn_advise_node nodes[NODES];
                struct hn_advise_view views[NODES];
                struct hn_topology topo;
                struct hn_advice got;

                rooms(&topo, room, nodes);
                nodes[1] = (struct hn_advise_node){
                        .allowed = true,
                        .busy = rows[i].busy,
                        .free = rows[i].free,
                        .reclaimable = rows[i].reclaimable,
                        .reserved_cpus = rows[i].reserved_cpus,
                        .reserved_memory = rows[i].reserved_memory,
                };
                ROW_EQUAL(i, hn_advise(&topo, nodes, &wish, HN_NODE_NONE, views, &got), 0);
                ROW_EQUAL(i, hn_mask_count(&got.nodes), 1);
                ROW_EQUAL(i, views[1].room_cpus, rows[i].room_cpus);
                ROW_EQUAL(i, views[1].room_memory == rows[i].room_memory, true);
                hn_topology_deinit(&topo);
        }
}

/* Per node its CPUs, bytes and tier, all of it free; what is wished for, and beside which device. */
static void verdicts(void **state) {
        static const struct {
                struct {
                        unsigned cpus;
                        uint64_t memory;
                        unsigned tier;
                } nodes[NODES];
                struct hn_wish wish;
                hn_node_index near;
                enum hn_advise_verdict verdicts[NODES];
        } rows[] = {
                /* nothing at all */
                { { { 0, 0, 0 }, { 0, 0, 0 }, { 8, 20, 0 } },
                  { 1000, 1 },
                  HN_NODE_NONE,
                  { HN_ADVISE_EMPTY, HN_ADVISE_EMPTY, HN_ADVISE_CHOSEN } },
                { { { 0, 20, 0 }, { 8, 20, 0 }, { 0, 0, 0 } },
                  { 1000, 1 },
                  HN_NODE_NONE,
                  { HN_ADVISE_NO_CPUS, HN_ADVISE_CHOSEN, HN_ADVISE_EMPTY } },
                { { { 0, 1, 0 }, { 8, 20, 0 }, { 0, 0, 0 } },
                  { 1000, 1 },
                  HN_NODE_NONE,
                  { HN_ADVISE_NO_CPUS, HN_ADVISE_CHOSEN, HN_ADVISE_EMPTY } },
                /* just enough is enough, a little less is not */
                { { { 8, 20, 0 }, { 8, 20, 0 }, { 8, 19, 0 } },
                  { 8000, 19 },
                  HN_NODE_NONE,
                  { HN_ADVISE_CHOSEN, HN_ADVISE_LESS_SPARE, HN_ADVISE_LESS_SPARE } },
                { { { 8, 20, 0 }, { 7, 20, 0 }, { 8, 18, 0 } },
                  { 8000, 19 },
                  HN_NODE_NONE,
                  { HN_ADVISE_CHOSEN, HN_ADVISE_CPUS_SHORT, HN_ADVISE_MEMORY_SHORT } },
                /* as far from the device as the chosen one is not farther */
                { { { 8, 20, 0 }, { 8, 20, 0 }, { 0, 0, 0 } },
                  { 8000, 19 },
                  2,
                  { HN_ADVISE_CHOSEN, HN_ADVISE_LESS_SPARE, HN_ADVISE_EMPTY } },
                { { { 8, 20, 0 }, { 8, 20, 0 }, { 8, 20, 0 } },
                  { 8000, 19 },
                  2,
                  { HN_ADVISE_FARTHER, HN_ADVISE_FARTHER, HN_ADVISE_CHOSEN } },
                /* the first node alone has memory, slower one even */
                { { { 0, 20, 0 }, { 8, 0, 0 }, { 0, 0, 0 } },
                  { 1000, 0 },
                  HN_NODE_NONE,
                  { HN_ADVISE_CHOSEN, HN_ADVISE_CHOSEN, HN_ADVISE_EMPTY } },
                { { { 0, 20, 1 }, { 8, 0, 0 }, { 0, 0, 0 } },
                  { 1000, 0 },
                  HN_NODE_NONE,
                  { HN_ADVISE_CHOSEN, HN_ADVISE_CHOSEN, HN_ADVISE_EMPTY } },
                { { { 0, 1, 0 }, { 8, 0, 0 }, { 0, 0, 0 } },
                  { 1000, 0 },
                  HN_NODE_NONE,
                  { HN_ADVISE_CHOSEN, HN_ADVISE_CHOSEN, HN_ADVISE_EMPTY } },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_advise_node nodes[NODES];
                struct hn_advise_view views[NODES];
                struct hn_topology topo;
                struct hn_advice got;

                fixture_topology(&topo, NODES, 8);
                for (hn_node_index k = 0; k < NODES; k++) {
                        if (rows[i].nodes[k].cpus == 0)
                                fixture_strip_cpus(&topo, k);
                        topo.nodes[k].n_cpus = rows[i].nodes[k].cpus;
                        topo.nodes[k].memory = rows[i].nodes[k].memory;
                        topo.nodes[k].tier = rows[i].nodes[k].tier;
                        nodes[k] = (struct hn_advise_node){ .allowed = true,
                                                            .free = rows[i].nodes[k].memory };
                }
                ROW_EQUAL(i, hn_advise(&topo, nodes, &rows[i].wish, rows[i].near, views, &got), 0);
                for (size_t k = 0; k < NODES; k++) {
                        ROW_EQUAL(i * 10 + k, views[k].verdict, rows[i].verdicts[k]);
                        ROW_EQUAL(i * 10 + k, hn_mask_has(&got.nodes, (unsigned) k),
                                  rows[i].verdicts[k] == HN_ADVISE_CHOSEN);
                }
                hn_topology_deinit(&topo);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(shares),
                cmocka_unit_test(figures_that_lie),
                cmocka_unit_test(verdicts),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
