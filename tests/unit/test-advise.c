/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "policy/advise.h"
#include "rows.h"

#define NODES 4
#define GIB   (UINT64_C(1) << 30)

/* Four nodes of 8 CPUs and 20 GiB, of which one is kept: 0 and 1 are near each other, as are 2 and 3. From 3
 * to 0 it is farther than back. */
static void square(struct hn_topology *topo) {
        static const unsigned far[NODES][NODES] = {
                { 10, 15, 20, 20 }, { 15, 10, 20, 20 }, { 20, 20, 10, 15 }, { 22, 20, 15, 10 }
        };

        fixture_topology(topo, NODES, 8);
        for (size_t i = 0; i < NODES; i++) {
                topo->nodes[i].memory = 20 * GIB;
                for (size_t k = 0; k < NODES; k++)
                        topo->distances[i * NODES + k] = far[i][k];
        }
}

/* Figures of a node in CPUs and GiB. */
struct figures {
        double busy, claimed, free, cache, reserved, reserved_gib;
};

static struct hn_advise_node node_of(const struct figures *f) {
        return (struct hn_advise_node){
                .allowed = true,
                .busy = (uint64_t) (f->busy * 1000),
                .claimed = (uint64_t) (f->claimed * 1000),
                .free = (uint64_t) (f->free * (double) GIB),
                .reclaimable = (uint64_t) (f->cache * (double) GIB),
                .reserved_cpus = (uint64_t) (f->reserved * 1000),
                .reserved_memory = (uint64_t) (f->reserved_gib * (double) GIB),
        };
}

static void check_list(size_t row, const struct hn_mask *got, const char *want) {
        char list[HN_MASK_LIST_MAX];

        assert_true(hn_mask_print_list(got, list, sizeof(list)) >= 0);
        if (strcmp(list, want) != 0)
                fail_msg("row %zu: \"%s\", expected \"%s\"", row, list, want);
}

#define IDLE \
        { 0, 0, 16, 0, 0, 0 }
#define BUSY(cpus) \
        { cpus, 0, 16, 0, 0, 0 }
#define FREE(gib) \
        { 0, 0, gib, 0, 0, 0 }
#define RESERVED(cpus) \
        { 0, 0, 16, 0, cpus, 0 }
#define MEMORY_PROMISED(g) \
        { 0, 0, 16, 0, 0, g }

