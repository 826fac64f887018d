/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Advise, asked a hundred times at once: that all count each other, and what that takes. */
#include "stage.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/bus.h"

#define CALLS 100u

/* What the daemon spends on a hundred calls at once, against what it spends on as many pings, which sd-bus
 * answers by itself. Its CPU time and not the time that callers wait: that is told too, but where others use
 * the machine it goes by who gets how long a turn. Seen: 3 times, with sanitizers 6. The grace is for pings
 * that take next to nothing. */
#define TIMES_PING 12u
#define GRACE_USEC 1000u

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
        unsigned most_apart;            /* of the nodes' parts at any time */
        uint64_t begin, slowest, spent; /* by the daemon, on all */
};

static void take_time(struct burst *b) {
        b->answered++;
        b->slowest = now() - b->begin; /* all are sent at the same time */
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

/* Microseconds of CPU that the daemon has had. */
static uint64_t spent(void) {
        unsigned long long ns = 0;
        char path[64];
        FILE *f;

        (void) snprintf(path, sizeof(path), "/proc/%d/schedstat", stage.daemon_pid);
        f = fopen(path, "re");
        if (f && fscanf(f, "%llu", &ns) != 1)
                ns = 0;
        if (f)
                (void) fclose(f);
        return ns / 1000;
}

/* No assertions: it may run in a child. */
static void send_at_once(sd_bus *bus, struct burst *b, bool ping) {
        uint64_t until = now() + STAGE_SECONDS * UINT64_C(1000000), before = spent();

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
        b->spent = spent() - before;
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

static void a_hundred_at_once_cost_little(void **state) {
        struct burst ping = { .slowest = UINT64_MAX, .spent = UINT64_MAX }, advice = ping;

        (void) state;
        /* The best of some, as a tick may come in between. */
        for (unsigned i = 0; i < 7; i++) {
                struct burst p, a;

                send_at_once(stage.ear, &p, true);
                send_at_once(stage.ear, &a, false);
                assert_int_equal(p.answered, CALLS);
                assert_int_equal(a.answered, CALLS);
                ping.slowest = HN_MIN(ping.slowest, p.slowest);
                ping.spent = HN_MIN(ping.spent, p.spent);
                advice.slowest = HN_MIN(advice.slowest, a.slowest);
                advice.spent = HN_MIN(advice.spent, a.spent);
        }
        print_message(
                "%u at once: the slowest after %.2f ms, of as many pings after %.2f ms: %.1f times; CPU of the "
                "daemon %.2f and %.2f ms: %.1f times\n",
                CALLS, (double) advice.slowest / 1000, (double) ping.slowest / 1000,
                (double) advice.slowest / (double) ping.slowest, (double) advice.spent / 1000,
                (double) ping.spent / 1000, (double) advice.spent / (double) HN_MAX(ping.spent, UINT64_C(1)));
        assert_true(advice.spent > 0);
        assert_true(advice.spent <= TIMES_PING * ping.spent + GRACE_USEC);
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
                cmocka_unit_test_setup_teardown(a_hundred_at_once_cost_little, make, destroy),
                cmocka_unit_test_setup_teardown(who_leaves_holds_nobody_up, make, destroy),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
