/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of all methods that the daemon tells of, and of some that it does not, with arguments that wish it
 * ill; by nobody, by a user who owns tasks, and by root. The daemon goes on, keeps nothing, and does nothing
 * for those who may not. The series is the same each time. */
#include "hostile.h"
#include "polkit.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/bus.h"

#define CALLS 1200

static struct stage stage;
static struct members *methods;

/* The tasks are none of those who call. */
static struct hostile hostile = {
        .kinds = { "process", "thread", "cgroup", "process" },
        .targets = { "200", "300", CGROUP_ROOT, "301" },
        .scope = HN_BUS_SCOPE_PATH "/_2fapp_2eslice_2fa_2eservice",
};

static int make(void **state) {
        (void) state;
        stage_need();
        stage_make(&stage);
        stage_start_bus(&stage);
        stage_start_daemon(&stage, NULL);
        stage_wait_name(&stage);
        methods = members_introspect(stage.ear, HN_BUS_PATH, HN_BUS_MANAGER);
        assert_non_null(methods);
        hostile.methods = methods;
        return 0;
}

static int destroy(void **state) {
        (void) state;
        free(methods);
        (void) stage_stop_daemon(&stage);
        stage_destroy(&stage);
        return 0;
}

struct tally {
        unsigned sent, answered, refused, advised;
};

/* A caller: all his calls one after the other, each with an answer of some kind. */
static void attack(sd_bus *bus, void *userdata) {
        struct tally t = { .sent = 0 };
        int *out = userdata;

        for (unsigned i = 0; i < CALLS; i++) {
                sd_bus_message *m = hostile_next(&hostile, bus), *reply = NULL;
                sd_bus_error e = SD_BUS_ERROR_NULL;
                int r;

                if (!m)
                        continue;
                t.sent++;
                r = sd_bus_call(bus, m, 0, &e, &reply);
                t.advised += r >= 0 && sd_bus_message_is_method_call(m, HN_BUS_MANAGER, "Advise");
                if (r >= 0)
                        t.answered++;
                else if (sd_bus_error_has_name(&e, SD_BUS_ERROR_NO_REPLY) ||
                         sd_bus_error_has_name(&e, SD_BUS_ERROR_TIMEOUT) ||
                         sd_bus_error_has_name(&e, SD_BUS_ERROR_SERVICE_UNKNOWN))
                        _exit(3); /* it is gone, or hangs */
                else
                        t.refused++;
                sd_bus_error_free(&e);
                sd_bus_message_unref(m);
                sd_bus_message_unref(reply);
        }
        if (write(*out, &t, sizeof(t)) != sizeof(t))
                _exit(4);
}

static struct tally attack_as(uid_t uid) {
        struct tally t;
        int p[2], status;
        pid_t pid;

        assert_int_equal(pipe2(p, O_CLOEXEC), 0);
        pid = stage_fork_client(&stage, uid, attack, &p[1]);
        (void) close(p[1]);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        assert_int_equal(read(p[0], &t, sizeof(t)), sizeof(t));
        (void) close(p[0]);
        assert_true(t.sent > CALLS / 2);
        assert_true(t.answered > 0 && t.refused > 0);
        assert_true(t.advised > 10);
        return t;
}

static unsigned count_descriptors(void) {
        char path[64];
        unsigned n = 0;
        DIR *dir;

        (void) snprintf(path, sizeof(path), "/proc/%d/fd", stage.daemon_pid);
        dir = opendir(path);
        assert_non_null(dir);
        while (readdir(dir))
                n++;
        (void) closedir(dir);
        return n;
}

static uint64_t resident_kib(void) {
        char path[64], line[256];
        uint64_t kib = 0;
        FILE *f;

        (void) snprintf(path, sizeof(path), "/proc/%d/status", stage.daemon_pid);
        f = fopen(path, "re");
        assert_non_null(f);
        while (fgets(line, sizeof(line), f))
                if (sscanf(line, "VmRSS: %" SCNu64, &kib) == 1)
                        break;
        (void) fclose(f);
        assert_true(kib > 0);
        return kib;
}

static void expect(const char *property, const char *want) {
        struct answer a = { .ok = false };

        stage_get(&stage, &a, HN_BUS_PATH, HN_BUS_MANAGER, property);
        if (!a.ok || strcmp(a.text, want) != 0)
                fail_msg("%s is \"%s\", expected \"%s\"", property, a.text, want);
}

/* Nothing of what was asked for was done, and a look still comes after the other. */
static void expect_untouched(void) {
        char *log = stage_log(&stage);

        expect("Mode", "manage");
        expect("LogLevel", "info");
        expect("Tasks", "5");
        expect("Pins", "0");
        if (strstr(log, "by user") || strstr(log, "asks to") || strstr(log, "reloaded"))
                fail_msg("it did something:\n%s", log);
        free(log);
        stage_wait_notify(&stage, "STATUS=");
        stage_wait_notify(&stage, "STATUS=");
}

static void who_may_not_gets_nothing(void **state) {
        static const uid_t users[] = { NOBODY, MACHINE_UID };
        pid_t polkit = polkit_start(&stage, POLKIT_NO);
        unsigned descriptors = 0;
        uint64_t kib = 0;

        (void) state;
        /* The first round fills caches and pools, the second must not need more. */
        for (unsigned round = 0; round < 3; round++) {
                hostile.seed = UINT64_C(0x9e3779b97f4a7c15) + round;
                for (size_t i = 0; i < HN_ELEMENTS(users); i++)
                        (void) attack_as(users[i]);
                expect_untouched();
                if (round == 0) {
                        descriptors = count_descriptors();
                        kib = resident_kib();
                }
        }
        assert_true(count_descriptors() <= descriptors + 1);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed, and has a better way to find leaks */
        assert_true(resident_kib() <= kib + 4096);
#else
        (void) kib;
#endif
        stage_kill(polkit);
}

/* What root asks for is done where it makes sense; the daemon only has to live through it. */
static void root_cannot_break_it(void **state) {
        (void) state;
        hostile.seed = 7;
        (void) attack_as(0);
        stage_wait_notify(&stage, "STATUS=");
        stage_wait_notify(&stage, "STATUS=");
        expect("Version", HN_VERSION);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(who_may_not_gets_nothing),
                cmocka_unit_test(root_cannot_break_it),
        };

        return cmocka_run_group_tests(tests, make, destroy);
}