static void lists(void **state) {
        static const struct {
                struct figures nodes[NODES];
                double cpus, gib;
                const char *want;
                enum hn_advise_shortage shortage;
        } rows[] = {
                /* nothing asked for is something, too; and of equal ones the lowest */
                { { IDLE, IDLE, IDLE, IDLE }, 0, 0, "0", HN_ADVISE_FITS },
                { { IDLE, IDLE, IDLE, IDLE }, 4, 4, "0", HN_ADVISE_FITS },
                { { IDLE, IDLE, IDLE, IDLE }, 8, 15, "0", HN_ADVISE_FITS },
                /* the one with most left over, where the scarcer of the two counts: 4 of 8 CPUs and 11 of 20
                 * GiB against 2 of 8 and 15 of 20 */
                { { BUSY(3), BUSY(2), BUSY(2.5), BUSY(4) }, 2, 1, "1", HN_ADVISE_FITS },
                { { { 2, 0, 14, 0, 0, 0 }, { 4, 0, 18, 0, 0, 0 }, BUSY(8), BUSY(8) },
                  2,
                  2,
                  "0",
                  HN_ADVISE_FITS },
                { { FREE(8), FREE(9), FREE(7), FREE(8) }, 2, 4, "1", HN_ADVISE_FITS },
                /* page cache goes when asked for */
                { { FREE(8), { 0, 0, 1, 12, 0, 0 }, FREE(7), FREE(8) }, 2, 4, "1", HN_ADVISE_FITS },
                /* what opted-in tasks will want counts where it is more than what they do */
                { { { 1, 6, 16, 0, 0, 0 }, BUSY(2), BUSY(5), BUSY(5) }, 4, 1, "1", HN_ADVISE_FITS },
                { { { 7, 1, 16, 0, 0, 0 }, BUSY(2), BUSY(5), BUSY(5) }, 4, 1, "1", HN_ADVISE_FITS },
                /* less than an eighth is background, an eighth is not */
                { { BUSY(0.9), BUSY(0.9), BUSY(2), BUSY(2) }, 8, 1, "0", HN_ADVISE_FITS },
                { { BUSY(1), BUSY(1), BUSY(2), BUSY(2) }, 8, 1, "0-1", HN_ADVISE_FITS },
                /* what is promised counts, however little it is */
                { { RESERVED(0.5), IDLE, IDLE, IDLE }, 8, 1, "1", HN_ADVISE_FITS },
                { { RESERVED(4), RESERVED(4), RESERVED(4), RESERVED(3) }, 4, 1, "3", HN_ADVISE_FITS },
                { { MEMORY_PROMISED(8), MEMORY_PROMISED(8), IDLE, MEMORY_PROMISED(8) },
                  1,
                  8,
                  "2",
                  HN_ADVISE_FITS },
                /* the reserve of a twentieth is kept: 16 - 1 */
                { { IDLE, FREE(16.5), FREE(16.5), IDLE }, 1, 15.25, "1", HN_ADVISE_FITS },
                { { IDLE, IDLE, IDLE, IDLE }, 1, 15.25, "0-1", HN_ADVISE_FITS },
                /* two nodes, and near ones, though others have more */
                { { BUSY(2), BUSY(2), BUSY(1), BUSY(2) }, 12, 1, "2-3", HN_ADVISE_FITS },
                { { BUSY(4), BUSY(4), BUSY(0), BUSY(6) }, 8, 1, "2", HN_ADVISE_FITS },
                { { BUSY(2), BUSY(3), BUSY(6), BUSY(0) }, 10, 1, "0-1", HN_ADVISE_FITS },
                { { BUSY(2), BUSY(6), BUSY(6), BUSY(2) }, 10, 1, "0,3", HN_ADVISE_FITS },
                /* CPUs from the one, memory from the other: of the pairs that fit the near one */
                { { BUSY(8), { 0, 0, 1, 0, 0, 0 }, BUSY(8), BUSY(8) }, 8, 10, "0-1", HN_ADVISE_FITS },
                /* three: 0, 1 and 2 are 55 apart there and back, as are 0, 1 and 3 less 2 */
                { { IDLE, IDLE, IDLE, IDLE }, 24, 1, "0-2", HN_ADVISE_FITS },
                { { IDLE, IDLE, IDLE, IDLE }, 32, 60, "0-3", HN_ADVISE_FITS },
                /* too many CPUs for now: the machine is shared, on the node with least to do */
                { { BUSY(8), BUSY(7), BUSY(8), BUSY(8) }, 4, 1, "1", HN_ADVISE_OUT_OF_CPUS },
                { { BUSY(8), BUSY(8), BUSY(8), BUSY(8) }, 4, 1, "0", HN_ADVISE_OUT_OF_CPUS },
                { { RESERVED(9), RESERVED(10), RESERVED(8), RESERVED(9) }, 4, 1, "2", HN_ADVISE_OUT_OF_CPUS },
                { { IDLE, IDLE, IDLE, IDLE }, 33, 1, "0-3", HN_ADVISE_OUT_OF_CPUS },
                { { IDLE, IDLE, IDLE, IDLE }, 1000000, 1, "0-3", HN_ADVISE_OUT_OF_CPUS },
                /* too much memory for the reserves; for all there is */
                { { IDLE, IDLE, IDLE, IDLE }, 1, 61, "0-3", HN_ADVISE_OUT_OF_MEMORY },
                { { FREE(1), FREE(2), FREE(0), FREE(1) }, 1, 1.5, "1", HN_ADVISE_OUT_OF_MEMORY },
                { { IDLE, IDLE, IDLE, IDLE }, 1, 1000, "0-3", HN_ADVISE_OUT_OF_MEMORY },
                { { FREE(0), FREE(0), FREE(0), FREE(0) }, 1, 1, "0", HN_ADVISE_OUT_OF_MEMORY },
                { { BUSY(8), BUSY(8), BUSY(8), BUSY(8) }, 1, 100, "0-3", HN_ADVISE_OUT_OF_BOTH },
                /* figures that lie */
                { { BUSY(1e9), { 0, 0, 1e9, 1e9, 1e9, 1e9 }, IDLE, BUSY(1e12) }, 1, 1, "2", HN_ADVISE_FITS },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_wish wish = { (uint64_t) (rows[i].cpus * 1000),
                                        (uint64_t) (rows[i].gib * (double) GIB) };
                uint64_t cpus = 0, memory = 0;
                struct hn_advise_node nodes[NODES];
                struct hn_advise_view views[NODES];
                struct hn_advice got, again;
                struct hn_topology topo;

                square(&topo);
                for (size_t k = 0; k < NODES; k++)
                        nodes[k] = node_of(&rows[i].nodes[k]);
                ROW_EQUAL(i, hn_advise(&topo, nodes, &wish, HN_NODE_NONE, views, &got), 0);
                check_list(i, &got.nodes, rows[i].want);
                ROW_EQUAL(i, got.shortage, rows[i].shortage);

                /* Shares are of the chosen alone, and the whole wish where it fits. */
                for (size_t k = 0; k < NODES; k++) {
                        bool chosen = hn_mask_has(&got.nodes, (unsigned) k);

                        ROW_EQUAL(i, views[k].verdict == HN_ADVISE_CHOSEN, chosen);
                        ROW_EQUAL(i, chosen || (views[k].share_cpus == 0 && views[k].share_memory == 0),
                                  true);
                        cpus += views[k].share_cpus;
                        memory += views[k].share_memory;
                        if (rows[i].shortage == HN_ADVISE_FITS) {
                                ROW_EQUAL(i, views[k].share_cpus <= views[k].room_cpus, true);
                                ROW_EQUAL(i, views[k].share_memory <= views[k].room_memory, true);
                        }
                }
                if (rows[i].shortage == HN_ADVISE_FITS) {
                        ROW_EQUAL(i, cpus, wish.cpus);
                        ROW_EQUAL(i, memory, wish.memory);
                }
                ROW_EQUAL(i, cpus <= wish.cpus && memory <= wish.memory, true);

                ROW_EQUAL(i, hn_advise(&topo, nodes, &wish, HN_NODE_NONE, views, &again), 0);
                ROW_EQUAL(i, hn_mask_equal(&again.nodes, &got.nodes), true);
                hn_topology_deinit(&topo);
        }
}

