/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/bus.h"

#define BUS_CONFIG                                                                                            \
        "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\"\n"                \
        " \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n"                                 \
        "<busconfig><type>system</type><listen>unix:path=%s/bus</listen><auth>EXTERNAL</auth>\n"              \
        "<policy context=\"default\"><allow user=\"*\"/><deny own=\"*\"/><deny send_type=\"method_call\"/>\n" \
        "<allow send_type=\"signal\"/><allow send_requested_reply=\"true\" send_type=\"method_return\"/>\n"   \
        "<allow send_requested_reply=\"true\" send_type=\"error\"/><allow receive_type=\"method_call\"/>\n"   \
        "<allow receive_type=\"method_return\"/><allow receive_type=\"error\"/>\n"                            \
        "<allow receive_type=\"signal\"/><allow send_destination=\"org.freedesktop.DBus\"/>\n"                \
        "<allow send_destination=\"org.freedesktop.PolicyKit1\"/></policy>\n"                                 \
        "<policy user=\"root\"><allow own=\"org.freedesktop.PolicyKit1\"/></policy>\n"                        \
        "<include>" HN_SRCDIR "/conf/org.homenode1.conf</include></busconfig>\n"

static uint64_t now_usec(void) {
        struct timespec ts;

        assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &ts), 0);
        return (uint64_t) ts.tv_sec * 1000000 + (uint64_t) ts.tv_nsec / 1000;
}

static uint64_t deadline(void) {
        return now_usec() + STAGE_SECONDS * UINT64_C(1000000);
}

void stage_need(void) {
        if (geteuid() != 0) {
                fputs("SKIP: callers of several users need root\n", stderr);
                exit(77);
        }
        if (access("/usr/bin/dbus-daemon", X_OK) < 0) {
                fputs("SKIP: dbus-daemon is not installed\n", stderr);
                exit(77);
        }
}

static void write_file(const struct stage *s, const char *name, const char *text) {
        char path[128];
        FILE *f;

        (void) snprintf(path, sizeof(path), "%s/%s", s->dir, name);
        f = fopen(path, "we");
        assert_non_null(f);
        assert_true(fputs(text, f) >= 0);
        assert_int_equal(fclose(f), 0);
}

void stage_write_config(const struct stage *s, const char *text) {
        write_file(s, "homenode.conf", text);
}

/* In a process of its own: a daemon that nobody listens to would wait once a few words are in the socket. */
static void listen_for_notify(struct stage *s) {
        struct sockaddr_un sa = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), p[2];
        char buf[1024];

        (void) snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/notify", s->dir);
        assert_true(fd >= 0);
        assert_int_equal(bind(fd, (struct sockaddr *) &sa, sizeof(sa)), 0);
        assert_int_equal(pipe2(p, O_CLOEXEC | O_NONBLOCK), 0);
        s->listener_pid = fork();
        assert_true(s->listener_pid >= 0);
        if (s->listener_pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;) {
                        ssize_t n = recv(fd, buf, sizeof(buf) - 1, 0);

                        if (n <= 0)
                                _exit(1);
                        /* A full pipe means that nobody waits for a word. */
                        if (write(p[1], buf, (size_t) n) < 0 && errno != EAGAIN)
                                _exit(1);
                }
        }
        (void) close(fd);
        (void) close(p[1]);
        s->notify = p[0];
}

void stage_make(struct stage *s) {
        char text[2048];

        *s = (struct stage){ .bus_pid = 0 };
        strcpy(s->dir, "/tmp/hn-bus-XXXXXX");
        assert_non_null(mkdtemp(s->dir));
        assert_int_equal(chmod(s->dir, 0755), 0);
        (void) snprintf(text, sizeof(text), "%s/run", s->dir);
        assert_int_equal(mkdir(text, 0755), 0);
        (void) snprintf(s->address, sizeof(s->address), "unix:path=%s/bus", s->dir);
        (void) snprintf(text, sizeof(text), BUS_CONFIG, s->dir);
        write_file(s, "bus.conf", text);
        stage_write_config(s, STAGE_CONFIG);
        listen_for_notify(s);
        machine_make(&s->tree);
        s->heard = strdup("");
        assert_non_null(s->heard);
}

