/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of all methods that the daemon tells of, and of some that it does not, with arguments that wish it
 * ill; by nobody, by a user who owns tasks, and by root. The daemon goes on, keeps nothing, and does nothing
 * for those who may not. The series is the same each time. */
#include "members.h"
#include "polkit.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/bus.h"

#define CALLS       1200
#define SIGNATURE   64
#define LONG_STRING (200u << 10)

static struct stage stage;
static struct members *methods;
static uint64_t seed;

static int make(void **state) {
        (void) state;
        stage_need();
        stage_make(&stage);
        stage_start_bus(&stage);
        stage_start_daemon(&stage, NULL);
        stage_wait_name(&stage);
        methods = members_introspect(&stage, HN_BUS_PATH, HN_BUS_MANAGER);
        return 0;
}

static int destroy(void **state) {
        (void) state;
        free(methods);
        (void) stage_stop_daemon(&stage);
        stage_destroy(&stage);
        return 0;
}

/* xorshift64 */
static uint64_t draw(void) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        return seed;
}

static uint64_t below(uint64_t n) {
        return draw() % n;
}

static const char *text(void) {
        static const char *const texts[] = {
                "",
                " ",
                "0",
                "8",
                "0,8",
                "0-8",
                "-1",
                "1",
                "99999999999999999999",
                "0-4294967295",
                "8-0",
                "0-8191:1/1",
                "all",
                "!0",
                "+0",
                "100",
                "200",
                "300",
                "301",
                "400",
                "500",
                "2",
                "0100",
                "100 ",
                "1e2",
                "process",
                "thread",
                "cgroup",
                "Process",
                CGROUP_WORKER,
                "app.slice",
                "/",
                "..",
                "/../../../etc/passwd",
                "/app.slice/../../..",
                "%s%n%s%n",
                "a\nMESSAGE=b",
                "\x1b[2J",
                "\xe2\x80\xae",
                "{\"a\":1}",
                "\"",
                "\\",
                "'; DROP",
                "observe ",
                "frobnicate",
                "postgres",
                "\t",
                "Mode",
                "emerg ",
                "/dev/zero",
        };
        static char large[LONG_STRING + 1];

        switch (below(40)) {
        case 0: memset(large, 'x', LONG_STRING); return large;
        case 1:
                for (size_t i = 0; i < 30000; i++)
                        memcpy(large + 2 * i, "1,", 2);
                large[60000] = '\0';
                return large;
        default: return texts[below(HN_ELEMENTS(texts))];
        }
}

static uint64_t number(void) {
        static const uint64_t numbers[] = {
                0,
                1,
                2,
                8,
                100,
                200,
                300,
                400,
                500,
                INT32_MAX,
                UINT32_MAX,
                INT64_MAX,
                UINT64_MAX,
                UINT64_MAX - 1,
                UINT64_C(1) << 63,
                UINT64_MAX / 1000000,
                UINT64_MAX / 1000000 + 1,
                4194304,
        };

        return below(4) == 0 ? draw() : numbers[below(HN_ELEMENTS(numbers))];
}

/* One value of the complete type that `*sig` begins with, which moves behind it. */
static int append(sd_bus_message *m, const char **sig);

static size_t length_of(const char *sig) {
        size_t n = 1;

        if (*sig == 'a')
                return 1 + length_of(sig + 1);
        if (*sig != '(' && *sig != '{')
                return 1;
        while (sig[n] && sig[n] != ')' && sig[n] != '}')
                n += length_of(sig + n);
        return n + 1;
}

