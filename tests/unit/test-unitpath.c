/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "rows.h"
#include "sample/unitpath.h"

static void units_of_a_path(void **state) {
        static const struct {
                const char *path, *units; /* each with a blank behind it */
        } rows[] = {
                { "", "" },
                { "/", "" },
                { "//", "" },
                { ".service", "" },
                { "/docker/x.service", "" },              /* not of systemd's making */
                { "/.slice/a.service", "" },              /* a suffix alone is no name */
                { "/a.service/b.service", "a.service " }, /* named by a.service */
                { "/a.scope/x.slice/b.service", "a.scope " },
                { "/user.slice/user-7.slice/user@7.service/app.slice/b.service",
                  "user.slice user-7.slice user@7.service " },
                { "/system.slice/system-db.slice/db@1.service/worker",
                  "system.slice system-db.slice db@1.service " },
                { "system.slice//_cpu.service", "system.slice cpu.service " },
                { "/system.slice/__x.service", "system.slice _x.service " },
                { "/system.slice/a.mount", "system.slice a.mount " },
                { "/system.slice/a.timer/b.service", "system.slice " },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                const char *path = rows[i].path, *name;
                char text[256] = "";
                size_t n, used = 0;

                while (hn_unitpath_next(&path, &name, &n))
                        used += (size_t) snprintf(text + used, sizeof(text) - used, "%.*s ", (int) n, name);
                if (strcmp(text, rows[i].units) != 0)
                        fail_msg("row %zu: \"%s\"", i, text);
                /* and it stays at its end */
                assert_false(hn_unitpath_next(&path, &name, &n));
        }
}

static void patterns(void **state) {
        static const struct {
                const char *path, *pattern;
                bool match;
        } rows[] = {
                { "/x/db@1.service", "db@*.service", false },
                { "/system.slice/evil.service/db@1.service", "db@*.service", false },
                { "/user.slice/user-7.slice/user@7.service/db@1.service", "db@*.service", false },
                { "/system.slice/db@1.service", "db@*.service", true },
                { "/system.slice/system-db.slice/db@main-1.service/x", "db@*.service", true },
                { "/system.slice/db.service", "db@*.service", false },
                { "/system.slice/db@1.service", "db@[2-9].service", false },
                { "/system.slice/db@1.service", "system.slice", true },
                { "/system.slice/db@1.service", "db*", true },
                { "/system.slice/db@1.service", "b@1.service", false },
                { "/system.slice", "*.slice", true },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_unitpath_match(rows[i].path, rows[i].pattern), rows[i].match);
}

static void what_may_be_a_pattern(void **state) {
        static const struct {
                const char *text;
                bool good;
        } rows[] = {
                { "", false },           { "web", false },       { "a/b.service", false },
                { ".service", false },   { "web.timer", false }, { "web.service/", false },
                { "web.service", true }, { "a@*.scope", true },  { "web*", true },
                { "web-?", true },       { "web-[ab]", true },   { "x.slice", true },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_unitpath_is_pattern(rows[i].text, strlen(rows[i].text)), rows[i].good);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(units_of_a_path),
                cmocka_unit_test(patterns),
                cmocka_unit_test(what_may_be_a_pattern),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
