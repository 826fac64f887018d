/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Advise: what it takes and refuses; that answers count each other, whichever way they were asked for; that
 * no user takes the machine from others by asking; and the command, which asks or does without. */
#include "stage.h"

#include <jansson.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/bus.h"

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

/* The command, told where the daemon is. Returns its exit code and who it says answered. */
static int ask_by_command(const char *address, char *ret_by, size_t size, const char *a, const char *b) {
        const char *argv[] = { HN_HOMENODE, "advise", "--json", "--no-reserve", address, a, b, NULL };
        char output[65536];
        const char *by;
        json_t *o;
        int r;

        r = stage_run(argv, output, sizeof(output));
        /* A complaint may come behind it. */
        o = json_loads(output, JSON_DISABLE_EOF_CHECK, NULL);
        by = json_string_value(json_object_get(o, "answered_by"));
        (void) snprintf(ret_by, size, "%.1000s", by ? by : output);
        json_decref(o);
        return r;
}

static void the_command_asks_the_daemon(void **state) {
        char address[160], by[1024], output[512];
        const char *argv[] = { HN_HOMENODE, "advise", address, "1.5:10", "--explain", NULL };

        (void) state;
        (void) snprintf(address, sizeof(address), "--bus-address=%s", stage.address);
        assert_int_equal(ask_by_command(address, by, sizeof(by), "1", NULL), 0);
        assert_string_equal(by, "homenoded");
        assert_int_equal(ask_by_command(address, by, sizeof(by), "--nodes=8", "1:0.5G"), 64);
        assert_int_equal(ask_by_command(address, by, sizeof(by), "--nodes=8", "1:1023K"), 0);
        assert_string_equal(by, "homenoded");
        /* This machine has a node 0, and the daemon's no node 5: who is refused looks for himself. */
        assert_int_equal(ask_by_command(address, by, sizeof(by), "--nodes=1000", "1"), 66);
        assert_int_equal(ask_by_command(address, by, sizeof(by), "--nodes=", "1"), 64);
        assert_int_equal(ask_by_command(address, by, sizeof(by), "--near=/no/such", "1"), 66);
        /* The daemon's machine is full by then. */
        assert_int_equal(ask_by_command(address, by, sizeof(by), "5", NULL), 69);
        assert_string_equal(by, "homenoded");
        assert_int_equal(stage_run(argv, output, sizeof(output)), 0);
        assert_memory_equal(output, "0\n\nNODE", 7);
        argv[4] = NULL;
        assert_int_equal(stage_run(argv, output, sizeof(output)), 0);
        assert_string_equal(output, "8\n");
}

/* Answers to everything, and nothing of it is an advice. */
static int talk_nonsense(sd_bus_message *m, void *userdata, sd_bus_error *e) {
        static const char *const answers[] = {
                "",
                "{}",
                "[]",
                "{\"list\":\"0\"",
                "{\"list\":\"0\",\"fits\":1,\"nodes\":[],\"why\":[]}",
                "{\"list\":\"a\",\"fits\":true,\"nodes\":[],\"why\":[]}",
                "{\"list\":\"0\",\"fits\":true,\"nodes\":{},\"why\":[]}",
        };
        static size_t next;

        (void) userdata;
        (void) e;
        if (!sd_bus_message_is_method_call(m, HN_BUS_MANAGER, "Advise"))
                return 0;
        if (next == HN_ELEMENTS(answers))
                return sd_bus_reply_method_return(m, "u", 0);
        next++;
        return sd_bus_reply_method_return(m, "ss", next == 6 ? "a" : "0", answers[next - 1]);
}

static void be_nonsense(sd_bus *bus, void *userdata) {
        (void) userdata;
        if (sd_bus_add_object(bus, NULL, HN_BUS_PATH, talk_nonsense, NULL) < 0 ||
            sd_bus_request_name(bus, HN_BUS_NAME, 0) < 0)
                _exit(1);
        for (;;)
                if (sd_bus_process(bus, NULL) == 0)
                        (void) sd_bus_wait(bus, UINT64_MAX);
}

static bool fits_or_not(int status) {
        return status == 0 || status == 69;
}

static void without_an_answer_the_command_looks_for_itself(void **state) {
        struct sockaddr_un sa = { .sun_family = AF_UNIX };
        char address[160], by[1024];
        uint64_t begin;
        pid_t other;
        int fd;

        (void) state;
        (void) snprintf(address, sizeof(address), "--bus-address=%s", stage.address);
        /* One that is there and does not answer. */
        assert_int_equal(kill(stage.daemon_pid, SIGSTOP), 0);
        begin = now();
        assert_true(fits_or_not(ask_by_command(address, by, sizeof(by), "1", NULL)));
        assert_string_equal(by, "homenode");
        assert_true(now() - begin >= 1000000);
        assert_int_equal(kill(stage.daemon_pid, SIGCONT), 0);
        (void) stage_stop_daemon(&stage);

        /* None; one that is not what it seems; no bus. */
        assert_true(fits_or_not(ask_by_command(address, by, sizeof(by), "1", NULL)));
        assert_string_equal(by, "homenode");
        other = stage_fork_client(&stage, 0, be_nonsense, NULL);
        stage_wait_name(&stage);
        for (unsigned i = 0; i < 9; i++) {
                assert_true(fits_or_not(ask_by_command(address, by, sizeof(by), "1", NULL)));
                assert_string_equal(by, "homenode");
        }
        stage_kill(other);
        assert_true(fits_or_not(
                ask_by_command("--bus-address=unix:path=/nowhere/bus", by, sizeof(by), "1", NULL)));
        assert_string_equal(by, "homenode");
        assert_true(fits_or_not(ask_by_command("--bus-address=what", by, sizeof(by), "1", NULL)));
        assert_string_equal(by, "homenode");

        /* A bus that takes the connection and says nothing. */
        (void) snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/mute", stage.dir);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(fd, (struct sockaddr *) &sa, sizeof(sa)), 0);
        assert_int_equal(listen(fd, 5), 0);
        (void) snprintf(address, sizeof(address), "--bus-address=unix:path=%s", sa.sun_path);
        assert_true(fits_or_not(ask_by_command(address, by, sizeof(by), "1", NULL)));
        assert_string_equal(by, "homenode");
        (void) close(fd);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(what_makes_no_sense_is_refused, make, destroy),
                cmocka_unit_test_setup_teardown(it_answers_as_the_command_does, make, destroy),
                cmocka_unit_test_setup_teardown(it_says_what_it_goes_by, make, destroy),
                cmocka_unit_test_setup_teardown(a_user_takes_from_others_no_more_than_half, make, destroy),
                cmocka_unit_test_setup_teardown(both_ways_count_the_same, make, destroy),
                cmocka_unit_test_setup_teardown(the_command_asks_the_daemon, make, destroy),
                cmocka_unit_test_setup_teardown(without_an_answer_the_command_looks_for_itself, make,
                                                destroy),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
