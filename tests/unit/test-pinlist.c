/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode pin and unpin before a daemon that is played, on a bus of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/macro.h"
#include "busclient.h"
#include "pinlist.h"
#include "rows.h"
#include "verb.h"

static char complaint[2048], address[256];
static pid_t bus_pid, daemon_pid;
static int calls; /* what the played daemon was asked, a line each */

/* What homenode.c has of its own. */

void hn_complain(const char *fmt, ...) {
        va_list ap;

        va_start(ap, fmt);
        (void) vsnprintf(complaint, sizeof(complaint), fmt, ap);
        va_end(ap);
}

int hn_complain_errno(int r, const char *fmt, ...) {
        va_list ap;
        int n;

        va_start(ap, fmt);
        n = vsnprintf(complaint, sizeof(complaint), fmt, ap);
        va_end(ap);
        (void) snprintf(complaint + n, sizeof(complaint) - (size_t) n, ": %s", strerror(-r));
        return EX_OSERR;
}

int hn_complain_usage(const char *verb) {
        (void) verb;
        return EX_USAGE;
}

int hn_flush_output(void) {
        return fflush(stdout) == 0 ? EX_OK : EX_IOERR;
}

/* the played daemon */

static int say(const char *text) {
        return write(calls, text, strlen(text)) < 0 ? -errno : 0;
}

static int on_pin(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const char *kind, *target, *nodes, *cpus, *why;
        uint64_t seconds;
        char text[1024];
        int pages, r;

        (void) userdata;
        r = sd_bus_message_read(m, "ssssbts", &kind, &target, &nodes, &cpus, &pages, &seconds, &why);
        if (r < 0)
                return r;
        (void) snprintf(text, sizeof(text), "Pin %s [%s] [%s] %d %llu [%s]\n", kind, nodes, cpus, pages,
                        (unsigned long long) seconds, why);
        (void) say(text);
        if (strcmp(nodes, "9") == 0)
                return sd_bus_error_set(error, "org.homenode1.Error.NoSuchNode",
                                        "there is no node 9: this machine has 0-3");
        if (strcmp(nodes, "8") == 0)
                return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED,
                                        "it needs org.homenode1.pin\n: ask");
        if (strcmp(nodes, "7") == 0)
                return sd_bus_error_set(error, "org.homenode1.Error.Conflict",
                                        "override 3 of user 0 holds it");
        return sd_bus_reply_method_return(m, "t", UINT64_C(17));
}

static int on_unpin(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        char text[64];
        uint64_t id;
        int r;

        (void) userdata;
        r = sd_bus_message_read(m, "t", &id);
        if (r < 0)
                return r;
        (void) snprintf(text, sizeof(text), "Unpin %llu\n", (unsigned long long) id);
        (void) say(text);
        if (id == 4)
                return sd_bus_error_set(error, "org.homenode1.Error.NoSuchPin",
                                        "there is no override 4 any more");
        return sd_bus_reply_method_return(m, "");
}

static int on_list(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        static const struct {
                uint64_t id;
                const char *kind, *target, *nodes, *cpus, *comm, *why;
                uint32_t owner;
                uint64_t expires;
        } pins[] = {
                { 1, "process", "4711", "0-1", "", "web", "a test", 0, UINT64_MAX },
                { 2, "thread", "4712", "2", "4-5", "a\tb\x1b[1m", "", 4000000000, 1700000000000000 },
                { 3, "cgroup", "system.slice/web.service", "3", "", "", "", 0, UINT64_MAX },
                { 4, "process", "1", "0", "", "init", "", 0, UINT64_MAX },
        };
        sd_bus_message *reply = NULL;
        int r;

        (void) userdata;
        (void) error;
        (void) say("ListPins\n");
        r = sd_bus_message_new_method_return(m, &reply);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'a', "(tsssssbuttsas)");
        for (size_t i = 0; r >= 0 && i < HN_ELEMENTS(pins); i++) {
                r = sd_bus_message_open_container(reply, 'r', "tsssssbuttsas");
                if (r >= 0)
                        r = sd_bus_message_append(reply, "tsssssbutts", pins[i].id, pins[i].kind,
                                                  pins[i].target, pins[i].nodes, pins[i].cpus, pins[i].comm,
                                                  i == 0, pins[i].owner, UINT64_C(1600000000000000),
                                                  pins[i].expires, pins[i].why);
                if (r >= 0)
                        r = sd_bus_message_append(reply, "as", 2, "later", "versions");
                if (r >= 0)
                        r = sd_bus_message_close_container(reply);
        }
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        if (r >= 0)
                r = sd_bus_send(NULL, reply, NULL);
        sd_bus_message_unref(reply);
        return r;
}

