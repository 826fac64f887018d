/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Advise: what it takes and refuses; that answers count each other, whichever way they were asked for; that
 * no user takes the machine from others by asking; and what a hundred at once have to wait. */
#include "stage.h"

#include <jansson.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/bus.h"

#define CALLS 100u

/* The slowest of a hundred calls at once, against that of a hundred pings to the same daemon in the same
 * breath, which sd-bus answers by itself. Seen: 0.6 to 1.3 times, as most of it is the bus; with sanitizers
 * up to 4. With the reservations read for each call it was 3 to 5. The grace is for pings that take next to
 * nothing. */
#define TIMES_PING 8u
#define GRACE_USEC 5000u

static struct stage stage;

static int make(void **state) {
        (void) state;
        stage_need();
        stage_make(&stage);
        stage_start_bus(&stage);
        stage_start_daemon(&stage, NULL);
        stage_wait_name(&stage);
        /* Two looks, so that the load is known. */
        stage_wait_notify(&stage, "STATUS=");
        stage_wait_notify(&stage, "STATUS=");
        return 0;
}

static int destroy(void **state) {
        (void) state;
        (void) stage_stop_daemon(&stage);
        stage_destroy(&stage);
        return 0;
}

/* The answer's nodes as text. */
static const char *ask(uid_t uid, uint32_t cpus, uint64_t mbytes) {
        static struct answer a;

        stage_call(&stage, uid, &a, "Advise", "uta{sv}", cpus, mbytes, 0);
        if (!a.ok)
                fail_msg("%u CPUs: %s: %s", cpus, a.error, a.message);
        return a.text;
}

static void expect_refused(size_t row, const struct answer *a, const char *error, const char *message) {
        if (a->ok || strcmp(a->error, error) != 0 || !strstr(a->message, message))
                fail_msg("row %zu: \"%s\" \"%s\" \"%s\", expected %s with \"%s\"", row, a->text, a->error,
                         a->message, error, message);
}

#define INVALID SD_BUS_ERROR_INVALID_ARGS

static void what_makes_no_sense_is_refused(void **state) {
        static const struct {
                uint32_t cpus;
                uint64_t mbytes;
                const char *key, *value, *error, *message;
        } texts[] = {
                { 1, 0, "colour", "red", INVALID, "\"colour\"" },
                { 1, 0, "", "", INVALID, "no option \"\"" },
                { 1, 0, "Nodes", "0", INVALID, "\"Nodes\"" },
                { 1, 0, "a\n\x1b[2J", "0", INVALID, "\"a\\x0a\\x1b[2J\"" },
                { 1, 0, "\xe2\x80\xae", "", INVALID, "no option" },
                { 1, 0, "reserve", "no", INVALID, "reserve is of another type: give it as \"b\"" },
                { 1, 0, "json", "1", INVALID, "json is of another type" },
                { 1, 0, "thousandths", "5", INVALID, "thousandths is of another type" },
                { 1, 0, "nodes", "8-0", INVALID, "nodes is no list" },
                { 1, 0, "nodes", "0 8", INVALID, "nodes is no list" },
                { 1, 0, "nodes", "!0", INVALID, "nodes is no list" },
                { 1, 0, "nodes", "0-99999999", INVALID, "nodes is no list" },
                { 1, 0, "nodes", "0-8", HN_BUS_NO_SUCH_NODE, "node 1" },
                { 1, 0, "nodes", "1", HN_BUS_NO_SUCH_NODE, "node 1" },
                { 1, 0, "near", "eth0", INVALID, "near is no device" },
                { 1, 0, "near", "/dev/null", INVALID, "near is no device" },
                { 1, 0, "near", "/", INVALID, "near is no device" },
                { 1, 0, "near", "netdev:../../etc", INVALID, "near is no device" },
                { 1, 0, "near", "netdev:none0", HN_BUS_NO_SUCH_DEVICE, "netdev:none0" },
                { 1000001, 0, "near", "", INVALID, "more than any machine has" },
                { UINT32_MAX, 0, "near", "", INVALID, "more than any machine has" },
                { 1, UINT64_MAX, "near", "", INVALID, "more than any machine has" },
                { 1, (UINT64_MAX >> 20) + 1, "near", "", INVALID, "more than any machine has" },
        };
        struct answer a = { .ok = false };
        char *text;

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(texts); i++) {
                stage_call(&stage, NOBODY, &a, "Advise", "uta{sv}", texts[i].cpus, texts[i].mbytes, 1,
                           texts[i].key, "s", texts[i].value);
                expect_refused(i, &a, texts[i].error, texts[i].message);
        }
        stage_call(&stage, NOBODY, &a, "Advise", "uta{sv}", 1, UINT64_C(0), 1, "thousandths", "u", 1000);
        expect_refused(0, &a, INVALID, "at most 999");
        stage_call(&stage, NOBODY, &a, "Advise", "uta{sv}", 1000000, UINT64_C(0), 1, "thousandths", "u", 1);
        expect_refused(1, &a, INVALID, "more than any machine has");
        stage_call(&stage, NOBODY, &a, "Advise", "uta{sv}", 1, UINT64_C(0), 1, "nodes", "as", 1, "0");
        expect_refused(2, &a, INVALID, "nodes is of another type");
        stage_call(&stage, NOBODY, &a, "Advise", "uta{sv}", 1, UINT64_C(0), 2, "reserve", "b", 0, "size", "t",
                   UINT64_C(1));
        expect_refused(3, &a, INVALID, "\"size\"");
        stage_call(&stage, NOBODY, &a, "Advise", "ut", 1, UINT64_C(0));
        expect_refused(4, &a, INVALID, "");

        text = calloc(1, 200001);
        assert_non_null(text);
        memset(text, '1', 200000);
        stage_call(&stage, NOBODY, &a, "Advise", "uta{sv}", 1, UINT64_C(0), 1, "nodes", "s", text);
        expect_refused(5, &a, INVALID, "nodes is no list");
        stage_call(&stage, NOBODY, &a, "Advise", "uta{sv}", 1, UINT64_C(0), 1, "near", "s", text);
        expect_refused(6, &a, INVALID, "near is no device");
        stage_call(&stage, NOBODY, &a, "Advise", "uta{sv}", 1, UINT64_C(0), 1, text, "s", "");
        expect_refused(7, &a, INVALID, "111");
        free(text);
        /* And none of it has left anything. */
        assert_string_equal(ask(0, 2, 0), "0");
}

