/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "rates.h"

/* The policy that never finds a node with a spare CPU imbalanced: two JVMs on two nodes of 12 cores and 24
 * CPUs. Measured in 2020: little is lost as long as all threads fit into the cores of one node, 30 % at 11
 * warehouses each, and nearly nothing from 18 on. */

#define CORES 12u

static double loss(unsigned warehouses) {
        char name[24];

        (void) snprintf(name, sizeof(name), "jbb2x24-%u", warehouses);
        return 1 - rate(name, "shortcut") / rate(name, "none");
}

static void harmless_while_all_fit(void **state) {
        (void) state;
        for (unsigned n = 1; n <= CORES / 2; n++)
                expect_between("loss", loss(n), -0.05, 0.02);
}

static void begins_where_the_cores_end(void **state) {
        double before = loss(CORES / 2), after = loss(CORES / 2 + 1), later = loss(CORES / 2 + 2);

        (void) state;
        expect_between("loss at 7", after, before + 0.02, 0.15);
        expect_between("loss at 8", later, after + 0.02, 0.20);
}

static void is_worst_where_a_node_is_full(void **state) {
        double worst = 0;
        unsigned where = 0;

        (void) state;
        for (unsigned n = 1; n <= 2 * CORES; n++) {
                double x = loss(n);

                if (x > worst) {
                        worst = x;
                        where = n;
                }
        }
        expect_between("worst loss", worst, 0.25, 0.35);
        assert_in_range(where, 10, 12);
}

static void is_over_when_both_nodes_are_full(void **state) {
        (void) state;
        for (unsigned n = 18; n <= 2 * CORES; n++)
                expect_between("loss", loss(n), -0.05, 0.03);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(harmless_while_all_fit),
                cmocka_unit_test(begins_where_the_cores_end),
                cmocka_unit_test(is_worst_where_a_node_is_full),
                cmocka_unit_test(is_over_when_both_nodes_are_full),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
