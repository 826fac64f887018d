/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "statefile.h"

#define NOW UINT64_C(1796000000000000)

static const struct {
        const char *state; /* NULL: no file */
        bool alive;
        enum hn_daemon_state want;
} rows[] = {
        { NULL, false, HN_DAEMON_NEVER },
        { NULL, true, HN_DAEMON_NEVER },
        { "{\"running\":false,\"time_usec\":1796000000000000}", true, HN_DAEMON_STOPPED },
        { "{\"running\":false}", false, HN_DAEMON_STOPPED },
        { "{\"running\":true,\"time_usec\":1796000000000000,\"interval_usec\":1000000}", false,
          HN_DAEMON_DIED },
        { "{\"running\":true,\"time_usec\":1796000000000000,\"interval_usec\":1000000}", true,
          HN_DAEMON_RUNNING },
        /* three intervals, and five seconds at least */
        { "{\"running\":true,\"time_usec\":1795999995000000,\"interval_usec\":1000000}", true,
          HN_DAEMON_RUNNING },
        { "{\"running\":true,\"time_usec\":1795999994999999,\"interval_usec\":1000000}", true,
          HN_DAEMON_STALE },
        { "{\"running\":true,\"time_usec\":1795999970000000,\"interval_usec\":10000000}", true,
          HN_DAEMON_RUNNING },
        { "{\"running\":true,\"time_usec\":1795999969999999,\"interval_usec\":10000000}", true,
          HN_DAEMON_STALE },
        /* a clock that was set back; members that are missing, or lie */
        { "{\"running\":true,\"time_usec\":1796999999999999}", true, HN_DAEMON_RUNNING },
        { "{}", true, HN_DAEMON_STALE },
        { "{}", false, HN_DAEMON_DIED },
        { "{\"running\":\"no\",\"time_usec\":\"x\",\"interval_usec\":[]}", true, HN_DAEMON_STALE },
        { "{\"time_usec\":-5,\"interval_usec\":-5}", true, HN_DAEMON_STALE },
        { "{\"time_usec\":0,\"interval_usec\":9223372036854775807}", true, HN_DAEMON_RUNNING },
};

static void a_state_is_judged(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                json_error_t error;
                json_t *o = rows[i].state ? json_loads(rows[i].state, 0, &error) : NULL;

                assert_true(!rows[i].state || o);
                assert_string_equal(hn_daemon_state_to_string(hn_statefile_judge(o, NOW, rows[i].alive)),
                                    hn_daemon_state_to_string(rows[i].want));
                json_decref(o);
        }
}

static void members_have_defaults(void **state) {
        json_t *o = json_pack("{s:s, s:i, s:n}", "text", "x", "number", 7, "null");

        (void) state;
        assert_string_equal(hn_state_text(o, "text"), "x");
        assert_string_equal(hn_state_text(o, "number"), "");
        assert_string_equal(hn_state_text(o, "null"), "");
        assert_string_equal(hn_state_text(NULL, "text"), "");
        assert_int_equal(hn_state_number(o, "number"), 7);
        assert_int_equal(hn_state_number(o, "text"), 0);
        assert_int_equal(hn_state_number(NULL, "x"), 0);
        json_decref(o);
}

static void put(const char *dir, const char *name, const char *text) {
        char path[128];
        FILE *f;

        (void) snprintf(path, sizeof(path), "%s/%s", dir, name);
        f = fopen(path, "we");
        assert_non_null(f);
        assert_true(fputs(text, f) >= 0);
        assert_int_equal(fclose(f), 0);
}

static void files_that_are_none_are_told_apart(void **state) {
        static const struct {
                const char *text;
                int want;
        } files[] = {
                { "{\"pid\":7}\n", 0 },           { "", -EBADMSG },
                { "{\"pid\":7", -EBADMSG },       { "[]", -EBADMSG },
                { "{\"a\":\"\xff\"}", -EBADMSG },
        };
        char dir[] = "/tmp/test-statefile-XXXXXX", path[64];
        json_t *o;

        (void) state;
        assert_non_null(mkdtemp(dir));
        (void) snprintf(path, sizeof(path), "%s/state.json", dir);
        assert_int_equal(hn_statefile_read(dir, &o), -ENOENT);
        for (size_t i = 0; i < HN_ELEMENTS(files); i++) {
                put(dir, "state.json", files[i].text);
                o = NULL;
                assert_int_equal(hn_statefile_read(dir, &o), files[i].want);
                assert_int_equal(o != NULL, files[i].want == 0);
                json_decref(o);
        }
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkdir(path, 0755), 0);
        assert_int_equal(hn_statefile_read(dir, &o), -EISDIR);
        assert_int_equal(rmdir(path), 0);
        assert_int_equal(rmdir(dir), 0);
        assert_int_equal(hn_statefile_read(dir, &o), -ENOENT);
}

static void a_reused_id_is_not_the_daemon(void **state) {
        char dir[] = "/tmp/test-statefile-XXXXXX", path[64];
        struct hn_sysroot root;

        (void) state;
        assert_non_null(mkdtemp(dir));
        (void) snprintf(path, sizeof(path), "%s/proc", dir);
        assert_int_equal(mkdir(path, 0755), 0);
        (void) snprintf(path, sizeof(path), "%s/proc/7", dir);
        assert_int_equal(mkdir(path, 0755), 0);
        assert_int_equal(hn_sysroot_open(dir, &root), 0);
        assert_false(hn_statefile_is_daemon(&root, 7));
        put(path, "comm", "homenoded\n");
        assert_true(hn_statefile_is_daemon(&root, 7));
        put(path, "comm", "homenoded-x\n");
        assert_false(hn_statefile_is_daemon(&root, 7));
        put(path, "comm", "x\nhomenoded\n");
        assert_false(hn_statefile_is_daemon(&root, 7));
        assert_false(hn_statefile_is_daemon(&root, 0));
        assert_false(hn_statefile_is_daemon(&root, -7));
        assert_false(hn_statefile_is_daemon(&root, INT64_C(4294967303)));
        hn_sysroot_close(&root);
        (void) snprintf(path, sizeof(path), "%s/proc/7/comm", dir);
        assert_int_equal(unlink(path), 0);
        (void) snprintf(path, sizeof(path), "%s/proc/7", dir);
        assert_int_equal(rmdir(path), 0);
        (void) snprintf(path, sizeof(path), "%s/proc", dir);
        assert_int_equal(rmdir(path), 0);
        assert_int_equal(rmdir(dir), 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_state_is_judged),
                cmocka_unit_test(members_have_defaults),
                cmocka_unit_test(files_that_are_none_are_told_apart),
                cmocka_unit_test(a_reused_id_is_not_the_daemon),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
