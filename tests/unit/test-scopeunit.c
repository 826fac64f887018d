/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "base/usec.h"
#include "rows.h"
#include "scopeunit.h"

/* A service manager of the test's own at the other end of a socket: no bus between. */
struct manager {
        const char *error;  /* answers with it */
        const char *result; /* of the job; NULL: never says */
        bool early;         /* says it before it answers */
        bool noise;         /* and speaks of others' jobs first */
        bool hang_up;
};

static void say_removed(sd_bus *bus, const char *unit, const char *result) {
        (void) sd_bus_emit_signal(bus, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
                                  "JobRemoved", "uoss", 7U, "/org/freedesktop/systemd1/job/7", unit, result);
}

/* Everything that was asked for has to be as expected, else the answer is an error. */
static bool is_as_wanted(sd_bus_message *m, const char **ret_unit) {
        const char *mode, *key, *type;
        unsigned seen = 0;

        if (sd_bus_message_read(m, "ss", ret_unit, &mode) < 0 || strcmp(mode, "fail") != 0 ||
            sd_bus_message_enter_container(m, 'a', "(sv)") < 0)
                return false;
        while (sd_bus_message_enter_container(m, 'r', "sv") > 0) {
                const char *text = "";

                if (sd_bus_message_read(m, "s", &key) < 0 || sd_bus_message_peek_type(m, NULL, &type) < 0)
                        return false;
                if (strcmp(type, "au") == 0) {
                        uint32_t pid = 0;

                        if (sd_bus_message_read(m, "v", "au", 1, &pid) < 0)
                                return false;
                        seen += strcmp(key, "PIDs") == 0 && pid == 4711;
                } else {
                        if (sd_bus_message_read(m, "v", "s", &text) < 0)
                                return false;
                        seen += strcmp(key, "Slice") == 0 && strcmp(text, "a.slice") == 0;
                        seen += strcmp(key, "Description") == 0 && strcmp(text, "words") == 0;
                        seen += strcmp(key, "CollectMode") == 0 && strcmp(text, "inactive-or-failed") == 0;
                }
                if (sd_bus_message_exit_container(m) < 0)
                        return false;
        }
        return seen == 4;
}

static int on_call(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const struct manager *manager = userdata;
        sd_bus *bus = sd_bus_message_get_bus(m);
        const char *unit = "";

        if (!sd_bus_message_is_method_call(m, "org.freedesktop.systemd1.Manager", "StartTransientUnit"))
                return 0;
        if (manager->hang_up)
                _exit(0);
        if (!is_as_wanted(m, &unit))
                return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, "not what the test wants");
        if (manager->error)
                return sd_bus_error_set(error, manager->error, "Because.");
        if (manager->noise) {
                say_removed(bus, "other.scope", "failed");
                (void) sd_bus_emit_signal(bus, "/org/freedesktop/systemd1",
                                          "org.freedesktop.systemd1.Manager", "JobRemoved", "s", unit);
        }
        if (manager->early)
                say_removed(bus, unit, manager->result);
        (void) sd_bus_reply_method_return(m, "o", "/org/freedesktop/systemd1/job/7");
        if (!manager->early && manager->result)
                say_removed(bus, unit, manager->result);
        return 1;
}

static pid_t serve(const struct manager *manager, int fd, int other) {
        pid_t pid = fork();
        sd_bus *bus = NULL;
        sd_id128_t id = SD_ID128_MAKE(1, 2, 3, 4, 5, 6, 7, 8, 9, a, b, c, d, e, f, 0);

        if (pid != 0)
                return pid;
        (void) close(other);
        (void) alarm(30);
        if (sd_bus_new(&bus) < 0 || sd_bus_set_fd(bus, fd, fd) < 0 || sd_bus_set_server(bus, 1, id) < 0 ||
            sd_bus_set_anonymous(bus, 1) < 0 ||
            sd_bus_add_filter(bus, NULL, on_call, (void *) (uintptr_t) manager) < 0 || sd_bus_start(bus) < 0)
                _exit(1);
        for (;;) {
                int r = sd_bus_process(bus, NULL);

                if (r < 0 || (r == 0 && sd_bus_wait(bus, UINT64_MAX) < 0))
                        _exit(0);
        }
}

static const struct {
        struct manager manager;
        uint64_t patience;
        int r;
        const char *say;
} rows[] = {
        { { .hang_up = true }, 10 * HN_USEC_PER_SEC, -ECONNRESET, "systemd does not start u.scope" },
        { { .error = "org.freedesktop.systemd1.UnitExists" }, 10 * HN_USEC_PER_SEC, -EEXIST, "runs already" },
        { { .error = SD_BUS_ERROR_ACCESS_DENIED }, 10 * HN_USEC_PER_SEC, -EACCES, "Because. Run it as root" },
        { { .error = SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED },
          10 * HN_USEC_PER_SEC,
          -EACCES,
          "as root" },
        { { .error = SD_BUS_ERROR_INVALID_ARGS }, 10 * HN_USEC_PER_SEC, -EINVAL, "u.scope: Because" },
        { { .result = NULL }, 50 * HN_USEC_PER_MSEC, -ETIMEDOUT, "does not say" },
        { { .result = "failed" }, 10 * HN_USEC_PER_SEC, -ECANCELED, "\"failed\"" },
        { { .result = "canceled", .early = true }, 10 * HN_USEC_PER_SEC, -ECANCELED, "\"canceled\"" },
        { { .result = "" }, 10 * HN_USEC_PER_SEC, -ECANCELED, "\"unknown\"" },
        { { .result = "done" }, 10 * HN_USEC_PER_SEC, 0, NULL },
        { { .result = "done", .early = true }, 10 * HN_USEC_PER_SEC, 0, NULL },
        { { .result = "done", .noise = true }, 10 * HN_USEC_PER_SEC, 0, NULL },
};

static void a_scope_is_asked_for(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_why why = HN_WHY_NULL;
                sd_bus *bus = NULL;
                int fds[2], status;
                pid_t pid;

                assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
                pid = serve(&rows[i].manager, fds[0], fds[1]);
                assert_true(pid > 0);
                (void) close(fds[0]);
                assert_true(sd_bus_new(&bus) >= 0);
                assert_true(sd_bus_set_fd(bus, fds[1], fds[1]) >= 0);
                assert_true(sd_bus_start(bus) >= 0);
                ROW_EQUAL(
                        i,
                        hn_scope_unit_start(bus, "u.scope", "a.slice", "words", 4711, rows[i].patience, &why),
                        rows[i].r);
                if (rows[i].say ? !strstr(why.text, rows[i].say) : why.text[0] != '\0')
                        fail_msg("row %zu: it says \"%s\"", i, why.text);
                sd_bus_flush_close_unref(bus);
                (void) kill(pid, SIGKILL);
                assert_int_equal(waitpid(pid, &status, 0), pid);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = { cmocka_unit_test(a_scope_is_asked_for) };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
