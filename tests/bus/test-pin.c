/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pin, Unpin and ListPins: who may, and what is refused to everybody. The targets are processes of this test.
 */
#include "polkit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/bus.h"

static struct stage stage;

enum { OF_USER, OF_ROOT, SETUID, CAPABLE, N_TARGETS };

static pid_t targets[N_TARGETS];

static void become_target(int kind, int ready) {
        cap_t caps;

        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (kind == CAPABLE)
                (void) prctl(PR_SET_KEEPCAPS, 1);
        if (kind == OF_USER || kind == CAPABLE) {
                if (setresgid(MACHINE_UID, MACHINE_UID, MACHINE_UID) < 0 ||
                    setresuid(MACHINE_UID, MACHINE_UID, MACHINE_UID) < 0)
                        _exit(1);
        } else if (kind == SETUID && setresuid(MACHINE_UID, 0, 0) < 0)
                _exit(1);
        if (kind == CAPABLE) {
                caps = cap_from_text("cap_net_raw=p");
                if (!caps || cap_set_proc(caps) < 0)
                        _exit(1);
        }
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void) prctl(PR_SET_DUMPABLE, 1);
        if (write(ready, "", 1) != 1)
                _exit(1);
        for (;;)
                (void) pause();
}

static pid_t start_target(int kind) {
        char byte;
        pid_t pid;
        int p[2];

        assert_int_equal(pipe2(p, O_CLOEXEC), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
                become_target(kind, p[1]);
        (void) close(p[1]);
        assert_int_equal(read(p[0], &byte, 1), 1);
        (void) close(p[0]);
        return pid;
}

static int make(void **state) {
        (void) state;
        stage_need();
        if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
                fputs("SKIP: two CPUs are needed, to be taken for two nodes\n", stderr);
                exit(77);
        }
        stage_make(&stage);
        for (int i = 0; i < N_TARGETS; i++)
                targets[i] = start_target(i);
        stage_start_bus(&stage);
        stage_start_split_daemon(&stage);
        stage_wait_name(&stage);
        return 0;
}

static int destroy(void **state) {
        (void) state;
        (void) stage_stop_daemon(&stage);
        for (int i = 0; i < N_TARGETS; i++)
                stage_kill(targets[i]);
        stage_destroy(&stage);
        return 0;
}

static void pin(uid_t uid, struct answer *a, const char *kind, pid_t target, const char *nodes, bool pages) {
        char number[16];

        (void) snprintf(number, sizeof(number), "%d", target);
        stage_call(&stage, uid, a, "Pin", "ssssbts", kind, number, nodes, "", (int) pages, UINT64_C(3600),
                   "by a test");
}

static void expect_pins(unsigned n) {
        struct answer a = { .ok = false };
        char want[16];

        (void) snprintf(want, sizeof(want), "%u", n);
        stage_get(&stage, &a, HN_BUS_PATH, HN_BUS_MANAGER, "Pins");
        assert_true(a.ok);
        assert_string_equal(a.text, want);
}

static void expect_denied(const struct answer *a, const char *action) {
        if (a->ok)
                fail_msg("it was carried out: %s", a->text);
        assert_string_equal(a->error, SD_BUS_ERROR_ACCESS_DENIED);
        if (!strstr(a->message, action))
                fail_msg("\"%s\" does not name %s", a->message, action);
}

static void unpin(uid_t uid, struct answer *a, const char *id) {
        stage_call(&stage, uid, a, "Unpin", "t", (uint64_t) strtoull(id, NULL, 10));
}