static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Pin", "ssssbts", "t", on_pin, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Unpin", "t", "", on_unpin, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("ListPins", "", "a(tsssssbuttsas)", on_list, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static void play_daemon(int fd) {
        sd_bus *bus = NULL;
        int r;

        calls = fd;
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void) alarm(100);
        r = hn_busclient_open(address, &bus);
        if (r >= 0)
                r = sd_bus_add_object_vtable(bus, NULL, HN_BUS_PATH, HN_BUS_INTERFACE, vtable, NULL);
        if (r >= 0)
                r = sd_bus_request_name(bus, HN_BUS_NAME, 0);
        if (r >= 0)
                r = say("ready\n");
        while (r >= 0) {
                r = sd_bus_process(bus, NULL);
                if (r == 0)
                        r = sd_bus_wait(bus, UINT64_MAX);
        }
        _exit(1);
}

/* Lines until `last` was said; the text is of the next call. */
static const char *asked(const char *last) {
        static char text[4096];
        size_t n = 0;

        while (n < sizeof(text) - 1) {
                if (read(calls, text + n, 1) != 1)
                        break;
                text[++n] = '\0';
                if (text[n - 1] == '\n' && strstr(text, last))
                        return text;
        }
        fail_msg("\"%s\" was not asked", last);
        return text;
}

/* Returns what the program is to leave with, 0: go on. */
static int begin(void) {
        int said[2], asks[2];
        ssize_t n;

        if (pipe(said) < 0 || pipe(asks) < 0)
                return 1;
        bus_pid = fork();
        if (bus_pid == 0) {
                char arg[32];

                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void) alarm(100);
                (void) snprintf(arg, sizeof(arg), "--print-address=%d", said[1]);
                (void) execlp("dbus-daemon", "dbus-daemon", "--session", "--nofork", "--nopidfile",
                              "--nosyslog", arg, NULL);
                _exit(77);
        }
        (void) close(said[1]);
        n = read(said[0], address, sizeof(address) - 1);
        if (n <= 0) {
                (void) waitpid(bus_pid, NULL, 0);
                fprintf(stderr, "There is no dbus-daemon here\n");
                return 77;
        }
        address[strcspn(address, "\n")] = '\0';
        daemon_pid = fork();
        if (daemon_pid == 0)
                play_daemon(asks[1]);
        (void) close(asks[1]);
        calls = asks[0];
        return 0;
}

static void finish(void) {
        (void) kill(daemon_pid, SIGKILL);
        (void) kill(bus_pid, SIGKILL);
        (void) waitpid(daemon_pid, NULL, 0);
        (void) waitpid(bus_pid, NULL, 0);
}

/* Runs a verb with these words behind its name. */
static int run(int (*verb)(int argc, char **argv), const char *words, char **ret_output) {
        char text[512], *argv[32] = { (char *) "verb" };
        FILE *old = stdout, *f;
        size_t size;
        int argc = 1, r;

        (void) snprintf(text, sizeof(text), "%s", words);
        for (char *p = strtok(text, "|"); p; p = strtok(NULL, "|"))
                argv[argc++] = p;
        optind = 0;
        opterr = 0;
        complaint[0] = '\0';
        f = open_memstream(ret_output, &size);
        assert_non_null(f);
        stdout = f;
        r = verb(argc, argv);
        stdout = old;
        (void) fclose(f);
        return r;
}

struct row {
        const char *words;
        int r;
        const char *asked;  /* what the daemon hears at last; NULL: nothing */
        const char *output; /* or the complaint */
};

static void check(int (*verb)(int argc, char **argv), const struct row *rows, size_t n) {
        for (size_t i = 0; i < n; i++) {
                char words[512], *output;
                int r;

                (void) snprintf(words, sizeof(words), "%s|--bus-address|%s", rows[i].words, address);
                r = run(verb, words, &output);
                if (r != rows[i].r)
                        fail_msg("row %zu: %d, expected %d: %s", i, r, rows[i].r, complaint);
                if (rows[i].asked)
                        (void) asked(rows[i].asked);
                if (!strstr(rows[i].r == 0 ? output : complaint, rows[i].output))
                        fail_msg("row %zu: \"%s\" (%s)", i, output, complaint);
                free(output);
        }
}

