/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macro.h"
#include "policy/cost.h"
#include "rows.h"

static void update(void **state) {
        static const struct {
                uint64_t max;
                hn_usec_t stamp;
                uint64_t cost;
                hn_usec_t now;
                uint64_t next_max;
                hn_usec_t next_stamp;
        } rows[] = {
                { 0, HN_USEC_INFINITY, 0, HN_USEC_INFINITY, 0, HN_USEC_INFINITY },
                { 100, 5000000, 0, 0, 100, 5000000 }, /* a clock that went back fades nothing */
                { 100, 0, 150, 500000, 150, 500000 },
                { 150, 500000, 100, 1000000, 150, 500000 },
                { 150, 500000, 0, 1500000, 150, 500000 }, /* not strictly after a second */
                { 150, 500000, 0, 1600000, 148, 1600000 },
                { 1000000, 0, 0, 1001000, 988281, 1001000 },
                { 1, 0, 0, 1001000, 0, 1001000 },
                { 150, 500000, 150, 1600000, 148, 1600000 }, /* only more is a new maximum */
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_cost c = { .max = rows[i].max, .stamp = rows[i].stamp };

                c = hn_cost_update(c, rows[i].cost, rows[i].now);
                ROW_EQUAL(i, c.max, rows[i].next_max);
                ROW_EQUAL(i, c.stamp, rows[i].next_stamp);
        }
}

static void a_dear_pass_is_forgotten_in_the_end(void **state) {
        struct hn_cost c = hn_cost_update(HN_COST_NULL, 1000000, 0);
        unsigned seconds = 0;

        (void) state;
        while (c.max > 1000 && seconds < 10000)
                c = hn_cost_update(c, 10, ++seconds * (HN_USEC_PER_SEC + 1));
        assert_in_range(seconds, 400, 800);
}

static void next_due(void **state) {
        static const struct {
                hn_usec_t last, interval, now, due;
        } rows[] = {
                { HN_USEC_INFINITY, 1, 0, HN_USEC_INFINITY },
                { 0, 0, HN_USEC_INFINITY, HN_USEC_INFINITY },
                { 100, 10, 105, 110 },
                { 100, 10, 200, 201 }, /* after a suspend: once, not ten times */
                { 100, 10, 110, 111 },
                { 100, 0, 100, 101 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_next_due(rows[i].last, rows[i].interval, rows[i].now), rows[i].due);
}

static void average(void **state) {
        static const struct {
                uint64_t average, sample, cap, next;
        } rows[] = {
                { 0, UINT64_MAX, UINT64_MAX, UINT64_MAX / 8 },
                { UINT64_MAX, 0, UINT64_MAX, UINT64_MAX - UINT64_MAX / 8 },
                { 100, 900, 1000, 200 },
                { 200, 0, 1000, 175 },
                { 900, 9000, 1000, 1000 }, /* clamped */
                { 500, 500, 400, 400 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_average(rows[i].average, rows[i].sample, rows[i].cap), rows[i].next);
}

static void interval(void **state) {
        static const struct {
                uint64_t average;
                unsigned permille;
                hn_usec_t interval, result;
        } rows[] = {
                { UINT64_MAX, 5, 1000000, 60000000 },
                { 0, 0, 1000000, 60000000 },   /* no budget at all: as seldom as there is */
                { 1000, 5, 1000000, 1000000 }, /* 1 ms of 200 ms: less than asked for */
                { 5000, 5, 1000000, 1000000 },
                { 20000, 5, 1000000, 4000000 },
                { 20000, 1000, 1000000, 1000000 },
                { 10000000, 5, 1000000, 60000000 }, /* capped, to see it become cheap again */
                { 0, 5, 1000000, 1000000 },
                { 0, 5, 3600000000, 3600000000 }, /* an interval longer than the cap is the user's wish */
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_cost_interval(rows[i].average, rows[i].permille, rows[i].interval),
                          rows[i].result);
}

static void how_far_a_pass_may_go(void **state) {
        static const struct {
                uint64_t budget, actual[3];
                size_t n;
                uint64_t spent;
        } rows[] = {
                { 100, { 33, 49, 45 }, 2, 82 },
                { 20, { 33, 49, 45 }, 0, 0 },
                { 200, { 33, 49, 45 }, 3, 127 },
                { 100, { 10, 20, 45 }, 3, 75 },
                { 33, { 33, 49, 45 }, 1, 33 },
                { 33, { 40, 0, 0 }, 1, 40 },
                { UINT64_MAX, { UINT64_MAX, 9, 9 }, 1, UINT64_MAX },
        };
        static const uint64_t dearest[] = { 33, 49, 45 };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_levels l = hn_levels_to_scan(rows[i].budget, dearest, rows[i].actual, 3);

                ROW_EQUAL(i, l.n, rows[i].n);
                ROW_EQUAL(i, l.spent, rows[i].spent);
        }
}

static void a_level_that_costs_nothing_fits_a_spent_budget(void **state) {
        static const struct {
                uint64_t first;
                size_t n;
        } rows[] = { { 32, 2 }, { 33, 2 }, { 34, 1 } };
        static const uint64_t dearest[] = { 33, 0, 45 };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                const uint64_t actual[] = { rows[i].first, 0, 45 };

                ROW_EQUAL(i, hn_levels_to_scan(33, dearest, actual, 3).n, rows[i].n);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(how_far_a_pass_may_go),
                cmocka_unit_test(a_level_that_costs_nothing_fits_a_spent_budget),
                cmocka_unit_test(update),
                cmocka_unit_test(a_dear_pass_is_forgotten_in_the_end),
                cmocka_unit_test(next_due),
                cmocka_unit_test(average),
                cmocka_unit_test(interval),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