static void an_owner_pins_and_unpins_without_leave(void **state) {
        sd_bus_message *reply = NULL;
        const char *kind, *target, *nodes, *cpus, *comm, *why;
        struct answer a = { .ok = false }, b = { .ok = false };
        uint64_t id, since, expires;
        char number[32];
        uint32_t owner;
        int pages;

        (void) state;
        stage_forget(&stage);
        pin(MACHINE_UID, &a, "process", targets[OF_USER], "0", false);
        if (!a.ok)
                fail_msg("%s: %s", a.error, a.message);
        stage_hear(&stage, "PinAdded", " 1000");
        stage_hear(&stage, "PropertiesChanged " HN_BUS_PATH, "Pins 1");

        assert_true(sd_bus_call_method(stage.ear, HN_BUS_NAME, HN_BUS_PATH, HN_BUS_MANAGER, "ListPins", NULL,
                                       &reply, "") >= 0);
        assert_true(sd_bus_message_enter_container(reply, 'a', "(tsssssbuttsas)") > 0);
        assert_true(sd_bus_message_read(reply, "(tsssssbuttsas)", &id, &kind, &target, &nodes, &cpus, &comm,
                                        &pages, &owner, &since, &expires, &why, 0) > 0);
        (void) snprintf(number, sizeof(number), "%" PRIu64, id);
        assert_string_equal(number, a.text);
        (void) snprintf(number, sizeof(number), "%d", targets[OF_USER]);
        assert_string_equal(target, number);
        assert_string_equal(kind, "process");
        assert_string_equal(nodes, "0");
        assert_string_equal(cpus, "");
        assert_string_equal(comm, "bus-pin");
        assert_string_equal(why, "by a test");
        assert_int_equal(owner, MACHINE_UID);
        assert_int_equal(pages, 0);
        /* Both are told by the daemon, one after the other. */
        assert_in_range(expires - since, UINT64_C(3590000000), UINT64_C(3600000000));
        sd_bus_message_unref(reply);

        /* explain says who holds it */
        stage_call(&stage, NOBODY, &b, "Explain", "u", (uint32_t) targets[OF_USER]);
        assert_true(b.ok);
        assert_non_null(strstr(b.text, "\"owner\":1000"));
        assert_non_null(strstr(b.text, "by a test"));

        unpin(MACHINE_UID, &b, a.text);
        assert_true(b.ok);
        stage_hear(&stage, "PinRemoved", a.text);
        expect_pins(0);
        unpin(MACHINE_UID, &b, a.text);
        assert_string_equal(b.error, HN_BUS_NO_SUCH_PIN);
}

static void what_is_not_ones_own_needs_leave(void **state) {
        static const struct {
                uid_t uid;
                int target;
        } rows[] = {
                { NOBODY, OF_USER },     { NOBODY, OF_ROOT },      { MACHINE_UID, OF_ROOT },
                { MACHINE_UID, SETUID }, { MACHINE_UID, CAPABLE }, { NOBODY, SETUID },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                cpu_set_t before, after;
                struct answer a = { .ok = false };

                assert_int_equal(sched_getaffinity(targets[rows[i].target], sizeof(before), &before), 0);
                pin(rows[i].uid, &a, "process", targets[rows[i].target], "0", false);
                expect_denied(&a, "org.homenode1.pin");
                pin(rows[i].uid, &a, "thread", targets[rows[i].target], "0", false);
                expect_denied(&a, "org.homenode1.pin");
                pin(rows[i].uid, &a, "process", targets[rows[i].target], "0", true);
                expect_denied(&a, "org.homenode1.move-pages");
                expect_pins(0);
                stage_wait_notify(&stage, "STATUS=");
                assert_int_equal(sched_getaffinity(targets[rows[i].target], sizeof(after), &after), 0);
                assert_true(CPU_EQUAL(&before, &after));
        }
}

static void a_cgroup_is_nobodys_own(void **state) {
        struct answer a = { .ok = false };

        (void) state;
        stage_call(&stage, MACHINE_UID, &a, "Pin", "ssssbts", "cgroup", "/user.slice", "0", "", 0,
                   UINT64_C(60), "");
        expect_denied(&a, "org.homenode1.pin");
        expect_pins(0);
}

static void a_pin_belongs_to_who_asked_for_it(void **state) {
        struct answer a = { .ok = false }, b = { .ok = false };
        pid_t polkit;

        (void) state;
        pin(MACHINE_UID, &a, "process", targets[OF_USER], "0", false);
        assert_true(a.ok);
        unpin(NOBODY, &b, a.text);
        expect_denied(&b, "org.homenode1.pin");
        expect_pins(1);

        /* Whom polkit lets may take it back, and pin what is not his; that is then his. */
        polkit = polkit_start(&stage, POLKIT_YES);
        unpin(NOBODY, &b, a.text);
        assert_true(b.ok);
        pin(NOBODY, &a, "process", targets[OF_USER], "1", false);
        assert_true(a.ok);
        stage_kill(polkit);
        pin(MACHINE_UID, &b, "process", targets[OF_USER], "0", false);
        assert_false(b.ok);
        assert_string_equal(b.error, HN_BUS_CONFLICT);
        unpin(MACHINE_UID, &b, a.text);
        expect_denied(&b, "org.homenode1.pin");
        unpin(0, &b, a.text);
        assert_true(b.ok);
        expect_pins(0);
}

static void root_pins_anything_of_ours(void **state) {
        struct answer a = { .ok = false };

        (void) state;
        for (int i = 0; i < N_TARGETS; i++) {
                struct answer b = { .ok = false };

                pin(0, &a, "process", targets[i], "1", false);
                if (!a.ok)
                        fail_msg("%s: %s", a.error, a.message);
                unpin(0, &b, a.text);
                assert_true(b.ok);
        }
        expect_pins(0);
}

