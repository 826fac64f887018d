/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/config.h"
#include "daemon/rulematch.h"
#include "daemon/rules.h"
#include "sample/cgroupfs.h"

/* A v2 hierarchy of folders. */
static const char *const folders[] = {
        "/system.slice",
        "/system.slice/web-1.service",
        "/system.slice/web-1.service/worker",
        "/system.slice/web-2.service",
        "/system.slice/db.service",
        "/user.slice",
        "/user.slice/user-1000.slice",
        "/user.slice/user-1000.slice/db.service",
};

struct fixture {
        char root[64];
        struct hn_cgroupfs fs;
};

static int setup(void **state) {
        struct fixture *f = calloc(1, sizeof(*f));
        char path[128];

        assert_non_null(f);
        (void) snprintf(f->root, sizeof(f->root), "/tmp/test-rules-XXXXXX");
        assert_non_null(mkdtemp(f->root));
        for (size_t i = 0; i < HN_ELEMENTS(folders); i++) {
                (void) snprintf(path, sizeof(path), "%s%s", f->root, folders[i]);
                assert_int_equal(mkdir(path, 0755), 0);
        }
        f->fs = HN_CGROUPFS_NULL;
        f->fs.layout = HN_CGROUP_V2;
        f->fs.fd = open(f->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
        assert_true(f->fs.fd >= 0);
        *state = f;
        return 0;
}

static int teardown(void **state) {
        struct fixture *f = *state;
        char path[128];

        for (size_t i = HN_ELEMENTS(folders); i-- > 0;) {
                (void) snprintf(path, sizeof(path), "%s%s", f->root, folders[i]);
                (void) rmdir(path);
        }
        (void) rmdir(f->root);
        hn_cgroupfs_close(&f->fs);
        free(f);
        return 0;
}

static const struct {
        const char *config;
        bool all;
        const char *want; /* "path rule mode[ pages=no][ within][ nodes=..];" */
} rows[] = {
        /* nothing asked for is nothing touched */
        { "", false, "" },
        { "[Daemon]\nMode=manage\n", false, "" },
        { "[Daemon]\nMode=manage\n[Rule x]\nCgroup=absent.slice\nMode=manage\n", false, "" },

        /* a match covers what is below, and nothing beside */
        { "[Daemon]\nMode=manage\n[Rule web]\nCgroup=system.slice/web-*.service\nMode=manage\n", false,
          "/system.slice/web-1.service web manage;/system.slice/web-1.service/worker web manage;"
          "/system.slice/web-2.service web manage;" },

        /* the mode is the lower one of the two */
        { "[Daemon]\nMode=advise\n[Rule a]\nCgroup=system.slice/db.service\nMode=manage\n[Rule b]\n"
          "Cgroup=user.slice\n",
          false,
          "/system.slice/db.service a advise;/user.slice b observe;/user.slice/user-1000.slice b observe;"
          "/user.slice/user-1000.slice/db.service b observe;" },
        { "[Rule a]\nCgroup=system.slice/db.service\nMode=manage\n", false,
          "/system.slice/db.service a observe;" },

        /* the first rule counts, not the closest; and its settings go along */
        { "[Daemon]\nMode=manage\n[Rule one]\nCgroup=system.slice/web-1.service\nMode=manage\nPages=no\n"
          "Nodes=0,255\n"
          "UserMask=within\n[Rule rest]\nCgroup=nowhere system.slice\nMode=advise\n",
          false,
          "/system.slice rest advise;/system.slice/db.service rest advise;"
          "/system.slice/web-1.service one manage pages=no within nodes=0,255;"
          "/system.slice/web-1.service/worker one manage pages=no within nodes=0,255;"
          "/system.slice/web-2.service rest advise;" },
        { "[Daemon]\nMode=manage\n[Rule rest]\nCgroup=system.slice\n[Rule one]\n"
          "Cgroup=system.slice/web-1.service/worker\n"
          "Mode=manage\n",
          false,
          "/system.slice rest observe;/system.slice/db.service rest observe;/system.slice/web-1.service "
          "rest observe;"
          "/system.slice/web-1.service/worker rest observe;/system.slice/web-2.service rest observe;" },

        /* everything, behind what the rules say */
        { "[Rule db]\nCgroup=system.slice/db.service\nMode=manage\n", true,
          "/ * advise;/system.slice * advise;/system.slice/db.service db observe;"
          "/system.slice/web-1.service * advise;"
          "/system.slice/web-1.service/worker * advise;/system.slice/web-2.service * advise;/user.slice * "
          "advise;"
          "/user.slice/user-1000.slice * advise;/user.slice/user-1000.slice/db.service * advise;" },

        /* units, of the system and of what its slices hold */
        { "[Daemon]\nMode=manage\n[Rule db]\nUnit=nothing.service db.service\nMode=manage\n", false,
          "/system.slice/db.service db manage;/user.slice/user-1000.slice/db.service db manage;" },
        { "[Daemon]\nMode=manage\n[Rule db]\nUnit=db.service\nCgroup=system.slice\nMode=manage\n", false,
          "/system.slice/db.service db manage;" },
        { "[Rule web]\nUnit=web-[!1].service\n[Rule rest]\nUnit=web-*\n", false,
          "/system.slice/web-1.service rest observe;/system.slice/web-1.service/worker rest observe;"
          "/system.slice/web-2.service web observe;" },

        /* by process: the cgroup says where to look, and nothing is done in its name */
        { "[Daemon]\nMode=manage\n[Rule java]\nCgroup=system.slice/web-2.service\nComm=java\nMode=manage\n",
          false, "/system.slice/web-2.service java observe by-process;" },
        { "[Daemon]\nMode=manage\n[Rule a]\nCgroup=system.slice/db.service\nMode=manage\n[Rule b]\n"
          "Cgroup=system.slice/db.service system.slice/web-2.service\nUser=root\nMode=advise\n",
          false, "/system.slice/db.service a manage;/system.slice/web-2.service b observe by-process;" },
        { "[Rule a]\nUnit=db.service\nExe=/bin/x\n", true,
          "/ * advise;/system.slice * advise;/system.slice/db.service a observe by-process;"
          "/system.slice/web-1.service * advise;/system.slice/web-1.service/worker * advise;"
          "/system.slice/web-2.service * advise;/user.slice * advise;/user.slice/user-1000.slice * advise;"
          "/user.slice/user-1000.slice/db.service a observe by-process;" },
};

static void show(const struct hn_scope_list *list, char *buf, size_t size) {
        size_t used = 0;

        buf[0] = '\0';
        for (size_t i = 0; i < list->n; i++) {
                const struct hn_scope *s = &list->scopes[i];
                char nodes[64];

                assert_true(hn_mask_print_list(&s->nodes, nodes, sizeof(nodes)) >= 0);
                used += (size_t) snprintf(buf + used, size - used, "%s %s %s%s%s%s%s%s;", s->path, s->rule,
                                          hn_mode_to_string(s->mode), s->pages ? "" : " pages=no",
                                          s->within_user_mask ? " within" : "", nodes[0] ? " nodes=" : "",
                                          nodes, s->by_process ? " by-process" : "");
                assert_int_equal(s->by_process ? s->place : i, i);
                assert_true(used < size);
        }
}

static void scopes_are_what_the_rules_say(void **state) {
        struct fixture *f = *state;

        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_config c = HN_CONFIG_NULL;
                struct hn_scope_list list;
                size_t warnings = 0;
                char buf[2048];

                assert_int_equal(hn_config_feed(&c, rows[i].config, strlen(rows[i].config), "f", NULL, NULL,
                                                &warnings),
                                 0);
                assert_int_equal(warnings, 0);
                assert_int_equal(hn_rules_scopes(&c, &f->fs, rows[i].all, &list), 0);
                /* The list is its own: a reload frees the config under it. */
                hn_config_deinit(&c);
                show(&list, buf, sizeof(buf));
                assert_string_equal(buf, rows[i].want);
                assert_false(list.cut);
                hn_scope_list_deinit(&list);
        }
}

