/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fixture.h"
#include "policy/faults.h"
#include "policy/nearby.h"
#include "rows.h"

/* Four nodes of two CPUs at the distances of `rows`. */
static void build(struct hn_topology *t, const unsigned distances[static 16]) {
        fixture_topology(t, 4, 2);
        memcpy(t->distances, distances, 16 * sizeof(*distances));
}

static const unsigned flat[] = { 10, 20, 20, 20, 20, 10, 20, 20, 20, 20, 10, 20, 20, 20, 20, 10 };
static const unsigned ring[] = { 10, 20, 30, 20, 20, 10, 20, 30, 30, 20, 10, 20, 20, 30, 20, 10 };
static const unsigned pairs[] = { 10, 15, 20, 20, 15, 10, 20, 20, 20, 20, 10, 15, 20, 20, 15, 10 };

/* All by way of node 0. */
static const unsigned star[] = { 10, 20, 20, 20, 20, 10, 30, 30, 20, 30, 10, 30, 20, 30, 30, 10 };

/* The way from one to another may be longer than the way back. */
static const unsigned there[] = { 10, 30, 20, 20, 20, 10, 20, 20, 20, 20, 10, 20, 20, 20, 20, 10 };
static const unsigned back[] = { 10, 20, 20, 20, 30, 10, 20, 20, 20, 20, 10, 20, 20, 20, 20, 10 };

static void types(void **state) {
        static const struct {
                const unsigned *distances;
                enum hn_topology_type type;
        } rows[] = {
                { flat, HN_TOPOLOGY_DIRECT }, { ring, HN_TOPOLOGY_MESH },  { pairs, HN_TOPOLOGY_BACKPLANE },
                { star, HN_TOPOLOGY_MESH },   { there, HN_TOPOLOGY_MESH }, { back, HN_TOPOLOGY_MESH },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_topology t;

                build(&t, rows[i].distances);
                ROW_EQUAL(i, hn_topology_type(&t), rows[i].type);
                hn_topology_deinit(&t);
        }
        assert_string_equal(hn_topology_type_to_string(HN_TOPOLOGY_DIRECT), "direct");
        assert_string_equal(hn_topology_type_to_string(HN_TOPOLOGY_MESH), "mesh");
        assert_string_equal(hn_topology_type_to_string(HN_TOPOLOGY_BACKPLANE), "backplane");
        assert_null(hn_topology_type_to_string(_HN_TOPOLOGY_MAX));
}

static void small_machines_are_direct(void **state) {
        (void) state;
        for (size_t n = 0; n <= 2; n++) {
                struct hn_topology t;

                fixture_topology(&t, n, 2);
                assert_int_equal(hn_topology_type(&t), HN_TOPOLOGY_DIRECT);
                hn_topology_deinit(&t);
        }
}

/* The type is that of the nodes that run something. */
static void nodes_without_cpus_are_no_ends(void **state) {
        static const struct {
                const unsigned *distances;
                unsigned cpus[4];
                enum hn_topology_type type;
        } rows[] = {
                { ring, { 0, 0, 0, 0 }, HN_TOPOLOGY_DIRECT },
                { ring, { 1, 1, 1, 1 }, HN_TOPOLOGY_MESH },
                { pairs, { 2, 2, 0, 0 }, HN_TOPOLOGY_DIRECT },
                { pairs, { 2, 0, 0, 2 }, HN_TOPOLOGY_BACKPLANE },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_topology t;

                build(&t, rows[i].distances);
                for (hn_node_index k = 0; k < 4; k++)
                        t.nodes[k].n_cpus = rows[i].cpus[k];
                ROW_EQUAL(i, hn_topology_type(&t), rows[i].type);
                hn_topology_deinit(&t);
        }
}

static void scores(void **state) {
        static const struct {
                const unsigned *distances;
                uint64_t faults[4], near[4];
                uint32_t weight[4];
        } rows[] = {
                { flat, { 400, 100, 300, 200 }, { 0, 0, 0, 0 }, { 400, 100, 300, 200 } },
                { ring, { 400, 100, 300, 200 }, { 150, 350, 150, 350 }, { 550, 450, 450, 550 } },
                { pairs, { 300, 50, 260, 250 }, { 50, 300, 250, 260 }, { 406, 406, 593, 593 } },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                uint64_t total = 0;
                struct hn_topology t;

                build(&t, rows[i].distances);
                for (size_t k = 0; k < 4; k++)
                        total += rows[i].faults[k];
                for (hn_node_index k = 0; k < 4; k++) {
                        uint64_t near = hn_near(&t, hn_topology_type(&t), rows[i].faults, k, 20);

                        ROW_EQUAL(i, near, rows[i].near[k]);
                        ROW_EQUAL(i, hn_weight(rows[i].faults[k], near, total), rows[i].weight[k]);
                }
                hn_topology_deinit(&t);
        }
}

/* Only one's own side counts, and less of it where the two compared are near. */
static void the_limit_is_a_limit(void **state) {
        static const uint64_t faults[] = { 300, 50, 260, 250 };
        struct hn_topology t;

        (void) state;
        build(&t, pairs);
        assert_int_equal(hn_near(&t, HN_TOPOLOGY_BACKPLANE, faults, 0, 15), 0);
        assert_int_equal(hn_near(&t, HN_TOPOLOGY_BACKPLANE, faults, 0, 16), 50);
        assert_int_equal(hn_near(&t, HN_TOPOLOGY_BACKPLANE, faults, 0, 100), 50);
        hn_topology_deinit(&t);
}

static void preferred_together(void **state) {
        static const struct {
                const unsigned *distances;
                uint64_t faults[4];
                hn_node_index current, preferred;
        } rows[] = {
                { pairs, { 300, 50, 260, 250 }, 0, 2 }, /* not the one with most */
                { pairs, { 300, 50, 100, 90 }, 3, 0 },
                { pairs, { 0, 10, 5, 6 }, 0, 3 },
                { pairs, { 0, 0, 0, 0 }, 1, 1 },
                { pairs, { 10, 10, 10, 10 }, 3, 0 },
                { flat, { 300, 50, 260, 250 }, 1, 0 },
                { flat, { 0, 0, 0, 0 }, 2, 2 },
                { ring, { 400, 100, 300, 200 }, 2, 0 },
                { ring, { 100, 60, 0, 60 }, 2, 0 },
                { ring, { 0, 90, 80, 90 }, 0, 2 }, /* between two neighbours */
                { ring, { 0, 0, 0, 0 }, 3, 3 },
                /* a single fault is better than none */
                { pairs, { 0, 0, 1, 0 }, 0, 2 },
                { ring, { 0, 0, 1, 0 }, 0, 2 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_topology t;

                build(&t, rows[i].distances);
                ROW_EQUAL(i, hn_preferred_together(&t, hn_topology_type(&t), rows[i].faults, rows[i].current),
                          rows[i].preferred);
                hn_topology_deinit(&t);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(types),
                cmocka_unit_test(small_machines_are_direct),
                cmocka_unit_test(nodes_without_cpus_are_no_ends),
                cmocka_unit_test(scores),
                cmocka_unit_test(the_limit_is_a_limit),
                cmocka_unit_test(preferred_together),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
