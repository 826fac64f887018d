/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "buscalls.h"
#include "guest.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>

#define NAME "org.homenode1"
#define PATH "/org/homenode1"

struct one {
        struct buscalls *all;
        unsigned number;
        uint64_t begin, end;
};

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *unused) {
        struct one *o = userdata;
        const char *nodes = "";

        (void) unused;
        o->end = guest_now();
        if (sd_bus_message_is_method_error(m, NULL)) {
                (void) snprintf(o->all->error, sizeof(o->all->error), "%s: %s",
                                sd_bus_message_get_error(m)->name, sd_bus_message_get_error(m)->message);
                return 0;
        }
        if (sd_bus_message_has_signature(m, "ss"))
                (void) sd_bus_message_read(m, "ss", &nodes, NULL);
        (void) snprintf(o->all->answer[o->number], sizeof(o->all->answer[0]), "%s\n", nodes);
        o->all->answered++;
        return 0;
}

static int send_one(sd_bus *bus, enum buscall kind, struct one *o) {
        o->begin = guest_now();
        if (kind == BUSCALL_PING)
                return sd_bus_call_method_async(bus, NULL, NAME, PATH, "org.freedesktop.DBus.Peer", "Ping",
                                                on_answer, o, NULL);
        return sd_bus_call_method_async(bus, NULL, NAME, PATH, "org.homenode1.Manager", "Advise", on_answer,
                                        o, "uta{sv}", 1, UINT64_C(4), 0);
}

static int compare(const void *a, const void *b) {
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

static void take_times(const struct one *ones, struct buscalls *bc) {
        double times[BUSCALLS_MAX];
        unsigned done = 0;

        for (unsigned i = 0; i < bc->n; i++)
                if (ones[i].end != 0)
                        times[done++] = (double) (ones[i].end - ones[i].begin) / 1000;
        qsort(times, done, sizeof(times[0]), compare);
        if (done == 0)
                return;
        bc->slowest_ms = times[done - 1];
        bc->middle_ms = times[done / 2];
}

int buscalls_make(enum buscall kind, unsigned n, unsigned seconds, struct buscalls *ret) {
        struct one ones[BUSCALLS_MAX] = { { .number = 0 } };
        uint64_t until = guest_now() + seconds * 1000000ULL;
        const char *id;
        sd_bus *bus;
        int r;

        *ret = (struct buscalls){ .n = 0 };
        r = sd_bus_open_system(&bus);
        if (r < 0)
                return r;
        /* Which waits until the connection is there. */
        r = sd_bus_get_unique_name(bus, &id);
        while (r >= 0 && ret->n < n && ret->n < BUSCALLS_MAX) {
                struct one *o = &ones[ret->n];

                *o = (struct one){ .all = ret, .number = ret->n };
                r = send_one(bus, kind, o);
                ret->n += r >= 0;
        }
        while (r >= 0 && guest_now() < until) {
                unsigned open = 0;

                for (unsigned i = 0; i < ret->n; i++)
                        open += ones[i].end == 0;
                if (open == 0)
                        break;
                r = sd_bus_process(bus, NULL);
                if (r == 0)
                        r = sd_bus_wait(bus, 100000);
        }
        (void) sd_bus_close_unref(bus);
        take_times(ones, ret);
        return r < 0 ? r : 0;
}
