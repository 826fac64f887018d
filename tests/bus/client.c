/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of stage.h that calls as somebody else. */
#include "stage.h"

#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/bus.h"

static void become(uid_t uid) {
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (uid != 0 &&
            (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
                _exit(126);
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* No assertions here: this runs in a child. */
sd_bus *stage_open(const struct stage *s) {
        sd_bus *bus;

        if (sd_bus_new(&bus) < 0 || sd_bus_set_address(bus, s->address) < 0 ||
            sd_bus_set_bus_client(bus, true) < 0 || sd_bus_start(bus) < 0 ||
            sd_bus_set_method_call_timeout(bus, STAGE_SECONDS * UINT64_C(1000000)) < 0)
                _exit(125);
        return bus;
}

static void take_first(sd_bus_message *m, struct answer *a) {
        const char *contents, *text;
        uint64_t t = 0;
        char type;

        if (sd_bus_message_peek_type(m, &type, &contents) <= 0)
                return;
        if (type == 'v') {
                if (sd_bus_message_enter_container(m, 'v', contents) >= 0)
                        take_first(m, a);
                return;
        }
        switch (type) {
        case 's':
        case 'o':
                if (sd_bus_message_read_basic(m, type, &text) >= 0)
                        (void) snprintf(a->text, sizeof(a->text), "%s", text);
                return;
        case 'i':
                if (sd_bus_message_read_basic(m, type, &t) >= 0)
                        (void) snprintf(a->text, sizeof(a->text), "%" PRIi32, (int32_t) t);
                return;
        case 'u':
        case 'b':
        case 't':
                if (sd_bus_message_read_basic(m, type, &t) >= 0)
                        (void) snprintf(a->text, sizeof(a->text), "%" PRIu64, t);
                return;
        case 'a':
                /* strings and numbers of it, one after the other */
                if (sd_bus_message_enter_container(m, 'a', contents) < 0)
                        return;
                while (sd_bus_message_peek_type(m, &type, &contents) > 0) {
                        struct answer *one = calloc(1, sizeof(*one));
                        size_t n = strlen(a->text);

                        if (!one || (type != 's' && type != 'u') || n + 1 >= sizeof(a->text)) {
                                free(one);
                                return;
                        }
                        take_first(m, one);
                        (void) snprintf(a->text + n, sizeof(a->text) - n, "%.*s ", 1000, one->text);
                        free(one);
                }
                return;
        default: return;
        }
}

static void do_call(sd_bus *bus, struct answer *a, const char *path, const char *interface,
                    const char *member, const char *types, va_list ap) {
        sd_bus_message *m = NULL, *reply = NULL;
        sd_bus_error e = SD_BUS_ERROR_NULL;
        int r = sd_bus_message_new_method_call(bus, &m, HN_BUS_NAME, path, interface, member);

        if (r >= 0 && a->interactive)
                r = sd_bus_message_set_allow_interactive_authorization(m, true);
        if (r >= 0 && types && *types)
                r = sd_bus_message_appendv(m, types, ap);
        if (r >= 0)
                r = sd_bus_call(bus, m, 0, &e, &reply);
        a->ok = r >= 0;
        if (r < 0) {
                (void) snprintf(a->error, sizeof(a->error), "%s", e.name ? e.name : strerror(-r));
                (void) snprintf(a->message, sizeof(a->message), "%s", e.message ? e.message : "");
        } else
                take_first(reply, a);
        sd_bus_error_free(&e);
        sd_bus_message_unref(m);
        sd_bus_message_unref(reply);
}

static void write_whole(int fd, const void *data, size_t n) {
        for (const char *p = data; n > 0;) {
                ssize_t k = write(fd, p, n);

                if (k <= 0)
                        _exit(124);
                p += k;
                n -= (size_t) k;
        }
}

void stage_call_on(struct stage *s, uid_t uid, struct answer *a, const char *path, const char *interface,
                   const char *member, const char *types, va_list ap) {
        bool interactive = a->interactive;
        size_t n = 0;
        int p[2], status;
        pid_t pid;

        *a = (struct answer){ .interactive = interactive };
        assert_int_equal(pipe2(p, O_CLOEXEC), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                sd_bus *bus;

                become(uid);
                bus = stage_open(s);
                do_call(bus, a, path, interface, member, types, ap);
                write_whole(p[1], a, sizeof(*a));
                _exit(0);
        }
        (void) close(p[1]);
        while (n < sizeof(*a)) {
                struct pollfd pfd = { .fd = p[0], .events = POLLIN };
                ssize_t k;

                assert_int_equal(poll(&pfd, 1, (STAGE_SECONDS + 10) * 1000), 1);
                k = read(p[0], (char *) a + n, sizeof(*a) - n);
                if (k <= 0)
                        break;
                n += (size_t) k;
        }
        (void) close(p[0]);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        assert_int_equal(n, sizeof(*a));
}

void stage_call(struct stage *s, uid_t uid, struct answer *a, const char *member, const char *types, ...) {
        va_list ap;

        va_start(ap, types);
        stage_call_on(s, uid, a, HN_BUS_PATH, HN_BUS_MANAGER, member, types, ap);
        va_end(ap);
}

static void call_properties(struct stage *s, struct answer *a, const char *path, const char *member,
                            const char *types, ...) {
        va_list ap;

        va_start(ap, types);
        stage_call_on(s, NOBODY, a, path, "org.freedesktop.DBus.Properties", member, types, ap);
        va_end(ap);
}

void stage_get(struct stage *s, struct answer *a, const char *path, const char *interface,
               const char *property) {
        call_properties(s, a, path, "Get", "ss", interface, property);
}

pid_t stage_fork_client(struct stage *s, uid_t uid, void (*f)(sd_bus *bus, void *userdata), void *userdata) {
        pid_t pid = fork();

        assert_true(pid >= 0);
        if (pid == 0) {
                become(uid);
                f(stage_open(s), userdata);
                _exit(0);
        }
        return pid;
}

int stage_run(const char *const *argv, char *output, size_t size) {
        size_t n = 0;
        int p[2], status;
        pid_t pid;

        assert_int_equal(pipe2(p, O_CLOEXEC), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (dup2(p[1], STDOUT_FILENO) < 0 || dup2(p[1], STDERR_FILENO) < 0)
                        _exit(126);
                (void) execv(argv[0], (char **) argv);
                _exit(127);
        }
        (void) close(p[1]);
        for (;;) {
                struct pollfd pfd = { .fd = p[0], .events = POLLIN };
                ssize_t k;

                assert_int_equal(poll(&pfd, 1, STAGE_SECONDS * 1000), 1);
                k = read(p[0], output + n, size - 1 - n);
                if (k <= 0)
                        break;
                n += (size_t) k;
        }
        output[n] = '\0';
        (void) close(p[0]);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        return WEXITSTATUS(status);
}
