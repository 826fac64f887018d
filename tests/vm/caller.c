/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "caller.h"
#include "guest.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Longer than the daemon waits for polkit, and than an emulated machine needs to start one of both. */
#define CALL_SECONDS 40U

/* How often a call is repeated that polkit was late for. */
#define LATE_MAX 2U

int caller_find(const char *name, struct caller *ret) {
        const struct passwd *pw = getpwnam(name);

        if (!pw)
                return -ENOENT;
        *ret = (struct caller){ .name = name, .uid = pw->pw_uid, .gid = pw->pw_gid };
        return 0;
}

int caller_become(const struct caller *who) {
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (initgroups(who->name, who->gid) < 0 || setresgid(who->gid, who->gid, who->gid) < 0 ||
            setresuid(who->uid, who->uid, who->uid) < 0)
                return -errno;
        /* A change of user takes it back. */
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        return 0;
}

void *caller_share(size_t size) {
        void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        return p == MAP_FAILED ? NULL : p;
}

static int wait_for(pid_t pid, unsigned seconds) {
        uint64_t end = guest_now() + seconds * UINT64_C(1000000);
        int status;

        for (;;) {
                pid_t r = waitpid(pid, &status, WNOHANG);

                if (r < 0)
                        return -errno;
                if (r == pid)
                        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECHILD;
                if (guest_now() > end) {
                        (void) kill(pid, SIGKILL);
                        (void) waitpid(pid, &status, 0);
                        return -ETIMEDOUT;
                }
                guest_sleep_until(guest_now() + 2000);
        }
}

int caller_run(const struct caller *who, unsigned seconds, void (*f)(sd_bus *bus, void *userdata),
               void *userdata) {
        sd_bus *bus = NULL;
        pid_t pid = fork();

        if (pid < 0)
                return -errno;
        if (pid > 0)
                return wait_for(pid, seconds);
        if (caller_become(who) < 0)
                _exit(126);
        if (sd_bus_open_system(&bus) < 0 ||
            sd_bus_set_method_call_timeout(bus, CALL_SECONDS * UINT64_C(1000000)) < 0)
                _exit(125);
        f(bus, userdata);
        (void) sd_bus_flush_close_unref(bus);
        _exit(0);
}

static void take_file(int fd, char *text, size_t size) {
        size_t used = 0;
        ssize_t n;

        while (used + 1 < size && (n = pread(fd, text + used, size - 1 - used, (off_t) used)) > 0)
                used += (size_t) n;
        text[used] = '\0';
}

static void take_first(sd_bus_message *m, struct answer *a) {
        const char *contents, *text;
        unsigned n = 0;
        char type;
        union {
                uint64_t t;
                uint32_t u;
                int32_t i;
                int h;
        } v = { .t = 0 };

        if (sd_bus_message_peek_type(m, &type, &contents) <= 0)
                return;
        switch (type) {
        case 'v':
                if (sd_bus_message_enter_container(m, 'v', contents) >= 0)
                        take_first(m, a);
                return;
        case 's':
        case 'o':
                if (sd_bus_message_read_basic(m, type, &text) >= 0)
                        (void) snprintf(a->text, sizeof(a->text), "%s", text);
                return;
        case 'h':
                if (sd_bus_message_read_basic(m, type, &v.h) >= 0)
                        take_file(v.h, a->text, sizeof(a->text));
                return;
        case 'a':
                if (sd_bus_message_enter_container(m, 'a', contents) < 0)
                        return;
                while (sd_bus_message_skip(m, contents) > 0)
                        n++;
                (void) snprintf(a->text, sizeof(a->text), "%u", n);
                return;
        case 'i':
                if (sd_bus_message_read_basic(m, type, &v.i) >= 0)
                        (void) snprintf(a->text, sizeof(a->text), "%" PRIi32, v.i);
                return;
        case 'b':
        case 'u':
                if (sd_bus_message_read_basic(m, type, &v.u) >= 0)
                        (void) snprintf(a->text, sizeof(a->text), "%" PRIu32, v.u);
                return;
        case 't':
                if (sd_bus_message_read_basic(m, type, &v.t) >= 0)
                        (void) snprintf(a->text, sizeof(a->text), "%" PRIu64, v.t);
                return;
        default: return;
        }
}

struct one {
        const struct call *call;
        const char *types;
        va_list *arguments;
        struct answer *answer;
};

static void do_one(sd_bus *bus, void *userdata) {
        const struct one *one = userdata;
        const struct call *c = one->call;
        struct answer *a = one->answer;
        sd_bus_message *m = NULL, *reply = NULL;
        sd_bus_error e = SD_BUS_ERROR_NULL;
        int r = sd_bus_message_new_method_call(bus, &m, c->destination, c->path, c->interface, c->member);

        if (r >= 0 && c->interactive)
                r = sd_bus_message_set_allow_interactive_authorization(m, true);
        if (r >= 0 && one->types[0])
                r = sd_bus_message_appendv(m, one->types, *one->arguments);
        if (r >= 0)
                r = sd_bus_call(bus, m, 0, &e, &reply);
        a->ok = r >= 0;
        if (r < 0) {
                (void) snprintf(a->error, sizeof(a->error), "%s", e.name ? e.name : strerror(-r));
                (void) snprintf(a->message, sizeof(a->message), "%s", e.message ? e.message : "");
        } else
                take_first(reply, a);
        sd_bus_error_free(&e);
        (void) sd_bus_message_unref(m);
        (void) sd_bus_message_unref(reply);
}

/* polkit 122 loses a wake-up now and then: its script is done, and it waits 15 s for it all the same. On a
 * machine of its own that was 1 of 8000 calls, in emulation 1 of some hundred. The daemon refuses then, as it
 * has to, but what is asked here is what polkit says. */
static bool is_late(const struct answer *a) {
        return !a->ok && strstr(a->message, CALLER_LATE);
}

static unsigned late;

unsigned caller_late(void) {
        return late;
}

const struct answer *caller_call(const struct caller *who, const struct call *call, const char *types, ...) {
        static const struct answer no_memory = { .error = "no memory" };
        static struct answer *answer;

        if (!answer)
                answer = caller_share(sizeof(*answer));
        if (!answer)
                return &no_memory;
        for (unsigned turn = 0; turn <= LATE_MAX; turn++) {
                struct one one;
                va_list ap;
                int r;

                answer->ok = false;
                answer->error[0] = answer->message[0] = answer->text[0] = '\0';
                va_start(ap, types);
                one = (struct one){ .call = call, .types = types, .arguments = &ap, .answer = answer };
                r = caller_run(who, CALL_SECONDS + 20, do_one, &one);
                va_end(ap);
                if (r < 0) {
                        answer->ok = false;
                        (void) snprintf(answer->error, sizeof(answer->error), "the caller failed: %s",
                                        strerror(-r));
                }
                if (!is_late(answer))
                        break;
                late++;
        }
        return answer;
}

json_t *answer_tell(const struct answer *a) {
        json_t *got = a->ok ? json_sprintf("done: %.200s", a->text)
                            : json_sprintf("%s: %.400s", a->error, a->message);

        return got ? got : json_null();
}
