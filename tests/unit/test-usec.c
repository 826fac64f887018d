/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macro.h"
#include "base/usec.h"
#include "rows.h"

static void sums_stay_at_infinity(void **state) {
        static const struct {
                hn_usec_t a, b, sum, difference;
        } rows[] = {
                { HN_USEC_INFINITY, 1, HN_USEC_INFINITY, HN_USEC_INFINITY - 1 },
                { HN_USEC_INFINITY - 5, 6, HN_USEC_INFINITY, HN_USEC_INFINITY - 11 },
                { HN_USEC_INFINITY - 5, 5, HN_USEC_INFINITY, HN_USEC_INFINITY - 10 },
                { HN_USEC_INFINITY - 5, 4, HN_USEC_INFINITY - 1, HN_USEC_INFINITY - 9 },
                { HN_USEC_INFINITY, HN_USEC_INFINITY, HN_USEC_INFINITY, 0 },
                { 3, 4, 7, 0 },
                { 4, 3, 7, 1 },
                { 0, 0, 0, 0 },
                { 2 * HN_USEC_PER_SEC, 500 * HN_USEC_PER_MSEC, 2500000, 1500000 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                ROW_EQUAL(i, hn_usec_add(rows[i].a, rows[i].b), rows[i].sum);
                ROW_EQUAL(i, hn_usec_add(rows[i].b, rows[i].a), rows[i].sum);
                ROW_EQUAL(i, hn_usec_sub(rows[i].a, rows[i].b), rows[i].difference);
        }
}

static void a_counter_that_fell_starts_over(void **state) {
        static const struct {
                uint64_t before, after, delta;
        } rows[] = {
                { 1000, 3, 3 }, /* the tid was reused */
                { UINT64_MAX, 0, 0 }, { 1, 0, 0 }, { 5, 5, 0 }, { 5, 9, 4 }, { 0, UINT64_MAX, UINT64_MAX },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_counter_delta(rows[i].before, rows[i].after), rows[i].delta);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(sums_stay_at_infinity),
                cmocka_unit_test(a_counter_that_fell_starts_over),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
