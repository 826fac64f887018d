/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/config.h"
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
          "/system.slice/db.service a advise;/user.slice b observe;/user.slice/user-1000.slice b observe;" },
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
          "/user.slice/user-1000.slice * advise;" },
};

static void show(const struct hn_scope_list *list, char *buf, size_t size) {
        size_t used = 0;

        buf[0] = '\0';
        for (size_t i = 0; i < list->n; i++) {
                const struct hn_scope *s = &list->scopes[i];
                char nodes[64];

                assert_true(hn_mask_print_list(&s->nodes, nodes, sizeof(nodes)) >= 0);
                used += (size_t) snprintf(buf + used, size - used, "%s %s %s%s%s%s%s;", s->path, s->rule,
                                          hn_mode_to_string(s->mode), s->pages ? "" : " pages=no",
                                          s->within_user_mask ? " within" : "", nodes[0] ? " nodes=" : "",
                                          nodes);
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

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(scopes_are_what_the_rules_say, setup, teardown),
                cmocka_unit_test(no_cgroups_no_scopes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
