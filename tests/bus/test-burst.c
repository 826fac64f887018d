/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Advise, asked a hundred times at once: that all count each other, and what they have to wait. */
#include "stage.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/bus.h"

#define CALLS 100u

/* The slowest of a hundred calls at once, against that of a hundred pings to the same daemon in the same
 * breath, which sd-bus answers by itself. Seen: 0.6 to 2.6 times, as most of it is the bus; with sanitizers
 * up to 4. With the reservations read for each call it was 3 to 5. The grace is for pings that take next to
 * nothing. */
#define TIMES_PING 8u
#define GRACE_USEC 5000u

static struct stage stage;

static uint64_t now(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (uint64_t) ts.tv_sec * 1000000 + (uint64_t) ts.tv_nsec / 1000;
}

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
        if (stage.daemon_pid > 0)
                (void) stage_stop_daemon(&stage);
        stage_destroy(&stage);
        return 0;
}

/* What one caller got. */
struct burst {
        unsigned sent, answered, given[2];
        unsigned most_apart; /* of the nodes' parts at any time */
        uint64_t begin, slowest, all;
};

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
        struct answer a = { .ok = false };

        (void) state;
        for (unsigned i = 0; i < 20; i++) {
                int status;
                pid_t pid = stage_fork_client(&stage, NOBODY, leave_at_once, NULL);

                assert_int_equal(waitpid(pid, &status, 0), pid);
                assert_int_equal(status, 0);
        }
        stage_call(&stage, MACHINE_UID, &a, "Advise", "uta{sv}", 1, UINT64_C(0), 0);
        assert_true(a.ok);
        stage_wait_notify(&stage, "STATUS=");
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(a_hundred_at_once_are_all_counted, make, destroy),
                cmocka_unit_test_setup_teardown(a_hundred_at_once_do_not_wait_long, make, destroy),
                cmocka_unit_test_setup_teardown(who_leaves_holds_nobody_up, make, destroy),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
