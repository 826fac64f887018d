/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/timespan.h"
#include "rows.h"

static void spans(void **state) {
        static const struct {
                const char *text;
                int r;
                hn_usec_t usec;
        } rows[] = {
                { "", -EINVAL, 0 },
                { "  ", -EINVAL, 0 },
                { "h", -EINVAL, 0 },
                { "-1h", -EINVAL, 0 },
                { "2 fortnights", -EINVAL, 0 },
                { "2H", -EINVAL, 0 },
                { "1.h", -EINVAL, 0 },
                { ".5h", -EINVAL, 0 },
                { "1h 30", 0, 3630000000 },
                { "30 1h", -EINVAL, 0 }, /* what has no unit is the last part */
                { "1h,30min", -EINVAL, 0 },
                { "1h;", -EINVAL, 0 },
                { "1e3s", -EINVAL, 0 },
                { "0x10s", -EINVAL, 0 },
                { "Infinity", -EINVAL, 0 },
                { "infinity s", -EINVAL, 0 },
                { "18446744073709551615", -ERANGE, 0 },
                { "18446744073709551616us", -ERANGE, 0 },
                { "18446744073709551615us", -ERANGE, 0 }, /* not to be taken for infinity */
                { "18446744073709551614us", 0, UINT64_MAX - 1 },
                { "18446744073709551614us 1us", -ERANGE, 0 },
                { "18446744073709551614us 2us", -ERANGE, 0 },
                { "18446744073709.9s", -ERANGE, 0 },
                { "40000000w", -ERANGE, 0 },

                { "0", 0, 0 },
                { "90", 0, 90000000 },
                { "90s", 0, 90000000 },
                { "2h", 0, 7200000000 },
                { " 2 h ", 0, 7200000000 },
                { "30min", 0, 1800000000 },
                { "30m", 0, 1800000000 },
                { "1h30min", 0, 5400000000 },
                { "1h 30min 5s", 0, 5405000000 },
                { "1 day 2 hours\t3 minutes", 0, 93780000000 },
                { "2d", 0, 172800000000 },
                { "1w", 0, 604800000000 },
                { "1.5h", 0, 5400000000 },
                { "0.25 min", 0, 15000000 },
                { "1.0000019s", 0, 1000001 },
                { "0.00000000000000000000000000001s", 0, 0 },
                { "1.5us", 0, 1 },
                { "250ms", 0, 250000 },
                { "5sec 7msec 9usec", 0, 5007009 },
                { "infinity", 0, HN_USEC_INFINITY },
                { " infinity\n", 0, HN_USEC_INFINITY },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                hn_usec_t usec = 4711;

                ROW_EQUAL(i, hn_timespan_parse(rows[i].text, strlen(rows[i].text), &usec), rows[i].r);
                ROW_EQUAL(i, usec, rows[i].r == 0 ? rows[i].usec : 4711);
        }
}

static void no_more_than_was_given(void **state) {
        hn_usec_t usec;

        (void) state;
        assert_int_equal(hn_timespan_parse("2hours", 2, &usec), 0);
        assert_int_equal(usec, 7200000000);
        assert_int_equal(hn_timespan_parse("25s", 1, &usec), 0);
        assert_int_equal(usec, 2000000);
        assert_int_equal(hn_timespan_parse("1.5", 2, &usec), -EINVAL);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(spans),
                cmocka_unit_test(no_more_than_was_given),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