static void no_cgroups_no_scopes(void **state) {
        struct hn_cgroupfs none = HN_CGROUPFS_NULL;
        struct hn_config c = HN_CONFIG_NULL;
        struct hn_scope_list list;

        (void) state;
        assert_int_equal(hn_rules_scopes(&c, &none, true, &list), 0);
        assert_int_equal(list.n, 0);
        hn_scope_list_deinit(&list);
}

/* "rule mode" of what a process is chosen for in each place, in the order of the places; "-" for nothing. */
static void ask(struct hn_scope_list *list, const struct hn_proc_id *who, char *buf, size_t size) {
        struct hn_chooser chooser = hn_rules_chooser(list);
        size_t used = 0;

        buf[0] = '\0';
        for (uint32_t i = 0; i < list->n_places; i++) {
                uint32_t k;

                if (!list->scopes[i].by_process)
                        continue;
                k = chooser.choose(chooser.userdata, i, who);
                /* asked again it says the same */
                assert_int_equal(chooser.choose(chooser.userdata, i, who), k);
                if (k != HN_SCOPE_NONE) {
                        assert_true(k >= list->n_places && k < list->n);
                        assert_true(list->scopes[k].by_process);
                        assert_int_equal(list->scopes[k].place, i);
                        assert_string_equal(list->scopes[k].path, list->scopes[i].path);
                }
                used += (size_t) snprintf(buf + used, size - used, "%s %s;",
                                          k == HN_SCOPE_NONE ? "-" : list->scopes[k].rule,
                                          k == HN_SCOPE_NONE ? "-" : hn_mode_to_string(list->scopes[k].mode));
                assert_true(used < size);
        }
}

