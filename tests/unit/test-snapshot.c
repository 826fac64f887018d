/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macro.h"
#include "policy/snapshot.h"
#include "rows.h"

static void names_of_signals(void **state) {
        (void) state;
        assert_string_equal(hn_signal_to_string(HN_SIGNAL_NONE), "none");
        assert_string_equal(hn_signal_to_string(HN_SIGNAL_RESIDENCY), "residency");
        assert_string_equal(hn_signal_to_string(HN_SIGNAL_FAULTS), "faults");
        assert_null(hn_signal_to_string(_HN_SIGNAL_MAX));
        assert_null(hn_signal_to_string((enum hn_signal) 1000));
}

static void names_of_modes_go_both_ways(void **state) {
        static const struct {
                const char *name;
                enum hn_mode mode;
        } rows[] = {
                { "", _HN_MODE_INVALID },     { "Manage", _HN_MODE_INVALID }, { "manage ", _HN_MODE_INVALID },
                { "adv", _HN_MODE_INVALID },  { "observe", HN_MODE_OBSERVE }, { "advise", HN_MODE_ADVISE },
                { "manage", HN_MODE_MANAGE },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                ROW_EQUAL(i, hn_mode_from_string(rows[i].name), rows[i].mode);
                if (rows[i].mode != _HN_MODE_INVALID)
                        assert_string_equal(hn_mode_to_string(rows[i].mode), rows[i].name);
        }
        assert_null(hn_mode_to_string(_HN_MODE_INVALID));
        assert_null(hn_mode_to_string(_HN_MODE_MAX));
}

/* A rule's mode is capped by taking the lesser one, and the best signal is found by taking the greater. */
static void order_of_modes_and_signals(void **state) {
        (void) state;
        assert_true(HN_MODE_OBSERVE < HN_MODE_ADVISE);
        assert_true(HN_MODE_ADVISE < HN_MODE_MANAGE);
        assert_true(HN_SIGNAL_NONE < HN_SIGNAL_RESIDENCY);
        assert_true(HN_SIGNAL_RESIDENCY < HN_SIGNAL_FAULTS);
}

/* As the kernel has them, and what is read from it is compared with. */
static void numbers_of_the_kernel(void **state) {
        (void) state;
        assert_int_equal(HN_TASK_COMM_MAX, 16);
        assert_int_equal(HN_PF_KTHREAD, 0x200000);
        assert_int_equal(HN_PF_NO_SETAFFINITY, 0x4000000);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_of_signals),
                cmocka_unit_test(names_of_modes_go_both_ways),
                cmocka_unit_test(order_of_modes_and_signals),
                cmocka_unit_test(numbers_of_the_kernel),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
