/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "act/bucket.h"

#define MIB (UINT64_C(1) << 20)

static void a_bucket_fills_and_overflows(void **state) {
        struct hn_bucket b = hn_bucket_make(10 * MIB, 1000);

        (void) state;
        assert_int_equal(hn_bucket_level(&b, 1000), 10 * MIB);
        hn_bucket_spend(&b, 15 * MIB);
        assert_int_equal(hn_bucket_level(&b, 1000), 0);
        assert_int_equal(hn_bucket_level(&b, 1000 + HN_USEC_PER_SEC / 2), 0);
        assert_int_equal(hn_bucket_level(&b, 1000 + HN_USEC_PER_SEC), 5 * MIB);
        assert_int_equal(hn_bucket_level(&b, 500), 5 * MIB); /* a clock that goes back */
        assert_int_equal(hn_bucket_level(&b, HN_USEC_INFINITY), 10 * MIB);

        /* In steps of a microsecond nothing is lost. */
        b = hn_bucket_make(1234567, 0);
        hn_bucket_spend(&b, 2 * MIB);
        for (hn_usec_t now = 0; now <= HN_USEC_PER_SEC; now++)
                (void) hn_bucket_level(&b, now);
        assert_in_range(hn_bucket_level(&b, HN_USEC_PER_SEC), 1234560, 1234567);

        b = hn_bucket_make(0, 0);
        assert_int_equal(hn_bucket_level(&b, HN_USEC_INFINITY), 0);
        b = hn_bucket_make(1, 0);
        assert_int_equal(hn_bucket_level(&b, 0), 2 * MIB); /* a huge page has to fit */
        b = hn_bucket_make(UINT64_MAX, 0);
        hn_bucket_spend(&b, UINT64_MAX);
        assert_true(hn_bucket_level(&b, HN_USEC_INFINITY) > 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_bucket_fills_and_overflows),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