static void the_first_rule_that_takes_a_process_counts(void **state) {
        static const char config[] =
                "[Daemon]\nMode=manage\n"
                "[Rule java]\nUnit=web-2.service db.service\nComm=java j?\nUser=0\nMode=manage\n"
                "[Rule pg]\nExe=/usr/lib/*/bin/pg\nCgroup=system.slice/db.service\nMode=manage\n"
                "[Rule nobody]\nUser=4294967294\nCgroup=system.slice/db.service\n"
                "[Rule rest]\nCgroup=system.slice/db.service\nMode=advise\n"
                "[Rule never]\nCgroup=system.slice/db.service\nComm=*\nMode=manage\n";
        /* places: system's db, web-2, and the user's db, by path */
        static const struct {
                struct hn_proc_id who;
                const char *want;
        } cases[] = {
                { { .pid = 1, .comm = "java" }, "rest advise;- -;- -;" }, /* whose it is, is not known */
                { { .pid = 1, .comm = "java", .has_uid = true, .uid = 7 }, "rest advise;- -;- -;" },
                { { .pid = 1, .comm = "javac", .has_uid = true }, "rest advise;- -;- -;" },
                { { .pid = 1, .comm = "java", .has_uid = true }, "java manage;java manage;java manage;" },
                { { .pid = 1, .comm = "j8", .has_uid = true }, "java manage;java manage;java manage;" },
                { { .pid = 1, .comm = "x", .exe = (char *) "/usr/lib/15/bin/pg" }, "pg manage;- -;- -;" },
                { { .pid = 1, .comm = "x", .exe = (char *) "/usr/lib/15/a/bin/pg" }, "rest advise;- -;- -;" },
                { { .pid = 1, .comm = "x", .exe = (char *) "/usr/lib/15/bin/pg/x" }, "rest advise;- -;- -;" },
                { { .pid = 1, .comm = "x", .exe = (char *) "usr/lib/15/bin/pg" }, "rest advise;- -;- -;" },
                { { .pid = 1, .comm = "x", .exe_error = -13, .has_uid = true, .uid = (uid_t) -1 },
                  "rest advise;- -;- -;" },
        };
        struct fixture *f = *state;
        struct hn_config c = HN_CONFIG_NULL;
        struct hn_scope_list list;
        size_t warnings = 0;

        assert_int_equal(hn_config_feed(&c, config, strlen(config), "f", NULL, NULL, &warnings), 0);
        assert_int_equal(hn_config_find_users(&c, NULL, NULL, &warnings), 0);
        assert_int_equal(warnings, 0);
        assert_int_equal(hn_rules_wants(&c), HN_PROC_ID_EXE | HN_PROC_ID_USER);
        assert_int_equal(hn_rules_scopes(&c, &f->fs, false, &list), 0);
        assert_int_equal(list.n_places, 3);
        for (size_t i = 0; i < HN_ELEMENTS(cases); i++) {
                char buf[256];

                ask(&list, &cases[i].who, buf, sizeof(buf));
                if (strcmp(buf, cases[i].want) != 0)
                        fail_msg("row %zu: %s", i, buf);
        }
        assert_int_equal(list.n, 3 + 5); /* java thrice, pg, rest */
        assert_false(list.cut);
        hn_scope_list_deinit(&list);
        hn_config_deinit(&c);
}