static void nonsense_is_refused_with_what_to_do(void **state) {
        static char long_list[40000], long_path[6000], long_why[300];
        const struct {
                const char *kind, *target, *nodes, *cpus;
                uint64_t seconds;
                const char *why, *error;
        } rows[] = {
                { "", "%d", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "Process", "%d", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "unit", "%d", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "0", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "-1", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", " %d", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "%dx", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "2147483648", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "99999999999999999999999999999999999999999", "0", "", 0, "",
                  SD_BUS_ERROR_INVALID_ARGS },
                { "process", "2147483647", "0", "", 0, "", HN_BUS_NO_SUCH_TASK },
                { "process", "%d", "", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "%d", " ", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "%d", "1-0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "%d", "all", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "%d", "0-4294967295", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "%d", long_list, "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "%d", "7", "", 0, "", HN_BUS_NO_SUCH_NODE },
                { "process", "%d", "0-8191", "", 0, "", HN_BUS_NO_SUCH_NODE },
                { "process", "%d", "0", "x", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "%d", "0", long_list, 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "%d", "0", "8191", 0, "", HN_BUS_NOTHING_LEFT },
                { "process", "%d", "0", "", UINT64_MAX, "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "%d", "0", "", UINT64_C(315360001), "", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "%d", "0", "", 0, "a\nb", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "%d", "0", "", 0, "\x1b[2J", SD_BUS_ERROR_INVALID_ARGS },
                { "process", "%d", "0", "", 0, long_why, SD_BUS_ERROR_INVALID_ARGS },
                { "cgroup", "", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "cgroup", "/", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "cgroup", "///", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "cgroup", "..", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "cgroup", "/a/../b", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "cgroup", "a//b", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "cgroup", "./a", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "cgroup", "a/..", "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "cgroup", long_path, "0", "", 0, "", SD_BUS_ERROR_INVALID_ARGS },
                { "cgroup", "/hn-none.slice/x.service/", "0", "", 0, "", HN_BUS_NO_SUCH_CGROUP },
        };
        pid_t polkit = polkit_start(&stage, POLKIT_NO);

        (void) state;
        for (size_t i = 0; i + 2 < sizeof(long_list); i += 2)
                memcpy(long_list + i, "0,", 2);
        long_list[sizeof(long_list) - 2] = '0';
        memset(long_path, 'a', sizeof(long_path) - 1);
        memset(long_why, 'y', sizeof(long_why) - 1);
        stage_forget(&stage);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                const char *mark = strstr(rows[i].target, "%d");
                char target[8192];
                struct answer a = { .ok = false };

                if (mark)
                        (void) snprintf(target, sizeof(target), "%.*s%d%s", (int) (mark - rows[i].target),
                                        rows[i].target, targets[OF_USER], mark + 2);
                else
                        (void) snprintf(target, sizeof(target), "%s", rows[i].target);
                stage_call(&stage, 0, &a, "Pin", "ssssbts", rows[i].kind, target, rows[i].nodes, rows[i].cpus,
                           0, rows[i].seconds, rows[i].why);
                if (a.ok || strcmp(a.error, rows[i].error) != 0)
                        fail_msg("row %zu: \"%s: %s\", expected %s", i, a.error, a.message, rows[i].error);
                /* Each says what to do. */
                if (!strpbrk(a.message, ":"))
                        fail_msg("row %zu: \"%s\"", i, a.message);
        }
        expect_pins(0);
        assert_false(stage_has_heard(&stage, "Test.Asked"));
        stage_kill(polkit);
}

static void a_thread_has_no_memory_of_its_own(void **state) {
        struct answer a = { .ok = false };

        (void) state;
        pin(0, &a, "thread", targets[OF_USER], "0", true);
        assert_string_equal(a.error, SD_BUS_ERROR_INVALID_ARGS);
        expect_pins(0);
}

static void who_is_gone_is_not_pinned(void **state) {
        pid_t target = start_target(OF_ROOT);
        struct answer a = { .ok = false };

        (void) state;
        stage_kill(target);
        pin(0, &a, "process", target, "0", false);
        assert_string_equal(a.error, HN_BUS_NO_SUCH_TASK);
        expect_pins(0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_owner_pins_and_unpins_without_leave),
                cmocka_unit_test(what_is_not_ones_own_needs_leave),
                cmocka_unit_test(a_cgroup_is_nobodys_own),
                cmocka_unit_test(a_pin_belongs_to_who_asked_for_it),
                cmocka_unit_test(root_pins_anything_of_ours),
                cmocka_unit_test(nonsense_is_refused_with_what_to_do),
                cmocka_unit_test(a_thread_has_no_memory_of_its_own),
                cmocka_unit_test(who_is_gone_is_not_pinned),
        };

        return cmocka_run_group_tests(tests, make, destroy);
}
