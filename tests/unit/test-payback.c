/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macro.h"
#include "policy/payback.h"
#include "rows.h"

static void paybacks(void **state) {
        static const struct {
                uint64_t bytes, rate, accesses;
                uint32_t extra_ns;
                hn_usec_t after;
        } rows[] = {
                /* a gigabyte at 3.73 GB/s: half a second where misses are many, three quarters of a minute
                   where few */
                { 1000000000, 3730000000, 10000000, 60, 446827 },
                { 1000000000, 3730000000, 100000, 60, 44682752 },
                { 2000000000, 3730000000, 100000, 60, 89365504 },
                { 1000000000, 3730000000, 100000, 120, 22341376 },
                { 0, 3730000000, 0, 60, 0 },
                { 1, 1000000000, 1000000000, 1, 0 },
                { 1000, 1000000000, 1000000, 1000, 1 },
                { 1, 0, 100, 60, HN_USEC_INFINITY },
                { 1, 100, 0, 60, HN_USEC_INFINITY },
                { 1, 100, 100, 0, HN_USEC_INFINITY },
                { UINT64_MAX, 1, 1, 1, HN_USEC_INFINITY },
                { 222000000000, HN_PAYBACK_BYTES_PER_SEC, HN_PAYBACK_MISSES, HN_PAYBACK_EXTRA_NS,
                  1000 * HN_USEC_PER_SEC },
                { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT32_MAX, 0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_payback(rows[i].bytes, rows[i].rate, rows[i].accesses, rows[i].extra_ns),
                          rows[i].after);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(paybacks),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