static void it_answers_as_the_command_does(void **state) {
        static const struct {
                uint32_t cpus;
                uint64_t mbytes;
                const char *nodes, *want;
        } rows[] = {
                { 0, 0, "", "0" },      { 1, 100, "", "0" },   { 1, 100, "8", "8" },
                { 1, 100, "0,8", "0" }, { 3, 100, "", "0,8" }, { 1, 700, "", "0,8" },
                { 1, 9000, "", "0,8" }, { 1, 9000, "8", "8" }, { 1000000, 1, "", "0,8" },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct answer a = { .ok = false };

                stage_call(&stage, NOBODY, &a, "Advise", "uta{sv}", rows[i].cpus, rows[i].mbytes, 3, "nodes",
                           "s", rows[i].nodes, "near", "s", "", "reserve", "b", 0);
                if (!a.ok || strcmp(a.text, rows[i].want) != 0)
                        fail_msg("row %zu: \"%s\" %s, expected \"%s\"", i, a.text, a.message, rows[i].want);
        }
}

static json_t *ask_for_json(uid_t uid, uint32_t cpus, int reserve) {
        sd_bus_message *reply = NULL;
        const char *nodes, *why;
        json_t *o;

        (void) uid;
        assert_true(sd_bus_call_method(stage.ear, HN_BUS_NAME, HN_BUS_PATH, HN_BUS_MANAGER, "Advise", NULL,
                                       &reply, "uta{sv}", cpus, UINT64_C(64), 3, "json", "b", 1, "reserve",
                                       "b", reserve, "thousandths", "u", 500) >= 0);
        assert_true(sd_bus_message_read(reply, "ss", &nodes, &why) >= 0);
        o = json_loads(why, 0, NULL);
        assert_non_null(o);
        assert_string_equal(json_string_value(json_object_get(o, "list")), nodes);
        sd_bus_message_unref(reply);
        return o;
}

