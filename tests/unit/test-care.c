/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "care.h"
#include "rows.h"

static const char text[] = "[Daemon]\nMode=manage\n"
                           "[Rule first]\nCgroup=one.slice/job-*.scope\nMode=manage\n"
                           "[Rule shadowed]\nCgroup=one.slice/job-*.scope\nMode=manage\n"
                           "[Rule second]\nCgroup=one.slice/job-*.scope one.slice\nMode=manage\n"
                           "[Rule within]\nCgroup=two.slice\nUserMask=within\nMode=manage\n"
                           "[Rule web]\nCgroup=system.slice/web.service\nMode=manage\n"
                           "[Rule users]\nCgroup=user.slice\nMode=advise\n";

static void heard(void *userdata, const char *file, unsigned line, const char *what) {
        (void) userdata;
        fail_msg("%s:%u: %s", file, line, what);
}

static const struct {
        const char *rule, *cgroup;
        uid_t uid;
        bool bound;
        int r;
        bool already, user;
        const char *path; /* or what is said */
} rows[] = {
        { "", "x", 0, false, -ENOENT, false, false, "[Rule ]" },
        { "none\n", "x", 0, false, -ENOENT, false, false, "[Rule none\\x0a]" },
        { "web", "x", 0, false, -ENXIO, false, false, "names services" },
        { "shadowed", "x", 0, false, -ENXIO, false, false, "falls under rule first" },
        { "first", "x", 0, true, -EUCLEAN, false, false, "UserMask=within" },
        { "first", "x", 0, false, 0, false, false, "one.slice/job-homenode-7.scope" },
        { "first", "x", 1000, false, 0, false, false, "one.slice/job-homenode-7.scope" },
        { "second", "x", 0, false, 0, false, false, "one.slice/homenode-run-7.scope" },
        { "within", "x", 0, true, 0, false, false, "two.slice/homenode-run-7.scope" },
        { "users", "x", 0, false, 0, false, false, "user.slice/homenode-run-7.scope" },
        { "users", "x", 1000, false, 0, false, true,
          "user.slice/user-1000.slice/user@1000.service/app.slice/homenode-run-7.scope" },
        /* where it is, it is in that care */
        { "web", "system.slice/web.service/sub", 0, false, 0, true, false, "" },
        { "users", "user.slice/user-0.slice/session-1.scope", 0, false, 0, true, false, "" },
        { "second", "one.slice/job-1.scope", 0, false, 0, false, false, "one.slice/homenode-run-7.scope" },
        { "first", "", 0, false, 0, false, false, "one.slice/job-homenode-7.scope" },
};

static void a_rule_has_a_place(void **state) {
        struct hn_config config = HN_CONFIG_NULL;
        size_t warnings = 0;

        (void) state;
        assert_int_equal(hn_config_feed(&config, text, strlen(text), "f", heard, NULL, &warnings), 0);
        hn_config_settle(&config, heard, NULL, &warnings);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_why why = HN_WHY_NULL;
                struct hn_care care = { .already = false };

                ROW_EQUAL(i,
                          hn_care_choose(&config, rows[i].rule, rows[i].cgroup, rows[i].uid, rows[i].bound,
                                         "7", &care, &why),
                          rows[i].r);
                ROW_EQUAL(i, care.already, rows[i].already);
                ROW_EQUAL(i, care.user, rows[i].user);
                if (rows[i].r < 0 ? !strstr(why.text, rows[i].path)
                                  : strcmp(care.scope.path, rows[i].path) != 0)
                        fail_msg("row %zu: %s, %s", i, care.scope.path, why.text);
        }
        hn_config_deinit(&config);
}

int main(void) {
        const struct CMUnitTest tests[] = { cmocka_unit_test(a_rule_has_a_place) };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
