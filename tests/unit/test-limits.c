/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macro.h"
#include "policy/plan.h"
#include "rows.h"

/* The measurements were made with these: who changes one here has a reason, and measures again. */
static void defaults(void **state) {
        const struct hn_limits limits = HN_LIMITS_DEFAULT;
        const struct {
                uint64_t limit, want;
        } rows[] = {
                { limits.min_runtime_ns, 1000000000 },
                { limits.min_age, 2000000 },
                { limits.min_faults, 256 },
                { limits.hold_share, 500 },
                { limits.min_demand, 50 },
                { limits.min_gain, 30 },
                { limits.incumbent_bonus, 125 },
                { limits.pages_share, 900 },
                { limits.pages_pause, 30 * HN_USEC_PER_SEC },
                { limits.settle_pause, 30 * HN_USEC_PER_SEC },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, rows[i].limit, rows[i].want);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(defaults),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
