/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macro.h"
#include "sample/signal.h"

#define S (HN_SIGNAL_CPU_MIN_NS)

static const struct {
        struct hn_signal_inputs in; /* balancing, lines, faults, mems, threads, cpu, resident, cores */
        enum hn_no_faults why;
        enum hn_signal signal;
        bool wants;
} rows[] = {
        { { 1, true, true, 4, 8, S, true, 2 }, HN_NO_FAULTS_FINE, HN_SIGNAL_FAULTS, false },
        { { 3, true, true, 4, 8, 0, false, 2 }, HN_NO_FAULTS_FINE, HN_SIGNAL_FAULTS, false },
        /* of one thread alone the pages are told beside them */
        { { 1, true, true, 4, 1, S, true, 2 }, HN_NO_FAULTS_FINE, HN_SIGNAL_FAULTS, true },
        { { 1, true, true, 4, 1, S - 1, true, 2 }, HN_NO_FAULTS_FINE, HN_SIGNAL_FAULTS, false },
        { { 1, true, true, 4, 2, S, true, 0 }, HN_NO_FAULTS_FINE, HN_SIGNAL_FAULTS, false },
        /* stale faults of a kernel that no longer counts, and tiering, which does not count by node */
        { { 0, true, true, 4, 8, S, true, 2 }, HN_NO_FAULTS_OFF, HN_SIGNAL_RESIDENCY, true },
        { { 2, true, true, 4, 8, S, true, 2 }, HN_NO_FAULTS_OFF, HN_SIGNAL_RESIDENCY, true },
        { { 0, false, false, 1, 8, S, true, 2 }, HN_NO_FAULTS_OFF, HN_SIGNAL_RESIDENCY, true },
        { { 0, true, false, 4, 8, S, false, 2 }, HN_NO_FAULTS_OFF, HN_SIGNAL_NONE, true },
        { { 0, true, false, 4, 8, S - 1, true, 2 }, HN_NO_FAULTS_OFF, HN_SIGNAL_NONE, false },
        { { 1, false, false, 4, 8, S, true, 2 }, HN_NO_FAULTS_FILE, HN_SIGNAL_RESIDENCY, true },
        { { 1, true, false, 1, 8, S, true, 2 }, HN_NO_FAULTS_ONE_NODE, HN_SIGNAL_RESIDENCY, true },
        /* the faults will come: pages cannot tell threads apart, but one thread needs no telling apart */
        { { 1, true, false, 4, 8, S, true, 7 }, HN_NO_FAULTS_YET, HN_SIGNAL_NONE, true },
        { { 1, true, false, 4, 8, S, true, 8 }, HN_NO_FAULTS_YET, HN_SIGNAL_NONE, false },
        { { 1, true, false, 4, 2, S, true, 2 }, HN_NO_FAULTS_YET, HN_SIGNAL_NONE, false },
        { { 1, true, false, 4, 1, S, true, 2 }, HN_NO_FAULTS_YET, HN_SIGNAL_RESIDENCY, true },
        { { 1, true, false, 4, 1, 0, true, 0 }, HN_NO_FAULTS_YET, HN_SIGNAL_NONE, false },
};

static void the_best_signal_there_is(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                assert_int_equal(hn_signal_why(&rows[i].in), rows[i].why);
                assert_int_equal(hn_signal_choose(&rows[i].in), rows[i].signal);
                assert_int_equal(hn_signal_wants_residency(&rows[i].in), rows[i].wants);
        }
}

static void every_reason_has_its_sentence(void **state) {
        (void) state;
        for (enum hn_no_faults w = 0; w < _HN_NO_FAULTS_MAX; w++)
                assert_non_null(hn_no_faults_to_sentence(w));
        assert_null(hn_no_faults_to_sentence(HN_NO_FAULTS_FINE));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_best_signal_there_is),
                cmocka_unit_test(every_reason_has_its_sentence),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
