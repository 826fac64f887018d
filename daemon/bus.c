/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/macro.h"
#include "daemon/bus.h"
#include "daemon/manager.h"

#define TEXT_MAX 4096u /* the longest cgroup path */

int hn_bus_append_text(sd_bus_message *m, const char *text) {
        char buf[HN_ESCAPE_SIZE(TEXT_MAX)] = "";

        if (text)
                (void) hn_escape_text(text, strnlen(text, TEXT_MAX), buf, sizeof(buf));
        return sd_bus_message_append_basic(m, 's', buf);
}

static const char *where(const struct hn_bus *b) {
        return b->manager->options.bus_address ? b->manager->options.bus_address : "the system bus";
}

/* One word for a whole outage, however long and for whatever reasons. */
static void say_lost(struct hn_bus *b, const char *why) {
        hn_log_event_once(&b->manager->log, "bus", 0, HN_EVENT_DENIED, LOG_WARNING, NULL,
                          "Not on the bus (%s): %s; homenoded works on without it, and tries again from time "
                          "to time and at a reload",
                          where(b), why);
}

/* The old connection, if there is one, is dropped by the timer's handler: we may be in a callback of it. */
static int try_later(struct hn_bus *b) {
        hn_usec_t pause = b->pause;
        int r;

        b->lost = true;
        b->pause = HN_MIN(2 * b->pause, HN_BUS_PAUSE_MAX);
        r = sd_event_source_set_time_relative(b->retry, pause);
        return r < 0 ? r : sd_event_source_set_enabled(b->retry, SD_EVENT_ONESHOT);
}

static void disconnect(struct hn_bus *b) {
        hn_callers_stop(&b->callers);
        hn_access_stop(&b->access);
        /* Without a flush: that would wait for a bus which does not read. */
        b->bus = sd_bus_close_unref(b->bus);
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *e) {
        struct hn_bus *b = userdata;

        (void) m;
        (void) e;
        say_lost(b, "the connection was closed");
        return try_later(b);
}

/* Answers of org.freedesktop.DBus.RequestName. */
enum { NAME_OWNED = 1, NAME_QUEUED = 2, NAME_OURS_ALREADY = 4 };

static int on_name(sd_bus_message *m, void *userdata, sd_bus_error *e) {
        struct hn_bus *b = userdata;
        uint32_t answer;
        int r;

        (void) e;
        if (sd_bus_message_is_method_error(m, NULL)) {
                char why[256];

                (void) snprintf(why, sizeof(why), "the name " HN_BUS_NAME " is refused (%s)",
                                sd_bus_message_get_error(m)->message ? sd_bus_message_get_error(m)->message
                                                                     : sd_bus_message_get_error(m)->name);
                say_lost(b, why);
                return try_later(b);
        }
        r = sd_bus_message_read(m, "u", &answer);
        if (r < 0)
                return try_later(b);
        if (answer == NAME_QUEUED)
                hn_log_say(&b->manager->log, LOG_WARNING,
                           "Another process owns " HN_BUS_NAME
                           " on the bus: it is ours once that one has left; is a second homenoded running?");
        b->pause = HN_BUS_PAUSE_MIN;
        b->lost = false;
        hn_log_recovered(&b->manager->log, "bus", 0, "On the bus again as " HN_BUS_NAME);
        return 0;
}

static int open_bus(struct hn_bus *b) {
        _hn_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
        const char *address = b->manager->options.bus_address;
        int r;

        if (!address)
                r = sd_bus_open_system_with_description(&bus, "homenode");
        else {
                r = sd_bus_new(&bus);
                if (r >= 0)
                        r = sd_bus_set_address(bus, address);
                if (r >= 0)
                        r = sd_bus_set_bus_client(bus, true);
                if (r >= 0)
                        r = sd_bus_start(bus);
        }
        /* Behind the ticks: whatever callers ask for, the masks are looked after first. */
        if (r >= 0)
                r = sd_bus_attach_event(bus, b->manager->event, SD_EVENT_PRIORITY_NORMAL + 10);
        if (r < 0)
                return r;
        b->bus = HN_TAKE_PTR(bus);
        return 0;
}

static int connect_bus(struct hn_bus *b) {
        int r = open_bus(b);

        if (r >= 0)
                r = sd_bus_match_signal_async(b->bus, NULL, "org.freedesktop.DBus.Local",
                                              "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
                                              "Disconnected", on_disconnected, NULL, b);
        if (r >= 0)
                r = hn_access_start(&b->access, b->manager, b->bus);
        hn_callers_start(&b->callers, b);
        if (r >= 0)
                r = hn_bus_add_manager(b);
        if (r >= 0)
                r = hn_bus_add_scopes(b);
        if (r >= 0)
                r = sd_bus_request_name_async(b->bus, NULL, HN_BUS_NAME, SD_BUS_NAME_QUEUE, on_name, b);
        if (r >= 0) {
                hn_news_begin(&b->news, b->manager);
                return 0;
        }
        disconnect(b);
        say_lost(b, strerror(-r));
        return try_later(b);
}

static int on_retry(sd_event_source *s, uint64_t usec, void *userdata) {
        struct hn_bus *b = userdata;

        (void) s;
        (void) usec;
        disconnect(b);
        return connect_bus(b);
}

int hn_bus_start(struct hn_bus *b, struct hn_manager *m) {
        int r;

        *b = (struct hn_bus){ .manager = m, .pause = HN_BUS_PAUSE_MIN, .dump = -1 };
        /* A captured machine has no bus; whoever wants it on one says which. */
        if (m->options.bus_address ? strcmp(m->options.bus_address, HN_BUS_ADDRESS_NONE) == 0 : !m->root.live)
                return 0;
        r = sd_event_add_time_relative(m->event, &b->retry, CLOCK_MONOTONIC, 0, 0, on_retry, b);
        if (r >= 0)
                r = sd_event_source_set_enabled(b->retry, SD_EVENT_OFF);
        return r < 0 ? r : connect_bus(b);
}

void hn_bus_retry(struct hn_bus *b) {
        if (!b->retry || (b->bus && !b->lost))
                return;
        b->pause = HN_BUS_PAUSE_MIN;
        if (sd_event_source_set_time_relative(b->retry, 0) >= 0)
                (void) sd_event_source_set_enabled(b->retry, SD_EVENT_ONESHOT);
}

void hn_bus_stop(struct hn_bus *b) {
        disconnect(b);
        b->retry = sd_event_source_disable_unref(b->retry);
        hn_news_deinit(&b->news);
        if (b->manager && b->dump >= 0)
                (void) close(b->dump);
        b->dump = -1;
}