static void devices_and_restrictions(void **state) {
        static const struct {
                struct figures nodes[NODES];
                const char *allowed;
                hn_node_index near;
                double cpus;
                const char *want;
                enum hn_advise_verdict verdicts[NODES];
        } rows[] = {
                { { IDLE, IDLE, IDLE, IDLE },
                  "2-3",
                  HN_NODE_NONE,
                  4,
                  "2",
                  { HN_ADVISE_NOT_ASKED, HN_ADVISE_NOT_ASKED, HN_ADVISE_CHOSEN, HN_ADVISE_LESS_SPARE } },
                { { IDLE, IDLE, IDLE, IDLE },
                  "3",
                  HN_NODE_NONE,
                  12,
                  "3",
                  { HN_ADVISE_NOT_ASKED, HN_ADVISE_NOT_ASKED, HN_ADVISE_NOT_ASKED, HN_ADVISE_CHOSEN } },
                /* beside the device, though that has least; else the nearest with room */
                { { IDLE, IDLE, BUSY(3), IDLE },
                  "0-3",
                  2,
                  4,
                  "2",
                  { HN_ADVISE_FARTHER, HN_ADVISE_FARTHER, HN_ADVISE_CHOSEN, HN_ADVISE_FARTHER } },
                { { IDLE, IDLE, BUSY(6), IDLE },
                  "0-3",
                  2,
                  4,
                  "3",
                  { HN_ADVISE_FARTHER, HN_ADVISE_FARTHER, HN_ADVISE_CPUS_SHORT, HN_ADVISE_CHOSEN } },
                /* the way to it counts, not the way back: 3 is 22 from 0 */
                { { BUSY(6), BUSY(6), BUSY(2), IDLE },
                  "0-3",
                  0,
                  4,
                  "2",
                  { HN_ADVISE_CPUS_SHORT, HN_ADVISE_CPUS_SHORT, HN_ADVISE_CHOSEN, HN_ADVISE_FARTHER } },
                /* a device on a node that may not be chosen */
                { { IDLE, IDLE, IDLE, IDLE },
                  "0,3",
                  2,
                  4,
                  "3",
                  { HN_ADVISE_FARTHER, HN_ADVISE_NOT_ASKED, HN_ADVISE_NOT_ASKED, HN_ADVISE_CHOSEN } },
                /* one node far away rather than two near it */
                { { IDLE, BUSY(4), BUSY(4), BUSY(4) },
                  "0-3",
                  2,
                  8,
                  "0",
                  { HN_ADVISE_CHOSEN, HN_ADVISE_CPUS_SHORT, HN_ADVISE_CPUS_SHORT, HN_ADVISE_CPUS_SHORT } },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_wish wish = { (uint64_t) (rows[i].cpus * 1000), GIB };
                struct hn_mask allowed = fixture_list(rows[i].allowed);
                struct hn_advise_node nodes[NODES];
                struct hn_advise_view views[NODES];
                struct hn_topology topo;
                struct hn_advice got;

                square(&topo);
                for (size_t k = 0; k < NODES; k++) {
                        nodes[k] = node_of(&rows[i].nodes[k]);
                        nodes[k].allowed = hn_mask_has(&allowed, (unsigned) k);
                }
                ROW_EQUAL(i, hn_advise(&topo, nodes, &wish, rows[i].near, views, &got), 0);
                check_list(i, &got.nodes, rows[i].want);
                for (size_t k = 0; k < NODES; k++)
                        ROW_EQUAL(i * 10 + k, views[k].verdict, rows[i].verdicts[k]);
                hn_topology_deinit(&topo);
        }
}

