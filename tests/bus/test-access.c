/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who may change what: root, and whom polkit lets. What polkit does is played. */
#include "polkit.h"

#include <unistd.h>

#include "daemon/bus.h"

static struct stage stage;

static int make(void **state) {
        (void) state;
        stage_need();
        stage_make(&stage);
        stage_start_bus(&stage);
        stage_start_daemon(&stage, NULL);
        stage_wait_name(&stage);
        return 0;
}

static int destroy(void **state) {
        (void) state;
        (void) stage_stop_daemon(&stage);
        stage_destroy(&stage);
        return 0;
}

/* Every method that changes something, with arguments that would be taken. */
static const struct {
        const char *member, *types, *argument, *action;
} writes[] = {
        { "Reload", "", NULL, "org.homenode1.reload" },
        { "SetMode", "s", "advise", "org.homenode1.set-mode" },
        { "SetLogLevel", "s", "debug", "org.homenode1.set-mode" },
};

static void call(size_t i, uid_t uid, struct answer *a) {
        stage_call(&stage, uid, a, writes[i].member, writes[i].types, writes[i].argument);
}

static void expect(const char *property, const char *want) {
        struct answer a = { .ok = false };

        stage_get(&stage, &a, HN_BUS_PATH, HN_BUS_MANAGER, property);
        assert_true(a.ok);
        assert_string_equal(a.text, want);
}

static void expect_untouched(void) {
        expect("Mode", "manage");
        expect("LogLevel", "info");
}

static void root_puts_it_back(void) {
        struct answer a = { .ok = false };

        stage_call(&stage, 0, &a, "SetMode", "s", "manage");
        assert_true(a.ok);
        stage_call(&stage, 0, &a, "SetLogLevel", "s", "info");
        assert_true(a.ok);
        expect_untouched();
}

static void expect_denied(size_t i, const struct answer *a, const char *why) {
        if (a->ok)
                fail_msg("%s was carried out", writes[i].member);
        assert_string_equal(a->error, SD_BUS_ERROR_ACCESS_DENIED);
        if (!strstr(a->message, writes[i].action) || !strstr(a->message, why))
                fail_msg("%s: \"%s\" does not name %s and \"%s\"", writes[i].member, a->message,
                         writes[i].action, why);
}

static void without_polkit_it_is_root_alone(void **state) {
        static const uid_t users[] = { NOBODY, MACHINE_UID };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(writes); i++)
                for (size_t k = 0; k < HN_ELEMENTS(users); k++) {
                        struct answer a = { .ok = false };

                        call(i, users[k], &a);
                        expect_denied(i, &a, "no polkit");
                        expect_untouched();
                }
        for (size_t i = 0; i < HN_ELEMENTS(writes); i++) {
                struct answer a = { .ok = false };

                call(i, 0, &a);
                if (!a.ok)
                        fail_msg("%s by root: %s: %s", writes[i].member, a.error, a.message);
        }
        expect("Mode", "advise");
        expect("LogLevel", "debug");
        root_puts_it_back();
}

static void polkit_has_the_say_over_others(void **state) {
        static const struct {
                enum polkit_answer answer;
                const char *why; /* NULL: it may */
        } rows[] = {
                { POLKIT_NO, "polkit says no" },
                { POLKIT_CHALLENGE, "would ask for a password" },
                { POLKIT_ERROR, "polkit could not tell" },
                { POLKIT_NONSENSE, "no answer that can be read" },
                { POLKIT_YES, NULL },
        };

        (void) state;
        for (size_t k = 0; k < HN_ELEMENTS(rows); k++) {
                pid_t polkit = polkit_start(&stage, rows[k].answer);

                for (size_t i = 0; i < HN_ELEMENTS(writes); i++) {
                        struct answer a = { .ok = false };

                        stage_forget(&stage);
                        call(i, NOBODY, &a);
                        stage_hear(&stage, "org.homenode1.Test.Asked", writes[i].action);
                        if (!rows[k].why)
                                assert_true(a.ok);
                        else {
                                expect_denied(i, &a, rows[k].why);
                                expect_untouched();
                        }
                }
                stage_kill(polkit);
        }
        expect("Mode", "advise");
        expect("LogLevel", "debug");
        root_puts_it_back();
}

