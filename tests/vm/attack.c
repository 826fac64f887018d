/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "attack.h"
#include "guest.h"

#include <stdio.h>
#include <string.h>

/* All that has no need of leave: Advise leaves a reservation, of which one user has but his share. Get and
 * GetAll go here too; of Set none is ever to succeed. */
static bool is_look(const char *member) {
        static const char *const looks[] = { "Advise", "Explain", "Dump", "ListPins", "Get", "GetAll" };

        for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
                if (strcmp(looks[i], member) == 0)
                        return true;
        return false;
}

static void describe(const struct attack *a, sd_bus_message *m, const char *what, char *buf, size_t size) {
        (void) snprintf(buf, size, "call %u, %s \"%s\" of %s: %s", a->sent, sd_bus_message_get_member(m),
                        sd_bus_message_get_signature(m, true), sd_bus_message_get_path(m), what);
}

static void note(struct attack *a, sd_bus_message *m, const char *what) {
        if (!a->first[0])
                describe(a, m, what, a->first, sizeof(a->first));
}

static bool is_unheard(const sd_bus_error *e) {
        static const char *const names[] = { SD_BUS_ERROR_NO_REPLY, SD_BUS_ERROR_TIMEOUT,
                                             SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER,
                                             SD_BUS_ERROR_DISCONNECTED };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (sd_bus_error_has_name(e, names[i]))
                        return true;
        return false;
}

static void call_once(sd_bus *bus, struct attack *a, sd_bus_message *m) {
        sd_bus_error e = SD_BUS_ERROR_NULL;
        uint64_t begin = guest_now();
        double ms;
        int r;

        a->sent++;
        r = sd_bus_call(bus, m, 0, &e, NULL);
        ms = (double) (guest_now() - begin) / 1e3;
        a->all_ms += ms;
        if (sd_bus_error_has_name(&e, SD_BUS_ERROR_ACCESS_DENIED) > 0)
                a->denied_ms += ms;
        if (ms > a->slowest_ms) {
                a->slowest_ms = ms;
                describe(a, m,
                         r >= 0      ? "done"
                         : e.message ? e.message
                                     : e.name,
                         a->slowest, sizeof(a->slowest));
        }
        if (r >= 0) {
                a->answered++;
                if (!is_look(sd_bus_message_get_member(m))) {
                        a->carried_out++;
                        note(a, m, "done");
                }
        } else if (is_unheard(&e) || sd_bus_is_open(bus) <= 0) {
                a->unheard++;
                note(a, m, e.name);
        } else {
                a->refused++;
                a->denied += sd_bus_error_has_name(&e, SD_BUS_ERROR_ACCESS_DENIED) > 0;
                a->late += e.message && strstr(e.message, CALLER_LATE);
        }
        sd_bus_error_free(&e);
}

static void attack(sd_bus *bus, void *userdata) {
        struct attack *a = userdata;

        a->hostile.methods = members_introspect(bus, "/org/homenode1", "org.homenode1.Manager");
        for (unsigned i = 0; a->hostile.methods && a->unheard == 0 && i < a->calls; i++) {
                sd_bus_message *m = hostile_next(&a->hostile, bus);

                if (m)
                        call_once(bus, a, m);
                (void) sd_bus_message_unref(m);
        }
}

int attack_run(const struct caller *who, unsigned seconds, struct attack *a) {
        return caller_run(who, seconds, attack, a);
}