static void it_says_what_it_goes_by(void **state) {
        struct answer a = { .ok = false };
        sd_bus_message *reply = NULL;
        const char *nodes, *why;
        json_t *o;

        (void) state;
        o = ask_for_json(0, 1, 1);
        assert_string_equal(json_string_value(json_object_get(o, "list")), "0");
        assert_true(json_number_value(json_object_get(o, "cpus")) == 1.5);
        assert_true(json_is_true(json_object_get(o, "fits")));
        assert_string_equal(json_string_value(json_object_get(o, "load")), "daemon");
        assert_string_equal(json_string_value(json_object_get(o, "reservation")), "kept");
        assert_int_equal(json_array_size(json_object_get(o, "nodes")), 2);
        json_decref(o);
        o = ask_for_json(0, 0, 0);
        assert_string_equal(json_string_value(json_object_get(o, "list")), "8");
        assert_true(json_number_value(json_object_get(json_array_get(json_object_get(o, "nodes"), 0),
                                                      "promised")) == 1.5);
        assert_string_equal(json_string_value(json_object_get(o, "reservation")), "not-asked");
        json_decref(o);

        assert_true(sd_bus_call_method(stage.ear, HN_BUS_NAME, HN_BUS_PATH, HN_BUS_MANAGER, "Advise", NULL,
                                       &reply, "uta{sv}", 9, UINT64_C(0), 0) >= 0);
        assert_true(sd_bus_message_read(reply, "ss", &nodes, &why) >= 0);
        assert_string_equal(nodes, "0,8");
        assert_non_null(strstr(why, "too few idle CPUs"));
        assert_non_null(strstr(why, "homenoded said"));
        assert_non_null(strstr(why, "Reservation: "));
        sd_bus_message_unref(reply);
        stage_call(&stage, NOBODY, &a, "Advise", "uta{sv}", 1, UINT64_C(0), 1, "nodes", "s", "0");
        assert_true(a.ok);
}

/* Half of the machine is for each user to take. Node 0 is his; what he asks for beyond that only he counts.
 */
static void a_user_takes_from_others_no_more_than_half(void **state) {
        (void) state;
        assert_string_equal(ask(NOBODY, 2, 0), "0");
        assert_string_equal(ask(NOBODY, 2, 0), "8");
        /* Full, as far as he knows; and the same again however often he asks. */
        for (unsigned i = 0; i < 20; i++)
                (void) ask(NOBODY, 4, 1000);
        assert_string_equal(ask(NOBODY, 1, 0), "0");
        assert_string_equal(ask(MACHINE_UID, 2, 0), "8");
        /* Root's wishes are everybody's business. */
        assert_string_equal(ask(0, 2, 0), "0");
        assert_string_equal(ask(0, 1, 0), "8");
}

static int run_advise(char *output, size_t size, const char *a, const char *b, const char *c) {
        char run[128];
        const char *argv[] = { HN_HOMENODE, "advise", "--sysroot", stage.tree.path, run, a, b, c, NULL };

        (void) snprintf(run, sizeof(run), "--run-dir=%s/run", stage.dir);
        return stage_run(argv, output, size);
}

static void both_ways_count_the_same(void **state) {
        char output[512];

        (void) state;
        for (unsigned i = 0; i < 2; i++) {
                assert_int_equal(run_advise(output, sizeof(output), "1", NULL, NULL), 0);
                assert_string_equal(output, i == 0 ? "0\n" : "8\n");
        }
        assert_int_equal(run_advise(output, sizeof(output), "1", NULL, NULL), 0);
        assert_string_equal(output, "0\n");
        assert_string_equal(ask(0, 1, 0), "8");
        assert_string_equal(ask(0, 1, 0), "0");
        assert_int_equal(run_advise(output, sizeof(output), "1", NULL, NULL), 69);
        assert_non_null(strstr(output, "8\n"));
}

/* What one caller got. */
struct burst {
        unsigned sent, answered, given[2];
        unsigned most_apart; /* of the nodes' parts at any time */
        uint64_t begin, slowest, all;
};

static uint64_t now(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (uint64_t) ts.tv_sec * 1000000 + (uint64_t) ts.tv_nsec / 1000;
}

static void take_time(struct burst *b) {
        b->answered++;
        b->all = now() - b->begin;
        b->slowest = b->all; /* all are sent at the same time */
}

static int on_pong(sd_bus_message *m, void *userdata, sd_bus_error *e) {
        (void) e;
        if (!sd_bus_message_is_method_error(m, NULL))
                take_time(userdata);
        return 0;
}

static int on_advice(sd_bus_message *m, void *userdata, sd_bus_error *e) {
        struct burst *b = userdata;
        const char *nodes, *why;
        unsigned apart;

        (void) e;
        if (sd_bus_message_read(m, "ss", &nodes, &why) < 0)
                return 0;
        b->given[0] += strcmp(nodes, "0") == 0;
        b->given[1] += strcmp(nodes, "8") == 0;
        apart = b->given[0] > b->given[1] ? b->given[0] - b->given[1] : b->given[1] - b->given[0];
        b->most_apart = HN_MAX(b->most_apart, apart);
        take_time(b);
        return 0;
}

