/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "polkit.h"

#include <stdlib.h>
#include <unistd.h>

#define PATH "/org/freedesktop/PolicyKit1/Authority"
#define FACE "org.freedesktop.PolicyKit1.Authority"

static enum polkit_answer answer;

static int on_check(sd_bus_message *m, void *userdata, sd_bus_error *e) {
        const char *kind, *key, *sender, *action, *cookie;
        uint32_t flags;

        (void) userdata;
        (void) e;
        if (sd_bus_message_read(m, "(sa{sv})sa{ss}us", &kind, 1, &key, "s", &sender, &action, 0, &flags,
                                &cookie) < 0)
                _exit(3);
        if (strcmp(kind, "system-bus-name") != 0 || strcmp(key, "name") != 0 || sender[0] != ':')
                _exit(4);
        if (sd_bus_emit_signal(sd_bus_message_get_bus(m), "/", "org.homenode1.Test", "Asked", "sus", action,
                               flags, cookie) < 0)
                _exit(5);
        switch (answer) {
        case POLKIT_YES: return sd_bus_reply_method_return(m, "(bba{ss})", 1, 0, 0);
        case POLKIT_NO: return sd_bus_reply_method_return(m, "(bba{ss})", 0, 0, 0);
        case POLKIT_CHALLENGE: return sd_bus_reply_method_return(m, "(bba{ss})", 0, 1, 0);
        case POLKIT_ERROR:
                return sd_bus_reply_method_errorf(m, "org.freedesktop.PolicyKit1.Error.Failed", "no idea");
        case POLKIT_NONSENSE: return sd_bus_reply_method_return(m, "s", "yes");
        case POLKIT_NEVER: return 1;
        }
        return 1;
}

static int on_cancel(sd_bus_message *m, void *userdata, sd_bus_error *e) {
        const char *cookie;

        (void) userdata;
        (void) e;
        if (sd_bus_message_read(m, "s", &cookie) < 0 ||
            sd_bus_emit_signal(sd_bus_message_get_bus(m), "/", "org.homenode1.Test", "Cancelled", "s",
                               cookie) < 0)
                _exit(6);
        return sd_bus_reply_method_return(m, NULL);
}

/* No declared results: sd-bus would hold back what does not fit, and nonsense is meant to get out. */
static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *e) {
        if (sd_bus_message_is_method_call(m, FACE, "CheckAuthorization"))
                return on_check(m, userdata, e);
        if (sd_bus_message_is_method_call(m, FACE, "CancelCheckAuthorization"))
                return on_cancel(m, userdata, e);
        return 0;
}

static void serve(sd_bus *bus, void *userdata) {
        (void) userdata;
        if (sd_bus_add_object(bus, NULL, PATH, on_message, NULL) < 0 ||
            sd_bus_request_name(bus, "org.freedesktop.PolicyKit1", 0) < 0 ||
            sd_bus_emit_signal(bus, "/", "org.homenode1.Test", "PolkitIsThere", "i", (int) getpid()) < 0)
                _exit(2);
        for (;;) {
                int r = sd_bus_process(bus, NULL);

                if (r < 0 || (r == 0 && sd_bus_wait(bus, UINT64_MAX) < 0))
                        _exit(1);
        }
}

pid_t polkit_start(struct stage *s, enum polkit_answer a) {
        char number[16];
        pid_t pid;

        /* The one before may still be leaving. */
        stage_wait_no_owner(s, "org.freedesktop.PolicyKit1");
        answer = a;
        pid = stage_fork_client(s, 0, serve, NULL);
        (void) snprintf(number, sizeof(number), " %d", (int) pid);
        stage_hear(s, "PolkitIsThere", number);
        return pid;
}