static void reasons_of_those_without_room(void **state) {
        static const struct figures figures[NODES] = { BUSY(7), FREE(2), { 7, 0, 2, 0, 0, 0 }, IDLE };
        struct hn_wish wish = { 4000, 4 * GIB };
        struct hn_advise_node nodes[NODES];
        struct hn_advise_view views[NODES];
        struct hn_topology topo;
        struct hn_advice got;

        (void) state;
        square(&topo);
        for (size_t k = 0; k < NODES; k++)
                nodes[k] = node_of(&figures[k]);
        assert_int_equal(hn_advise(&topo, nodes, &wish, HN_NODE_NONE, views, &got), 0);
        assert_int_equal(views[0].verdict, HN_ADVISE_CPUS_SHORT);
        assert_int_equal(views[1].verdict, HN_ADVISE_MEMORY_SHORT);
        assert_int_equal(views[2].verdict, HN_ADVISE_BOTH_SHORT);
        assert_int_equal(views[3].verdict, HN_ADVISE_CHOSEN);
        assert_int_equal(views[0].room_cpus, 1000);
        assert_int_equal(views[1].room_memory, GIB);
        hn_topology_deinit(&topo);
}

/* Odd machines: per node CPUs, GiB and tier. */
static void odd_machines(void **state) {
        static const struct {
                struct {
                        unsigned cpus;
                        double gib;
                        unsigned tier;
                } nodes[NODES];
                double cpus, gib;
                int r;
                const char *want;
                enum hn_advise_shortage shortage;
        } rows[] = {
                /* no CPU anywhere */
                { { { 0, 4, 0 }, { 0, 4, 0 }, { 0, 0, 0 }, { 0, 0, 0 } }, 1, 1, -ENODEV, "", 0 },
                /* one node that is whole, beside three that have nothing */
                { { { 0, 0, 0 }, { 0, 0, 0 }, { 4, 8, 0 }, { 0, 0, 0 } }, 1, 1, 0, "2", HN_ADVISE_FITS },
                /* no memory is known of at all */
                { { { 4, 0, 0 }, { 4, 0, 0 }, { 4, 0, 0 }, { 4, 0, 0 } }, 5, 0, 0, "0-1", HN_ADVISE_FITS },
                { { { 4, 0, 0 }, { 4, 0, 0 }, { 4, 0, 0 }, { 4, 0, 0 } },
                  4,
                  1,
                  0,
                  "0",
                  HN_ADVISE_OUT_OF_MEMORY },
                /* a node without memory takes a neighbour's; a list without memory is of no use */
                { { { 4, 0, 0 }, { 0, 8, 0 }, { 4, 0, 0 }, { 0, 8, 0 } }, 4, 1, 0, "0-1", HN_ADVISE_FITS },
                { { { 4, 0, 0 }, { 0, 8, 0 }, { 4, 0, 0 }, { 0, 8, 0 } }, 4, 0, 0, "0-1", HN_ADVISE_FITS },
                { { { 4, 0, 0 }, { 4, 8, 0 }, { 4, 0, 0 }, { 4, 0, 0 } }, 2, 0, 0, "1", HN_ADVISE_FITS },
                /* memory alone is no place: not if it is faster, not if it is slower */
                { { { 0, 64, 0 }, { 4, 8, 0 }, { 0, 64, 1 }, { 4, 8, 0 } }, 4, 4, 0, "1", HN_ADVISE_FITS },
                { { { 0, 64, 0 }, { 4, 8, 0 }, { 0, 64, 1 }, { 4, 8, 0 } }, 4, 12, 0, "1,3", HN_ADVISE_FITS },
                { { { 0, 64, 0 }, { 4, 8, 0 }, { 0, 64, 1 }, { 4, 8, 0 } }, 4, 40, 0, "0-1", HN_ADVISE_FITS },
                /* slower memory comes in when the faster does not do, however many nodes that takes */
                { { { 4, 8, 0 }, { 4, 8, 0 }, { 4, 8, 0 }, { 0, 64, 1 } }, 1, 20, 0, "0-2", HN_ADVISE_FITS },
                { { { 4, 8, 0 }, { 4, 8, 0 }, { 4, 8, 0 }, { 0, 64, 1 } }, 1, 24, 0, "2-3", HN_ADVISE_FITS },
                { { { 4, 8, 0 }, { 0, 64, 2 }, { 0, 16, 1 }, { 0, 0, 0 } }, 1, 10, 0, "0,2", HN_ADVISE_FITS },
                { { { 4, 8, 0 }, { 0, 64, 2 }, { 0, 16, 1 }, { 0, 0, 0 } }, 1, 50, 0, "0-1", HN_ADVISE_FITS },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_wish wish = { (uint64_t) (rows[i].cpus * 1000),
                                        (uint64_t) (rows[i].gib * (double) GIB) };
                struct hn_advise_node nodes[NODES];
                struct hn_advise_view views[NODES];
                struct hn_topology topo;
                struct hn_advice got;

                square(&topo);
                for (size_t k = 0; k < NODES; k++) {
                        uint64_t memory = (uint64_t) (rows[i].nodes[k].gib * (double) GIB);

                        nodes[k] = (struct hn_advise_node){ .allowed = true, .free = memory };
                        topo.nodes[k].n_cpus = rows[i].nodes[k].cpus;
                        topo.nodes[k].memory = memory;
                        topo.nodes[k].tier = rows[i].nodes[k].tier;
                        topo.nodes[k].cpus = topo.nodes[k].usable = HN_MASK_NULL;
                        if (rows[i].nodes[k].cpus > 0)
                                hn_mask_add_range(&topo.nodes[k].cpus, 0, rows[i].nodes[k].cpus - 1);
                        topo.nodes[k].usable = topo.nodes[k].cpus;
                }
                ROW_EQUAL(i, hn_advise(&topo, nodes, &wish, HN_NODE_NONE, views, &got), rows[i].r);
                if (rows[i].r == 0) {
                        check_list(i, &got.nodes, rows[i].want);
                        ROW_EQUAL(i, got.shortage, rows[i].shortage);
                }
                hn_topology_deinit(&topo);
        }
}