static void a_dialogue_comes_only_where_the_caller_allows_it(void **state) {
        pid_t polkit = polkit_start(&stage, POLKIT_NO);
        struct answer a = { .interactive = false };

        (void) state;
        stage_forget(&stage);
        call(1, NOBODY, &a);
        stage_hear(&stage, "Test.Asked", "set-mode 0 homenode-");
        a.interactive = true;
        call(1, NOBODY, &a);
        stage_hear(&stage, "Test.Asked", "set-mode 1 homenode-");
        stage_kill(polkit);
}

/* What polkit answers where it finds no agent: it would, if there were somebody. */
static void who_allows_a_dialogue_is_told_why_there_was_none(void **state) {
        static const struct {
                bool interactive;
                const char *why;
        } rows[] = {
                { true, "nobody it could ask" },
                { false, "this call did not allow that" },
        };
        pid_t polkit = polkit_start(&stage, POLKIT_CHALLENGE);

        (void) state;
        for (size_t k = 0; k < HN_ELEMENTS(rows); k++)
                for (size_t i = 0; i < HN_ELEMENTS(writes); i++) {
                        struct answer a = { .interactive = rows[k].interactive };

                        call(i, NOBODY, &a);
                        expect_denied(i, &a, rows[k].why);
                }
        expect_untouched();
        stage_kill(polkit);
}

static void nonsense_is_refused_before_anybody_is_asked(void **state) {
        static const struct {
                const char *member, *argument;
        } rows[] = {
                { "SetMode", "" },          { "SetMode", "Manage" },   { "SetMode", "manage " },
                { "SetMode", "-22" },       { "SetLogLevel", "" },     { "SetLogLevel", "7" },
                { "SetLogLevel", "DEBUG" }, { "SetLogLevel", "none" },
        };
        pid_t polkit = polkit_start(&stage, POLKIT_YES);

        (void) state;
        stage_forget(&stage);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct answer a = { .ok = false };

                stage_call(&stage, NOBODY, &a, rows[i].member, "s", rows[i].argument);
                assert_false(a.ok);
                assert_string_equal(a.error, SD_BUS_ERROR_INVALID_ARGS);
        }
        assert_false(stage_has_heard(&stage, "Test.Asked"));
        expect_untouched();
        stage_kill(polkit);
}

/* Sends calls for which it wants no answer yet, says so, and waits to be killed. */
static void call_and_linger(sd_bus *bus, void *userdata) {
        const unsigned *n = userdata;

        for (unsigned i = 0; i < *n; i++)
                if (sd_bus_call_method_async(bus, NULL, HN_BUS_NAME, HN_BUS_PATH, HN_BUS_MANAGER, "SetMode",
                                             NULL, NULL, "s", "observe") < 0)
                        _exit(1);
        for (;;)
                if (sd_bus_process(bus, NULL) == 0)
                        (void) sd_bus_wait(bus, UINT64_MAX);
}

static void who_leaves_takes_his_question_with_him(void **state) {
        pid_t polkit = polkit_start(&stage, POLKIT_NEVER), client;
        unsigned n = 1;

        (void) state;
        stage_forget(&stage);
        client = stage_fork_client(&stage, NOBODY, call_and_linger, &n);
        stage_hear(&stage, "Test.Asked", "org.homenode1.set-mode");
        /* Meanwhile everybody else is served. */
        expect_untouched();
        stage_kill(client);
        stage_hear(&stage, "Test.Cancelled", "homenode-");
        expect_untouched();
        stage_kill(polkit);
}