/* Scopes for overrides come between the places and what is chosen, which has as much room as before. */
static void others_may_add_scopes(void **state) {
        static const char config[] =
                "[Daemon]\nMode=manage\n[Rule java]\nUnit=*.service\nComm=java\nMode=manage\n"
                "[Rule rest]\nUnit=*.service\nMode=advise\n";
        const struct hn_proc_id java = { .pid = 1, .comm = "java" }, sh = { .pid = 2, .comm = "sh" };
        struct hn_scope more = { .path = "/more", .mode = HN_MODE_OBSERVE, .by_hand = true };
        struct fixture *f = *state;
        struct hn_config c = HN_CONFIG_NULL;
        struct hn_scope_list list;
        const struct hn_scope *before;
        size_t warnings = 0;
        char buf[256];

        assert_int_equal(hn_config_feed(&c, config, strlen(config), "f", NULL, NULL, &warnings), 0);
        assert_int_equal(hn_rules_scopes(&c, &f->fs, false, &list), 0);
        assert_int_equal(list.n_places, 5);
        for (size_t i = 0; i < 100; i++)
                assert_int_equal(hn_scope_list_add(&list, &more), 0);
        assert_int_equal(list.n, 105);
        assert_int_equal(list.n_places, 5);
        assert_null(hn_scope_list_find(&list, "/more"));
        assert_null(hn_scope_list_find(&list, "/system.slice"));
        assert_false(hn_scope_list_is_managed(&list, "/more"));
        assert_false(hn_scope_list_is_managed(&list, "/system.slice/db.service"));

        before = list.scopes;
        ask(&list, &sh, buf, sizeof(buf));
        assert_string_equal(buf, "rest advise;rest advise;rest advise;rest advise;rest advise;");
        assert_false(hn_scope_list_is_managed(&list, "/system.slice/db.service"));
        ask(&list, &java, buf, sizeof(buf));
        assert_string_equal(buf, "java manage;java manage;java manage;java manage;java manage;");
        assert_true(hn_scope_list_is_managed(&list, "/system.slice/db.service"));
        assert_ptr_equal(list.scopes, before);
        assert_false(list.cut);
        hn_scope_list_deinit(&list);
        hn_config_deinit(&c);
}

/* A user that is not there takes nobody, and is told. */
static void users_are_looked_up(void **state) {
        static const char config[] = "[Rule a]\nUser=root 0 12 no-such-user-here\n";
        struct hn_config c = HN_CONFIG_NULL;
        size_t warnings = 0;

        (void) state;
        assert_int_equal(hn_config_feed(&c, config, strlen(config), "f", NULL, NULL, &warnings), 0);
        assert_int_equal(hn_config_find_users(&c, NULL, NULL, &warnings), 0);
        assert_int_equal(warnings, 1);
        assert_int_equal(c.rules[0].uids[0], 0);
        assert_int_equal(c.rules[0].uids[1], 0);
        assert_int_equal(c.rules[0].uids[2], 12);
        assert_int_equal(c.rules[0].uids[3], (uid_t) -1);
        hn_config_deinit(&c);
}

/* What a trial says of each key is what the two halves say together. */
static void each_key_has_its_answer(void **state) {
        static const char config[] = "[Rule a]\nUnit=db.service\nComm=x java\nExe=/bin/j\n";
        const struct hn_proc_id who = { .pid = 1, .comm = "java" };
        struct hn_config c = HN_CONFIG_NULL;
        struct hn_rule_trial t;
        size_t warnings = 0;

        (void) state;
        assert_int_equal(hn_config_feed(&c, config, strlen(config), "f", NULL, NULL, &warnings), 0);
        assert_false(hn_rule_try(&c.rules[0], "/system.slice/web.service", &who, &t));
        assert_int_equal(t.answer[HN_MATCH_CGROUP], HN_ANSWER_UNASKED);
        assert_int_equal(t.answer[HN_MATCH_UNIT], HN_ANSWER_MISS);
        assert_int_equal(t.answer[HN_MATCH_COMM], HN_ANSWER_HIT);
        assert_int_equal(t.word[HN_MATCH_COMM], 1);
        assert_int_equal(t.answer[HN_MATCH_EXE], HN_ANSWER_UNKNOWN);
        assert_int_equal(t.answer[HN_MATCH_USER], HN_ANSWER_UNASKED);
        assert_false(hn_rule_takes_cgroup(&c.rules[0], "/system.slice/web.service"));
        assert_true(hn_rule_takes_cgroup(&c.rules[0], "/system.slice/db.service/x"));
        assert_false(hn_rule_takes_process(&c.rules[0], &who));
        hn_config_deinit(&c);
}

