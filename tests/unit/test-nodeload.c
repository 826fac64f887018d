/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macro.h"
#include "policy/nodeload.h"
#include "rows.h"

#define NO HN_NODE_NONE

static void load(void **state) {
        static const struct {
                uint32_t before, running, cpus, load;
        } rows[] = { { 0, 8, 4, 20 }, { 39, 0, 4, 19 }, { 19, 0, 4, 9 }, { 0, 3, 8, 3 }, { 7, 3, 0, 3 } };
        static const uint32_t series[] = { 20, 30, 35, 37, 38, 39, 39, 39 };
        uint32_t now = 0;

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_node_load(rows[i].before, rows[i].running, rows[i].cpus), rows[i].load);
        for (size_t i = 0; i < HN_ELEMENTS(series); i++) {
                now = hn_node_load(now, 8, 4);
                ROW_EQUAL(i, now, series[i]);
        }
}

static void busiest(void **state) {
        static const struct {
                uint32_t load[3];
                size_t n;
                hn_node_index here, busiest;
        } rows[] = {
                { { 16, 20, 15 }, 3, 0, NO },  { { 16, 21, 15 }, 3, 0, 1 },  { { 0, 5, 10 }, 3, 0, 2 },
                { { 20, 26, 30 }, 3, 0, 2 },   { { 0, 0 }, 2, 0, NO },       { { 30, 26, 20 }, 3, 2, 0 },
                { { 50, 1, 1 }, 3, 0, NO },    { { 0, 9, 9 }, 3, 0, 1 },     { { 0, 1, 0 }, 3, 0, 1 },
                { { 16, 21, 90 }, 2, 0, 1 }, /* a node more than there is */
                { { 100, 125, 0 }, 3, 0, NO }, { { 100, 126, 0 }, 3, 0, 1 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_find_busiest(rows[i].load, rows[i].n, rows[i].here, HN_NODE_THRESHOLD),
                          rows[i].busiest);
        assert_false(hn_worth_taking_from(0));
        assert_false(hn_worth_taking_from(1));
        assert_true(hn_worth_taking_from(2));
}

static void rate(void **state) {
        static const struct {
                uint32_t load[4];
                uint32_t passes;
                bool may_take;
        } rows[] = {
                { { 4, 20, 20, 20 }, 10, true },
                { { 10, 20, 20, 20 }, 50, true },
                { { 20, 10, 10, 10 }, 50, false },
                { { 8, 8, 8, 8 }, 50, false },
                { { 0, 0, 0, 8 }, 10, true },
                { { 8, 20, 20, 20 }, 50, true }, /* half of the average exactly */
                { { 1, 2, 2, 2 }, 50, false },   /* an average of 1.75 is 1 */
                { { 7, 10, 10, 10 }, 50, true }, /* which one's own load is part of */
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_rate r = hn_rate(rows[i].load, 4, 0, HN_RATE_MIN, HN_RATE_MAX);

                ROW_EQUAL(i, r.passes, rows[i].passes);
                ROW_EQUAL(i, r.may_take, rows[i].may_take);
        }
}

static void where_a_task_starts(void **state) {
        static const struct {
                uint32_t here, running[2], cpus[2];
                hn_node_index on, best;
        } rows[] = {
                { 2, { 9, 0 }, { 4, 4 }, 0, 0 }, { 3, { 9, 5 }, { 4, 4 }, 0, 1 },
                { 3, { 9, 9 }, { 4, 8 }, 0, 1 }, { 3, { 6, 6 }, { 4, 4 }, 0, 0 },
                { 3, { 6, 6 }, { 4, 4 }, 1, 1 }, { 3, { 9, 0 }, { 4, 0 }, 0, 0 },
                { 3, { 0, 9 }, { 4, 0 }, 1, 0 }, { 3, { 20, 19 }, { 20, 20 }, 0, 1 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_exec_node(rows[i].here, rows[i].running, rows[i].cpus, 2, rows[i].on),
                          rows[i].best);
}

static void delays(void **state) {
        static const struct {
                unsigned distance;
                uint32_t even, under, passes;
        } rows[] = {
                { 10, 129, 2, 2 }, { 15, 194, 3, 2 }, { 20, 259, 4, 3 }, { 21, 272, 4, 3 }, { 32, 415, 6, 4 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                ROW_EQUAL(i, hn_steal_delay(rows[i].distance, false), rows[i].even);
                ROW_EQUAL(i, hn_steal_delay(rows[i].distance, true), rows[i].under);
                ROW_EQUAL(i, hn_steal_passes(rows[i].even, 1000), rows[i].passes);
                ROW_EQUAL(i, hn_steal_passes(rows[i].under, 1000), 1);
        }
        assert_int_equal(hn_steal_passes(125, 1000), 1);
        assert_int_equal(hn_steal_passes(126, 1000), 2);
        assert_int_equal(hn_steal_passes(0, 1000), 1);
        assert_int_equal(hn_steal_passes(5, 0), 1);
        assert_int_equal(hn_steal_passes(1, 7), 2);
}

static void balance(void **state) {
        static const struct {
                uint32_t most, this;
                bool balanced;
        } rows[] = {
                { 200, 150, true },  { 200, 100, false }, { 125, 100, true }, { 1, 0, true },
                { 200, 121, true },  { 200, 120, false }, { 200, 200, true }, { 0, 0, true },
                { 300, 100, false }, { 100, 300, true },  { 2, 0, false },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_balanced(rows[i].most, rows[i].this), rows[i].balanced);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(load),   cmocka_unit_test(busiest),
                cmocka_unit_test(rate),   cmocka_unit_test(where_a_task_starts),
                cmocka_unit_test(delays), cmocka_unit_test(balance),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
