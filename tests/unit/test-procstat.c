/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "fakeroot.h"
#include "sample/procstat.h"

#define N_CPUS 4

static const struct {
        const char *text;
        size_t taken;
        struct hn_cpu_ticks want[N_CPUS];
} rows[] = {
        { "", 0, {} },
        { "cpu  9 9 9 9\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 1 2 3\nctxt 1\n", 1, { { 19, 36 } } },
        /* Four columns, as before 2.6; holes; the highest id that fits and one that does not. */
        { "cpu1 1 2 3 4\ncpu3 1 0 0 1\ncpu4 1 1 1 1\n", 2, { {}, { 6, 10 }, {}, { 1, 2 } } },
        { "cpu0 1 2 3\n", 0, {} },
        { "cpu0 1 2 x 4\n", 0, {} },
        { "cpu0x 1 2 3 4\ncpu-1 1 2 3 4\ncpux 1 2 3 4\ncpu99999999999 1 2 3 4\n", 0, {} },
        { "cpu0 18446744073709551615 1 0 0\n", 0, {} },
        { "cpu0 1 1 1 18446744073709551615 0\n", 0, {} },
        { "cpu0 99999999999999999999 1 0 0\n", 0, {} },
        /* Nothing behind the block of CPUs counts. */
        { "cpu0 1 1 1 1\nctxt 5\ncpu1 1 1 1 1\n", 1, { { 3, 4 } } },
        { "garbage\ncpu0 1 1 1 1", 1, { { 3, 4 } } },
};

static void ticks(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_cpu_ticks cpus[N_CPUS] = { { 7, 7 }, { 7, 7 } };

                assert_int_equal(hn_procstat_parse(rows[i].text, strlen(rows[i].text), cpus, N_CPUS),
                                 rows[i].taken);
                assert_memory_equal(cpus, rows[i].want, sizeof(cpus));
        }
}

static void nowhere_to_put_them(void **state) {
        (void) state;
        assert_int_equal(hn_procstat_parse("cpu0 1 1 1 1\n", 13, NULL, 0), 0);
}

static void a_missing_file_has_no_cpus(void **state) {
        struct hn_cpu_ticks cpus[1] = { { 7, 7 } };
        struct hn_tree t;

        (void) state;
        hn_tree_make(&t);
        assert_int_equal(hn_procstat_read(&t.root, cpus, 1), 0);
        assert_int_equal(cpus[0].total, 0);
        hn_tree_write(&t, "proc/stat", "cpu0 1 1 1 1\n", 0);
        assert_int_equal(hn_procstat_read(&t.root, cpus, 1), 1);
        assert_int_equal(cpus[0].total, 4);
        hn_tree_drop(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(ticks),
                cmocka_unit_test(nowhere_to_put_them),
                cmocka_unit_test(a_missing_file_has_no_cpus),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