/* Where all CPUs are isolated a workload is put on isolated ones: that is what they are for. */
static void all_isolated(void **state) {
        struct hn_advise_node nodes[2] = { { .allowed = true, .free = GIB },
                                           { .allowed = true, .free = 2 * GIB } };
        struct hn_wish wish = { 2000, GIB / 2 };
        struct hn_advise_view views[2];
        struct hn_topology topo;
        struct hn_advice got;

        (void) state;
        fixture_topology(&topo, 2, 4);
        for (size_t i = 0; i < 2; i++) {
                topo.nodes[i].usable = HN_MASK_NULL;
                topo.nodes[i].n_cpus = 0;
        }
        assert_int_equal(hn_advise(&topo, nodes, &wish, HN_NODE_NONE, views, &got), 0);
        check_list(0, &got.nodes, "1");
        assert_int_equal(views[1].capacity, 4000);
        hn_topology_deinit(&topo);
}

static void one_node(void **state) {
        struct hn_advise_node node = { .allowed = true, .free = GIB };
        struct hn_advise_view view;
        struct hn_topology topo;
        struct hn_advice got;

        (void) state;
        fixture_topology(&topo, 1, 2);
        for (uint64_t cpus = 0; cpus < 4000; cpus += 500) {
                assert_int_equal(hn_advise(&topo, &node, &(struct hn_wish){ cpus, 0 }, 0, &view, &got), 0);
                check_list(cpus, &got.nodes, "0");
                assert_int_equal(got.shortage, cpus > 2000 ? HN_ADVISE_OUT_OF_CPUS : HN_ADVISE_FITS);
        }
        hn_topology_deinit(&topo);
}

