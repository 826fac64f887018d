/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "policy/wish.h"
#include "rows.h"

#define MIB UINT64_C(1048576)

static void texts(void **state) {
        static const struct {
                const char *text;
                int r;
                uint64_t cpus, memory;
        } rows[] = {
                { "", -EINVAL, 0, 0 },
                { ":", -EINVAL, 0, 0 },
                { ":100", -EINVAL, 0, 0 },
                { "4:", -EINVAL, 0, 0 },
                { "4:x", -EINVAL, 0, 0 },
                { "4:-1", -EINVAL, 0, 0 },
                { "4: 1", -EINVAL, 0, 0 },
                { "4 :1", -EINVAL, 0, 0 },
                { "4:1:1", -EINVAL, 0, 0 },
                { "4:1MB", -EINVAL, 0, 0 },
                { "4:G", -EINVAL, 0, 0 },
                { "4x", -EINVAL, 0, 0 },
                { "-4", -EINVAL, 0, 0 },
                { "+4", -EINVAL, 0, 0 },
                { "0x4", -EINVAL, 0, 0 },
                { "4.", -EINVAL, 0, 0 },
                { ".5", -EINVAL, 0, 0 },
                { "4.:1", -EINVAL, 0, 0 },
                { "4.1234", -EINVAL, 0, 0 },
                { "4.1.2", -EINVAL, 0, 0 },
                { "4./", -EINVAL, 0, 0 },
                { "4.-1", -EINVAL, 0, 0 },
                { "4.99999999999999999999", -EINVAL, 0, 0 },
                { "99999999999999999999", -ERANGE, 0, 0 },
                { "1000001", -ERANGE, 0, 0 },
                { "1000000.001", -ERANGE, 0, 0 },
                { "1:17592186044416", -ERANGE, 0, 0 },
                { "1:99999999999999999999", -ERANGE, 0, 0 },
                { "1:16777216T", -ERANGE, 0, 0 },
                { "0", 0, 0, 0 },
                { "0:0", 0, 0, 0 },
                { "4", 0, 4000, 0 },
                { "4:2048", 0, 4000, 2048 * MIB },
                { " 4:2048\n", 0, 4000, 2048 * MIB },
                { "2.5:1", 0, 2500, MIB },
                { "0.125", 0, 125, 0 },
                { "0.05", 0, 50, 0 },
                { "0.909", 0, 909, 0 },
                { "0.000", 0, 0, 0 },
                { "9.9:9", 0, 9900, 9 * MIB },
                { "1:2049", 0, 1000, 2049 * MIB },
                { "1:512K", 0, 1000, 512 * 1024 },
                { "1:3M", 0, 1000, 3 * MIB },
                { "1:16G", 0, 1000, 16384 * MIB },
                { "1:2T", 0, 1000, 2 * 1048576 * MIB },
                { "1000000", 0, HN_WISH_CPUS_MAX, 0 },
                { "1:17592186044415", 0, 1000, UINT64_C(17592186044415) * MIB },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_wish w = { 7, 7 };

                ROW_EQUAL(i, hn_wish_parse(rows[i].text, strlen(rows[i].text), &w), rows[i].r);
                ROW_EQUAL(i, w.cpus, rows[i].r < 0 ? 7 : rows[i].cpus);
                ROW_EQUAL(i, w.memory, rows[i].r < 0 ? 7 : rows[i].memory);
        }
}

static void bounded_text(void **state) {
        struct hn_wish w;

        (void) state;
        assert_int_equal(hn_wish_parse("12:34", 1, &w), 0);
        assert_int_equal(w.cpus, 1000);
        assert_int_equal(hn_wish_parse("12:34", 3, &w), -EINVAL);
        assert_int_equal(hn_wish_parse("12:34", 4, &w), 0);
        assert_int_equal(w.memory, 3 * MIB);
        assert_int_equal(hn_wish_parse("4\0:1", 4, &w), -EINVAL);
        /* a point and decimals that are no part of it */
        assert_int_equal(hn_wish_parse("4.5", 1, &w), 0);
        assert_int_equal(w.cpus, 4000);
        assert_int_equal(hn_wish_parse("4.x", 1, &w), 0);
        assert_int_equal(w.cpus, 4000);
        assert_int_equal(hn_wish_parse("4.5", 2, &w), -EINVAL);
        assert_int_equal(hn_wish_parse("4.55", 3, &w), 0);
        assert_int_equal(w.cpus, 4500);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(texts),
                cmocka_unit_test(bounded_text),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
