/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rates.h"

/* No scenario may come out worse with homenode than with nobody placing anything. */

#define BAR 0.99

static void expect_harmless(const char *policy) {
        const struct hn_sim_scenario *scenarios;
        size_t n = hn_sim_scenarios(&scenarios);

        for (size_t i = 0; i < n; i++)
                if (scenarios[i].row)
                        expect_between(scenarios[i].name,
                                       rate(scenarios[i].name, policy) / rate(scenarios[i].name, "none"), BAR,
                                       100);
}

static void homenode(void **state) {
        (void) state;
        expect_harmless("homenode");
}

static void homenode_beside_the_kernel(void **state) {
        (void) state;
        expect_harmless("homenode+kernel");
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(homenode),
                cmocka_unit_test(homenode_beside_the_kernel),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