void stage_destroy(struct stage *s) {
        s->ear = sd_bus_close_unref(s->ear);
        if (s->bus_pid > 0)
                stage_stop_bus(s);
        (void) close(s->notify);
        stage_kill(s->listener_pid);
        hn_tree_drop(&s->tree);
        free(s->heard);
        assert_int_equal(nftw(s->dir, hn_tree_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* In the child: whatever becomes of the test, this process ends with it. */
static void be_child(const struct stage *s, const char *log) {
        char path[128];
        int fd;

        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!log)
                return;
        (void) snprintf(path, sizeof(path), "%s/%s", s->dir, log);
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
                _exit(126);
}

/* sd-bus prints nothing that helps where a bus is not there yet; its address line says that it is. */
void stage_start_bus(struct stage *s) {
        char config[128], print[32], line[256];
        int p[2];

        assert_int_equal(pipe2(p, O_CLOEXEC), 0);
        (void) snprintf(config, sizeof(config), "--config-file=%s/bus.conf", s->dir);
        s->bus_pid = fork();
        assert_true(s->bus_pid >= 0);
        if (s->bus_pid == 0) {
                int fd = fcntl(p[1], F_DUPFD, 10);

                be_child(s, "bus.log");
                (void) snprintf(print, sizeof(print), "--print-address=%d", fd);
                execl("/usr/bin/dbus-daemon", "dbus-daemon", config, "--nofork", "--nopidfile", print, NULL);
                _exit(127);
        }
        (void) close(p[1]);
        assert_true(read(p[0], line, sizeof(line)) > 0);
        (void) close(p[0]);
        s->ear = sd_bus_close_unref(s->ear);
        s->ear = stage_connect(s);
}

void stage_kill(pid_t pid) {
        int status;

        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
}

void stage_stop_bus(struct stage *s) {
        char path[128];

        stage_kill(s->bus_pid);
        s->bus_pid = 0;
        s->ear = sd_bus_close_unref(s->ear);
        (void) snprintf(path, sizeof(path), "%s/bus", s->dir);
        (void) unlink(path);
}

/* One line of what was heard: basic arguments only, which ours are, and of an array or variant its strings.
 */
static void print_arguments(sd_bus_message *m, FILE *f) {
        const char *contents;
        char type;

        while (sd_bus_message_peek_type(m, &type, &contents) > 0) {
                union {
                        const char *s;
                        uint64_t t;
                        uint32_t u;
                        int32_t i;
                } v;

                if (type == 'a' || type == 'v' || type == 'e' || type == 'r') {
                        if (sd_bus_message_enter_container(m, type, contents) < 0)
                                return;
                        print_arguments(m, f);
                        if (sd_bus_message_exit_container(m) < 0)
                                return;
                        continue;
                }
                if (sd_bus_message_read_basic(m, type, &v) < 0)
                        return;
                switch (type) {
                case 's':
                case 'o':
                case 'g': fprintf(f, " %s", v.s); break;
                case 't': fprintf(f, " %" PRIu64, v.t); break;
                case 'u': fprintf(f, " %" PRIu32, v.u); break;
                case 'b':
                case 'i': fprintf(f, " %" PRIi32, v.i); break;
                default: fprintf(f, " ?"); break;
                }
        }
}

static int on_signal(sd_bus_message *m, void *userdata, sd_bus_error *e) {
        struct stage *s = userdata;
        char *text = NULL;
        size_t n = 0;
        FILE *f = open_memstream(&text, &n);

        (void) e;
        assert_non_null(f);
        fprintf(f, "%s%s.%s %s", s->heard, sd_bus_message_get_interface(m), sd_bus_message_get_member(m),
                sd_bus_message_get_path(m));
        print_arguments(m, f);
        fputc('\n', f);
        assert_int_equal(fclose(f), 0);
        free(s->heard);
        s->heard = text;
        s->n_heard = n;
        return 0;
}

sd_bus *stage_connect(const struct stage *s) {
        sd_bus *bus;

        assert_true(sd_bus_new(&bus) >= 0);
        assert_true(sd_bus_set_address(bus, s->address) >= 0);
        assert_true(sd_bus_set_bus_client(bus, true) >= 0);
        assert_true(sd_bus_start(bus) >= 0);
        assert_true(sd_bus_set_method_call_timeout(bus, STAGE_SECONDS * UINT64_C(1000000)) >= 0);
        assert_true(sd_bus_add_match(bus, NULL, "type='signal'", on_signal, (void *) s) >= 0);
        return bus;
}

/* `argv` has room for what is common to both kinds. */
static void start(struct stage *s, const char **argv, int n, const char *const *more) {
        char config[128], run[128], bus[160], notify[128];

        (void) snprintf(config, sizeof(config), "--config=%s/homenode.conf", s->dir);
        (void) snprintf(run, sizeof(run), "--run-dir=%s/run", s->dir);
        (void) snprintf(bus, sizeof(bus), "--bus-address=%s", s->address);
        (void) snprintf(notify, sizeof(notify), "%s/notify", s->dir);
        argv[n++] = config;
        argv[n++] = run;
        argv[n++] = bus;
        for (; more && *more; more++)
                argv[n++] = *more;
        argv[n] = NULL;
        s->daemon_pid = fork();
        assert_true(s->daemon_pid >= 0);
        if (s->daemon_pid == 0) {
                be_child(s, "daemon.log");
                (void) setenv("NOTIFY_SOCKET", notify, 1);
                (void) execv(argv[0], (char **) argv);
                _exit(127);
        }
        stage_wait_notify(s, "READY=1");
}

void stage_start_daemon(struct stage *s, const char *const *more) {
        const char *argv[24] = { HN_HOMENODED, "--sysroot", s->tree.path };

        start(s, argv, 3, more);
}

void stage_start_split_daemon(struct stage *s) {
        const char *argv[24] = { HN_SPLIT_HOMENODED };

        stage_write_config(s, "[Daemon]\nMode=observe\nIntervalSec=0.2\n");
        start(s, argv, 1, NULL);
}

void stage_wait_notify(struct stage *s, const char *text) {
        uint64_t end = deadline();
        char buf[65536];

        /* What was said before is not waited for. */
        while (strcmp(text, "READY=1") != 0 && read(s->notify, buf, sizeof(buf)) > 0)
                ;
        for (;;) {
                struct pollfd p = { .fd = s->notify, .events = POLLIN };
                ssize_t n;

                assert_true(now_usec() < end);
                if (poll(&p, 1, 100) <= 0) {
                        /* Died before it said anything? */
                        assert_int_equal(waitpid(s->daemon_pid, NULL, WNOHANG), 0);
                        continue;
                }
                n = read(s->notify, buf, sizeof(buf) - 1);
                assert_true(n >= 0);
                buf[n] = '\0';
                if (strstr(buf, text))
                        return;
        }
}

static bool has_owner(struct stage *s, const char *name) {
        sd_bus_message *reply = NULL;
        int r = sd_bus_call_method(s->ear, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                   "org.freedesktop.DBus", "GetNameOwner", NULL, &reply, "s", name);

        sd_bus_message_unref(reply);
        return r >= 0;
}

static void turn(struct stage *s, uint64_t end) {
        int r;

        assert_true(now_usec() < end);
        r = sd_bus_process(s->ear, NULL);
        assert_true(r >= 0);
        if (r == 0)
                assert_true(sd_bus_wait(s->ear, 100000) >= 0);
}

void stage_wait_name(struct stage *s) {
        uint64_t end = deadline();

        while (!has_owner(s, HN_BUS_NAME))
                turn(s, end);
        /* The bus knows; by an answer of the daemon's own it knows too. */
        assert_true(sd_bus_call_method(s->ear, HN_BUS_NAME, HN_BUS_PATH, "org.freedesktop.DBus.Peer", "Ping",
                                       NULL, NULL, "") >= 0);
}

void stage_wait_no_owner(struct stage *s, const char *name) {
        uint64_t end = deadline();

        while (has_owner(s, name))
                turn(s, end);
}

bool stage_has_heard(struct stage *s, const char *a) {
        return strstr(s->heard, a) != NULL;
}

static bool has_line(const char *text, const char *a, const char *b) {
        for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
                size_t n = strcspn(line, "\n");

                if (memmem(line, n, a, strlen(a)) && (!b || memmem(line, n, b, strlen(b))))
                        return true;
        }
        return false;
}

void stage_hear(struct stage *s, const char *a, const char *b) {
        uint64_t end = deadline();

        while (!has_line(s->heard, a, b)) {
                if (now_usec() >= end)
                        fail_msg("not heard: %s %s; but:\n%s", a, b ? b : "", s->heard);
                turn(s, end);
        }
}

void stage_forget(struct stage *s) {
        s->heard[0] = '\0';
}

char *stage_log(const struct stage *s) {
        char path[128];
        char *text = calloc(1, 1 << 20);
        FILE *f;

        (void) snprintf(path, sizeof(path), "%s/daemon.log", s->dir);
        f = fopen(path, "re");
        assert_non_null(f);
        assert_non_null(text);
        assert_in_range(fread(text, 1, (1 << 20) - 1, f), 0, (1 << 20) - 1);
        (void) fclose(f);
        return text;
}

int stage_stop_daemon(struct stage *s) {
        int status;

        assert_int_equal(kill(s->daemon_pid, SIGTERM), 0);
        assert_int_equal(waitpid(s->daemon_pid, &status, 0), s->daemon_pid);
        s->daemon_pid = 0;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                char *log = stage_log(s);

                fail_msg("homenoded ended by %d:\n%s", status, log);
        }
        return WEXITSTATUS(status);
}