static void pin(void **state) {
        char own[32];
        const struct row own_rows[] = {
                { own, 0, "Pin process [0-1,8] [] 0 0 []\n", "Override 17: process " },
        };
        static const struct row rows[] = {
                { "", EX_USAGE, NULL, "nothing to pin" },
                { "1|2|-N|0", EX_USAGE, NULL, "too much to pin" },
                { "1|--cgroup|a|-N|0", EX_USAGE, NULL, "too much to pin" },
                { "1", EX_USAGE, NULL, "-N is missing" },
                { "1|-N|", EX_USAGE, NULL, "" },
                { "1|-N|x", EX_USAGE, NULL, "-N x: expected a list" },
                { "1|-N|3-1", EX_USAGE, NULL, "expected a list" },
                { "1|-N|0|-C|all", EX_USAGE, NULL, "-C all: expected a list" },
                { "1|-N|0|--for|soon", EX_USAGE, NULL, "--for soon: expected a time" },
                { "1|-N|0|--for|0", EX_USAGE, NULL, "expected a time" },
                { "1|-N|0|--for|-1h", EX_USAGE, NULL, "expected a time" },
                { "0|-N|0", EX_USAGE, NULL, "0 is no process id" },
                { "x|-N|0", EX_USAGE, NULL, "x is no process id" },
                { "4194300|-N|0", EX_NOINPUT, NULL, "there is no process or thread 4194300" },
                { "99999999999|-N|0", EX_USAGE, NULL, "is no process id" },
                { "--cgroup|/|-N|0", EX_USAGE, NULL, "the root of all cgroups" },
                { "--cgroup|/sys/fs/cgroup/|-N|0", EX_USAGE, NULL, "the root of all cgroups" },
                { "--unit|a/b|-N|0", EX_USAGE, NULL, "no name of a unit" },
                { "--unit|homenode-no-such|-N|0", EX_NOINPUT, NULL,
                  "unit homenode-no-such.service has no cgroup" },
                { "--frobnicate|1|-N|0", EX_USAGE, NULL, "" },
                { "--list|1", EX_USAGE, NULL, "--list shows all" },
                { "--list|--for|2h", EX_USAGE, NULL, "--list shows all" },
                { "--list|-o|ID,FOO", EX_USAGE, NULL, "no column \"FOO\"" },

                { "--cgroup|/a.slice/b.service/|-N|0|-C|3|--pages|--for|1h 30min|--why|a reason", 0,
                  "Pin cgroup [0] [3] 1 5400 [a reason]\n",
                  "Override 17: cgroup a.slice/b.service is put on node 0, with its memory for 5400 s" },
                { "--cgroup|/sys/fs/cgroup/a|-N|1|--for|100ms", 0, "Pin cgroup [1] [] 0 1 []\n", "for 1 s" },
                { "--cgroup|a|-N|1|--for|infinity", 0, "Pin cgroup [1] [] 0 0 []\n",
                  "until \"homenode unpin --id 17\"" },
                { "--cgroup|a|-N|9", EX_NOINPUT, "Pin cgroup [9]",
                  "cannot pin cgroup a: there is no node 9: this machine has 0-3" },
                { "--cgroup|a|-N|8", EX_NOPERM, "Pin cgroup [8]", "it needs org.homenode1.pin\\x0a: ask" },
                { "--cgroup|a|-N|7", EX_NOPERM, "Pin cgroup [7]", "override 3 of user 0 holds it" },
                { "--cgroup|\xff|-N|1", EX_OSERR, NULL, "cannot pin cgroup \\xff" },
        };

        (void) state;
        (void) snprintf(own, sizeof(own), "%d|-N|0,1,8", getpid());
        (void) asked("ready\n");
        check(hn_verb_pin, rows, HN_ELEMENTS(rows));
        check(hn_verb_pin, own_rows, 1);
        assert_string_equal(complaint, "");
}