static int append_within(sd_bus_message *m, char type, const char *contents, unsigned times) {
        int r = sd_bus_message_open_container(m, type, contents);

        for (unsigned i = 0; r >= 0 && i < times; i++)
                for (const char *p = contents; r >= 0 && *p;)
                        r = append(m, &p);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append(sd_bus_message *m, const char **sig) {
        char type = **sig, contents[SIGNATURE];
        size_t n = length_of(*sig);
        uint64_t v = number();
        int b = (int) below(2);
        double d = (double) v;

        (void) snprintf(contents, sizeof(contents), "%.*s", (int) (n - 1), *sig + 1);
        *sig += n;
        switch (type) {
        case 's': return sd_bus_message_append_basic(m, 's', text());
        case 'o': return sd_bus_message_append_basic(m, 'o', below(2) ? HN_BUS_PATH : "/");
        case 'g': return sd_bus_message_append_basic(m, 'g', "a{sv}");
        case 'b': return sd_bus_message_append_basic(m, 'b', &b);
        case 'h': return sd_bus_message_append_basic(m, 'h', (const int[]){ STDERR_FILENO });
        case 'd': return sd_bus_message_append_basic(m, 'd', &d);
        case 'v': return append_within(m, 'v', below(2) ? "s" : "at", 1);
        case 'a': return append_within(m, 'a', contents, (unsigned) below(4));
        case '(':
        case '{':
                contents[strlen(contents) - 1] = '\0';
                return append_within(m, type == '(' ? 'r' : 'e', contents, 1);
        default: return sd_bus_message_append_basic(m, type, &v);
        }
}

/* The signature that a method of the list takes; its name goes to `member`. */
static void choose_method(char *member, char *signature) {
        const char *p;
        size_t n = 0;

        do
                p = methods->line[below(methods->n)];
        while (strncmp(p, "method ", 7) != 0);
        p += 7;
        n = strcspn(p, " ");
        (void) snprintf(member, SIGNATURE, "%.*s", (int) n, p);
        signature[0] = '\0';
        for (p += n; *p == ' ' && strncmp(p, " out ", 5) != 0;) {
                size_t type = strcspn(++p, " ");

                (void) strncat(signature, p, type);
                p += type + 1;
                p += strcspn(p, " ");
        }
}

static const char *odd_signature(void) {
        static const char *const odd[] = { "",         "s",        "u",     "t",      "h",        "v",
                                           "as",       "ay",       "a{sv}", "sssssb", "sssssbts", "xxx",
                                           "(sa{sv})", "aaaaaaas", "ss",    "ssv",    "nqdg",     "o" };

        return odd[below(HN_ELEMENTS(odd))];
}

/* Arguments of Pin of which most make sense, so that the others are looked at; the tasks are none of the
 * users'. */
static int append_pin(sd_bus_message *m) {
        static const char *const sane[][4] = {
                { "process", "thread", "cgroup", "process" },
                { "200", "300", CGROUP_ROOT, "301" },
                { "0", "8", "0,8", "0" },
                { "", "0", "2-3", "" },
        };
        int pages = (int) below(2), r = 0;
        uint64_t seconds = below(3) ? 60 : number();

        for (size_t i = 0; r >= 0 && i < HN_ELEMENTS(sane); i++)
                r = sd_bus_message_append_basic(m, 's', below(4) ? sane[i][below(4)] : text());
        if (r >= 0)
                r = sd_bus_message_append(m, "bt", pages, seconds);
        return r < 0 ? r : sd_bus_message_append_basic(m, 's', text());
}

static sd_bus_message *choose_call(sd_bus *bus) {
        static const char *const properties[] = { "Get", "Set", "GetAll", "Frob" };
        static const char *const paths[] = { HN_BUS_PATH, "/", HN_BUS_SCOPE_PATH,
                                             HN_BUS_SCOPE_PATH "/_2fapp_2eslice",
                                             HN_BUS_SCOPE_PATH "/_2fapp_2eslice_2fa_2eservice" };
        const char *interface = HN_BUS_MANAGER, *path = HN_BUS_PATH, *p;
        char member[SIGNATURE], signature[SIGNATURE];
        sd_bus_message *m = NULL;
        int r;

        choose_method(member, signature);
        switch (below(8)) {
        case 0: (void) snprintf(signature, sizeof(signature), "%s", odd_signature()); break;
        case 1:
                interface = "org.freedesktop.DBus.Properties";
                (void) snprintf(member, sizeof(member), "%s", properties[below(HN_ELEMENTS(properties))]);
                (void) snprintf(signature, sizeof(signature), "%s",
                                strcmp(member, "Get") == 0   ? "ss"
                                : strcmp(member, "Set") == 0 ? "ssv"
                                                             : "s");
                path = paths[below(HN_ELEMENTS(paths))];
                break;
        case 2:
                path = paths[below(HN_ELEMENTS(paths))];
                interface = below(2) ? HN_BUS_SCOPE : NULL;
                break;
        default: break;
        }
        r = sd_bus_message_new_method_call(bus, &m, HN_BUS_NAME, path, interface, member);
        if (r >= 0 && strcmp(member, "Pin") == 0 && strcmp(signature, "ssssbts") == 0 && below(4))
                r = append_pin(m);
        else
                for (p = signature; r >= 0 && *p;)
                        r = append(m, &p);
        if (r < 0)
                m = sd_bus_message_unref(m);
        return m;
}

struct tally {
        unsigned sent, answered, refused;
};

/* A caller: all his calls one after the other, each with an answer of some kind. */
static void attack(sd_bus *bus, void *userdata) {
        struct tally t = { .sent = 0 };
        int *out = userdata;

        for (unsigned i = 0; i < CALLS; i++) {
                sd_bus_message *m = choose_call(bus), *reply = NULL;
                sd_bus_error e = SD_BUS_ERROR_NULL;
                int r;

                if (!m)
                        continue;
                t.sent++;
                r = sd_bus_call(bus, m, 0, &e, &reply);
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
                seed = UINT64_C(0x9e3779b97f4a7c15) + round;
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
        seed = 7;
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
