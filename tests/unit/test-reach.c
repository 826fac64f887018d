/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "policy/reach.h"
#include "rows.h"

/* Nodes 0-3 with CPUs 0-1, 2-3, 4-5, 6-7; CPU 7 is isolated, and node 1 has the kernel's id 5. */
static void masks_a_task_would_get(void **state) {
        static const struct {
                const char *cpuset, *nodes, *user; /* user: NULL for no mask of the user's */
                const char *want[4];               /* NULL: out of reach */
                size_t n_reachable;
        } rows[] = {
                { "", "", NULL, { NULL, NULL, NULL, NULL }, 0 },
                { "7", "", NULL, { NULL, NULL, NULL, NULL }, 0 },    /* isolated only */
                { "0-7", "9", NULL, { NULL, NULL, NULL, NULL }, 0 }, /* a rule for a node that is not here */
                { "0-7", "", "7", { NULL, NULL, NULL, NULL }, 0 },
                { "0-3", "", "4-6", { NULL, NULL, NULL, NULL }, 0 },
                { "0-7", "1", NULL, { NULL, NULL, NULL, NULL }, 0 }, /* an index is not an id */
                { "0-7", "5", NULL, { NULL, "2-3", NULL, NULL }, 1 },
                { "0-7", "", NULL, { "0-1", "2-3", "4-5", "6" }, 4 },
                { "0-7", "0,3", NULL, { "0-1", NULL, NULL, "6" }, 2 },
                { "1-4", "", NULL, { "1", "2-3", "4", NULL }, 3 },
                { "0-7", "", "1-4", { "1", "2-3", "4", NULL }, 3 },
                { "2-5", "2,5", "3-7", { NULL, "3", "4-5", NULL }, 2 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                _hn_cleanup_(hn_reach_deinit) struct hn_reach reach = HN_REACH_NULL;
                hn_mask_id user = HN_MASK_ID_NONE;
                struct fixture f;
                size_t row;

                fixture_init(&f, 4, 2, 1);
                f.topo.nodes[1].id = 5;
                hn_mask_remove(&f.topo.nodes[3].usable, 7);
                f.scopes[0].cpuset = fixture_list(rows[i].cpuset);
                f.scopes[0].nodes = fixture_list(rows[i].nodes);
                if (rows[i].user)
                        user = fixture_mask(&f, rows[i].user);
                ROW_EQUAL(i, hn_reach_find(&reach, &f.topo, &f.s, 0, user, &row), 0);
                ROW_EQUAL(i, reach.rows[row].n_reachable, rows[i].n_reachable);
                for (size_t n = 0; n < 4; n++)
                        ROW_EQUAL(i, reach.want[row * 4 + n],
                                  rows[i].want[n] ? fixture_mask(&f, rows[i].want[n]) : HN_MASK_ID_NONE);
                fixture_deinit(&f);
        }
}

static void tasks_alike_share_a_row(void **state) {
        _hn_cleanup_(hn_reach_deinit) struct hn_reach reach = HN_REACH_NULL;
        struct fixture f;
        size_t rows[40], again;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_mask m = HN_MASK_NULL;

                hn_mask_add_range(&m, 0, 10 + (unsigned) i / 2);
                assert_int_equal(
                        hn_reach_find(&reach, &f.topo, &f.s, i % 2, fixture_intern(&f, &m), &rows[i]), 0);
                assert_int_equal(rows[i], i);
        }
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                assert_int_equal(
                        hn_reach_find(&reach, &f.topo, &f.s, reach.rows[i].scope, reach.rows[i].user, &again),
                        0);
                assert_int_equal(again, rows[i]);
        }
        assert_int_equal(reach.n, HN_ELEMENTS(rows));
        assert_int_equal(reach.allocated, 64); /* 16, and twice as many each time they are full */

        /* The next snapshot may have other scopes under the same numbers. */
        hn_reach_clear(&reach);
        f.scopes[0].cpuset = fixture_list("0-1");
        assert_int_equal(hn_reach_find(&reach, &f.topo, &f.s, 0, HN_MASK_ID_NONE, &again), 0);
        assert_int_equal(reach.rows[again].n_reachable, 1);
        fixture_deinit(&f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(masks_a_task_would_get),
                cmocka_unit_test(tasks_alike_share_a_row),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