/* No assertions: it may run in a child. */
static void send_at_once(sd_bus *bus, struct burst *b, bool ping) {
        uint64_t until = now() + STAGE_SECONDS * UINT64_C(1000000);

        *b = (struct burst){ .begin = now() };
        for (unsigned i = 0; i < CALLS; i++)
                b->sent += (ping ? sd_bus_call_method_async(bus, NULL, HN_BUS_NAME, HN_BUS_PATH,
                                                            "org.freedesktop.DBus.Peer", "Ping", on_pong, b,
                                                            "")
                                 : sd_bus_call_method_async(bus, NULL, HN_BUS_NAME, HN_BUS_PATH,
                                                            HN_BUS_MANAGER, "Advise", on_advice, b, "uta{sv}",
                                                            1, UINT64_C(4), 0)) >= 0;
        while (b->answered < b->sent && now() < until) {
                int r = sd_bus_process(bus, NULL);

                if (r == 0)
                        r = sd_bus_wait(bus, 1000000);
                if (r < 0)
                        return;
        }
}

static void be_caller(sd_bus *bus, void *userdata) {
        int *out = userdata;
        struct burst b;

        send_at_once(bus, &b, false);
        if (write(*out, &b, sizeof(b)) != sizeof(b))
                _exit(1);
}

static void a_hundred_at_once_are_all_counted(void **state) {
        static const uid_t users[] = { 0, NOBODY, MACHINE_UID };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(users); i++) {
                struct burst b;
                int p[2], status;
                pid_t pid;

                assert_int_equal(pipe(p), 0);
                pid = stage_fork_client(&stage, users[i], be_caller, &p[1]);
                assert_int_equal(waitpid(pid, &status, 0), pid);
                assert_int_equal(status, 0);
                assert_int_equal(read(p[0], &b, sizeof(b)), sizeof(b));
                (void) close(p[0]);
                (void) close(p[1]);
                assert_int_equal(b.sent, CALLS);
                assert_int_equal(b.answered, CALLS);
                assert_int_equal(b.given[0] + b.given[1], CALLS);
                /* Node by node, so that at no time one had more than its part while the other was free. */
                if (b.most_apart > 1)
                        fail_msg("user %u: the nodes were %u apart", users[i], b.most_apart);
        }
}

static void a_hundred_at_once_do_not_wait_long(void **state) {
        uint64_t best_ping = UINT64_MAX, best_advice = UINT64_MAX;

        (void) state;
        /* The best of some, so that it is not the rest of the machine that is measured. */
        for (unsigned i = 0; i < 7; i++) {
                struct burst ping, advice;

                send_at_once(stage.ear, &ping, true);
                send_at_once(stage.ear, &advice, false);
                assert_int_equal(ping.answered, CALLS);
                assert_int_equal(advice.answered, CALLS);
                best_ping = HN_MIN(best_ping, ping.slowest);
                best_advice = HN_MIN(best_advice, advice.slowest);
        }
        print_message("slowest of %u at once: %.2f ms, of as many pings %.2f ms: %.1f times\n", CALLS,
                      (double) best_advice / 1000, (double) best_ping / 1000,
                      (double) best_advice / (double) best_ping);
        assert_true(best_advice <= TIMES_PING * best_ping + GRACE_USEC);
}

/* Connections that leave before anybody knows whose they are. */
static void leave_at_once(sd_bus *bus, void *userdata) {
        (void) userdata;
        for (unsigned i = 0; i < CALLS; i++)
                (void) sd_bus_call_method_async(bus, NULL, HN_BUS_NAME, HN_BUS_PATH, HN_BUS_MANAGER, "Advise",
                                                on_advice, &(struct burst){ .sent = 0 }, "uta{sv}", 1,
                                                UINT64_C(4), 0);
        (void) sd_bus_flush(bus);
        _exit(0);
}

static void who_leaves_holds_nobody_up(void **state) {
        (void) state;
        for (unsigned i = 0; i < 20; i++) {
                int status;
                pid_t pid = stage_fork_client(&stage, NOBODY, leave_at_once, NULL);

                assert_int_equal(waitpid(pid, &status, 0), pid);
                assert_int_equal(status, 0);
        }
        (void) ask(MACHINE_UID, 1, 0);
        stage_wait_notify(&stage, "STATUS=");
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(what_makes_no_sense_is_refused, make, destroy),
                cmocka_unit_test_setup_teardown(it_answers_as_the_command_does, make, destroy),
                cmocka_unit_test_setup_teardown(it_says_what_it_goes_by, make, destroy),
                cmocka_unit_test_setup_teardown(a_user_takes_from_others_no_more_than_half, make, destroy),
                cmocka_unit_test_setup_teardown(both_ways_count_the_same, make, destroy),
                cmocka_unit_test_setup_teardown(a_hundred_at_once_are_all_counted, make, destroy),
                cmocka_unit_test_setup_teardown(a_hundred_at_once_do_not_wait_long, make, destroy),
                cmocka_unit_test_setup_teardown(who_leaves_holds_nobody_up, make, destroy),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
