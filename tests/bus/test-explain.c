/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode explain, with a daemon, without one, and with something that is none. */
#include "stage.h"

#include <jansson.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/bus.h"

static struct stage stage;
static char output[65536];

static int make(void **state) {
        (void) state;
        stage_need();
        stage_make(&stage);
        stage_start_bus(&stage);
        return 0;
}

static int destroy(void **state) {
        (void) state;
        stage_destroy(&stage);
        return 0;
}

static void start_daemon(void) {
        stage_start_daemon(&stage, NULL);
        stage_wait_name(&stage);
        stage_wait_notify(&stage, "STATUS=");
}

static int explain(const char *a, const char *b, const char *c) {
        char bus[160];
        const char *argv[] = { HN_HOMENODE, "explain", bus, "--sysroot", stage.tree.path, a, b, c, NULL };

        (void) snprintf(bus, sizeof(bus), "--bus-address=%s", stage.address);
        return stage_run(argv, output, sizeof(output));
}

static void expect_output(const char *want) {
        if (!strstr(output, want))
                fail_msg("not there: %s; in\n%s", want, output);
}

static void without_a_daemon_it_says_what_to_do(void **state) {
        (void) state;
        assert_int_equal(explain("100", NULL, NULL), EX_UNAVAILABLE);
        expect_output("systemctl start homenoded");
        expect_output("homenode ps -T 100");
}

static void without_a_bus_it_says_what_to_do(void **state) {
        const char *argv[] = { HN_HOMENODE, "explain", "--bus-address=unix:path=/nowhere/bus", "1", NULL };

        (void) state;
        assert_int_equal(stage_run(argv, output, sizeof(output)), EX_UNAVAILABLE);
        expect_output("unix:path=/nowhere/bus");
        expect_output("--bus-address");
}

static void what_is_no_number_is_wrong_usage(void **state) {
        static const char *const words[] = { "0", "-T", "x", "99999999999", "2147483648", "1x", "" };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(words); i++)
                assert_int_equal(explain(words[i], NULL, NULL), EX_USAGE);
}

static void a_task_is_explained_in_the_daemons_words(void **state) {
        (void) state;
        start_daemon();
        assert_int_equal(explain("100", NULL, NULL), 0);
        expect_output("worker (100), cgroup " CGROUP_WORKER ", rule app (manage)\n");
        expect_output("What would change that: ");
        expect_output("98.9%");
        assert_int_equal(explain("500", NULL, NULL), 0);
        expect_output("no rule opts its cgroup in");
        assert_int_equal(explain("-T", "100", NULL), 0);
        expect_output("worker (100)");

        /* One that is not there does not hide the others. */
        assert_int_equal(explain("100", "99", "400"), EX_NOINPUT);
        expect_output("There is no task 99");
        expect_output("worker (100)");
        expect_output("x) Z \\xff\\x0a( (400)");
        assert_int_equal(explain("-T", "99", NULL), EX_NOINPUT);
        (void) stage_stop_daemon(&stage);
}

static void json_has_it_all(void **state) {
        json_t *o, *tasks;

        (void) state;
        start_daemon();
        assert_int_equal(explain("--json", "100", "400"), 0);
        o = json_loads(output, 0, NULL);
        assert_non_null(o);
        tasks = json_object_get(o, "tasks");
        assert_int_equal(json_array_size(tasks), 2);
        assert_non_null(json_object_get(json_object_get(json_array_get(tasks, 0), "decision"), "reason"));
        assert_string_equal(json_string_value(json_object_get(json_array_get(tasks, 1), "cgroup")),
                            "/odd\\xff\\x0a\".slice");
        json_decref(o);
        (void) stage_stop_daemon(&stage);
}

/* Something else by our name: on a bus of one's own anything is possible. */
static const char *reply;

static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *e) {
        (void) userdata;
        (void) e;
        if (!sd_bus_message_is_method_call(m, HN_BUS_MANAGER, "Explain"))
                return 0;
        return reply ? sd_bus_reply_method_return(m, "s", reply) : sd_bus_reply_method_return(m, "u", 5);
}

static void serve(sd_bus *bus, void *userdata) {
        (void) userdata;
        if (sd_bus_add_object(bus, NULL, HN_BUS_PATH, on_message, NULL) < 0 ||
            sd_bus_request_name(bus, HN_BUS_NAME, 0) < 0)
                _exit(2);
        for (;;)
                if (sd_bus_process(bus, NULL) == 0)
                        (void) sd_bus_wait(bus, UINT64_MAX);
}

static void an_answer_of_something_else_does_no_harm(void **state) {
        static const struct {
                const char *reply;
                int code;
        } rows[] = {
                { NULL, EX_PROTOCOL },
                { "", EX_PROTOCOL },
                { "[]", EX_PROTOCOL },
                { "{", EX_PROTOCOL },
                { "{}", 0 },
                { "{\"decided\":true,\"nodes\":7,\"memory\":[],\"history\":{\"a\":1},\"comm\":5}", 0 },
                { "{\"decided\":true,\"comm\":\"\\u001b[2J\",\"nodes\":[null,1,{\"node\":\"x\"}],"
                  "\"history\":[1,{\"time_usec\":-9223372036854775807}]}",
                  0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                pid_t pid;

                reply = rows[i].reply;
                pid = stage_fork_client(&stage, 0, serve, NULL);
                stage_wait_name(&stage);
                if (explain("7", NULL, NULL) != rows[i].code)
                        fail_msg("%s: not %d:\n%s", rows[i].reply, rows[i].code, output);
                assert_null(strchr(output, '\x1b'));
                stage_kill(pid);
                stage_wait_no_owner(&stage, HN_BUS_NAME);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(without_a_daemon_it_says_what_to_do),
                cmocka_unit_test(without_a_bus_it_says_what_to_do),
                cmocka_unit_test(what_is_no_number_is_wrong_usage),
                cmocka_unit_test(a_task_is_explained_in_the_daemons_words),
                cmocka_unit_test(json_has_it_all),
                cmocka_unit_test(an_answer_of_something_else_does_no_harm),
        };

        return cmocka_run_group_tests(tests, make, destroy);
}
