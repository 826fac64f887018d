/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macro.h"
#include "policy/swap.h"
#include "rows.h"

static void swaps(void **state) {
        static const struct {
                struct hn_swap
                        s; /* alone, other here, there, same, grouped, at home, goes home, best, best home */
                int32_t gain;
                bool accept;
        } rows[] = {
                { { 400, 500, 300, true, false, false, true, 0, false }, 675, true },
                { { 20, 300, 310, true, false, false, false, 0, false }, 10, false },
                { { 100, 200, 600, true, false, true, false, 0, false }, -282, false },
                { { 110, 0, 0, false, false, false, false, 100, false }, 110, false },
                { { 116, 0, 0, false, false, false, false, 100, false }, 116, true },
                { { 115, 0, 0, false, false, false, false, 100, false }, 115, false },
                { { 320, 0, 0, true, true, false, false, 0, false }, 300, true },
                { { 30, 0, 0, false, false, false, false, 0, false }, 30, true },
                { { 29, 0, 0, false, false, false, false, 0, false }, 29, false },
                { { 320, 0, 0, false, true, false, false, 0, false }, 320, true },
                /* who comes home by it goes before who does not, and never after */
                { { 80, 0, 0, true, false, false, true, 900, false }, 90, true },
                { { 900, 0, 0, true, false, false, false, 90, true }, 900, false },
                { { 200, 0, 0, true, false, false, true, 90, true }, 225, true },
                { { -80, 0, 0, true, false, false, true, 900, false }, -90, false },
                { { 0, 0, 0, true, false, false, true, 900, false }, 0, false },
                { { 1, 0, 0, true, false, false, true, 900, false }, 1, true },
                /* but where there was nobody before, it is noise as any other */
                { { 16, 0, 0, true, false, false, true, 1, false }, 18, true },
                { { 16, 0, 0, true, false, false, true, 0, false }, 18, false },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_swap_value v = hn_swap(&rows[i].s);

                ROW_EQUAL(i, v.gain, rows[i].gain);
                ROW_EQUAL(i, v.accept, rows[i].accept);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(swaps),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
