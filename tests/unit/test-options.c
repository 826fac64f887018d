/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "daemon/options.h"

static void lines(void **state) {
        static const struct {
                const char *argv[7];
                int r;
                struct hn_options want;
        } rows[] = {
                { { "--frob" }, -EINVAL, { 0 } },
                { { "--mode", "frob" }, -EINVAL, { 0 } },
                { { "--for", "soon" }, -EINVAL, { 0 } },
                { { "--for", "-1" }, -EINVAL, { 0 } },
                { { "--bus-address" }, -EINVAL, { 0 } },
                { { "postgresql" }, -EINVAL, { 0 } },
                { { "--help" }, HN_OPTIONS_DONE, { 0 } },
                { { "--version" }, HN_OPTIONS_DONE, { 0 } },
                { { NULL },
                  0,
                  { .run_dir = HN_RUN_DIR, .mode = _HN_MODE_INVALID, .run_for = HN_USEC_INFINITY } },
                { { "--all", "--mode", "advise", "--for", "20" },
                  0,
                  { .run_dir = HN_RUN_DIR, .mode = HN_MODE_ADVISE, .run_for = 20000000, .all = true } },
                { { "--for=1.5min", "--run-dir=/x", "--restore", "--sysroot=/s", "--config=/c",
                    "--bus-address=unix:path=/b" },
                  0,
                  { .run_dir = "/x",
                    .mode = _HN_MODE_INVALID,
                    .run_for = 90000000,
                    .restore = true,
                    .sysroot = "/s",
                    .config = "/c",
                    .bus_address = "unix:path=/b" } },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                char *argv[9] = { (char *) "homenoded" };
                struct hn_options o = { 0 };
                int argc = 1;

                while (argc < 8 && argc - 1 < (int) HN_ELEMENTS(rows[i].argv) && rows[i].argv[argc - 1]) {
                        argv[argc] = (char *) rows[i].argv[argc - 1];
                        argc++;
                }
                assert_int_equal(hn_options_parse(argc, argv, &o), rows[i].r);
                if (rows[i].r != 0)
                        continue;
                assert_string_equal(o.run_dir, rows[i].want.run_dir);
                assert_int_equal(o.mode, rows[i].want.mode);
                assert_int_equal(o.run_for, rows[i].want.run_for);
                assert_int_equal(o.all, rows[i].want.all);
                assert_int_equal(o.restore, rows[i].want.restore);
                assert_string_equal(o.sysroot ? o.sysroot : "",
                                    rows[i].want.sysroot ? rows[i].want.sysroot : "");
                assert_string_equal(o.config ? o.config : "", rows[i].want.config ? rows[i].want.config : "");
                assert_string_equal(o.bus_address ? o.bus_address : "",
                                    rows[i].want.bus_address ? rows[i].want.bus_address : "");
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(lines),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