static void nobody_keeps_the_others_out(void **state) {
        unsigned n = 3 * HN_ACCESS_MAX_OF_USER, asked = 0;
        pid_t polkit = polkit_start(&stage, POLKIT_NEVER), client;
        struct answer a = { .ok = false };

        (void) state;
        stage_forget(&stage);
        client = stage_fork_client(&stage, NOBODY, call_and_linger, &n);
        /* From another connection: it is the user who is bounded. */
        stage_hear(&stage, "Test.Asked", "org.homenode1.set-mode");
        stage_call(&stage, NOBODY, &a, "Reload", "");
        while (!a.ok && strcmp(a.error, SD_BUS_ERROR_LIMITS_EXCEEDED) != 0)
                stage_call(&stage, NOBODY, &a, "Reload", "");
        assert_string_equal(a.error, SD_BUS_ERROR_LIMITS_EXCEEDED);
        stage_call(&stage, 0, &a, "SetMode", "s", "manage");
        assert_true(a.ok);
        stage_kill(client);
        stage_hear(&stage, "Test.Cancelled", "homenode-");
        for (const char *p = stage.heard; (p = strstr(p, "Test.Asked / org.homenode1.set-mode")); p++)
                asked++;
        assert_true(asked <= HN_ACCESS_MAX_OF_USER);
        expect_untouched();
        stage_kill(polkit);
}

static void a_polkit_that_does_not_answer_is_not_waited_for_for_ever(void **state) {
        pid_t polkit = polkit_start(&stage, POLKIT_NEVER);
        struct answer a = { .ok = false };

        (void) state;
        stage_forget(&stage);
        call(1, NOBODY, &a);
        expect_denied(1, &a, "did not answer in time");
        stage_hear(&stage, "Test.Cancelled", "homenode-");
        expect_untouched();
        stage_kill(polkit);
}

static void a_mode_goes_down_and_up_as_far_as_the_file_says(void **state) {
        struct answer a = { .ok = false };

        (void) state;
        stage_forget(&stage);
        stage_call(&stage, 0, &a, "SetMode", "s", "observe");
        assert_true(a.ok);
        stage_hear(&stage, "PropertiesChanged " HN_BUS_PATH, "Mode observe");
        stage_hear(&stage, "PropertiesChanged " HN_BUS_PATH "/scope/_2fapp_2eslice_2fb_2eservice",
                   "Mode observe");
        expect("AllowedMode", "manage");

        /* The file lowers the ceiling: what was asked for still holds below it. */
        stage_write_config(&stage, "[Daemon]\nMode=advise\nIntervalSec=0.2\n[Rule app]\nCgroup=app.slice\n");
        stage_call(&stage, 0, &a, "Reload", "");
        assert_true(a.ok);
        expect("Mode", "observe");
        expect("AllowedMode", "advise");
        stage_call(&stage, 0, &a, "SetMode", "s", "manage");
        assert_false(a.ok);
        assert_string_equal(a.error, HN_BUS_BEYOND_CONFIG);
        assert_non_null(strstr(a.message, "homenode.conf(5)"));
        stage_call(&stage, 0, &a, "SetMode", "s", "advise");
        assert_true(a.ok);
        expect("Mode", "advise");

        stage_write_config(&stage, "[Daemon]\nMode=sometimes\n");
        stage_call(&stage, 0, &a, "Reload", "");
        assert_false(a.ok);
        assert_string_equal(a.error, HN_BUS_BAD_CONFIG);
        expect("Mode", "advise");
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(without_polkit_it_is_root_alone),
                cmocka_unit_test(polkit_has_the_say_over_others),
                cmocka_unit_test(a_dialogue_comes_only_where_the_caller_allows_it),
                cmocka_unit_test(who_allows_a_dialogue_is_told_why_there_was_none),
                cmocka_unit_test(nonsense_is_refused_before_anybody_is_asked),
                cmocka_unit_test(who_leaves_takes_his_question_with_him),
                cmocka_unit_test(nobody_keeps_the_others_out),
                cmocka_unit_test(a_polkit_that_does_not_answer_is_not_waited_for_for_ever),
                cmocka_unit_test(a_mode_goes_down_and_up_as_far_as_the_file_says),
        };

        return cmocka_run_group_tests(tests, make, destroy);
}
