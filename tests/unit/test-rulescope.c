/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "rows.h"
#include "rulescope.h"

#define USER "user.slice/user-1000.slice/user@1000.service"

static const struct {
        const char *pattern, *manager;
        int r;
        const char *slice, *unit, *path;
} rows[] = {
        /* nothing that systemd could make */
        { "system.slice/web.service", "", -ENXIO, NULL, NULL, NULL },
        { "system.slice/web-*.service", "", -ENXIO, NULL, NULL, NULL },
        { "system.slice/web@?.service", "", -ENXIO, NULL, NULL, NULL },
        { "machine.slice/vm.scope/vcpu0", "", -ENXIO, NULL, NULL, NULL },
        { "batch-*.slice", "", -ENXIO, NULL, NULL, NULL },
        { "batch-*.slice/job-*.scope", "", -ENXIO, NULL, NULL, NULL },
        { "*/x.scope", "", -ENXIO, NULL, NULL, NULL },
        { "a-b.slice", "", -ENXIO, NULL, NULL, NULL },       /* systemd has it below a.slice */
        { "a.slice/b.slice", "", -ENXIO, NULL, NULL, NULL }, /* and this at the root */
        { "a.slice/a-b-c.slice", "", -ENXIO, NULL, NULL, NULL },
        { "a.slice/a-.slice", "", -ENXIO, NULL, NULL, NULL },
        { ".slice", "", -ENXIO, NULL, NULL, NULL },
        { "-.slice", "", -ENXIO, NULL, NULL, NULL },
        { "kubepods/pod7", "", -ENXIO, NULL, NULL, NULL },
        { "x y.scope", "", -ENXIO, NULL, NULL, NULL },
        { "x\n.scope", "", -ENXIO, NULL, NULL, NULL },
        { "\xff*.scope", "", -ENXIO, NULL, NULL, NULL },
        { ".scope", "", -ENXIO, NULL, NULL, NULL },
        { "[", "", -ENXIO, NULL, NULL, NULL },
        { "[.scope", "", -ENXIO, NULL, NULL, NULL },
        { "[]", "", -ENXIO, NULL, NULL, NULL },
        { "[!a-z0-9A-Z_:.@-].scope", "", -ENXIO, NULL, NULL, NULL },
        { "a.slice", USER, -ENXIO, NULL, NULL, NULL },
        { "user.slice/user-1001.slice/user@1001.service/app.slice", USER, -ENXIO, NULL, NULL, NULL },
        { USER, "", -ENXIO, NULL, NULL, NULL },
        /* all of a slice */
        { "batch.slice", "", 0, "batch.slice", "homenode-run-7x.scope", "batch.slice/homenode-run-7x.scope" },
        { "/batch.slice/", "", 0, "batch.slice", "homenode-run-7x.scope",
          "batch.slice/homenode-run-7x.scope" },
        { "a.slice//a-b.slice/a-b-c.slice", "", 0, "a-b-c.slice", "homenode-run-7x.scope",
          "a.slice/a-b.slice/a-b-c.slice/homenode-run-7x.scope" },
        { "system.slice/system-db\\x2dx.slice", "", 0, "system-db\\x2dx.slice", "homenode-run-7x.scope",
          "system.slice/system-db\\x2dx.slice/homenode-run-7x.scope" },
        { "user.slice", "", 0, "user.slice", "homenode-run-7x.scope", "user.slice/homenode-run-7x.scope" },
        { "*", "", 0, "system.slice", "homenode-run-7x.scope", "system.slice/homenode-run-7x.scope" },
        { "", "", 0, "system.slice", "homenode-run-7x.scope", "system.slice/homenode-run-7x.scope" },
        /* some of one */
        { "batch.slice/*", "", 0, "batch.slice", "homenode-run-7x.scope",
          "batch.slice/homenode-run-7x.scope" },
        { "batch.slice/*.scope", "", 0, "batch.slice", "homenode-run-7x.scope",
          "batch.slice/homenode-run-7x.scope" },
        { "batch.slice/job-*.scope", "", 0, "batch.slice", "job-homenode-7x.scope",
          "batch.slice/job-homenode-7x.scope" },
        { "batch.slice/job-*-*.scope", "", 0, "batch.slice", "job-homenode-7x-.scope",
          "batch.slice/job-homenode-7x-.scope" },
        { "batch.slice/j?b[0-9][!a].scope", "", 0, "batch.slice", "jxb0h.scope", "batch.slice/jxb0h.scope" },
        { "batch.slice/job.scope", "", 0, "batch.slice", "job.scope", "batch.slice/job.scope" },
        { "*.scope", "", 0, "-.slice", "homenode-run-7x.scope", "homenode-run-7x.scope" },
        { "job.scope", "", 0, "-.slice", "job.scope", "job.scope" },
        /* a user's */
        { USER, USER, 0, "app.slice", "homenode-run-7x.scope", USER "/app.slice/homenode-run-7x.scope" },
        { "user.slice", USER, 0, "app.slice", "homenode-run-7x.scope",
          USER "/app.slice/homenode-run-7x.scope" },
        { "*", USER, 0, "app.slice", "homenode-run-7x.scope", USER "/app.slice/homenode-run-7x.scope" },
        { "user.slice/user-*.slice", USER, 0, "app.slice", "homenode-run-7x.scope",
          USER "/app.slice/homenode-run-7x.scope" },
        { "user.slice/user-*.slice/user@*.service/build.slice/job-*.scope", USER, 0, "build.slice",
          "job-homenode-7x.scope", USER "/build.slice/job-homenode-7x.scope" },
};

static void places_follow_from_patterns(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                const char *fallback = *rows[i].manager ? "app.slice" : "system.slice";
                struct hn_why why = HN_WHY_NULL;
                struct hn_rule_scope s = { .slice = "" };

                ROW_EQUAL(i, hn_rule_scope_derive(rows[i].pattern, rows[i].manager, fallback, "7x", &s, &why),
                          rows[i].r);
                ROW_EQUAL(i, why.text[0] != '\0', rows[i].r < 0);
                if (rows[i].r < 0)
                        continue;
                if (strcmp(s.slice, rows[i].slice) != 0 || strcmp(s.unit, rows[i].unit) != 0 ||
                    strcmp(s.path, rows[i].path) != 0)
                        fail_msg("row %zu: %s in %s: %s", i, s.unit, s.slice, s.path);
        }
}

static void long_names_are_refused(void **state) {
        char pattern[2048];
        struct hn_rule_scope s;
        struct hn_why why = HN_WHY_NULL;

        (void) state;
        for (size_t n = 200; n < 2000; n += 100) {
                memset(pattern, 'a', n);
                (void) strcpy(pattern + n, ".slice");
                assert_int_equal(hn_rule_scope_derive(pattern, "", "system.slice", "7", &s, &why),
                                 n < 250 ? 0 : -ENXIO);
                (void) strcpy(pattern + n, "*.scope");
                assert_int_equal(hn_rule_scope_derive(pattern, "", "system.slice", "7", &s, &why),
                                 n < 230 ? 0 : -ENXIO);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(places_follow_from_patterns),
                cmocka_unit_test(long_names_are_refused),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
