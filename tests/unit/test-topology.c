/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macro.h"
#include "policy/topology.h"

/* Ids as on a machine with four GPUs; CPUs on the nodes 0 and 8 only. */
static const unsigned ids[] = { 0, 8, 252, 253, 255 };

static void make(struct hn_topology *t) {
        assert_int_equal(hn_topology_init(t, HN_ELEMENTS(ids), 20), 0);
        for (size_t i = 0; i < HN_ELEMENTS(ids); i++)
                t->nodes[i].id = ids[i];
        t->nodes[0].n_cpus = t->nodes[1].n_cpus = 4;
        t->cpu_node[0] = 0;
        t->cpu_node[19] = 1;
}

static void a_new_one_knows_nothing(void **state) {
        struct hn_topology t;

        (void) state;
        assert_int_equal(hn_topology_init(&t, 3, 5), 0);
        assert_false(t.distances_known);
        for (hn_node_index from = 0; from < 3; from++)
                for (hn_node_index to = 0; to < 3; to++)
                        assert_int_equal(hn_topology_distance(&t, from, to), from == to ? 10 : 20);
        for (int cpu = 0; cpu < 5; cpu++)
                assert_int_equal(hn_topology_node_of_cpu(&t, cpu), HN_NODE_NONE);
        assert_false(hn_topology_is_numa(&t));
        hn_topology_deinit(&t);
        assert_null(t.nodes);
        hn_topology_deinit(&t); /* twice is once */
}

static void even_an_empty_one_is_a_value(void **state) {
        struct hn_topology t;

        (void) state;
        assert_int_equal(hn_topology_init(&t, 0, 0), 0);
        assert_int_equal(hn_topology_index(&t, 0), HN_NODE_NONE);
        assert_int_equal(hn_topology_node_of_cpu(&t, 0), HN_NODE_NONE);
        assert_int_equal(hn_topology_nearest_with_cpus(&t, 0), HN_NODE_NONE);
        assert_false(hn_topology_is_numa(&t));
        hn_topology_deinit(&t);
}

static void ids_have_holes(void **state) {
        static const struct {
                unsigned id;
                hn_node_index want;
        } rows[] = {
                { 0, 0 },
                { 8, 1 },
                { 252, 2 },
                { 253, 3 },
                { 255, 4 },
                { 1, HN_NODE_NONE },
                { 7, HN_NODE_NONE },
                { 254, HN_NODE_NONE },
                { 256, HN_NODE_NONE },
                { UINT32_MAX, HN_NODE_NONE },
        };
        struct hn_topology t;

        (void) state;
        make(&t);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                assert_int_equal(hn_topology_index(&t, rows[i].id), rows[i].want);
        hn_topology_deinit(&t);
}

static void cpus_have_holes(void **state) {
        static const struct {
                int cpu;
                hn_node_index want;
        } rows[] = {
                { 0, 0 },
                { 19, 1 },
                { 1, HN_NODE_NONE },
                { -1, HN_NODE_NONE },
                { 20, HN_NODE_NONE },
                { INT32_MAX, HN_NODE_NONE },
                { INT32_MIN, HN_NODE_NONE },
        };
        struct hn_topology t;

        (void) state;
        make(&t);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                assert_int_equal(hn_topology_node_of_cpu(&t, rows[i].cpu), rows[i].want);
        hn_topology_deinit(&t);
}

static void two_nodes_with_cpus_make_numa(void **state) {
        struct hn_topology t;

        (void) state;
        make(&t);
        assert_true(hn_topology_is_numa(&t));
        t.nodes[1].n_cpus = 0;
        assert_false(hn_topology_is_numa(&t));
        t.nodes[4].n_cpus = 1;
        assert_true(hn_topology_is_numa(&t));
        hn_topology_deinit(&t);
}

static void memory_has_a_nearest_node_with_cpus(void **state) {
        struct hn_topology t;

        (void) state;
        make(&t);
        assert_int_equal(hn_topology_nearest_with_cpus(&t, 0), 0);
        assert_int_equal(hn_topology_nearest_with_cpus(&t, 1), 1);
        assert_int_equal(hn_topology_nearest_with_cpus(&t, 3), 0); /* equally far: the lowest id */
        t.distances[3 * t.n_nodes + 1] = 15;
        assert_int_equal(hn_topology_nearest_with_cpus(&t, 3), 1);
        /* Distances may differ by direction: it is the way from the memory that counts. */
        t.distances[0 * t.n_nodes + 3] = 11;
        assert_int_equal(hn_topology_nearest_with_cpus(&t, 3), 1);
        assert_int_equal(hn_topology_nearest_with_cpus(&t, HN_NODE_NONE), HN_NODE_NONE);
        assert_int_equal(hn_topology_nearest_with_cpus(&t, (hn_node_index) t.n_nodes), HN_NODE_NONE);
        /* One CPU is enough, of its own or of another's. */
        t.nodes[0].n_cpus = 0;
        t.nodes[1].n_cpus = 1;
        assert_int_equal(hn_topology_nearest_with_cpus(&t, 1), 1);
        assert_int_equal(hn_topology_nearest_with_cpus(&t, 4), 1);
        t.nodes[4].n_cpus = 1;
        t.distances[4 * t.n_nodes + 1] = 10; /* as near as itself is not itself */
        assert_int_equal(hn_topology_nearest_with_cpus(&t, 4), 4);
        t.nodes[1].n_cpus = t.nodes[4].n_cpus = 0;
        assert_int_equal(hn_topology_nearest_with_cpus(&t, 3), HN_NODE_NONE);
        hn_topology_deinit(&t);
}

static void unrestricted_leaves_isolated_cpus_alone(void **state) {
        struct hn_topology t;
        struct hn_mask m;

        (void) state;
        make(&t);
        hn_mask_add_range(&t.possible, 0, 19);
        hn_mask_add_range(&t.isolated, 4, 7);
        hn_mask_add(&t.online, 0);
        m = hn_topology_unrestricted(&t);
        assert_int_equal(hn_mask_count(&m), 16);
        assert_false(hn_mask_intersects(&m, &t.isolated));
        hn_topology_deinit(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_new_one_knows_nothing),
                cmocka_unit_test(even_an_empty_one_is_a_value),
                cmocka_unit_test(ids_have_holes),
                cmocka_unit_test(cpus_have_holes),
                cmocka_unit_test(two_nodes_with_cpus_make_numa),
                cmocka_unit_test(memory_has_a_nearest_node_with_cpus),
                cmocka_unit_test(unrestricted_leaves_isolated_cpus_alone),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
