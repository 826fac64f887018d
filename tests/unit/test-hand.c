/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "policy/hand.h"
#include "rows.h"

/* Nodes 0-3 of two CPUs each; node 1 has lost its CPUs, CPU 7 is isolated. */
static void masks(void **state) {
        static const struct {
                const char *nodes, *cpus, *cpuset, *want;
        } rows[] = {
                { "", "", "0-7", "" },           { "17", "", "0-7", "" },
                { "1", "", "0-7", "" },          { "1", "2-3", "0-7", "" },
                { "0", "4-5", "0-7", "" },       { "3", "7", "0-7", "" },
                { "0", "", "4-5", "" },          { "0", "", "", "" },
                { "0", "", "0-7", "0-1" },       { "0-1,17", "", "0-7", "0-1" },
                { "0-3", "", "0-7", "0-1,4-6" }, { "0,2", "1,4,8191", "0-7", "1,4" },
                { "0,2", "", "1-4", "1,4" },     { "2-3", "5-7", "0-5", "5" },
        };
        struct hn_topology topo;

        (void) state;
        fixture_topology(&topo, 4, 2);
        fixture_strip_cpus(&topo, 1);
        hn_mask_add(&topo.isolated, 7);
        hn_mask_remove(&topo.nodes[3].usable, 7);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_mask nodes = fixture_list(rows[i].nodes), cpus = fixture_list(rows[i].cpus),
                               cpuset = fixture_list(rows[i].cpuset), want = fixture_list(rows[i].want),
                               got = hn_hand_mask(&topo, &nodes, &cpus, &cpuset);

                ROW_EQUAL(i, hn_mask_equal(&got, &want), true);
        }
        hn_topology_deinit(&topo);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(masks),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