static void mark(const struct fixture *f, const char *folder, const char *value) {
        char path[128];

        (void) snprintf(path, sizeof(path), "%s%s", f->root, folder);
        if (setxattr(path, HN_MARK_XATTR, value, strlen(value), 0) == 0)
                return;
        if (errno != EOPNOTSUPP)
                fail_msg("cannot mark %s", path);
        fprintf(stderr, "no extended attributes of users below /tmp\n");
        exit(77);
}

static void marks_lower_and_may_raise(void **state) {
        static const struct {
                const char *marks, *want, *chosen;
        } trusts[] = {
                { "no",
                  "/system.slice s advise;/system.slice/db.service s advise;/system.slice/web-1.service s advise;"
                  "/system.slice/web-1.service/worker s advise;/system.slice/web-2.service s advise;"
                  "/user.slice u observe by-process;/user.slice/user-1000.slice u observe by-process;"
                  "/user.slice/user-1000.slice/db.service u observe by-process;",
                  "u manage;u manage;u manage;" },
                { "lower",
                  "/system.slice s advise;/system.slice/db.service s advise;/system.slice/web-2.service s observe;"
                  "/user.slice u observe by-process;/user.slice/user-1000.slice u observe by-process;"
                  "/user.slice/user-1000.slice/db.service u observe by-process;",
                  "u manage;u advise;u advise;" },
                { "all",
                  "/system.slice s advise;/system.slice/db.service s manage;"
                  "/system.slice/web-1.service/worker s manage;/system.slice/web-2.service s observe;"
                  "/user.slice u observe by-process;/user.slice/user-1000.slice u observe by-process;"
                  "/user.slice/user-1000.slice/db.service u observe by-process;",
                  "u manage;u advise;u advise;" },
        };
        struct fixture *f = *state;

        mark(f, "/system.slice/db.service", "manage");
        mark(f, "/system.slice/web-1.service", "off");
        mark(f, "/system.slice/web-1.service/worker", "manage");
        mark(f, "/system.slice/web-2.service", "observe");
        mark(f, "/user.slice/user-1000.slice", "advise");
        for (size_t i = 0; i < HN_ELEMENTS(trusts); i++) {
                const struct hn_proc_id who = { .pid = 1, .comm = "x" };
                struct hn_config c = HN_CONFIG_NULL;
                struct hn_scope_list list;
                size_t warnings = 0;
                char config[256], buf[2048];

                (void) snprintf(
                        config, sizeof(config),
                        "[Daemon]\nMode=manage\nMarks=%s\n[Rule s]\nCgroup=system.slice\nMode=advise\n"
                        "[Rule u]\nCgroup=user.slice\nComm=x\nMode=manage\n",
                        trusts[i].marks);
                assert_int_equal(hn_config_feed(&c, config, strlen(config), "f", NULL, NULL, &warnings), 0);
                assert_int_equal(hn_rules_scopes(&c, &f->fs, false, &list), 0);
                show(&list, buf, sizeof(buf));
                assert_string_equal(buf, trusts[i].want);
                ask(&list, &who, buf, sizeof(buf));
                assert_string_equal(buf, trusts[i].chosen);
                hn_scope_list_deinit(&list);
                hn_config_deinit(&c);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(scopes_are_what_the_rules_say, setup, teardown),
                cmocka_unit_test(no_cgroups_no_scopes),
                cmocka_unit_test_setup_teardown(the_first_rule_that_takes_a_process_counts, setup, teardown),
                cmocka_unit_test_setup_teardown(others_may_add_scopes, setup, teardown),
                cmocka_unit_test(users_are_looked_up),
                cmocka_unit_test(each_key_has_its_answer),
                cmocka_unit_test_setup_teardown(marks_lower_and_may_raise, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
