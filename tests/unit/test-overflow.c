/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fixture.h"
#include "policy/overflow.h"
#include "rows.h"

/* Four nodes of two cores; node 3 has lost its CPUs, and node 2 is the nearest to it. */
static void cores_beside_the_memory(void **state) {
        static const struct {
                uint64_t pages[4], cores;
        } rows[] = {
                { { 0, 0, 0, 0 }, UINT64_MAX }, { { 7, 0, 0, 0 }, 2000 },    { { 0, 1, 0, 0 }, 2000 },
                { { 90, 10, 0, 0 }, 2000 }, /* nine tenths are enough */
                { { 89, 11, 0, 0 }, 4000 },     { { 50, 50, 0, 0 }, 4000 },  { { 40, 30, 30, 0 }, 6000 },
                { { 45, 45, 10, 0 }, 4000 },    { { 0, 0, 0, 5 }, 2000 },    /* by way of node 2 */
                { { 0, 0, 50, 50 }, 2000 },                                  /* which counts once */
                { { 50, 0, 0, 50 }, 4000 },     { { 0, 10, 80, 10 }, 4000 }, /* the first of two alike */
                { { 8995, 1005, 0, 0 }, 4000 }, /* half a thousandth is missing */
        };
        struct hn_topology topo;

        (void) state;
        fixture_topology(&topo, 4, 2);
        fixture_strip_cpus(&topo, 3);
        topo.distances[3 * 4 + 2] = topo.distances[2 * 4 + 3] = 12;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_cores_near(&topo, rows[i].pages), rows[i].cores);
        hn_topology_deinit(&topo);
}

static void a_machine_without_cpus(void **state) {
        const uint64_t pages[] = { 1 };
        struct hn_topology topo;

        (void) state;
        fixture_topology(&topo, 1, 0);
        assert_int_equal(hn_cores_near(&topo, pages), 0);
        hn_topology_deinit(&topo);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(cores_beside_the_memory),
                cmocka_unit_test(a_machine_without_cpus),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
