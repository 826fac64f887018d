/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "policy/nodeset.h"
#include "rows.h"

/* Four nodes: 0 and 1 are near each other, as are 2 and 3; node 3 is a little farther from 0 than node 2. */
static void pairs(struct hn_topology *topo) {
        static const unsigned far[4][4] = {
                { 10, 15, 20, 22 }, { 15, 10, 20, 20 }, { 20, 20, 10, 15 }, { 22, 20, 15, 10 }
        };

        fixture_topology(topo, 4, 2);
        for (size_t i = 0; i < 4; i++)
                for (size_t k = 0; k < 4; k++)
                        topo->distances[i * 4 + k] = far[i][k];
}

static void sets(void **state) {
        static const struct {
                uint32_t value[4];
                uint64_t room[4], demand;
                const char *set;
        } rows[] = {
                /* one node, where they fit on one */
                { { 400, 300, 200, 100 }, { 2000, 2000, 2000, 2000 }, 2000, "0" },
                { { 100, 300, 400, 200 }, { 2000, 2000, 2000, 2000 }, 2000, "2" },
                { { 250, 250, 250, 250 }, { 2000, 2000, 2000, 2000 }, 2000, "0" },
                { { 0, 0, 0, 0 }, { 2000, 2000, 2000, 2000 }, 2000, "0" },
                /* which has to have room */
                { { 400, 300, 200, 100 }, { 1999, 2000, 2000, 2000 }, 2000, "1" },
                { { 400, 300, 200, 100 }, { 0, 0, 0, 2000 }, 2000, "3" },
                /* several, where they do not fit: the near one first, though a far one has more */
                { { 400, 100, 500, 0 }, { 2000, 2000, 2000, 2000 }, 2001, "0,1" },
                { { 300, 100, 500, 100 }, { 2000, 2000, 2000, 2000 }, 4000, "2-3" },
                { { 300, 300, 200, 200 }, { 2000, 2000, 2000, 2000 }, 4001, "0-2" },
                { { 100, 100, 100, 700 }, { 2000, 2000, 2000, 2000 }, 8000, "0-3" },
                /* two that hold all of it beat one that holds none */
                { { 500, 500, 0, 0 }, { 1000, 1000, 0, 2000 }, 2000, "0-1" },
                { { 500, 500, 0, 249 }, { 1000, 1000, 0, 2000 }, 2000, "0-1" },
                /* but not one that holds half as much as each, as the rest follows */
                { { 500, 500, 0, 250 }, { 1000, 1000, 0, 2000 }, 2000, "3" },
                /* no room for one more is no room */
                { { 900, 100, 0, 0 }, { 499, 2000, 2000, 2000 }, 100, "1" },
                { { 900, 100, 0, 0 }, { 500, 2000, 2000, 2000 }, 100, "0" },
                { { 500, 500, 0, 0 }, { 1600, 499, 1000, 0 }, 2000, "0,2" },
                { { 400, 0, 300, 300 }, { 1000, 1000, 1000, 500 }, 2500, "0,2-3" },
                /* of several as near the most valuable, then the lowest */
                { { 400, 0, 300, 300 }, { 1000, 1000, 1000, 1000 }, 2500, "0,2-3" },
                { { 100, 100, 300, 300 }, { 1000, 1000, 1000, 1000 }, 2500, "0,2-3" },
                /* too many for all nodes */
                { { 250, 250, 250, 250 }, { 2000, 2000, 2000, 2000 }, 8001, "" },
                { { 250, 250, 250, 250 }, { 0, 0, 0, 0 }, 0, "" },
                { { 250, 250, 250, 250 }, { 499, 499, 499, 499 }, 1000, "" },
                /* equal worth: nearest to each other, then lowest */
                { { 0, 0, 0, 0 }, { 1000, 0, 1000, 1000 }, 2000, "2-3" },
                { { 0, 0, 0, 0 }, { 1000, 1000, 1000, 1000 }, 2000, "0-1" },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_mask want = fixture_list(rows[i].set), got;
                struct hn_topology topo;

                pairs(&topo);
                got = hn_nodeset(&topo, rows[i].value, rows[i].room, rows[i].demand);
                ROW_EQUAL(i, hn_mask_equal(&got, &want), true);
                hn_topology_deinit(&topo);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(sets),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