/* Too many sets to look at them all: they are grown, and nobody is on the list in vain. */
static void large_machines(void **state) {
        static const struct {
                size_t n_nodes;
                double cpus;
                unsigned want;
        } rows[] = {
                { 64, 4, 1 },   { 64, 8, 2 },   { 64, 12, 3 },    { 64, 40, 10 }, { 64, 256, 64 },
                { 200, 30, 8 }, { 1024, 4, 1 }, { 1024, 40, 10 }, { 18, 36, 9 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_wish wish = { (uint64_t) (rows[i].cpus * 1000), 0 };
                struct hn_advise_node *nodes = calloc(rows[i].n_nodes, sizeof(*nodes));
                struct hn_advise_view *views = calloc(rows[i].n_nodes, sizeof(*views));
                struct hn_topology topo;
                struct hn_advice got;

                fixture_topology(&topo, rows[i].n_nodes, 4);
                for (size_t k = 0; k < rows[i].n_nodes; k++)
                        nodes[k] = (struct hn_advise_node){ .allowed = true, .free = GIB };
                ROW_EQUAL(i, hn_advise(&topo, nodes, &wish, HN_NODE_NONE, views, &got), 0);
                ROW_EQUAL(i, hn_mask_count(&got.nodes), rows[i].want);
                ROW_EQUAL(i, got.shortage, HN_ADVISE_FITS);
                hn_topology_deinit(&topo);
                free(nodes);
                free(views);
        }
}

/* What is grown around a node may catch one that turns out to be of no use. */
static void what_is_grown_is_pruned(void **state) {
        enum { N = 40 };
        struct hn_advise_node nodes[N];
        struct hn_advise_view views[N];
        struct hn_wish wish = { 16000, 0 };
        struct hn_topology topo;
        struct hn_advice got;

        (void) state;
        fixture_topology(&topo, N, 4);
        /* A little room on all, all room on the last four: sets of four are more than are looked at. */
        for (size_t k = 0; k < N; k++)
                nodes[k] = (struct hn_advise_node){ .allowed = true,
                                                    .free = GIB,
                                                    .busy = k < N - 4 ? 3000 : 0 };
        assert_int_equal(hn_advise(&topo, nodes, &wish, HN_NODE_NONE, views, &got), 0);
        assert_int_equal(got.shortage, HN_ADVISE_FITS);
        check_list(0, &got.nodes, "36-39");
        hn_topology_deinit(&topo);
}

/* One after the other, each promised what the ones before were given: they spread, and fill all up. */
static void promises_spread(void **state) {
        struct hn_advise_node nodes[NODES] = {};
        struct hn_advise_view views[NODES];
        struct hn_wish wish = { 2000, GIB };
        unsigned given[NODES] = {};
        struct hn_topology topo;
        struct hn_advice got;

        (void) state;
        square(&topo);
        for (size_t k = 0; k < NODES; k++)
                nodes[k] = (struct hn_advise_node){ .allowed = true, .free = 16 * GIB };
        for (unsigned i = 0; i < 32; i++) {
                assert_int_equal(hn_advise(&topo, nodes, &wish, HN_NODE_NONE, views, &got), 0);
                assert_int_equal(hn_mask_count(&got.nodes), 1);
                assert_int_equal(got.shortage, i < 16 ? HN_ADVISE_FITS : HN_ADVISE_OUT_OF_CPUS);
                for (size_t k = 0; k < NODES; k++) {
                        nodes[k].reserved_cpus += views[k].share_cpus;
                        nodes[k].reserved_memory += views[k].share_memory;
                        given[k] += hn_mask_has(&got.nodes, (unsigned) k);
                }
                for (size_t k = 0; k < NODES; k++)
                        assert_true(given[k] <= i / NODES + 1);
        }
        hn_topology_deinit(&topo);
}

static void words(void **state) {
        (void) state;
        for (int v = 0; v < _HN_ADVISE_VERDICT_MAX; v++) {
                assert_non_null(hn_advise_verdict_to_string((enum hn_advise_verdict) v));
                assert_non_null(hn_advise_verdict_to_sentence((enum hn_advise_verdict) v));
        }
        for (int s = 0; s < _HN_ADVISE_SHORTAGE_MAX; s++) {
                assert_int_equal(hn_advise_shortage_to_string((enum hn_advise_shortage) s) != NULL,
                                 s != HN_ADVISE_FITS);
                assert_non_null(hn_advise_shortage_to_sentence((enum hn_advise_shortage) s));
        }
        assert_null(hn_advise_verdict_to_string(_HN_ADVISE_VERDICT_MAX));
        assert_null(hn_advise_verdict_to_sentence(_HN_ADVISE_VERDICT_MAX));
        assert_null(hn_advise_shortage_to_string(_HN_ADVISE_SHORTAGE_MAX));
        assert_null(hn_advise_shortage_to_sentence(_HN_ADVISE_SHORTAGE_MAX));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(lists),
                cmocka_unit_test(devices_and_restrictions),
                cmocka_unit_test(reasons_of_those_without_room),
                cmocka_unit_test(odd_machines),
                cmocka_unit_test(all_isolated),
                cmocka_unit_test(one_node),
                cmocka_unit_test(large_machines),
                cmocka_unit_test(what_is_grown_is_pruned),
                cmocka_unit_test(promises_spread),
                cmocka_unit_test(words),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
