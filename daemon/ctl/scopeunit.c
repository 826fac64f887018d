/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/usec.h"
#include "scopeunit.h"

#define SERVICE   "org.freedesktop.systemd1"
#define PATH      "/org/freedesktop/systemd1"
#define INTERFACE "org.freedesktop.systemd1.Manager"

/* The job that makes the scope: signals may come before we know its name. */
struct wait {
        const char *unit;
        char result[32]; /* "" until it ended */
};

static sd_bus_slot *slot_free(sd_bus_slot *s) {
        return sd_bus_slot_unref(s);
}
HN_DEFINE_CLEANUP(sd_bus_slot *, slot_free);

static sd_bus_message *message_free(sd_bus_message *m) {
        return sd_bus_message_unref(m);
}
HN_DEFINE_CLEANUP(sd_bus_message *, message_free);

/* JobRemoved(u id, o job, s unit, s result). The name is ours alone, and so is its job. */
static int on_job_removed(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        struct wait *w = userdata;
        const char *job, *unit, *result;
        uint32_t id;

        (void) error;
        if (sd_bus_message_read(m, "uoss", &id, &job, &unit, &result) < 0)
                return 0;
        if (strcmp(unit, w->unit) == 0)
                (void) snprintf(w->result, sizeof(w->result), "%s", *result ? result : "unknown");
        return 0;
}

static int fill_in(sd_bus_message *m, const char *unit, const char *slice, const char *caption, pid_t pid) {
        int r;

        r = sd_bus_message_append(m, "ss", unit, "fail");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'a', "(sv)");
        if (r >= 0)
                r = sd_bus_message_append(m, "(sv)(sv)(sv)(sv)", "Description", "s", caption, "Slice", "s",
                                          slice, "CollectMode", "s", "inactive-or-failed", "PIDs", "au", 1,
                                          (uint32_t) pid);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        if (r >= 0)
                r = sd_bus_message_append(m, "a(sa(sv))", 0);
        return r;
}

static uint64_t now_usec(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t) t.tv_sec * HN_USEC_PER_SEC + (uint64_t) t.tv_nsec / 1000;
}

static int wait_for(sd_bus *bus, const struct wait *w, uint64_t deadline) {
        while (w->result[0] == '\0') {
                uint64_t now = now_usec();
                int r = sd_bus_process(bus, NULL);

                if (r < 0)
                        return r;
                if (r > 0)
                        continue;
                if (now >= deadline)
                        return -ETIMEDOUT;
                r = sd_bus_wait(bus, deadline - now);
                if (r < 0 && r != -EINTR)
                        return r;
        }
        return 0;
}

/* What the manager answered, with what to do about it. */
static int refused(const char *unit, int r, const sd_bus_error *e, struct hn_why *why) {
        const char *text = e->message ? e->message : strerror(-r);
        int n = (int) strlen(text);

        /* Some of its sentences end in a full stop, and ours go on. */
        n -= n > 0 && text[n - 1] == '.';

        if (sd_bus_error_has_name(e, "org.freedesktop.systemd1.UnitExists"))
                return hn_why(why, -EEXIST,
                              "%s runs already: end it first, or let the rule's Cgroup= take several names",
                              unit);
        if (r == -EACCES || r == -EPERM ||
            sd_bus_error_has_name(e, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED))
                return hn_why(why, -EACCES, "systemd does not let this user start %s: %.*s. Run it as root",
                              unit, n, text);
        return hn_why(why, r, "systemd does not start %s: %.*s", unit, n, text);
}

int hn_scope_unit_start(sd_bus *bus, const char *unit, const char *slice, const char *caption, pid_t pid,
                        uint64_t patience, struct hn_why *why) {
        _hn_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        _hn_cleanup_(message_freep) sd_bus_message *m = NULL;
        _hn_cleanup_(slot_freep) sd_bus_slot *slot = NULL;
        uint64_t deadline = hn_usec_add(now_usec(), patience);
        struct wait w = { .unit = unit };
        int r;

        /* Without a bus between there are no senders. */
        r = sd_bus_is_bus_client(bus);
        if (r >= 0)
                r = sd_bus_match_signal(bus, &slot, r > 0 ? SERVICE : NULL, PATH, INTERFACE, "JobRemoved",
                                        on_job_removed, &w);
        if (r >= 0)
                r = sd_bus_message_new_method_call(bus, &m, SERVICE, PATH, INTERFACE, "StartTransientUnit");
        if (r >= 0)
                r = sd_bus_message_set_allow_interactive_authorization(m, isatty(STDIN_FILENO));
        if (r >= 0)
                r = fill_in(m, unit, slice, caption, pid);
        if (r < 0)
                return hn_why_errno(why, r, "cannot ask systemd for %s", unit);
        r = sd_bus_call(bus, m, patience, &error, NULL);
        if (r < 0)
                return refused(unit, r, &error, why);
        r = wait_for(bus, &w, deadline);
        if (r < 0)
                return hn_why_errno(why, r, "systemd does not say what became of %s", unit);
        if (strcmp(w.result, "done") != 0)
                return hn_why(why, -ECANCELED, "systemd gave %s up: its job ended as \"%s\"; see journalctl",
                              unit, w.result);
        return 0;
}