static void unpin(void **state) {
        static const struct row rows[] = {
                { "", EX_USAGE, NULL, "nothing to unpin" },
                { "1|2", EX_USAGE, NULL, "too much to unpin" },
                { "--all|--id|1", EX_USAGE, NULL, "too much to unpin" },
                { "x", EX_USAGE, "ListPins\n", "x is neither" },
                { "--id|x", EX_USAGE, "ListPins\n", "x is neither" },
                { "-5", EX_USAGE, NULL, "" },
                { "77", EX_NOINPUT, "ListPins\n", "there is no override for 77" },
                { "--id|4711", EX_NOINPUT, "ListPins\n", "there is no override for 4711" },
                { "--cgroup|a", EX_NOINPUT, "ListPins\n", "there is no override for a" },
                { "1", EX_USAGE, "ListPins\n", "1 is both" },
                { "--id|1", 0, "Unpin 1\n", "Override 1 of process 4711 is over." },
                { "4711", 0, "Unpin 1\n", "Override 1 of process 4711 is over." },
                { "4712", 0, "Unpin 2\n", "Override 2 of thread 4712 is over." },
                { "3", 0, "Unpin 3\n", "Override 3 of cgroup" },
                { "--cgroup|/system.slice/web.service", 0, "Unpin 3\n", "Override 3 of cgroup" },
                { "--id|4", EX_NOINPUT, "Unpin 4\n",
                  "cannot end override 4: there is no override 4 any more" },
        };

        (void) state;
        check(hn_verb_unpin, rows, HN_ELEMENTS(rows));
}

/* All of one's own, or root's word for everybody's; one that fails does not keep the others. */
static void unpin_everything(void **state) {
        char words[512], *output;

        (void) state;
        (void) snprintf(words, sizeof(words), "--all|--bus-address|%s", address);
        if (geteuid() == 0) {
                assert_int_equal(run(hn_verb_unpin, words, &output), EX_NOINPUT);
                (void) asked("Unpin 1\nUnpin 2\nUnpin 3\nUnpin 4\n");
                assert_non_null(strstr(output, "Override 3"));
        } else {
                assert_int_equal(run(hn_verb_unpin, words, &output), 0);
                (void) asked("ListPins\n");
                assert_string_equal(output, "");
        }
        free(output);
}

static void the_list(void **state) {
        char words[512], *output;
        json_t *o, *list, *pin_object;

        (void) state;
        (void) snprintf(words, sizeof(words), "--list|--bus-address|%s", address);
        assert_int_equal(run(hn_verb_pin, words, &output), 0);
        assert_non_null(strstr(output, "KIND"));
        assert_non_null(strstr(output, "a\\x09b\\x1b[1m"));
        assert_non_null(strstr(output, "4000000000"));
        assert_null(strchr(output, '\x1b'));
        free(output);

        (void) snprintf(words, sizeof(words), "--list|-J|-o|+SINCE|--bus-address|%s", address);
        assert_int_equal(run(hn_verb_pin, words, &output), 0);
        o = json_loads(output, 0, NULL);
        list = json_object_get(o, "overrides");
        assert_int_equal(json_array_size(list), 4);
        pin_object = json_array_get(list, 1);
        assert_int_equal(json_integer_value(json_object_get(pin_object, "id")), 2);
        assert_string_equal(json_string_value(json_object_get(pin_object, "target")), "4712");
        assert_int_equal(json_integer_value(json_object_get(pin_object, "owner")), 4000000000);
        assert_int_equal(json_integer_value(json_object_get(pin_object, "expires")), 1700000000000000);
        assert_int_equal(json_integer_value(json_object_get(pin_object, "since")), 1600000000000000);
        assert_true(json_is_false(json_object_get(pin_object, "pages")));
        assert_true(json_is_null(json_object_get(pin_object, "why")));
        assert_true(json_is_null(json_object_get(json_array_get(list, 0), "expires")));
        json_decref(o);
        free(output);
        (void) asked("ListPins\nListPins\n");
}

static void nobody_answers(void **state) {
        static const struct row pins[] = {
                { "--cgroup|a|-N|0", EX_UNAVAILABLE, NULL, "homenoded is not on the bus" },
                { "--list", EX_UNAVAILABLE, NULL, "cannot list overrides: homenoded is not on the bus" },
        };
        static const struct row unpins[] = {
                { "17", EX_UNAVAILABLE, NULL, "homenoded is not on the bus" },
        };

        (void) state;
        (void) kill(daemon_pid, SIGKILL);
        (void) waitpid(daemon_pid, NULL, 0);
        check(hn_verb_pin, pins, HN_ELEMENTS(pins));
        check(hn_verb_unpin, unpins, HN_ELEMENTS(unpins));
        (void) kill(bus_pid, SIGKILL);
        (void) waitpid(bus_pid, NULL, 0);
        check(hn_verb_pin, pins, HN_ELEMENTS(pins));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(pin),
                cmocka_unit_test(unpin),
                cmocka_unit_test(unpin_everything),
                cmocka_unit_test(the_list),
                cmocka_unit_test(nobody_answers),
        };
        int r = begin();

        if (r != 0)
                return r;
        r = cmocka_run_group_tests(tests, NULL, NULL);
        finish();
        return r;
}
