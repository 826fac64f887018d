/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macro.h"
#include "policy/scan.h"
#include "rows.h"

static void periods_by_size(void **state) {
        static const struct {
                uint64_t mib;
                uint32_t min, max;
        } rows[] = {
                { 0, 1000, 60000 },   { 100, 1000, 60000 }, { 256, 1000, 60000 }, { 257, 500, 30000 },
                { 1024, 250, 15000 }, { 4096, 100, 3750 },  { 262144, 100, 100 }, { UINT64_MAX, 100, 100 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                ROW_EQUAL(i, hn_scan_min(rows[i].mib), rows[i].min);
                ROW_EQUAL(i, hn_scan_max(rows[i].mib), rows[i].max);
        }
}

static void next_period(void **state) {
        static const struct {
                uint32_t period;
                struct hn_scan_window w; /* local, remote, private, shared, failed */
                uint32_t corrected, as_kernel;
        } rows[] = {
                { 1000, { 70, 30, 50, 50, 0 }, 1100, 1100 },
                { 1000, { 20, 80, 20, 80, 0 }, 500, 500 },
                { 1000, { 50, 50, 100, 0, 0 }, 1300, 1300 },
                { 1000, { 95, 5, 65, 35, 0 }, 1200, 1200 },
                { 1000, { 60, 40, 10, 90, 0 }, 900, 900 },
                { 1000, { 0, 100, 100, 0, 0 }, 1300, 2000 }, /* looks slower where all is wrong */
                { 1000, { 0, 100, 0, 100, 0 }, 300, 300 },
                { 1000, { 0, 0, 0, 0, 0 }, 2000, 2000 },
                { 40000, { 10, 90, 10, 90, 5 }, 60000, 60000 },
                { 59000, { 100, 0, 100, 0, 0 }, 60000, 60000 },
                { 1001, { 70, 30, 50, 50, 0 }, 1102, 1102 }, /* a slot is rounded up */
                { 120, { 0, 100, 0, 100, 0 }, 100, 100 },
                { 1000, { 20, 80, 70, 30, 0 }, 1100, 1100 }, /* seven tenths of its own exactly */
                { 1000, { 20, 80, 69, 31, 0 }, 900, 900 },
                { 1000, { 70, 30, 50, 50, 1 }, 2000, 2000 }, /* one page that did not move will do */
                { 1000, { 0, 0, 0, 100, 0 }, 2000, 300 },    /* of nothing, nothing is local */
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                ROW_EQUAL(i, hn_scan_period(rows[i].period, &rows[i].w, 100, 60000, false),
                          rows[i].corrected);
                ROW_EQUAL(i, hn_scan_period(rows[i].period, &rows[i].w, 100, 60000, true), rows[i].as_kernel);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(periods_by_size),
                cmocka_unit_test(next_period),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
