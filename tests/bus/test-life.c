/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A bus that is not there, comes, goes, or belongs to somebody else. */
#include "stage.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/bus.h"

static size_t count(const char *text, const char *what) {
        size_t n = 0;

        for (const char *p = text; (p = strstr(p, what)); p++)
                n++;
        return n;
}

static void expect_in_log(const struct stage *s, const char *what, size_t times) {
        char *log = stage_log(s);

        if (count(log, what) != times)
                fail_msg("not %zu times: %s; in\n%s", times, what, log);
        free(log);
}

static void without_a_bus_it_works_and_says_so_once(void **state) {
        struct answer a = { .ok = false };
        struct stage s;

        (void) state;
        stage_make(&s);
        stage_start_daemon(&s, NULL);
        for (unsigned i = 0; i < 5; i++)
                stage_wait_notify(&s, "STATUS=manage: 5 tasks");
        expect_in_log(&s, "Not on the bus", 1);

        /* A reload looks again at once, and again says nothing new. */
        assert_int_equal(kill(s.daemon_pid, SIGHUP), 0);
        stage_wait_notify(&s, "STATUS=manage: 5 tasks");
        expect_in_log(&s, "Not on the bus", 1);

        stage_start_bus(&s);
        assert_int_equal(kill(s.daemon_pid, SIGHUP), 0);
        stage_wait_name(&s);
        /* Others see the name before the daemon hears that it has it; it answers in the order of what comes.
         */
        stage_call(&s, NOBODY, &a, "Explain", "u", TASK_WORKER);
        assert_true(a.ok);
        (void) stage_stop_daemon(&s);
        expect_in_log(&s, "On the bus again", 1);
        stage_destroy(&s);
}

static void it_comes_back_with_the_bus(void **state) {
        struct stage s;

        (void) state;
        stage_make(&s);
        stage_start_bus(&s);
        stage_start_daemon(&s, NULL);
        stage_wait_name(&s);
        expect_in_log(&s, "the bus", 0);
        for (unsigned i = 0; i < 3; i++) {
                struct answer a = { .ok = false };

                stage_stop_bus(&s);
                stage_wait_notify(&s, "STATUS=");
                stage_start_bus(&s);
                stage_wait_name(&s);
                /* All that is told is told to the new bus from the beginning. */
                stage_hear(&s, "ScopeAdded", "/app.slice/a.service");
                stage_forget(&s);
                stage_call(&s, NOBODY, &a, "Explain", "u", TASK_WORKER);
                assert_true(a.ok);
        }
        (void) stage_stop_daemon(&s);
        expect_in_log(&s, "Not on the bus", 3);
        expect_in_log(&s, "On the bus again", 3);
        stage_destroy(&s);
}

static void a_name_that_is_refused_is_no_end(void **state) {
        struct stage s;

        (void) state;
        stage_make(&s);
        stage_start_bus(&s);
        assert_int_equal(sd_bus_request_name(s.ear, HN_BUS_NAME, 0), 1);
        stage_start_daemon(&s, NULL);
        stage_wait_notify(&s, "STATUS=");
        stage_wait_notify(&s, "STATUS=");
        expect_in_log(&s, "Another process owns", 1);

        /* Its turn comes when the other leaves. */
        stage_forget(&s);
        assert_true(sd_bus_release_name(s.ear, HN_BUS_NAME) >= 0);
        stage_hear(&s, "NameOwnerChanged", HN_BUS_NAME " :");
        stage_wait_name(&s);
        (void) stage_stop_daemon(&s);
        stage_destroy(&s);
}

/* By the policy we ship. */
static void take_the_name(sd_bus *bus, void *userdata) {
        (void) userdata;
        _exit(sd_bus_request_name(bus, HN_BUS_NAME, SD_BUS_NAME_REPLACE_EXISTING) == -EACCES ? 0 : 1);
}

static void no_user_can_take_the_name(void **state) {
        struct stage s;
        int status;
        pid_t pid;

        (void) state;
        stage_make(&s);
        stage_start_bus(&s);
        pid = stage_fork_client(&s, NOBODY, take_the_name, NULL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        stage_destroy(&s);
}

static void none_is_none(void **state) {
        static const char *const more[] = { "--bus-address=none", NULL };
        struct stage s;

        (void) state;
        stage_make(&s);
        stage_start_bus(&s);
        stage_start_daemon(&s, more);
        stage_wait_notify(&s, "STATUS=manage: 5 tasks");
        (void) stage_stop_daemon(&s);
        expect_in_log(&s, "bus", 0);
        stage_destroy(&s);
}

static void an_address_that_is_none_is_said(void **state) {
        static const char *const addresses[] = { "--bus-address=", "--bus-address=frob",
                                                 "--bus-address=unix:path=",
                                                 "--bus-address=unix:path=/dev/null" };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(addresses); i++) {
                const char *more[] = { addresses[i], NULL };
                struct stage s;

                stage_make(&s);
                stage_start_daemon(&s, more);
                stage_wait_notify(&s, "STATUS=manage: 5 tasks");
                (void) stage_stop_daemon(&s);
                expect_in_log(&s, "Not on the bus", 1);
                stage_destroy(&s);
        }
}

static int need(void **state) {
        (void) state;
        stage_need();
        return 0;
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(without_a_bus_it_works_and_says_so_once),
                cmocka_unit_test(it_comes_back_with_the_bus),
                cmocka_unit_test(a_name_that_is_refused_is_no_end),
                cmocka_unit_test(no_user_can_take_the_name),
                cmocka_unit_test(none_is_none),
                cmocka_unit_test(an_address_that_is_none_is_said),
        };

        return cmocka_run_group_tests(tests, need, NULL);
}
